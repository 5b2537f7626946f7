import type { Domains } from '../../api/domains.js';
import type { Volume } from '../../api/kinds/pod.js';
import { dnsLabel } from '../../api/names.js';
import type { JsonObject } from '../../api/object.js';
import type { Steps } from '../../api/steps.js';
import {
  child,
  duplicate,
  type Findings,
  forbiddenField,
  index,
  required,
  type Violation,
  validateEachInSteps,
} from '../../api/violations.js';
import { requiredText, structOf, textOr } from './common-rules.js';
import { downwardApiViolations, objectVolumeViolations, projectedVolumeViolations } from './file-volume-rules.js';

/** Validates volumes; returns the violations, and the names of the volumes without any. */
export function* volumeViolations(
  volumes: readonly Volume[],
  domains: Domains,
): Steps<{ readonly found: readonly Violation[]; readonly mountable: ReadonlySet<string> }> {
  const mountable = new Set<string>();
  const found = yield* validateEachInSteps(volumes, function* (volume, at): Steps<readonly Violation[]> {
    const path = index('spec.volumes', at);
    const namePath = child(path, 'name');
    const { name = '' } = volume;
    const wrong = [
      ...(yield* sourceViolations(path, volume, domains)),
      ...requiredText(namePath, name, dnsLabel),
      ...(mountable.has(name) ? [duplicate(namePath, name)] : []),
    ];
    if (wrong.length === 0) mountable.add(name);
    return wrong;
  });
  return { found, mountable };
}

type SourceRule = (path: string, source: JsonObject, domains: Domains) => Findings;

/** Rules of volumes by source. */
const rules: Readonly<Record<string, SourceRule>> = {
  hostPath: (path, source) => requiredText(child(path, 'path'), textOr(source['path'])),
  secret: (path, source) => objectVolumeViolations(path, source, 'secretName'),
  persistentVolumeClaim: (path, source) => requiredText(child(path, 'claimName'), textOr(source['claimName'])),
  downwardAPI: downwardApiViolations,
  configMap: (path, source) => objectVolumeViolations(path, source, 'name'),
  projected: projectedVolumeViolations,
};
/** Sources of volumes, in the order in which Kubernetes checks them. */
const sources = [
  ...['emptyDir', 'hostPath', 'gitRepo', 'gcePersistentDisk', 'awsElasticBlockStore', 'secret', 'nfs', 'iscsi'],
  ...['glusterfs', 'flocker', 'persistentVolumeClaim', 'rbd', 'cinder', 'cephfs', 'quobyte', 'downwardAPI', 'fc'],
  ...['flexVolume', 'configMap', 'azureFile', 'vsphereVolume', 'photonPersistentDisk', 'portworxVolume', 'azureDisk'],
  ...['storageos', 'projected', 'scaleIO', 'csi', 'ephemeral', 'image'],
];

/** Kubernetes' spelling in this error. */
const spellings: Readonly<Record<string, string>> = { downwardAPI: 'downwarAPI' };

function* sourceViolations(path: string, volume: Volume, domains: Domains): Steps<readonly Violation[]> {
  const [first, ...more] = sources.flatMap((sort) => {
    const source = structOf(volume[sort]);
    return source === undefined ? [] : [{ sort, source }];
  });
  if (first === undefined) return [required(path, 'must specify a volume type')];
  const at = child(path, first.sort);
  const found = rules[first.sort]?.(at, first.source, domains) ?? [];
  return [
    ...('next' in found ? yield* found : found),
    ...more.map(({ sort }) =>
      forbiddenField(child(path, spellings[sort] ?? sort), 'may not specify more than 1 volume type'),
    ),
  ];
}
