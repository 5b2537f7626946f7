import { annotationsLimit, sizeOfAnnotations } from '../api/annotations.js';
import { goLowerCase, quote } from '../api/go-text.js';
import { validateLabels } from '../api/label-selectors.js';
import { nameRules, pathSegment, qualifiedName } from '../api/names.js';
import type { ApiObject, ObjectMeta, OwnerReference } from '../api/object.js';
import { managerViolations } from '../api/options.js';
import type { Steps } from '../api/steps.js';
import { sortTexts } from '../api/text-order.js';
import { timestamp } from '../api/time.js';
import {
  child,
  eachInvalid,
  forbiddenField,
  index,
  invalid,
  invalidOnce,
  invalidTypedString,
  required,
  tooLong,
  type Violation,
  validateEach,
  validateEachInSteps,
} from '../api/violations.js';
import type { NameRule } from './resource-definition.js';

/**
 * The rules for the metadata of every kind: which fields the server sets, which may change, and which values are valid.
 * Pure.
 */

type Meta = ObjectMeta;
const base = 'metadata';

/** Returns an object without these members of its metadata. */
function withoutMeta<T extends ApiObject>(object: T, ...members: readonly (keyof Meta)[]): T {
  if (!members.some((member) => object.metadata[member] !== undefined)) return object;
  const metadata = { ...object.metadata };
  for (const member of members) delete metadata[member];
  return { ...object, metadata };
}

/** Returns the object without the fields that only the server sets: the first step of every create. */
export const wipeSystemFields = <T extends ApiObject>(object: T): T =>
  withoutMeta(object, 'uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink');

/** Returns a new object with its server-owned fields set; `generation` only if the kind has generations. */
export const fillSystemFields = <T extends ApiObject>(
  object: T,
  fields: { readonly uid: string; readonly now: number; readonly countsGenerations: boolean },
): T => ({
  ...object,
  metadata: {
    ...object.metadata,
    uid: fields.uid,
    creationTimestamp: timestamp(fields.now),
    ...(fields.countsGenerations ? { generation: 1 } : {}),
  },
});

/**
 * Returns the object of an update with the fields restored that an update cannot change. `selfLink` is never stored,
 * but a dry run returns it.
 */
export function keepSystemFields<T extends ApiObject>(
  next: T,
  previous: ApiObject,
  { dryRun }: { readonly dryRun: boolean },
): T {
  const old = previous.metadata;
  const { creationTimestamp: _created, generation: _generation, selfLink: link, ...kept } = next.metadata;
  const metadata: { -readonly [Member in keyof Meta]: Meta[Member] } = kept;
  if (dryRun && link !== undefined) metadata.selfLink = link;
  if (!metadata.uid && old.uid !== undefined) metadata.uid = old.uid;
  if (old.creationTimestamp !== undefined) metadata.creationTimestamp = old.creationTimestamp;
  if (old.generation !== undefined) metadata.generation = old.generation;
  if (old.deletionTimestamp !== undefined) metadata.deletionTimestamp = old.deletionTimestamp;
  if (old.deletionGracePeriodSeconds !== undefined)
    metadata.deletionGracePeriodSeconds ??= old.deletionGracePeriodSeconds;
  return { ...next, metadata };
}

/** Metadata that writes to the status cannot change for most kinds; such changes are ignored. */
const notByStatus = [
  'deletionTimestamp',
  'selfLink',
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
] as const;

/**
 * Returns the metadata for a write to the status. Other members stay as they were sent, so that a different uid is
 * refused.
 */
export function resetForStatus(next: Meta, previous: Meta): Meta {
  const metadata: { -readonly [Member in keyof Meta]: Meta[Member] } = { ...next };
  for (const member of notByStatus) {
    delete metadata[member];
    if (previous[member] !== undefined) Object.assign(metadata, { [member]: previous[member] });
  }
  return metadata;
}

