import { isObject } from '../object.js';
import type { Pod } from './pod.js';

/**
 * Finds the references from a pod's spec to other objects. Stored pods may have forms that are no longer valid; parts
 * of an unexpected type are skipped.
 */

type Fields = Readonly<Record<string, unknown>>;
const fields = (value: unknown): Fields => (isObject(value) ? value : {});
const items = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isObject) : []);
const nameAt = (value: unknown, member = 'name'): readonly string[] => {
  const name = fields(value)[member];
  return typeof name === 'string' && name !== '' ? [name] : [];
};

const containerLists = ['initContainers', 'containers', 'ephemeralContainers'] as const;
export type ContainerList = (typeof containerLists)[number];

/** Returns the volumes of a pod, or its containers in one list, without entries that are not objects. */
export const volumesOf = ({ spec }: Pod): readonly Fields[] => items(spec?.['volumes']);
export const containersIn = ({ spec }: Pod, list: ContainerList): readonly Fields[] => items(spec?.[list]);
const containersOf = (pod: Pod): readonly Fields[] => containerLists.flatMap((list) => containersIn(pod, list));

/**
 * Returns the environment variables of a container, or their sources in `envFrom`, without entries that are not
 * objects.
 */
export const environmentOf = ({ env }: Fields): readonly Fields[] => items(env);
export const environmentSourcesOf = ({ envFrom }: Fields): readonly Fields[] => items(envFrom);

/** Returns the name of the Secret that a variable refers to; a source in `envFrom` has its reference at the top. */
export const secretOfVariable = (variable: Fields): string | undefined =>
  nameAt(fields(variable['valueFrom'])['secretKeyRef'])[0];
export const secretOfSource = (source: Fields): string | undefined => nameAt(source['secretRef'])[0];

const projections = (volume: Fields): readonly Fields[] => items(fields(volume['projected'])['sources']);

/** The types of volumes that refer to a Secret, with the path of the reference. */
const volumeSecrets: readonly (readonly [volume: string, member: string])[] = [
  ['cephfs', 'secretRef'],
  ['cinder', 'secretRef'],
  ['flexVolume', 'secretRef'],
  ['rbd', 'secretRef'],
  ['scaleIO', 'secretRef'],
  ['iscsi', 'secretRef'],
  ['storageos', 'secretRef'],
  ['csi', 'nodePublishSecretRef'],
];

export function secretNamesIn(pod: Pod): ReadonlySet<string> {
  const ofVolumes = volumesOf(pod).flatMap((volume) => [
    ...nameAt(volume['secret'], 'secretName'),
    ...nameAt(volume['azureFile'], 'secretName'),
    ...volumeSecrets.flatMap(([source, member]) => nameAt(fields(volume[source])[member])),
    ...projections(volume).flatMap(({ secret }) => nameAt(secret)),
  ]);
  const ofContainers = containersOf(pod).flatMap((container) => [
    ...environmentOf(container).flatMap((variable) => secretOfVariable(variable) ?? []),
    ...environmentSourcesOf(container).flatMap((source) => secretOfSource(source) ?? []),
  ]);
  const ofImages = items(pod.spec?.['imagePullSecrets']).flatMap((reference) => nameAt(reference));
  return new Set([...ofVolumes, ...ofContainers, ...ofImages]);
}

export function configMapNamesIn(pod: Pod): ReadonlySet<string> {
  const ofVolumes = volumesOf(pod).flatMap((volume) => [
    ...nameAt(volume['configMap']),
    ...projections(volume).flatMap(({ configMap }) => nameAt(configMap)),
  ]);
  const ofContainers = containersOf(pod).flatMap((container) => [
    ...environmentOf(container).flatMap(({ valueFrom }) => nameAt(fields(valueFrom)['configMapKeyRef'])),
    ...environmentSourcesOf(container).flatMap(({ configMapRef }) => nameAt(configMapRef)),
  ]);
  return new Set([...ofVolumes, ...ofContainers]);
}

export const claimNamesIn = (pod: Pod): ReadonlySet<string> =>
  new Set(volumesOf(pod).flatMap((volume) => nameAt(volume['persistentVolumeClaim'], 'claimName')));

/**
 * Returns the types of the sources of all volumes, including those in projected volumes (`csi`, `serviceAccountToken`).
 */
export const sourcesIn = (pod: Pod): readonly string[] =>
  volumesOf(pod)
    .flatMap((volume) => [volume, ...projections(volume)])
    .flatMap((sources) => Object.keys(sources).filter((source) => isObject(sources[source])));

export const resourceClaimsOf = ({ spec }: Pod): readonly Fields[] => items(spec?.['resourceClaims']);

/** Returns the audiences of the tokens in the pod's volumes; the empty string means the API server. */
export const tokenAudiencesIn = (pod: Pod): ReadonlySet<string> =>
  new Set(
    volumesOf(pod).flatMap((volume) =>
      projections(volume).flatMap(({ serviceAccountToken }) =>
        isObject(serviceAccountToken) ? [nameAt(serviceAccountToken, 'audience')[0] ?? ''] : [],
      ),
    ),
  );
