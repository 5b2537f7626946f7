import { goJson } from '../../api/go-text.js';
import { type ParsedJson, parsedPlain } from '../../api/json-exact.js';
import { type ApiObject, groupOf, groupVersion, type JsonObject } from '../../api/object.js';
import { readWriteParameters, type WriteParameters } from '../../api/options.js';
import type { Steps } from '../../api/steps.js';
import { internalGroup, unnamedScheme } from '../../api/unregistered-kind.js';
import type { RequestContext, ResourceDefinition } from '../../registry/resource-definition.js';
import { subresourceDefinition } from '../../registry/subresource.js';
import { runInTurns, TurnTaking } from '../../runtime/turn-taking.js';
import { decodeText, typeMetaOf } from '../../schema/decode.js';
import { DecodeError } from '../../schema/decode-error.js';
import { decodeAsKind, decodeWithReader, withDefaults } from '../bodies.js';
import type { Catalogue, Served } from '../catalogue.js';
import { withVersions } from '../conversions.js';
import {
  checkTypeMeta,
  fieldsUnknownToInternal,
  internalKindMismatch,
  isVersionless,
  kindMismatch,
  missingVersionMessage,
  NoConversion,
  nullVersionMessage,
} from '../kind-mismatch.js';
import type { Parts } from '../parts.js';
import { type AppliedBody, applyAndDecode, checkRepeated, readApplyConfiguration } from '../patch/apply.js';
import { applyPatch, type DecodedObject, patchTypeOf, readPatch } from '../patch/index.js';
import type { PatchType } from '../patch/patch-type.js';
import { isRegistered } from '../registered-kinds.js';
import type { ApiRequest, RequestBody, Result } from '../request.js';
import type { Target } from '../resolve-target.js';
import { checkVersioned, placedByUrl, uidOfMissing } from '../write/given-object.js';
import { mayCreate, objectKeyOf, resultOf, type WriteRequest, writeRequest } from '../write/request.js';
import { type Update, updateObject } from '../write/update.js';
import { projectedWrite } from './projection.js';

/** Patches an object, with any type of patch. After a write conflict, the patch is applied again to the new object. */
export async function patchObject(
  parts: Parts,
  request: ApiRequest,
  target: Target,
  context: RequestContext,
): Promise<Result> {
  const { definition, subresource } = target;
  const type = patchTypeOf(request.header('content-type'), definition.origin);
  const parameters = readWriteParameters(request.query, { kind: 'PatchOptions', apply: type === 'apply' });
  const key = objectKeyOf(context);
  if (request.record !== undefined) await request.record.sentPatch(await request.body());
  const write = writeRequest(request, target, context, parameters);
  const projection = subresource?.type === 'projection' ? subresource : undefined;
  const seen: PatchedKind =
    projection === undefined
      ? { definition, isProjected: false }
      : { definition: subresourceDefinition(definition, projection.of), isProjected: true };
  const { fieldValidation } = parameters;
  const change =
    type === 'apply'
      ? await applyChange(request, seen, write, parameters)
      : patchChange(parts.catalogue, { type, body: await request.body(), fieldValidation }, seen, context);
  const named: Change = async (current) => {
    const changed = await change(current);
    const { uid } = changed.object.metadata;
    if (current === undefined && uid) throw uidOfMissing(definition, key, uid);
    const object = placedByUrl(definition, context, changed.object);
    if (projection !== undefined) checkVersioned(object);
    return { ...changed, object };
  };
  if (projection !== undefined)
    return projectedWrite(parts, write, key, projection, { change: named, checkUid: false });
  const written = await updateObject(parts, write, key, {
    change: named,
    checkUid: false,
    create: type === 'apply',
    mayCreate: mayCreate(parts, request, context.user),
  });
  return resultOf(definition, written);
}

type Change = Update['change'];

/** The definition of the object that is patched: its own, or that of a projection such as Scale. */
interface PatchedKind {
  readonly definition: ResourceDefinition;
  readonly isProjected: boolean;
}

/** A patch as it was sent. */
interface SentPatch extends Pick<WriteParameters, 'fieldValidation'> {
  readonly type: PatchType;
  readonly body: RequestBody;
}

/** Applies a JSON patch, merge patch or strategic merge patch, which is read only once there is an object to patch. */
function patchChange(
  catalogue: Catalogue,
  { type, body, fieldValidation }: SentPatch,
  { definition, isProjected }: PatchedKind,
  context: RequestContext,
): Change {
  const converts = type.for === 'built-in';
  return async (current) => {
    const { object, emptyMembers, warnings } = await runInTurns(
      applyPatch(readPatch(type, body, { fieldValidation }), {
        current: current as unknown as JsonObject,
        schema: definition.schema,
        fieldValidation,
        converts,
        decode: function* (result, text) {
          if (type.for === 'all') {
            // A scale has one version only.
            const internal = isProjected ? undefined : inInternalForm(definition, result);
            if (internal !== undefined) return internal;
            yield* checkKind(catalogue.current(), definition, result);
            const other = otherForm(catalogue.current(), definition, result);
            if (other !== undefined) return yield* decodeOtherForm(definition, other, { result, text });
          }
          return yield* decodeResult(definition, result, { text, converts });
        },
      }),
    );
    for (const text of warnings) context.warn(text);
    return { object, emptyMembers, managed: false };
  };
}

/**
 * Handles a patch that removed the version of a built-in kind or set the internal one. Kubernetes then decodes the
 * object in the internal version, in which all fields have other names, so that no field is known, not even the name.
 */