/** Removes identical duplicate owner references; returns the UIDs that were repeated. */
export function dedupeOwnerReferences<T extends ApiObject>(
  object: T,
): { readonly object: T; readonly repeated: readonly string[] } {
  const owners = object.metadata.ownerReferences;
  if (owners === undefined || owners.length < 2) return { object, repeated: [] };
  const seen = new Set<string>();
  const repeated: string[] = [];
  const unique = owners.filter((owner) => {
    const text = JSON.stringify([
      owner.apiVersion,
      owner.kind,
      owner.name,
      owner.uid,
      owner.controller,
      owner.blockOwnerDeletion,
    ]);
    if (seen.has(text)) {
      repeated.push(owner.uid);
      return false;
    }
    seen.add(text);
    return true;
  });
  if (repeated.length === 0) return { object, repeated };
  return { object: { ...object, metadata: { ...object.metadata, ownerReferences: unique } }, repeated };
}

/** Returns all violations in the metadata of an object, in Kubernetes' order. */
export function* validateMetadata(
  { metadata }: ApiObject,
  rules: { readonly namespaced: boolean; readonly nameRule: NameRule; readonly strictFinalizers: boolean },
): Steps<readonly Violation[]> {
  const { name, generateName, namespace, generation } = metadata;
  const found: Violation[] = [];
  const wrong = (field: string, value: string, texts: readonly string[]): void => {
    found.push(...eachInvalid(child(base, field), value, texts));
  };
  if (generateName) wrong('generateName', generateName, rules.nameRule(generateName, { prefix: true }));
  if (!name) found.push(required(child(base, 'name'), 'name or generateName is required'));
  else wrong('name', name, rules.nameRule(name, { prefix: false }));
  if (rules.namespaced) {
    if (!namespace) found.push(required(child(base, 'namespace')));
    else wrong('namespace', namespace, nameRules.dnsLabel(namespace, { prefix: false }));
  }
  if (generation !== undefined && generation < 0) {
    found.push(invalid(child(base, 'generation'), generation, 'must be greater than or equal to 0'));
  }
  return [
    ...found,
    ...(yield* validateLabels(metadata.labels, child(base, 'labels'))),
    ...(yield* validateAnnotations(metadata.annotations)),
    ...validateOwners(metadata.ownerReferences),
    ...(yield* validateFinalizers(metadata.finalizers)),
    ...validateManagedFields(metadata),
    ...(rules.strictFinalizers ? validateFinalizerNames(metadata) : []),
  ];
}

/**
 * Returns the violations of the rules for updates of metadata. Those for its maps and lists are repeated, as in
 * Kubernetes.
 */
export function* validateMetadataUpdate(next: ApiObject, previous: ApiObject): Steps<readonly Violation[]> {
  const [now, old] = [next.metadata, previous.metadata];
  const changed = immutableMembers.filter((member) => now[member] !== old[member]);
  return [
    ...(old.deletionTimestamp === undefined ? nothing : validateFinalizersOfTerminating(now, old)),
    ...(now.generation !== undefined && now.generation < (old.generation ?? 0)
      ? [invalid(child(base, 'generation'), now.generation, 'must not be decremented')]
      : []),
    ...changed.map((member) => {
      if (member === 'uid') return invalidTypedString(child(base, member), now.uid ?? '', 'field is immutable');
      return invalid(child(base, member), now[member] ?? '', 'field is immutable');
    }),
    ...(yield* validateLabels(now.labels, child(base, 'labels'))),
    ...(yield* validateAnnotations(now.annotations)),
    ...validateOwners(now.ownerReferences),
    ...validateManagedFields(now),
  ];
}

const immutableMembers = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;

function validateFinalizersOfTerminating(now: Meta, old: Meta): readonly Violation[] {
  const before = new Set(old.finalizers);
  const added = sortTexts([...new Set(now.finalizers)].filter((name) => !before.has(name)));
  if (added.length === 0) return nothing;
  const shown = added.map((name) => quote(name)).join(', ');
  return [
    forbiddenField(
      child(base, 'finalizers'),
      `no new finalizers can be added if the object is being deleted, found new finalizers []string{${shown}}`,
    ),
  ];
}

const nothing: readonly Violation[] = [];

function* validateAnnotations(annotations: Meta['annotations']): Steps<readonly Violation[]> {
  if (annotations === undefined) return nothing;
  const path = child(base, 'annotations');
  const keys = Object.keys(annotations);
  yield;
  const size = sizeOfAnnotations(annotations);
  yield;
  return [
    ...(yield* validateEachInSteps(keys, (key) => eachInvalid(path, key, qualifiedName(goLowerCase(key))))),
    ...(size >= annotationsLimit ? [tooLong(path, annotationsLimit)] : []),
  ];
}

