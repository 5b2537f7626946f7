import { type ApiError, invalidObject, unsupportedMediaType } from '../../api/errors.js';
import { type ParsedJson, parsedPlain } from '../../api/json-exact.js';
import { readJsonInSteps } from '../../api/json-text.js';
import { type ApiObject, isObject, type Json, type JsonObject, member } from '../../api/object.js';
import type { FieldValidation } from '../../api/options.js';
import { DeferredWork, resultOf, type Steps } from '../../api/steps.js';
import { invalid } from '../../api/violations.js';
import { type EmptyMembers, typeMetaOf } from '../../schema/decode.js';
import { DecodeError } from '../../schema/decode-error.js';
import type { Schema } from '../../schema/schema.js';
import { unsupportedFormat } from '../body-format.js';
import { mediaTypes, namesOne, requireRoute } from '../negotiate.js';
import type { RequestBody } from '../request.js';
import { jsonPatch } from './json.js';
import { mergePatch } from './merge.js';
import type { PatchText, PatchType, ReadPatch } from './patch-type.js';
import { strategicPatch } from './strategic.js';
import { converterMessage, convertUnstructured } from './unstructured.js';

/** The patch types by media type, in the order in which refusals list them. */
const patchTypes = {
  'application/json-patch+json': jsonPatch,
  'application/merge-patch+json': mergePatch,
  'application/strategic-merge-patch+json': strategicPatch,
  /** Server-side apply is implemented in `apply.ts`. */
  'application/apply-patch+yaml': 'apply',
} as const satisfies Readonly<Record<string, PatchType | 'apply'>>;

/**
 * Returns the patch type of a request. The route of a built-in kind accepts a list that contains a patch type, and then
 * checks `accept`.
 *
 * @throws ApiError 415 if the kind does not support patches of that type
 */
export function patchTypeOf(
  contentType: string | undefined,
  origin: 'built-in' | 'custom',
  accept?: string,
): PatchType | 'apply' {
  if (origin === 'built-in') {
    if (!namesOne(contentType ?? '', (name) => Object.hasOwn(patchTypes, name)))
      throw unsupportedMediaType('415: Unsupported Media Type', {});
    requireRoute(accept, mediaTypes);
  }
  const [mediaType = ''] = (contentType ?? '').split(';', 1);
  const type = member<PatchType | 'apply'>(patchTypes, mediaType);
  if (type !== undefined && serves(type, origin)) return type;
  throw unsupportedFormat(servedPatchTypes(origin).join(', '));
}

/** Returns the media types of the patches that kinds of this origin accept. */
export const servedPatchTypes = (origin: 'built-in' | 'custom'): readonly string[] =>
  Object.entries<PatchType | 'apply'>(patchTypes)
    .filter(([, type]) => serves(type, origin))
    .map(([mediaType]) => mediaType);

const serves = (type: PatchType | 'apply', origin: 'built-in' | 'custom'): boolean =>
  type === 'apply' || type.for === 'all' || origin === 'built-in';

/** Reads the body of a patch. Throws ApiError (400, 413). */
export function* readPatch(
  type: PatchType,
  body: RequestBody,
  options: { readonly fieldValidation: FieldValidation },
): Steps<ReadPatch> {
  const text = yield* textOf(body);
  yield;
  return type.read(text, options);
}

/** Parses the text of a patch. A syntax error is thrown later, because each patch type has its own message for it. */
function* textOf({ bytes }: RequestBody): Steps<PatchText> {
  try {
    const read = yield* readJsonInSteps(bytes);
    return () => ({ ...read, bytes });
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** A decoded body or patch result, with its unknown fields. */
export interface DecodedObject extends EmptyMembers {
  readonly object: ApiObject;
  readonly strict: readonly string[];
}

/** A patched object, with the warnings that fieldValidation requires. */
export interface PatchedObject extends EmptyMembers {
  readonly object: ApiObject;
  readonly warnings: readonly string[];
}

/**
 * Reads a patch, applies it to the JSON form of an object (`current`, in the version of the endpoint) and decodes the
 * result. `decode` decodes it as a body of the kind, including defaults, and reports the unknown fields.
 *
 * @throws ApiError if the patch does not apply, if its result does not decode, or if fieldValidation is strict and a
 * member is unknown or repeated
 */
export function* applyPatch(
  reading: Steps<ReadPatch>,
  input: {
    readonly current: JsonObject;
    readonly schema: Schema;
    readonly fieldValidation: FieldValidation;
    /**
     * Whether the result is converted instead of decoded, with error texts of its own, as for strategic merge patch.
     */
    readonly converts: boolean;
    readonly decode: (result: JsonObject, text: ParsedJson) => Steps<DecodedObject>;
  },
): Steps<PatchedObject> {
  const patch = yield* reading;
  yield;
  const later = new DeferredWork();
  const result = yield* resultOf(patch.apply(input.current, input.schema, later));
  yield* later.rest();
  yield;
  const refuse = (message: string): ApiError => undecodable(patch.shown(result), message);
  if (!isObject(result)) throw refuse(noObject(result));
  const fitting = input.converts ? yield* convertUnstructured(input.schema, result, 'int') : { value: result };
  if (fitting.problem !== undefined) throw refuse(fitting.problem);
  yield;
  let decoded: DecodedObject;
  try {
    const text = yield* resultOf(patch.text?.(fitting.value) ?? parsedPlain(fitting.value));
    decoded = yield* input.decode(fitting.value, text);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw refuse(input.converts ? converterMessage(error) : error.message);
  }
  const strict = [...patch.strict, ...decoded.strict];
  if (strict.length === 0 || input.fieldValidation === 'Ignore') return { ...decoded, warnings: [] };
  if (input.fieldValidation === 'Strict') throw refuse(`strict decoding error: ${strict.join(', ')}`);
  return { ...decoded, warnings: strict };
}

/** Returns why the result of a patch is not an object. */
function noObject(result: Json): string {
  try {
    typeMetaOf(result);
  } catch (error) {
    if (error instanceof DecodeError) return error.message;
    throw error;
  }
  return 'the result is not an object';
}

/**
 * The maximum number of characters of a result that a response quotes. The response contains them twice, escaped twice.
 */
const maxShown = 65_536;

/** Returns the error for a patch whose result is not an object of the kind. */
const undecodable = (shown: string, message: string): ApiError =>
  invalidObject({ group: '', kind: '' }, [
    invalid('patch', shown.length > maxShown ? `${shown.slice(0, maxShown)}...` : shown, message),
  ]);
