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
 * JSON Patch (RFC 6902), with the leniencies of the library Kubernetes uses: `replace` adds a missing member, `test`
 * of null passes on one, `copy` of one adds null, negative indexes count from the end, whatever precedes the first
 * slash of a path is ignored.
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
          // Whoever asks for what is spelt oddly wants the whole at once.
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

/** A JSON Patch that the server got from elsewhere than a caller: what is wrong is told in full. */
export interface ReceivedPatch {
  readonly isEmpty: boolean;
  /** Throws DoesNotApply. The object given is left as it is; `text` is the result, read as the patch spells it. */
  apply(current: JsonObject): Steps<{ readonly result: JsonObject; readonly text: ParsedJson }>;
}

/** Reads such a patch; unknown members do not matter. Throws ApiError (400, 413) whose message tells what is wrong. */
export function readReceivedPatch(read: PatchText): ReceivedPatch {
  return receivedPatch(readOperations(read, false));
}

/** The same of operations that need not be read. */
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

/** A patch can put a list in the place of the whole. */
function notOfAnyKind(result: Json): Error {
  const found = typeMetaIn(result);
  return 'wrong' in found ? new DecodeError(found.wrong) : new DoesNotApply('the result is no object');
}