function validateOwners(owners: readonly OwnerReference[] | undefined): readonly Violation[] {
  if (owners === undefined) return nothing;
  const path = child(base, 'ownerReferences');
  const wrong = invalidOnce(path, owners);
  let controller: string | undefined;
  return validateEach(owners, (owner) => {
    const found: Violation[] = [];
    const parts = owner.apiVersion.split('/');
    const version = parts.at(-1) ?? '';
    const group = parts.length === 2 ? (parts[0] ?? '') : '';
    const unparsable = parts.length > 2;
    if (version === '' || unparsable)
      found.push(invalid(child(path, 'apiVersion'), owner.apiVersion, 'version must not be empty'));
    if (owner.kind === '') found.push(invalid(child(path, 'kind'), owner.kind, 'must not be empty'));
    if (owner.name === '') found.push(invalid(child(path, 'name'), owner.name, 'must not be empty'));
    if (owner.uid === '') found.push(invalid(child(path, 'uid'), owner.uid, 'must not be empty'));
    if (group === '' && version === 'v1' && owner.kind === 'Event' && !unparsable) {
      found.push(invalid(path, { ...owner }, '/v1, Kind=Event is disallowed from being an owner'));
    }
    if (owner.controller === true) {
      const text = `${owner.kind}/${owner.name}`;
      if (controller !== undefined) {
        found.push(
          wrong(
            `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${text}`,
          ),
        );
      } else controller = text;
    }
    return found;
  });
}

function* validateFinalizers(list: readonly string[] | undefined): Steps<readonly Violation[]> {
  if (list === undefined) return nothing;
  const path = child(base, 'finalizers');
  return [
    ...(yield* validateEachInSteps(list, (name) => eachInvalid(path, name, qualifiedName(name)))),
    ...(list.includes('orphan') && list.includes('foregroundDeletion')
      ? [invalid(path, list, 'finalizer orphan and foregroundDeletion cannot be both set')]
      : []),
  ];
}

/** The finalizers that Kubernetes itself defines. */
export const standardFinalizers: ReadonlySet<string> = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

/** Returns the violations of a finalizer name that is neither a standard one nor qualified by a domain. */
export const finalizerNameViolations = (path: string, name: string): readonly Violation[] =>
  name.includes('/') || standardFinalizers.has(name)
    ? []
    : [invalid(path, name, 'name is neither a standard finalizer name nor is it fully qualified')];

/** Checks that the finalizers of an object are standard ones or qualified by a domain, as for most built-in kinds. */
export const validateFinalizerNames = ({ finalizers }: Meta): readonly Violation[] =>
  validateEach(finalizers ?? [], (name, at) => finalizerNameViolations(index(child(base, 'finalizers'), at), name));

const subresourceLimit = 256;
function validateManagedFields({ managedFields }: Meta): readonly Violation[] {
  if (managedFields === undefined) return nothing;
  return validateEach(managedFields, ({ manager = '', operation = '', fieldsType = '', subresource = '' }, at) => {
    const wrong: Violation[] = [];
    const path = (member: string): string => child(base, index('managedFields', at), member);
    if (operation !== 'Apply' && operation !== 'Update')
      wrong.push(invalid(path('operation'), operation, 'must be `Apply` or `Update`'));
    if (fieldsType !== '' && fieldsType !== 'FieldsV1')
      wrong.push(invalid(path('fieldsType'), fieldsType, 'must be `FieldsV1`'));
    wrong.push(...managerViolations(path('manager'), manager));
    if (Buffer.byteLength(subresource) > subresourceLimit) wrong.push(tooLong(path('subresource'), subresourceLimit));
    return wrong;
  });
}

/**
 * Returns the violations that kinds with metadata rules of their own report on an update: changes of immutable
 * metadata, and names of finalizers.
 */
export function* validateMetadataChange(next: ApiObject, previous: ApiObject): Steps<readonly Violation[]> {
  return [...(yield* validateMetadataUpdate(next, previous)), ...validateFinalizerNames(next.metadata)];
}

/** The name rule of the generic registry for updates: any name that can be a path segment of a URL. */
export const anyName: NameRule = pathSegment;
