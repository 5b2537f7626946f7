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

/** Whatever is not there is as good as its zero. */
const tokenSchema = struct('storage.continueToken', {
  v: field(1, string()),
  rv: field(2, integer64()),
  start: field(3, string()),
});

/** Names count whatever the case of their letters, as Go's decoder has it of ASCII. */
const inLowerCase = (token: ExactJson): ExactJson =>
  isMembers(token)
    ? new RepeatedMembers(membersOf(token).map(([name, member]) => [asciiLowerCase(name), member]))
    : token;

const detours: ReadonlySet<string> = new Set(['', '.', '..']);

/** Throws BadRequest for anything this server would not have written. */
export function readContinue(text: string): ContinueToken {
  const bytes = bytesOfRawUrlBase64(text);
  if (!Buffer.isBuffer(bytes)) return bad(`illegal base64 data at input byte ${bytes.illegalAt}`);
  let decoded: Json;
  try {
    decoded = compileDecoder(tokenSchema)(inLowerCase(readJson(bytes).exact));
  } catch (error) {
    if (error instanceof JsonSyntaxError || error instanceof DecodeError) return bad(error.message);
    throw error;
  }
  const { v = '', rv = 0, start = '' } = decoded as { v?: string; rv?: number | bigint; start?: string };
  if (v !== version) return bad(`server does not recognize this encoded version ${v}`);
  if (BigInt(rv) === 0n) return bad('incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  if (start === '') return bad(`encoded start key empty (version ${version})`);
  const key = start.startsWith('/') ? start.slice(1) : start;
  // A start that climbs out of the list's prefix is nobody's token, nor is one that takes a detour.
  if (key !== '' && key.split('/').some((segment) => detours.has(segment))) return bad(start);
  return { revision: BigInt(rv), after: justBefore(key) };
}

/** After what a list goes on that is to go on with a key. A text with NUL comes right after the text; no key has U+10FFFF in it. */
function justBefore(key: string): string {
  const points = [...key];
  const last = points.pop()?.codePointAt(0) ?? 0;
  const kept = points.join('');
  return last > 0 ? `${kept}${String.fromCodePoint(last - 1)}\u{10ffff}` : kept;
}

/** 410 with a fresh token, with which the caller may go on inconsistently. */
export const continueExpired = (after: string): ApiError =>
  expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    writeContinue({ revision: -1n, after }),
  );
