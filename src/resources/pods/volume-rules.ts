import type { Volume } from '../../api/kinds/pod.js';
import { dnsLabel } from '../../api/names.js';
import { isObject, type Json, type JsonObject } from '../../api/object.js';
import type { Steps } from '../../api/steps.js';
import {
  child,
  duplicate,
  eachInvalid,
  forbiddenField,
  index,
  ofEachInSteps,
  required,
  type Violation,
} from '../../api/violations.js';
import { wordOf } from './rule-words.js';

/** What is wrong with volumes, and the names of those with which nothing is. */
export function* volumeViolations(
  volumes: readonly Volume[],
): Steps<{ readonly found: readonly Violation[]; readonly mountable: ReadonlySet<string> }> {
  const mountable = new Set<string>();
  const found = yield* ofEachInSteps(volumes, (volume, at) => {
    const path = index('spec.volumes', at);
    const namePath = child(path, 'name');
    const { name = '' } = volume;
    const wrong = [
      ...sourceViolations(path, volume),
      ...(name === '' ? [required(namePath)] : eachInvalid(namePath, name, dnsLabel(name))),
      ...(mountable.has(name) ? [duplicate(namePath, name)] : []),
    ];
    if (wrong.length === 0) mountable.add(name);
    return wrong;
  });
  return { found, mountable };
}

/** What the sorts of volumes that only name something must name. */
const namedSources: Readonly<Record<string, string>> = {
  hostPath: 'path',
  secret: 'secretName',
  persistentVolumeClaim: 'claimName',
  configMap: 'name',
};
/** In the order in which Kubernetes looks for them. */
const sources = [
  ...['emptyDir', 'hostPath', 'gitRepo', 'gcePersistentDisk', 'awsElasticBlockStore', 'secret', 'nfs', 'iscsi'],
  ...['glusterfs', 'flocker', 'persistentVolumeClaim', 'rbd', 'cinder', 'cephfs', 'quobyte', 'downwardAPI', 'fc'],
  ...['flexVolume', 'configMap', 'azureFile', 'vsphereVolume', 'photonPersistentDisk', 'portworxVolume', 'azureDisk'],
  ...['storageos', 'projected', 'scaleIO', 'csi', 'ephemeral', 'image'],
];

function sourceViolations(path: string, volume: Volume): readonly Violation[] {
  const given = sources.filter((sort) => isObject((volume[sort] ?? null) as Json));
  if (given.length === 0) return [required(path, 'must specify a volume type')];
  return given.flatMap((sort, at) => {
    if (at > 0) return [forbiddenField(child(path, sort), 'may not specify more than 1 volume type')];
    const name = namedSources[sort];
    const source = volume[sort] as JsonObject;
    return name === undefined || wordOf(source[name]) !== '' ? [] : [required(child(path, sort, name))];
  });
}
