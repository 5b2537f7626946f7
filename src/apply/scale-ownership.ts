import { type ApiObject, asJson } from '../api/object.js';
import { runSync } from '../api/steps.js';
import { difference, has, type Path, setOf } from './field-set.js';
import type { Owner } from './managed-fields.js';
import { storedOwners, withOwners } from './object-owners.js';
import { fieldElement } from './path-element.js';

/**
 * Converts the ownership of the number of replicas between an object and its Scale, in which the field has different
 * names. A Scale is written like any object, with the owners that `toScale` gives it; `fromScale` transfers the
 * resulting owners to the object.
 */

const scaleVersion = 'autoscaling/v1';
const replicas: Path = [fieldElement('spec'), fieldElement('replicas')];

/**
 * The path of the replicas in each version of a kind; undefined for a version without replicas. Other versions are
 * unknown.
 */
export type ReplicasPaths = ReadonlyMap<string, readonly string[] | undefined>;

const pathIn = (paths: ReplicasPaths, apiVersion: string): Path | undefined => paths.get(apiVersion)?.map(fieldElement);

/** Returns the Scale with those owners of the object that own its replicas. */
export function toScale(object: ApiObject, scale: ApiObject, paths: ReplicasPaths): ApiObject {
  const owners = new Map<string, Owner>();
  for (const [identity, owner] of runSync(storedOwners(asJson(object)))) {
    const path = pathIn(paths, owner.apiVersion);
    if (path === undefined || !has(owner.fields, path)) continue;
    owners.set(identity, { ...owner, apiVersion: scaleVersion, fields: setOf(replicas) });
  }
  return runSync(withOwners(asJson(scale), owners));
}

/**
 * Returns the object with its owners after its Scale was written. As in Kubernetes, replicas that an update owned get
 * an entry for the Scale without a time, even if nothing changed. `apiVersion` is the version of the object in which
 * the fields are named.
 */
export function fromScale(
  object: ApiObject,
  written: ApiObject,
  { paths, apiVersion }: { readonly paths: ReplicasPaths; readonly apiVersion: string },
): ApiObject {
  const scale = new Map(runSync(storedOwners(asJson(written))));
  const owners = new Map<string, Owner>();
  for (const [identity, owner] of runSync(storedOwners(asJson(object)))) {
    if (!paths.has(owner.apiVersion)) continue;
    const path = pathIn(paths, owner.apiVersion);
    // The identity of an update contains the version, which differs in a Scale: only apply entries are found again.
    if (path === undefined || !has(owner.fields, path) || scale.delete(identity)) owners.set(identity, owner);
    else {
      const fields = difference(owner.fields, setOf(path));
      if (fields.size > 0) owners.set(identity, { ...owner, fields });
    }
  }
  const path = pathIn(paths, apiVersion);
  if (path !== undefined) {
    for (const [identity, owner] of scale) {
      // With its identity in the Scale, the entry may duplicate one of the same owner. The next read keeps only one of
      // them.
      if (has(owner.fields, replicas)) {
        owners.set(identity, { ...owner, apiVersion, time: undefined, fields: setOf(path) });
      }
    }
  }
  return runSync(withOwners(asJson(object), owners));
}
