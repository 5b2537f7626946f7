import { isDeepStrictEqual } from 'node:util';

interface Specified {
  readonly spec?: object | null | undefined;
}

/** Does a write want another state than before? Of kinds whose `spec` is all that is wanted. */
export const hasNewSpec = (next: Specified, previous: Specified): boolean =>
  !isDeepStrictEqual(next.spec ?? {}, previous.spec ?? {});
