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
import { containerViolations, untrimmed } from './container-rules.js';
import { variableFileViolations } from './environment-rules.js';
import { hostNetworkViolations, hostPortConflicts } from './port-rules.js';
import { membersOf, nameTaken, oneOf, type Placed, placed, portsOf, structOf, wordOf } from './rule-words.js';
import { volumeViolations } from './volume-rules.js';

/**
 * What a pod must have to be one: containers with names and images, volumes that are mounted and exist, words that are
 * known. The same rules, texts and order as `ValidatePodSpec` of Kubernetes' core/validation, of which probes, hooks,
 * security contexts, affinities, tolerations, claims and volumes that are not made of objects are left out.
 */
export function* podViolations({ spec = {} }: Pod, domains: Domains): Steps<readonly Violation[]> {
  const volumes = yield* volumeViolations(spec.volumes ?? [], domains);
  const containers = placed('spec.containers', spec.containers);
  const initContainers = placed('spec.initContainers', spec.initContainers);
  const ports = portsOf(containers);
  const names = new Set<string>();
  const program = ([at, given]: Placed<Container>[number]): readonly Violation[] => [
    ...containerViolations(at, given, volumes.mountable),
    ...nameTaken(at, given.name ?? '', names),
  ];
  // Of these those without a name are not called by one name; and Kubernetes has each listen as if it were the first.
  const early = ([at, given]: Placed<Container>[number]): readonly Violation[] => [
    ...(given.name || names.has('') ? program([at, given]) : containerViolations(at, given, volumes.mountable)),
    ...hostPortConflicts(portsOf([[index('spec.initContainers', 0), given]])),
  ];
  return [
    ...volumes.found,
    ...(containers.length === 0 ? [required('spec.containers')] : []),
    ...(yield* validateEachInSteps(containers, program)),
    ...hostPortConflicts(ports),
    ...(yield* validateEachInSteps(initContainers, early)),
    ...(yield* validateEachInSteps(placed('spec.ephemeralContainers', spec.ephemeralContainers), program)),
    ...(spec.hostNetwork === true ? hostNetworkViolations(ports) : []),
    ...(yield* wordViolations(spec)),
    ...variableFileViolations(spec),
    ...(spec.serviceAccountName ? [] : tokenViolations(spec)),
    ...validateEach([...containers, ...initContainers], ([at, { image = '' }]) => untrimmed(at, image)),
  ];
}

/** A pod without an account has no token of one. */
const tokenViolations = ({ volumes = [] }: PodSpec): readonly Violation[] =>
  validateEach(placed('spec.volumes', volumes), ([path, volume]) =>
    validateEach(
      placed(child(path, 'projected', 'sources'), membersOf(structOf(volume['projected'])?.['sources'])),
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

/** Of a pod that is not there yet. */
export const newPodViolations = ({ spec = {} }: Pod): readonly Violation[] => [
  ...(spec.ephemeralContainers?.length ? [forbiddenField('spec.ephemeralContainers', 'cannot be set on create')] : []),
  ...(spec.nodeName && membersOf(spec['schedulingGates']).length > 0
    ? [forbiddenField('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')]
    : []),
];

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
/** Seconds. */
export const longestDeadline = 2_147_483_647;

/** Of what the pod as a whole says in one word or number. */
function* wordViolations(spec: PodSpec): Steps<readonly Violation[]> {
  const { restartPolicy = '', activeDeadlineSeconds: deadline } = spec;
  const named = (name: string, rule: (text: string) => readonly string[]): readonly Violation[] => {
    const text = wordOf(spec[name]);
    return text === '' ? [] : eachInvalid(`spec.${name}`, text, rule(text));
  };
  return [
    ...oneOf('spec.restartPolicy', restartPolicy, restartPolicies),
    ...oneOf('spec.dnsPolicy', wordOf(spec['dnsPolicy']), dnsPolicies),
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
