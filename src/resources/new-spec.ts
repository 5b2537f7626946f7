import { isDeepStrictEqual } from 'node:util';

interface HasSpec {
  readonly spec?: object | null | undefined;
}

/** Whether a write changes the desired state, for kinds whose desired state is all in `spec`. */
export const hasNewSpec = (next: HasSpec, previous: HasSpec): boolean =>
  !isDeepStrictEqual(next.spec ?? {}, previous.spec ?? {});
