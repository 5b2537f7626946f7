import { bytesOfRawUrlBase64 } from '../api/base64.js';
import { type ApiError, badRequest, expired } from '../api/errors.js';
import { asciiLowerCase } from '../api/go-text.js';
import { type ExactJson, isMembers, membersOf, RepeatedMembers } from '../api/json-exact.js';
import { JsonSyntaxError, readJson } from '../api/json-text.js';
import type { Json } from '../api/object.js';
import { field, integer64, string, struct } from '../schema/builder.js';
import { compileDecoder } from '../schema/decode.js';
import { DecodeError } from '../schema/decode-error.js';
import type { Revision } from '../store/store.js';

/**
 * The position from which a list continues: the snapshot it reads and the last key it returned. The format is that of
 * Kubernetes, so each server can read the tokens of the other.
 */
export interface ContinueToken {
  /** The revision of the snapshot; -1 if there is none and the list continues at the latest state. */
  readonly revision: Revision;
  /** The key after which to continue, relative to the prefix of the list. */
  readonly after: string;
}

const version = 'meta.k8s.io/v1';

export const writeContinue = ({ revision, after }: ContinueToken): string =>
  Buffer.from(JSON.stringify({ v: version, rv: Number(revision), start: `${after}\u0000` })).toString('base64url');

const invalidToken = (problem: string): never => {
  throw badRequest(`invalid continue token: continue key is not valid: ${problem}`);
};

/** The members of a token. An absent member has the zero value of its type. */
const tokenSchema = struct('storage.continueToken', {
  v: field(1, string()),
  rv: field(2, integer64()),
  start: field(3, string()),
});

/** Lower-cases the member names, because Go's decoder ignores the case of ASCII letters in them. */
const inLowerCase = (token: ExactJson): ExactJson =>
  isMembers(token)
    ? new RepeatedMembers(membersOf(token).map(([name, member]) => [asciiLowerCase(name), member]))
    : token;

const detours: ReadonlySet<string> = new Set(['', '.', '..']);

/** Parses a continue token. Throws BadRequest for any token that this server would not have written. */
export function readContinue(text: string): ContinueToken {
  const bytes = bytesOfRawUrlBase64(text);
  if (!Buffer.isBuffer(bytes)) return invalidToken(`illegal base64 data at input byte ${bytes.illegalAt}`);
  let decoded: Json;
  try {
    decoded = compileDecoder(tokenSchema)(inLowerCase(readJson(bytes).exact));
  } catch (error) {
    if (error instanceof JsonSyntaxError || error instanceof DecodeError) return invalidToken(error.message);
    throw error;
  }
  const { v = '', rv = 0, start = '' } = decoded as { v?: string; rv?: number | bigint; start?: string };
  if (v !== version) return invalidToken(`server does not recognize this encoded version ${v}`);
  if (BigInt(rv) === 0n) return invalidToken('incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  if (start === '') return invalidToken(`encoded start key empty (version ${version})`);
  const key = start.startsWith('/') ? start.slice(1) : start;
  // This server writes no start key that leaves the prefix of the list, or that has empty or dot segments.
  if (key !== '' && key.split('/').some((segment) => detours.has(segment))) return invalidToken(start);
  return { revision: BigInt(rv), after: justBefore(key) };
}

/**
 * Returns the key after which a list must continue to begin with the given key. A text with a trailing NUL sorts
 * immediately after the text, and no key contains U+10FFFF.
 */
function justBefore(key: string): string {
  const points = [...key];
  const last = points.pop()?.codePointAt(0) ?? 0;
  const prefix = points.join('');
  return last > 0 ? `${prefix}${String.fromCodePoint(last - 1)}\u{10ffff}` : prefix;
}

/** Returns a 410 error with a fresh token, with which the caller may continue inconsistently. */
export const continueExpired = (after: string): ApiError =>
  expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    writeContinue({ revision: -1n, after }),
  );
