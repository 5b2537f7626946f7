import type { ParsedJson } from '../../api/json-exact.js';
import { JsonSyntaxError } from '../../api/json-text.js';
import type { Json, JsonObject } from '../../api/object.js';
import type { FieldValidation } from '../../api/options.js';
import type { DeferredWork, Steps } from '../../api/steps.js';
import type { Schema } from '../../schema/schema.js';

/** A way to say what is to change, by media type. Server-side apply is another matter (see apply.ts). */
export interface PatchType {
  /** Only built-in kinds have the merge keys that some patches need. */
  readonly for: 'built-in' | 'all';
  /** Reads a patch. Throws ApiError (400, 413). */
  read(text: PatchText, options: { readonly fieldValidation: FieldValidation }): ReadPatch;
}

/** Parses the body, or throws JsonSyntaxError. */
export type PatchText = () => ParsedJson & {
  /** The body as it came, where it came as JSON. */
  readonly bytes?: Uint8Array;
};

/** The body, parsed; what is no JSON is refused with these words. */
export function parsePatch(read: PatchText, refuse: (why: string) => Error): ReturnType<PatchText> {
  try {
    return read();
  } catch (error) {
    throw error instanceof JsonSyntaxError ? refuse(error.message) : error;
  }
}

/** A patch that has been read and can be applied, more than once if need be. */
export interface ReadPatch {
  /** Unknown and repeated members of the patch itself, for fieldValidation. */
  readonly strict: readonly string[];
  /**
   * The JSON form of an object, changed; not yet decoded, and perhaps no object any more. The object given is left as it
   * is. What is large may be left for `later`, and the result is whole only after that; what takes long may come in steps.
   *
   * @throws ApiError when the patch does not fit the object.
   */
  apply(current: JsonObject, schema: Schema, later: DeferredWork): Json | Steps<Json>;
  /** The last result, read as the patch spells it; absent if that makes no difference. */
  text?(result: JsonObject): ParsedJson | Steps<ParsedJson>;
  /** What error replies show as the value that does not decode. */
  shown(result: Json): string;
}
