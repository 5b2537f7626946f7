import { aggregate } from '../api/go-text.js';
import { AuthenticationError } from './authenticator.js';

/** Returns the separate texts of an error, which may itself be an aggregate. */
const textsOf = (error: AuthenticationError): readonly string[] =>
  isTexts(error.cause) ? error.cause : [error.message];

/**
 * Combines several errors into one: nested aggregates are flattened, and the audit annotations are merged. The `cause`
 * holds the separate texts.
 */
export function aggregateError(errors: readonly AuthenticationError[]): AuthenticationError {
  const texts = errors.flatMap(textsOf);
  const annotations = Object.assign({}, ...errors.map((error) => error.annotations));
  return new AuthenticationError(aggregate(texts), { cause: texts, annotations });
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((text) => typeof text === 'string');
