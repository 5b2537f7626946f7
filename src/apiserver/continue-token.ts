import { badRequest, expired } from '../api/errors.js';
import { quote } from '../api/go-text.js';
import type { Revision } from '../store/store.js';

/** Where a list goes on: the snapshot it reads, and the last key it has seen. Kubernetes' format, so that either can read it. */
export interface ContinueToken {
  /** -1: no snapshot; go on at the latest state. */
  readonly revision: Revision;
  /** Key relative to the list's prefix after which to go on. */
  readonly after: string;
}

const version = 'meta.k8s.io/v1';

export const writeContinue = ({ revision, after }: ContinueToken): string =>
  Buffer.from(JSON.stringify({ v: version, rv: Number(revision), start: `${after}\u0000` })).toString('base64url');

const bad = (why: string): never => {
  throw badRequest(`invalid continue token: continue key is not valid: ${why}`);
};

/** Throws BadRequest for anything this server would not have written. */
export function readContinue(text: string): ContinueToken {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) {
    const at = [...text].findIndex((character) => !/[A-Za-z0-9_-]/.test(character));
    return bad(`illegal base64 data at input byte ${at}`);
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    // Go names the byte as if it were a character.
    const first = Buffer.from(text, 'base64url').toString('latin1')[0] ?? '';
    return bad(
      first === ''
        ? 'unexpected end of JSON input'
        : `invalid character ${quote(first).replace(/^"|"$/g, "'")} looking for beginning of value`,
    );
  }
  const { v, rv, start } = (typeof parsed === 'object' && parsed !== null ? parsed : {}) as Record<string, unknown>;
  if (v !== version) return bad(`server does not recognize this encoded version ${typeof v === 'string' ? v : ''}`);
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0)
    return bad('incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  if (typeof start !== 'string' || start === '') return bad(`encoded start key empty (version ${version})`);
  // A start that climbs out of the list's prefix is nobody's token.
  if (start.split('/').includes('..')) return bad('invalid continue token');
  return { revision: BigInt(rv), after: start.endsWith('\0') ? start.slice(0, -1) : start };
}

/** 410 with a fresh token, with which the caller may go on inconsistently. */
export const continueExpired = (after: string): Error =>
  expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    writeContinue({ revision: -1n, after }),
  );
