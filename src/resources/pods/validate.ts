import type { Domains } from '../../api/domains.js';
import type { Container, Pod, PodSpec } from '../../api/kinds/pod.js';
import { validateLabels } from '../../api/label-selectors.js';
import { dnsLabel, dnsSubdomain } from '../../api/names.js';
import type { Steps } from '../../api/steps.js';
import {
  child,
  eachInvalid,
  forbiddenField,
  index,
  outOfRange,
  required,
  type Violation,
  validateEach,
  validateEachInSteps,
} from '../../api/violations.js';
import {
  duplicateName,
  objectsOf,
  portsOf,
  structOf,
  supportedWord,
  textOr,
  type WithPaths,
  withPaths,
} from './common-rules.js';
import { containerViolations, untrimmedImage } from './container-rules.js';
import { variableFileViolations } from './environment-rules.js';
import { hostNetworkViolations, hostPortConflicts } from './port-rules.js';
import { volumeViolations } from './volume-rules.js';

/**
 * Validates what every pod needs: containers with names and images, mounted volumes that exist, known words. Rules,
 * texts and order are those of `ValidatePodSpec` in Kubernetes' core/validation, without the ones about probes, hooks,
 * security contexts, affinities, tolerations, claims and volumes that are not made from API objects.
 */
export function* podViolations({ spec = {} }: Pod, domains: Domains): Steps<readonly Violation[]> {
  const volumes = yield* volumeViolations(spec.volumes ?? [], domains);
  const containers = withPaths('spec.containers', spec.containers);
  const initContainers = withPaths('spec.initContainers', spec.initContainers);
  const ports = portsOf(containers);
  const names = new Set<string>();
  const program = ([at, container]: WithPaths<Container>[number]): readonly Violation[] => [
    ...containerViolations(at, container, volumes.mountable),
    ...duplicateName(at, container.name ?? '', names),
  ];
  // Init containers without a name are not duplicates of each other, and Kubernetes reports host ports of each as if it
  // were the first.
  const early = ([at, container]: WithPaths<Container>[number]): readonly Violation[] => [
    ...(container.name || names.has('')
      ? program([at, container])
      : containerViolations(at, container, volumes.mountable)),
    ...hostPortConflicts(portsOf([[index('spec.initContainers', 0), container]])),
  ];
  return [
    ...volumes.found,
    ...(containers.length === 0 ? [required('spec.containers')] : []),
    ...(yield* validateEachInSteps(containers, program)),
    ...hostPortConflicts(ports),
    ...(yield* validateEachInSteps(initContainers, early)),
    ...(yield* validateEachInSteps(withPaths('spec.ephemeralContainers', spec.ephemeralContainers), program)),
    ...(spec.hostNetwork === true ? hostNetworkViolations(ports) : []),
    ...(yield* wordViolations(spec)),
    ...variableFileViolations(spec),
    ...(spec.serviceAccountName ? [] : tokenViolations(spec)),
    ...validateEach([...containers, ...initContainers], ([at, { image = '' }]) => untrimmedImage(at, image)),
  ];
}

/** Checks that a pod without a service account has no token of one. */
const tokenViolations = ({ volumes = [] }: PodSpec): readonly Violation[] =>
  validateEach(withPaths('spec.volumes', volumes), ([path, volume]) =>
    validateEach(
      withPaths(child(path, 'projected', 'sources'), objectsOf(structOf(volume['projected'])?.['sources'])),
      ([at, source]) =>
        structOf(source['serviceAccountToken']) === undefined
          ? []
          : [
              forbiddenField(
                child(at, 'serviceAccountToken'),
                'must not be specified when serviceAccountName is not set',
              ),
            ],
    ),
  );

/** Validates what only applies to new pods. */
export const newPodViolations = ({ spec = {} }: Pod): readonly Violation[] => [
  ...(spec.ephemeralContainers?.length ? [forbiddenField('spec.ephemeralContainers', 'cannot be set on create')] : []),
  ...(spec.nodeName && objectsOf(spec['schedulingGates']).length > 0
    ? [forbiddenField('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')]
    : []),
];

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
/** Longest deadline in seconds. */
export const longestDeadline = 2_147_483_647;

/** Validates fields of the spec that hold a single word or number. */
function* wordViolations(spec: PodSpec): Steps<readonly Violation[]> {
  const { restartPolicy = '', activeDeadlineSeconds: deadline } = spec;
  const named = (name: string, rule: (text: string) => readonly string[]): readonly Violation[] => {
    const text = textOr(spec[name]);
    return text === '' ? [] : eachInvalid(`spec.${name}`, text, rule(text));
  };
  return [
    ...supportedWord('spec.restartPolicy', restartPolicy, restartPolicies),
    ...supportedWord('spec.dnsPolicy', textOr(spec['dnsPolicy']), dnsPolicies),
    ...(yield* validateLabels(
      spec['nodeSelector'] as Readonly<Record<string, string>> | undefined,
      'spec.nodeSelector',
    )),
    ...named('serviceAccountName', dnsSubdomain),
    ...named('nodeName', dnsSubdomain),
    ...(typeof deadline === 'number'
      ? eachInvalid('spec.activeDeadlineSeconds', deadline, outOfRange(deadline, 1, longestDeadline))
      : []),
    ...named('hostname', dnsLabel),
    ...named('subdomain', dnsLabel),
    ...named('priorityClassName', dnsSubdomain),
  ];
}
