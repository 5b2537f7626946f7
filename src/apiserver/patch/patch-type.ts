import type { ParsedJson } from '../../api/json-exact.js';
import { JsonSyntaxError } from '../../api/json-text.js';
import type { Json, JsonObject } from '../../api/object.js';
import type { FieldValidation } from '../../api/options.js';
import type { DeferredWork, Steps } from '../../api/steps.js';
import type { Schema } from '../../schema/schema.js';

/** A type of patch, identified by its media type. Server-side apply is separate (see apply.ts). */
export interface PatchType {
  /** The kinds that support the patch type: some need merge keys, which only built-in kinds have. */
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
export function parsePatch(read: PatchText, refuse: (message: string) => Error): ReturnType<PatchText> {
  try {
    return read();
  } catch (error) {
    throw error instanceof JsonSyntaxError ? refuse(error.message) : error;
  }
}

/** A patch that has been read and can be applied, more than once if necessary. */
export interface ReadPatch {
  /** Errors about unknown and repeated members of the patch itself, for fieldValidation. */
  readonly strict: readonly string[];
  /**
   * Returns the changed JSON form of an object, which is not decoded yet and may no longer be an object. The given
   * object is not changed. Large parts may be deferred to `later`: the result is complete only after that. Long work
   * may come in steps.
   *
   * @throws ApiError if the patch does not fit the object
   */
  apply(current: JsonObject, schema: Schema, later: DeferredWork): Json | Steps<Json>;
  /** Returns the last result in the spelling of the patch; absent if that makes no difference. */
  text?(result: JsonObject): ParsedJson | Steps<ParsedJson>;
  /** Returns the text that error messages show for a value that does not decode. */
  shown(result: Json): string;
}
