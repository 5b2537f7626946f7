import type { ApiObject, JsonObject } from '../api/object.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { compileEncoder, type EncodedType } from '../schema/encode.js';
import type { Document, Entry } from '../store/store.js';

/** Between stored bytes and objects of the version a request speaks. */

const readings = new WeakMap<ResourceDefinition, WeakMap<Entry, ApiObject>>();

/** The stored object in the definition's version. Not to be changed. */
export function stored(definition: ResourceDefinition, entry: Entry): ApiObject {
  const { codec } = definition;
  if (codec === undefined) return entry.value as unknown as ApiObject;
  let known = readings.get(definition);
  if (known === undefined) {
    known = new WeakMap();
    readings.set(definition, known);
  }
  const before = known.get(entry);
  if (before !== undefined) return before;
  const object = codec.read(entry.value as JsonObject);
  known.set(entry, object);
  return object;
}

const storageTypes = new WeakMap<ResourceDefinition, EncodedType>();

/** The type as it is stored: another version than the one served, for some custom resources. */
function storageType(definition: ResourceDefinition): EncodedType {
  if (definition.storageVersion === undefined || definition.storageVersion === definition.version) return definition;
  const known = storageTypes.get(definition) ?? { ...definition, version: definition.storageVersion };
  storageTypes.set(definition, known);
  return known;
}

/** The bytes an object is stored as, its resourceVersion still to be written. */
export const encode = (definition: ResourceDefinition, object: ApiObject): Document =>
  compileEncoder(storageType(definition))(definition.codec === undefined ? object : definition.codec.store(object));

/** Would storing the document change nothing? */
export function sameDocument(document: Document, entry: Entry): boolean {
  const { bytes, revisionAt } = entry;
  if (document.revisionAt !== revisionAt) return false;
  if (revisionAt < 0) return document.bytes.equals(bytes);
  const digits = String(entry.revision).length;
  return (
    document.bytes.length + digits === bytes.length &&
    document.bytes.compare(bytes, 0, revisionAt, 0, revisionAt) === 0 &&
    document.bytes.compare(bytes, revisionAt + digits, bytes.length, revisionAt) === 0
  );
}

/** Can the stored bytes go to a caller of this version as they are? */
export const asStored = (definition: ResourceDefinition): boolean => definition.codec === undefined;
