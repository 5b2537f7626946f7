import { unprocessable } from '../../api/errors.js';
import { type ParsedJson, parsedPlain } from '../../api/json-exact.js';
import { isObject, type Json, type JsonObject } from '../../api/object.js';
import { noDeferral, type Steps } from '../../api/steps.js';
import { typeMetaIn } from '../../api/type-meta.js';
import { DecodeError } from '../../schema/decode-error.js';
import { type ReadOperations, readOperations } from './json-operations.js';
import { canNest, checkDepth, DoesNotApply, JsonPatcher } from './json-patching.js';
import type { PatchText, PatchType } from './patch-type.js';
import { readBack, writeSpelled } from './spelling.js';

/**
 * JSON Patch (RFC 6902), with the leniencies of the library that Kubernetes uses: `replace` adds a missing member,
 * `test` of null passes for one, `copy` of one adds null, negative indexes count from the end, and text before the
 * first slash of a path is ignored.
 */
export const jsonPatch: PatchType = {
  for: 'all',
  read(body, { fieldValidation }) {
    const { operations, strict, isOdd, numberError } = readOperations(body, fieldValidation !== 'Ignore');
    const nests = operations.some(canNest);
    let result: Json = {};
    let text: ParsedJson | undefined;
    return {
      strict,
      *apply(current, _, later) {
        const patching = new JsonPatcher(current, isOdd);
        try {
          const done = checkDepth(yield* patching.run(operations), nests);
          // Unusual spellings are read from the whole result, so that nothing may be deferred.
          result = patching.ordered(done, isOdd ? noDeferral : later);
          if (!isOdd) return result;
          text = yield* readBack(result);
          return text.value;
        } catch (error) {
          throw error instanceof DoesNotApply ? unprocessable() : error;
        }
      },
      text: (plain) => text ?? { ...parsedPlain(plain), numberError },
      shown: () => writeSpelled(result),
    };
  },
};

/** A JSON Patch that does not come from a caller, with detailed error messages. */
export interface ReceivedPatch {
  readonly isEmpty: boolean;
  /**
   * Applies the patch; the given object is not changed. `text` is the result in the spelling of the patch. Throws
   * DoesNotApply.
   */
  apply(current: JsonObject): Steps<{ readonly result: JsonObject; readonly text: ParsedJson }>;
}

/** Reads such a patch; unknown members are ignored. Throws ApiError (400, 413) with a detailed message. */
export function readReceivedPatch(read: PatchText): ReceivedPatch {
  return receivedPatch(readOperations(read, false));
}

/** Returns such a patch for operations that have been read already. */
export function receivedPatch({
  operations,
  isOdd = false,
  numberError,
}: Pick<ReadOperations, 'operations'> & Partial<Pick<ReadOperations, 'isOdd' | 'numberError'>>): ReceivedPatch {
  const nests = operations.some(canNest);
  return {
    isEmpty: operations.length === 0,
    *apply(current) {
      const patching = new JsonPatcher(current, isOdd);
      const done = checkDepth(yield* patching.run(operations), nests);
      if (!isObject(done)) throw notOfAnyKind(done);
      const result = patching.ordered(done, noDeferral) as JsonObject;
      if (!isOdd) return { result, text: { ...parsedPlain(result), numberError } };
      const text = yield* readBack(result);
      return { result: text.value as JsonObject, text };
    },
  };
}

/** Returns the error for a patch that has replaced the whole object with another value. */
function notOfAnyKind(result: Json): Error {
  const found = typeMetaIn(result);
  return 'wrong' in found ? new DecodeError(found.wrong) : new DoesNotApply('the result is not an object');
}
