import { kedgeNames } from '../../src/api/kedge-names.js';
import { ClusterTrustBundles } from '../../src/api/kinds/cluster-trust-bundle.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { isTerminating, type Namespace } from '../../src/api/kinds/namespace.js';
import { Secrets, secretTypes } from '../../src/api/kinds/secret.js';
import { labelSelectorFrom } from '../../src/api/label-selectors.js';
import {
  type ApiObject,
  groupVersion,
  keyText,
  type ObjectKey,
  type ObjectMeta,
  type ResourceType,
  unstructured,
} from '../../src/api/object.js';
import type { NamespacedTarget, TrustBundle } from './trust-bundle.js';

/** An object that a bundle is written to. */
export interface Target {
  readonly type: ResourceType<ApiObject>;
  readonly key: ObjectKey;
  /** Returns the object to write; `found` is the existing one. */
  write(found: ApiObject | undefined): ApiObject;
  /** Whether the object contains the bundle as it should. */
  isRight(found: ApiObject): boolean;
  /** Whether the object cannot be updated to contain the bundle. */
  isFixed(found: ApiObject): boolean;
}

/** Returns the labels that mark an object as distributed by this controller. */
export const trustLabels = (owner: string, bundle: string): Readonly<Record<string, string>> => ({
  [kedgeNames.trustOwnerLabel]: owner,
  [kedgeNames.trustBundleLabel]: bundle,
});

export const hasLabels = ({ metadata }: ApiObject, required: Readonly<Record<string, string>>): boolean =>
  Object.entries(required).every(([label, value]) => metadata.labels?.[label] === value);

/** Returns all objects that are to contain a bundle. */
export function targetsOf(
  { name, targets }: TrustBundle,
  content: { readonly text: string; readonly owner: string; readonly namespaces: readonly Namespace[] },
): readonly Target[] {
  const { text, owner, namespaces } = content;
  const labels = trustLabels(owner, name);
  const { clusterTrustBundle, configMaps, secrets } = targets;
  const selected = ({ namespaces: spec }: NamespacedTarget): readonly string[] => {
    const selector = labelSelectorFrom(spec);
    return namespaces
      .filter((namespace) => !isTerminating(namespace) && selector.matches(namespace.metadata.labels ?? {}))
      .map(({ metadata }) => metadata.name ?? '');
  };
  return [
    ...(clusterTrustBundle === undefined
      ? []
      : [target(ClusterTrustBundles, { name: clusterTrustBundle }, labels, { spec: { trustBundle: text } })]),
    ...(configMaps === undefined
      ? []
      : selected(configMaps).map((namespace) =>
          target(ConfigMaps, { namespace, name: configMaps.name ?? name }, labels, {
            data: { [configMaps.key ?? 'ca.crt']: text },
          }),
        )),
    ...(secrets === undefined
      ? []
      : selected(secrets).map((namespace) =>
          target(Secrets, { namespace, name: secrets.name ?? name }, labels, {
            type: secretTypes.opaque,
            data: { [secrets.key ?? 'ca.crt']: Buffer.from(text).toString('base64') },
          }),
        )),
  ];
}

function target(
  type: ResourceType<ApiObject>,
  key: ObjectKey,
  labels: Readonly<Record<string, string>>,
  contents: Readonly<Record<string, unknown>>,
): Target {
  return {
    type,
    key,
    write: (found) => {
      const { namespace, name } = key;
      const metadata: ObjectMeta = found?.metadata ?? (namespace === undefined ? { name } : { namespace, name });
      return {
        apiVersion: groupVersion(type),
        kind: type.kind,
        metadata: { ...metadata, labels: { ...found?.metadata.labels, ...labels } },
        ...contents,
      };
    },
    isFixed: (found) => {
      const { immutable, type: currentType = '' } = unstructured(found);
      return immutable === true || currentType !== (contents['type'] ?? '');
    },
    isRight: (found) =>
      hasLabels(found, labels) &&
      !Object.hasOwn(found, 'binaryData') &&
      Object.entries(contents).every(([member, value]) => sameMembers(unstructured(found)[member], value)),
  };
}

function sameMembers(actual: unknown, desired: unknown): boolean {
  if (typeof desired !== 'object' || desired === null) return actual === desired;
  if (typeof actual !== 'object' || actual === null) return false;
  const [desiredEntries, actualMembers] = [Object.entries(desired), new Map(Object.entries(actual))];
  return (
    desiredEntries.length === actualMembers.size &&
    desiredEntries.every(([name, value]) => sameMembers(actualMembers.get(name), value))
  );
}

/** Returns the objects with our labels that are not targets. */
export const leftovers = (
  found: readonly ApiObject[],
  targets: readonly Target[],
  type: ResourceType,
): readonly ApiObject[] => {
  const keys = new Set(targets.filter((one) => one.type === type).map(({ key }) => keyText(key)));
  return found.filter(
    ({ metadata }) => !keys.has(keyText({ namespace: metadata.namespace, name: metadata.name ?? '' })),
  );
};
