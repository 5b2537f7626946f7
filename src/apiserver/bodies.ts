import { ApiError, badRequest } from '../api/errors.js';
import { goJson, quote } from '../api/go-text.js';
import { dumpBody } from '../api/json-text.js';
import { type ApiObject, asJson, groupVersion, type JsonObject, shortVersion } from '../api/object.js';
import type { FieldValidation, WriteParameters } from '../api/options.js';
import { resultOf, type Steps } from '../api/steps.js';
import type { TypeMeta } from '../api/type-meta.js';
import { internalGroup } from '../api/unregistered-kind.js';
import { strictWarnings } from '../api/yaml.js';
import type { RequestContext, ResourceDefinition } from '../registry/resource-definition.js';
import { scaleSchema } from '../resources/scale-schema.js';
import { statusSchema } from '../resources/status-schema.js';
import { runInTurns, TurnTaking } from '../runtime/turn-taking.js';
import { decodeText, type EmptyMembers, typeMetaOf } from '../schema/decode.js';
import { DecodeError } from '../schema/decode-error.js';
import { applyDefaults } from '../schema/default.js';
import { orderedText } from '../schema/encode.js';
import { deleteOptions } from '../schema/meta.js';
import type { Schema } from '../schema/schema.js';
import { type Parsed, parseBody, parseFailure, wireSchemaOf } from './body-format.js';
import type { Served } from './catalogue.js';
import {
  checkTypeMeta,
  fieldsUnknownToInternal,
  isVersionless,
  kindMismatch,
  missingVersionMessage,
  nullVersionMessage,
  schemeOf,
} from './kind-mismatch.js';
import type { Parts } from './parts.js';
import { isRegistered } from './registered-kinds.js';
import type { ApiRequest } from './request.js';

/** Decodes request bodies into objects of the kind that the URL names; error texts are Kubernetes'. */

/** An object as it was sent. */
export interface SentObject extends EmptyMembers {
  readonly object: ApiObject;
}

/** Reads the body of a create or update. Reports unknown and repeated fields as the request asks. */
export const readObject = async (...given: Parameters<typeof readSentObject>): Promise<ApiObject> =>
  (await readSentObject(...given)).object;

/** Like `readObject`, and also returns which members were sent empty. */
export async function readSentObject(
  { catalogue }: Pick<Parts, 'catalogue'>,
  request: ApiRequest,
  definition: ResourceDefinition,
  parameters: Pick<WriteParameters, 'fieldValidation'>,
  context: Pick<RequestContext, 'warn'>,
): Promise<SentObject> {
  const body = await request.body();
  const unrecognized = (message: string, dump: string): ApiError =>
    badRequest(`the object provided is unrecognized (must be of type ${definition.kind}): ${message} (${dump})`);
  const turns = new TurnTaking();
  let parsed: Parsed;
  try {
    parsed = await parseBody(body, wireSchemaOf(definition), turns);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    const expected = { apiVersion: groupVersion(definition), kind: definition.kind };
    if (error instanceof DecodeError) throw cannotHandle(expected, definition.kind, error.message);
    throw unrecognized(parseFailure(error), dumpBody(body.bytes));
  }
  if (turns.isDue) await turns.next();
  const parsedBody: ParsedBody = { definition, parsed, validation: parameters.fieldValidation, context, unrecognized };
  const decoding =
    definition.origin === 'custom' ? decodeCustom(parsedBody) : decodeBuiltIn(catalogue.current(), parsedBody);
  const sent = await runInTurns(decoding, turns);
  if (turns.isDue) await turns.next();
  request.record?.sent(asJson(sent.object), (object) => orderedText(definition, object));
  return sent;
}

type Complain = (message: string, dump: string) => ApiError;

/** A parsed body and how to decode it. */
interface ParsedBody {
  readonly definition: ResourceDefinition;
  readonly parsed: Parsed;
  readonly validation: FieldValidation;
  readonly context: Pick<RequestContext, 'warn'>;
  readonly unrecognized: Complain;
}

function checkedTypeMeta({ text, dump }: Parsed, unrecognized: Complain): TypeMeta {
  try {
    return checkTypeMeta(typeMetaOf(text.exact));
  } catch (error) {
    if (error instanceof DecodeError) throw unrecognized(error.message, dump);
    throw error;
  }
}

/** Returns the error text for a body of another version than its path. */
const versionMismatch = (apiVersion: string, expected: string): string =>
  `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`;

function* decodeBuiltIn(
  served: Served,
  { definition, parsed, validation, context, unrecognized }: ParsedBody,
): Steps<SentObject> {
  const sentMeta = checkedTypeMeta(parsed, unrecognized);
  const expected = groupVersion(definition);
  const isBare = sentMeta.apiVersion === '' || sentMeta.apiVersion === `${definition.group}/`;
  const meta = { apiVersion: isBare ? expected : sentMeta.apiVersion, kind: sentMeta.kind || definition.kind };
  const cannot = (message: string): ApiError => cannotHandle(meta, definition.kind, message);
  if (isVersionless(meta)) throw cannot(missingVersionMessage(parsed.raw ?? goJson(parsed.text.value)));
  const otherKind = kindMismatch(definition, meta, schemeOf(definition.group));
  if (otherKind !== undefined) {
    yield* decodeOrRefuse(cannot, decodeAsKind(served, meta, parsed.text, definition.group));
    throw cannot(otherKind);
  }
  if (internalGroup(meta.apiVersion) !== undefined) {
    report(fieldsUnknownToInternal(parsed.text.value as JsonObject), validation, context, cannot);
    throw badRequest(versionMismatch(meta.apiVersion, expected));
  }
  const own = meta.apiVersion === expected ? definition : served.builtInKind(meta.apiVersion, meta.kind);
  const { value, strict, emptyMembers } = yield* decodeOrRefuse(
    cannot,
    decodeText((own ?? definition).schema, parsed.text),
  );
  report(strict, validation, context, cannot);
  if (meta.apiVersion !== expected) {
    throw badRequest(versionMismatch(meta.apiVersion, expected));
  }
  const object = { ...(value as unknown as ApiObject), kind: definition.kind, apiVersion: expected };
  return { object: yield* withDefaults(definition, object), emptyMembers };
}

