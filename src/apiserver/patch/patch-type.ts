import type { ParsedJson } from '../../api/json-exact.js';
import { JsonSyntaxError } from '../../api/json-text.js';
import type { Json, JsonObject } from '../../api/object.js';
import type { FieldValidation } from '../../api/options.js';
import type { DeferredWork, Steps } from '../../api/steps.js';
import type { Schema } from '../../schema/schema.js';

/** A type of patch, identified by its media type. Server-side apply is separate (see apply.ts). */
export interface PatchType {
  /** Some patches need merge keys, which only built-in kinds have. */
  readonly for: 'built-in' | 'all';
  /** Reads a patch. Throws ApiError (400, 413). */
  read(text: PatchText, options: { readonly fieldValidation: FieldValidation }): ReadPatch;
}

/** Parses the body, or throws JsonSyntaxError. */
export type PatchText = () => ParsedJson & {
  /** The body as sent, if it was JSON. */
  readonly bytes?: Uint8Array;
};

/** Parses the body. Throws the error that `refuse` returns if it is not JSON. */
export function parsePatch(read: PatchText, refuse: (why: string) => Error): ReturnType<PatchText> {
  try {
    return read();
  } catch (error) {
    throw error instanceof JsonSyntaxError ? refuse(error.message) : error;
  }
}

/** A patch that has been read and can be applied, repeatedly if need be. */
export interface ReadPatch {
  /** Unknown and repeated members of the patch itself, for fieldValidation. */
  readonly strict: readonly string[];
  /**
   * Returns the changed JSON form of an object, not yet decoded and perhaps not an object any more. The given object is
   * not changed. Large parts may be deferred to `later`, and the result is complete only after that; long work may come
   * in steps.
   *
   * @throws ApiError when the patch does not fit the object.
   */
  apply(current: JsonObject, schema: Schema, later: DeferredWork): Json | Steps<Json>;
  /** Returns the last result as the patch spells it; absent if that makes no difference. */
  text?(result: JsonObject): ParsedJson | Steps<ParsedJson>;
  /** Returns the text that error messages show as the value that does not decode. */
  shown(result: Json): string;
}
