import { isObject } from '../object.js';
import type { Pod } from './pod.js';

/** Other objects that a pod's spec names. What was stored in a form that is not read any more names nothing. */

type Fields = Readonly<Record<string, unknown>>;
const fields = (value: unknown): Fields => (isObject(value) ? value : {});
const items = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isObject) : []);
const nameAt = (value: unknown, member = 'name'): readonly string[] => {
  const name = fields(value)[member];
  return typeof name === 'string' && name !== '' ? [name] : [];
};

const containerLists = ['initContainers', 'containers', 'ephemeralContainers'] as const;
export type ContainerList = (typeof containerLists)[number];

/** Volumes and containers as far as they are objects. */
export const volumesOf = ({ spec }: Pod): readonly Fields[] => items(spec?.['volumes']);
export const containersIn = ({ spec }: Pod, list: ContainerList): readonly Fields[] => items(spec?.[list]);
const containersOf = (pod: Pod): readonly Fields[] => containerLists.flatMap((list) => containersIn(pod, list));

/** Environment variables of a container, and whole sources of them, as far as they are objects. */
export const environmentOf = ({ env }: Fields): readonly Fields[] => items(env);
export const environmentSourcesOf = ({ envFrom }: Fields): readonly Fields[] => items(envFrom);

/** The Secret a variable is from; a whole source of variables names its own at the top. */
export const secretOfVariable = (variable: Fields): string | undefined =>
  nameAt(fields(variable['valueFrom'])['secretKeyRef'])[0];
export const secretOfSource = (source: Fields): string | undefined => nameAt(source['secretRef'])[0];

const projections = (volume: Fields): readonly Fields[] => items(fields(volume['projected'])['sources']);

/** Sorts of volumes that name a Secret, and where. */
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
    ...volumeSecrets.flatMap(([sort, member]) => nameAt(fields(volume[sort])[member])),
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

/** Sorts of what volumes hold and of what is projected into them, volume by volume (`csi`, `serviceAccountToken`). */
export const sourcesIn = (pod: Pod): readonly string[] =>
  volumesOf(pod)
    .flatMap((volume) => [volume, ...projections(volume)])
    .flatMap((sources) => Object.keys(sources).filter((sort) => isObject(sources[sort])));

export const resourceClaimsOf = ({ spec }: Pod): readonly Fields[] => items(spec?.['resourceClaims']);

/** Audiences of the tokens that the pod's volumes hold; "" stands for the API server's. */
export const tokenAudiencesIn = (pod: Pod): ReadonlySet<string> =>
  new Set(
    volumesOf(pod).flatMap((volume) =>
      projections(volume).flatMap(({ serviceAccountToken }) =>
        isObject(serviceAccountToken) ? [nameAt(serviceAccountToken, 'audience')[0] ?? ''] : [],
      ),
    ),
  );
