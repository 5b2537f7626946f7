import { goJson, quote } from '../api/go-text.js';
import { messageOf } from '../api/message-of.js';
import { isList, isObject, type Json, type ManagedFieldsEntry } from '../api/object.js';
import { runSync, type Steps } from '../api/steps.js';
import { compareText } from '../api/text-order.js';
import { type FieldSet, readFieldSet, readWrittenFieldSet, writeFieldSet } from './field-set.js';

/** Converts between `metadata.managedFields` (KEP-555) and owners with sets of fields. */

export interface Owner {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  /** The API version of the field names. */
  readonly apiVersion: string;
  readonly subresource: string;
  /** The time of the last change of the entry: RFC 3339 with whole seconds. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
  /** The stored entry that the owner was read from, as long as it is unchanged. */
  readonly stored?: { readonly entry: ManagedFieldsEntry; readonly fields: FieldSet } | undefined;
}

/** Owners by their identity (see `identityOf`). */
export type Owners = ReadonlyMap<string, Owner>;

export const noOwners: Owners = new Map();

/**
 * Returns the identity of an owner; that of an applier is the same in all versions. Identities sort as Kubernetes sorts
 * managers.
 */
export function identityOf(owner: Pick<Owner, 'manager' | 'operation' | 'apiVersion' | 'subresource'>): string {
  const { manager, operation, apiVersion, subresource } = owner;
  let text = manager === '' ? '{' : `{"manager":${goJson(manager)},`;
  text += `"operation":"${operation}"`;
  if (operation === 'Update') text += `,"apiVersion":${goJson(apiVersion)}`;
  if (subresource !== '') text += `,"subresource":${goJson(subresource)}`;
  return `${text}}`;
}

/**
 * Parses entries; of two entries with the same identity, the later one counts. `stored` entries are known to be
 * canonical, as `writeManagedFields` writes them, and are written back unchanged.
 *
 * @throws Error with the text of Kubernetes for an invalid entry
 */
export function* readManagedFields(
  entries: Json | undefined,
  options: { readonly stored?: boolean } = {},
): Steps<Owners> {
  if (!isList(entries) || entries.length === 0) return noOwners;
  const owners = new Map<string, Owner>();
  for (const [index, entry] of entries.entries()) {
    const owner = yield* readEntry(
      isObject(entry) ? (entry as ManagedFieldsEntry) : {},
      index,
      options.stored === true,
    );
    owners.set(identityOf(owner), owner);
    yield;
  }
  return owners;
}

function* readEntry(entry: ManagedFieldsEntry, index: number, stored: boolean): Steps<Owner> {
  const { operation, apiVersion, fieldsType, fieldsV1, time } = entry;
  if (operation !== 'Apply' && operation !== 'Update') throw new Error('operation must be `Apply` or `Update`');
  if (!apiVersion) throw new Error('apiVersion must not be empty');
  if (!fieldsType) throw new Error(`missing fieldsType in managed fields entry ${index}`);
  if (fieldsType !== 'FieldsV1') {
    throw new Error(`invalid fieldsType ${quote(fieldsType)} in managed fields entry ${index}`);
  }
  const written = fieldsV1 ?? {};
  const fields = stored ? yield* readWrittenFieldSet(written) : readFieldSet(written);
  return {
    manager: entry.manager ?? '',
    operation,
    apiVersion,
    subresource: entry.subresource ?? '',
    time: time ?? undefined,
    fields,
    stored: stored ? { entry, fields } : undefined,
  };
}

/**
 * Returns the entries in the order of Kubernetes: appliers first, then by time in seconds, manager, version and
 * subresource.
 */
export function* writeManagedFields(owners: Owners): Steps<readonly ManagedFieldsEntry[]> {
  const entries: ManagedFieldsEntry[] = [];
  for (const owner of [...owners.values()].sort(byRank)) entries.push(yield* writeEntry(owner));
  return entries;
}

function* writeEntry(owner: Owner): Steps<ManagedFieldsEntry> {
  const { manager, operation, apiVersion, subresource, time, fields, stored } = owner;
  if (stored !== undefined && stored.fields === fields && stored.entry.time === time) return stored.entry;
  const entry: { -readonly [Member in keyof ManagedFieldsEntry]: ManagedFieldsEntry[Member] } = {};
  if (manager !== '') entry.manager = manager;
  entry.operation = operation;
  entry.apiVersion = apiVersion;
  if (time !== undefined) entry.time = time;
  entry.fieldsType = 'FieldsV1';
  entry.fieldsV1 = yield* writeFieldSet(fields);
  if (subresource !== '') entry.subresource = subresource;
  return entry;
}

export const seconds = (time: string | undefined): number =>
  time === undefined ? 0 : Math.floor(Date.parse(time) / 1_000) || 0;

const byRank = (a: Owner, b: Owner): number =>
  compareText(a.operation, b.operation) ||
  seconds(a.time) - seconds(b.time) ||
  (isOfDefinition(a) && isOfDefinition(b) ? 0 : byName(a, b));

/**
 * Whether this is an owner of a CustomResourceDefinition. Such owners stay in the order in which they wrote, even
 * within one second: with several API servers, a definition is established only five seconds later, so that the entry
 * of its creation comes first.
 */
const isOfDefinition = ({ apiVersion }: Owner): boolean => apiVersion.startsWith('apiextensions.');

const byName = (a: Owner, b: Owner): number =>
  compareText(a.manager, b.manager) ||
  compareText(a.apiVersion, b.apiVersion) ||
  compareText(a.subresource, b.subresource);

/** Whether a client requests that all ownership is reset, by an empty list or a single empty entry. */
export const isReset = (entries: Json | undefined): boolean =>
  isList(entries) &&
  (entries.length === 0 || (entries.length === 1 && isObject(entries[0]) && Object.keys(entries[0]).length === 0));

/** Returns why entries are invalid, in the words of Kubernetes; undefined if they are valid. */
export function managedFieldsProblem(entries: readonly ManagedFieldsEntry[] | undefined): string | undefined {
  try {
    runSync(readManagedFields(entries as Json | undefined));
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