function inInternalForm(definition: ResourceDefinition, result: JsonObject): DecodedObject | undefined {
  if (definition.reader !== undefined) return undefined;
  const { apiVersion, kind } = checkTypeMeta(typeMetaOf(result));
  const saysNone = apiVersion === '' || apiVersion === `${definition.group}/`;
  const group = saysNone ? definition.group : internalGroup(apiVersion);
  if (group === undefined) {
    if (isVersionless({ apiVersion })) throw new DecodeError(missingVersionMessage(goJson(result)));
    return undefined;
  }
  const complaint = internalKindMismatch(definition, { group, kind: kind || definition.kind }, unnamedScheme);
  if (complaint !== undefined) throw new DecodeError(complaint);
  const object = { apiVersion: groupVersion(definition), kind: definition.kind, metadata: {} };
  return { object, strict: fieldsUnknownToInternal(result) };
}

/**
 * Returns the definition of the same built-in kind in another group, if a patch has set that group. The versions do not
 * differ otherwise.
 */
function otherForm(served: Served, { origin, group, kind }: ResourceDefinition, result: JsonObject) {
  const resultGroup = groupOf(typeMetaOf(result).apiVersion);
  if (origin !== 'built-in' || resultGroup === group) return undefined;
  return served.definitions.find((one) => one.origin === origin && one.group === resultGroup && one.kind === kind);
}

/** Decodes the object as the kind that it names, and converts it to the expected kind. */
function* decodeOtherForm(
  { codec }: ResourceDefinition,
  other: ResourceDefinition,
  { result, text }: { readonly result: JsonObject; readonly text: ParsedJson },
): Steps<DecodedObject> {
  const { object, strict } = yield* decodeResult(other, result, { text });
  const stored = other.codec?.store(object) ?? (object as unknown as JsonObject);
  return { object: codec?.read(stored) ?? (stored as unknown as ApiObject), strict };
}

/** Throws if a patch has changed the kind of a built-in object, which is possible with JSON and merge patches. */
export function* checkKind(served: Served, definition: ResourceDefinition, result: JsonObject): Steps<void> {
  if (definition.reader !== undefined) return;
  const meta = checkTypeMeta(typeMetaOf(result));
  const saysNone = meta.apiVersion === '' || meta.apiVersion === `${definition.group}/`;
  const resultMeta = {
    apiVersion: saysNone ? groupVersion(definition) : meta.apiVersion,
    kind: meta.kind || definition.kind,
  };
  const complaint = kindMismatch(definition, resultMeta, unnamedScheme);
  if (complaint === undefined) return;
  yield* decodeAsKind(served, resultMeta, parsedPlain(result), definition.group);
  throw isRegistered(resultMeta, definition.group) ? new NoConversion(complaint) : new DecodeError(complaint);
}

/**
 * Decodes the result of a patch as an object of the kind, with its unknown fields; `read` is the object before
 * defaulting. A custom resource that apply or a webhook made (`isGenerated`) is not decoded. `converts`: see
 * `decodeText`. `text` is the result in the spelling of the patch.
 */
export function* decodeResult(
  definition: ResourceDefinition,
  result: JsonObject,
  {
    isGenerated = false,
    converts = false,
    text = parsedPlain(result),
  }: { readonly isGenerated?: boolean; readonly converts?: boolean; readonly text?: ParsedJson } = {},
): Steps<DecodedObject & { readonly read: object }> {
  if (definition.reader !== undefined) {
    if (text.numberError !== undefined) throw new DecodeError(text.numberError);
    if (result['apiVersion'] === null) throw new DecodeError(nullVersionMessage);
    const { apiVersion, kind } = checkTypeMeta(typeMetaOf(result));
    if (kind === '') throw new DecodeError(`Object 'Kind' is missing in '${goJson(result)}'`);
    const { object, strict } = yield* decodeWithReader(definition, result, { isGenerated });
    if (isGenerated) checkVersioned({ apiVersion });
    return { object: { ...object, apiVersion }, strict: [...text.duplicates, ...strict], read: result };
  }
  const { value, strict, emptyMembers } = yield* decodeText(definition.schema, text, { converts });
  const object = { ...(value as unknown as ApiObject), kind: definition.kind, apiVersion: groupVersion(definition) };
  return { object: yield* withDefaults(definition, object), strict, emptyMembers, read: object };
}

/** Applies a configuration: server-side apply (KEP-555). */
async function applyChange(
  request: ApiRequest,
  { definition, isProjected }: PatchedKind,
  write: WriteRequest,
  { fieldValidation, force }: WriteParameters,
): Promise<Change> {
  const body = await request.body();
  // Read only when there is an object that the configuration is applied to, or one that is created.
  let reading: Promise<AppliedBody> | undefined;
  return async (current) => {
    const turns = new TurnTaking();
    reading ??= readApplyConfiguration(body);
    const configuration = await reading;
    if (turns.isDue) await turns.next();
    const { object, emptyMembers } = await withVersions(definition, (versions) =>
      applyAndDecode(
        {
          live: current,
          config: configuration.config,
          schema: definition.schema,
          apiVersion: groupVersion(definition),
          kind: definition,
          manager: write.manager,
          subresource: write.managedSubresource,
          now: write.context.now,
          resetFields: (write.view === undefined ? definition.resetFields : write.view.resetFields) ?? [],
          versions,
          force: force ?? false,
          isScale: isProjected,
        },
        {
          isBuiltIn: definition.origin === 'built-in',
          decode: (result) => decodeResult(definition, result, { isGenerated: true }),
        },
      ),
    );
    checkRepeated(configuration, fieldValidation, (text) => write.context.warn(text));
    return { object, emptyMembers, managed: true };
  };
}