/** Kinds that belong to no path of their own, by version unless they exist in every version. */
const otherKinds: ReadonlyMap<string, Schema> = new Map([
  ['DeleteOptions', deleteOptions],
  ['autoscaling/v1 Scale', scaleSchema],
  ['Status', statusSchema],
]);

/**
 * Decodes an object as the kind it names, because errors in its own kind are reported before a mismatch with the
 * expected one. The kind may be unknown to the group's scheme.
 */
export function* decodeAsKind(
  served: Served,
  meta: TypeMeta,
  text: Parameters<typeof decodeText>[1],
  group: string,
): Steps<void> {
  if (!isRegistered(meta, group)) return;
  const { apiVersion, kind } = meta;
  const other = otherKinds.get(kind) ?? otherKinds.get(`${apiVersion} ${kind}`);
  const schema = other ?? served.builtInSchema(apiVersion, kind);
  if (schema !== undefined) yield* decodeText(schema, text);
}

/** Applies the defaults of the schema, then those that the schema cannot express. */
export function* withDefaults(definition: ResourceDefinition, object: ApiObject): Steps<ApiObject> {
  yield;
  const filled = applyDefaults(asJson(object), definition.schema) as unknown as ApiObject;
  yield;
  return yield* resultOf(definition.defaults?.(filled) ?? filled);
}

function* decodeCustom({ definition, parsed, validation, context, unrecognized }: ParsedBody): Steps<SentObject> {
  const { text, dump, raw } = parsed;
  const meta = checkedTypeMeta(parsed, unrecognized);
  // Unlike fields of built-in kinds, fields of custom resources have only one spelling.
  const { kind, apiVersion } = (text.value ?? {}) as JsonObject;
  const read = { kind: meta.kind || definition.kind, apiVersion: meta.apiVersion || groupVersion(definition) };
  if (text.numberError !== undefined) throw cannotHandle(read, definition.kind, text.numberError);
  if (meta.kind === '' || !kind) {
    const message = `Object 'Kind' is missing in '${raw ?? goJson(text.value)}'`;
    // Without field validation, Kubernetes uses another decoder, which knows the expected kind.
    throw validation === 'Ignore' ? cannotHandle(read, definition.kind, message) : unrecognized(message, dump);
  }
  const statedMeta = { kind: meta.kind, apiVersion: typeof apiVersion === 'string' ? apiVersion : '' };
  const cannot = (message: string): ApiError => cannotHandle(statedMeta, definition.kind, message);
  if (apiVersion === null) throw cannot(nullVersionMessage);
  const { object, strict } = yield* decodeOrRefuse(cannot, decodeWithReader(definition, text.value as JsonObject));
  yield;
  report([...text.duplicates, ...strict], validation, context, (message) =>
    statedMeta.apiVersion === ''
      ? badRequest("Object 'apiVersion' is missing in 'object has no apiVersion field'")
      : // The decoder reports errors for the kind that the object names.
        cannotHandle(meta, meta.kind, message),
  );
  const expected = groupVersion(definition);
  if (apiVersion !== expected) {
    throw badRequest(versionMismatch(apiVersion === undefined ? '' : meta.apiVersion, expected));
  }
  return { object };
}

/**
 * Decodes the body of a custom resource, or an object that apply or a webhook made (`isGenerated`), and reports unknown
 * fields.
 */
export function* decodeWithReader(
  { reader, kind }: ResourceDefinition,
  body: JsonObject,
  { isGenerated = false } = {},
): Steps<{ readonly object: ApiObject; readonly strict: readonly string[] }> {
  if (reader === undefined) throw new Error(`${kind} has no reader`);
  const { object, unknownFields } = yield* reader.decode(body, { isGenerated });
  return { object, strict: unknownFields.map((path) => `unknown field "${path}"`) };
}

const cannotHandle = (meta: TypeMeta, kind: string, message: string): ApiError =>
  badRequest(
    `${meta.kind} in version ${quote(shortVersion(meta.apiVersion))} cannot be handled as a ${kind}: ${message}`,
  );

/** Runs a decoder; a DecodeError becomes the error that `cannot` returns. */
export function* decodeOrRefuse<T>(cannot: (message: string) => ApiError, decoding: Steps<T>): Steps<T> {
  try {
    return yield* decoding;
  } catch (error) {
    if (error instanceof DecodeError) throw cannot(error.message);
    throw error;
  }
}

/** Handles unknown and repeated fields as fieldValidation asks: error, warnings or nothing. */
function report(
  strict: readonly string[],
  validation: FieldValidation,
  context: Pick<RequestContext, 'warn'>,
  cannot: (message: string) => ApiError,
): void {
  if (strict.length === 0 || validation === 'Ignore') return;
  if (validation === 'Strict') throw cannot(`strict decoding error: ${strict.join(', ')}`);
  for (const text of strictWarnings(strict)) context.warn(text);
}
