import type { Json } from './object.js';

/** One operation of a JSON Patch. */
export interface PatchOperation {
  readonly op: string | undefined;
  readonly path: string | undefined;
  readonly from: string | undefined;
  /** undefined if the operation has none. */
  readonly value: Json | undefined;
}
