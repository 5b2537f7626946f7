import { isDeepStrictEqual } from 'node:util';

interface Specified {
  readonly spec?: object | null | undefined;
}

/** Whether a write changes the desired state, for kinds whose desired state is all in `spec`. */
export const hasNewSpec = (next: Specified, previous: Specified): boolean =>
  !isDeepStrictEqual(next.spec ?? {}, previous.spec ?? {});
