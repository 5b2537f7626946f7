import type { ApiObject } from '../api/object.js';
import { atOnce } from '../api/steps.js';
import { difference, has, type Path, setOf } from './field-set.js';
import { asJson } from './json-value.js';
import { identityOf, type Owner } from './managed-fields.js';
import { storedOwners, withOwners } from './ownership.js';
import { fieldElement } from './path-element.js';

/**
 * Who owns the number of replicas, seen from a Scale and from the object it scales: the one field they share has a
 * name in each. A Scale is written like any object, with the owners that `toScale` gives it; `fromScale` takes what
 * they have become back to the object.
 */

const scaleVersion = 'autoscaling/v1';
const replicas: Path = [fieldElement('spec'), fieldElement('replicas')];

/** Where each version of a kind keeps its replicas; undefined where it has none. Other versions are unknown. */
export type ReplicasPaths = ReadonlyMap<string, readonly string[] | undefined>;

const pathIn = (paths: ReplicasPaths, apiVersion: string): Path | undefined => paths.get(apiVersion)?.map(fieldElement);

/** The Scale with those owners of the object that own its replicas. */
export function toScale(object: ApiObject, scale: ApiObject, paths: ReplicasPaths): ApiObject {
  const kept = new Map<string, Owner>();
  for (const [identity, owner] of atOnce(storedOwners(asJson(object)))) {
    const path = pathIn(paths, owner.apiVersion);
    if (path === undefined || !has(owner.fields, path)) continue;
    kept.set(identity, { ...owner, apiVersion: scaleVersion, fields: setOf(replicas) });
  }
  return atOnce(withOwners(asJson(scale), kept));
}

/**
 * The object with its owners after its Scale was written. Owners new to the replicas get an entry without time, as in
 * Kubernetes; `apiVersion` is the version of the object they are named in.
 */
export function fromScale(
  object: ApiObject,
  written: ApiObject,
  { paths, apiVersion }: { readonly paths: ReplicasPaths; readonly apiVersion: string },
): ApiObject {
  const scale = new Map([...atOnce(storedOwners(asJson(written))).values()].map((owner) => [ownerKey(owner), owner]));
  const kept = new Map<string, Owner>();
  const keep = (owner: Owner): void => {
    if (owner.fields.size > 0) kept.set(identityOf(owner), owner);
  };
  for (const owner of atOnce(storedOwners(asJson(object))).values()) {
    if (!paths.has(owner.apiVersion)) continue;
    const path = pathIn(paths, owner.apiVersion);
    // Who wrote the scale before owns them in the version of the last such write.
    const isElsewhere = owner.subresource === 'scale' && owner.apiVersion !== apiVersion;
    const isStill = path === undefined || !has(owner.fields, path) || (!isElsewhere && scale.delete(ownerKey(owner)));
    keep(isStill ? owner : { ...owner, fields: difference(owner.fields, setOf(path)) });
  }
  const path = pathIn(paths, apiVersion);
  for (const owner of path === undefined ? [] : scale.values()) {
    if (has(owner.fields, replicas)) keep({ ...owner, apiVersion, time: undefined, fields: setOf(path ?? []) });
  }
  return atOnce(withOwners(asJson(object), kept));
}

/** The same owner in both: versions differ by nature. */
const ownerKey = ({ manager, operation, subresource }: Owner): string =>
  JSON.stringify([manager, operation, subresource]);
