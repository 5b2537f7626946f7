import { type ApiError, unsupportedMediaType } from '../api/errors.js';
import { type ParsedJson, parsedPlain } from '../api/json-exact.js';
import { largeJson } from '../api/json-pieces.js';
import { dumpBody, JsonSyntaxError, readJson, readJsonInSteps } from '../api/json-text.js';
import { readMediaType } from '../api/media-type.js';
import { messageOf } from '../api/message-of.js';
import { runSync } from '../api/steps.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { runInTurns, TurnTaking } from '../runtime/turn-taking.js';
import type { Schema } from '../schema/schema.js';
import { mediaTypes } from './negotiate.js';
import type { RequestBody } from './request.js';

/** Formats of request bodies: JSON, YAML, and protobuf for kinds that have a message. */

const json = 'application/json';
const yaml = 'application/yaml';
const protobuf = 'application/vnd.kubernetes.protobuf';

/** A parsed body, and its beginning for error texts. */
export interface Parsed {
  readonly text: ParsedJson & { readonly format?: 'json' | 'yaml' };
  readonly dump: string;
  /** The text of the body, if it is text. */
  readonly raw?: string;
}

/** The schema to decode a protobuf body with; undefined if protobuf is refused. */
export const wireSchemaOf = ({ origin, schema }: ResourceDefinition): Schema | undefined =>
  origin === 'built-in' ? schema : undefined;

type Format = typeof json | typeof yaml | typeof protobuf;
function formatOf(contentType: string | undefined, message: Schema | undefined): Format {
  const read = contentType ? readMediaType(contentType) : { type: json };
  const type = 'type' in read ? read.type : undefined;
  if (type === json || type === yaml || (type === protobuf && message !== undefined)) return type;
  throw unsupportedFormat(mediaTypes);
}

export const unsupportedFormat = (accepted: string): ApiError =>
  unsupportedMediaType(`the body of the request was in an unknown format - accepted media types include: ${accepted}`);

/** Throws for an unsupported media type. On create, this is the first of all checks. */
export const checkMediaType = (contentType: string | undefined, definition: ResourceDefinition): void =>
  void formatOf(contentType, wireSchemaOf(definition));

/**
 * Parses a body in the format of its media type. Rejects with ApiError (415) and with the errors of the format's
 * parser.
 */
export async function parseBody(
  body: RequestBody,
  message: Schema | undefined,
  turns = new TurnTaking(),
): Promise<Parsed> {
  const { bytes } = body;
  const format = formatOf(body.contentType, message);
  if (format === protobuf) {
    const { decodeEnvelope } = await import('../schema/protobuf.js');
    const steps = decodeEnvelope(message as Schema, bytes);
    const value = bytes.length < largeJson ? runSync(steps) : await runInTurns(steps, turns);
    return { text: parsedPlain(value), dump: dumpBody(bytes) };
  }
  if (format === yaml) {
    const { readYaml } = await import('../api/yaml.js');
    const text = await readYaml(bytes, () => turns.next());
    return { text: { ...text, format: 'yaml' }, dump: dumpBody(bytes), raw: bytes.toString('utf8') };
  }
  // A stored object has more values than were sent, because it records the owner of each.
  const limits = body.isTrusted === true ? { maxValues: Number.POSITIVE_INFINITY } : {};
  const text =
    bytes.length < largeJson ? readJson(bytes, limits) : await runInTurns(readJsonInSteps(bytes, limits), turns);
  return { text, dump: dumpBody(bytes), raw: bytes.toString('utf8') };
}

/** Returns the error text for a body that could not be parsed. */
export const parseFailure = (error: unknown): string =>
  error instanceof JsonSyntaxError ? `couldn't get version/kind; json parse error: ${error.message}` : messageOf(error);
