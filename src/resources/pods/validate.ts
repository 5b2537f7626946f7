import type { Container, Pod, PodSpec } from '../../api/kinds/pod.js';
import { dnsLabel, dnsSubdomain } from '../../api/names.js';
import { validateLabels } from '../../api/selectors.js';
import type { Steps } from '../../api/steps.js';
import {
  eachInvalid,
  forbiddenField,
  index,
  invalid,
  ofEach,
  ofEachInSteps,
  required,
  type Violation,
} from '../../api/violations.js';
import { containerViolations, untrimmed } from './container-rules.js';
import { hostNetworkViolations, hostPortConflicts } from './port-rules.js';
import { nameTaken, oneOf, wordOf } from './rule-words.js';
import { volumeViolations } from './volume-rules.js';

/**
 * What a pod must have to be one: containers with names and images, volumes that are mounted and exist, words that are
 * known. The same rules, texts and order as `ValidatePodSpec` of Kubernetes' core/validation, of which probes, hooks,
 * security contexts, affinities, tolerations, claims and most sorts of volumes are left out.
 */
export function* podViolations({ spec = {} }: Pod): Steps<readonly Violation[]> {
  const volumes = yield* volumeViolations(spec.volumes ?? []);
  const containers = spec.containers ?? [];
  const names = new Set<string>();
  const program = (at: string, given: Container): readonly Violation[] => [
    ...containerViolations(at, given, volumes.mountable),
    ...nameTaken(at, given.name ?? '', names),
  ];
  // Of these those without a name are not called by one name; and Kubernetes has each listen as if it were the first.
  const early = (at: string, given: Container): readonly Violation[] => [
    ...(given.name || names.has('') ? program(at, given) : containerViolations(at, given, volumes.mountable)),
    ...hostPortConflicts([given], 'initContainers'),
  ];
  return [
    ...volumes.found,
    ...(containers.length === 0 ? [required('spec.containers')] : []),
    ...(yield* ofEachInSteps(containers, (given, at) => program(index('spec.containers', at), given))),
    ...hostPortConflicts(containers),
    ...(yield* ofEachInSteps(spec.initContainers ?? [], (given, at) => early(index('spec.initContainers', at), given))),
    ...(yield* ofEachInSteps(spec.ephemeralContainers ?? [], (given, at) =>
      program(index('spec.ephemeralContainers', at), given),
    )),
    ...(spec.hostNetwork === true ? hostNetworkViolations(containers) : []),
    ...(yield* wordViolations(spec)),
    ...ofEach([...containers.entries()], ([at, { image = '' }]) => untrimmed(index('spec.containers', at), image)),
    ...ofEach([...(spec.initContainers ?? []).entries()], ([at, { image = '' }]) =>
      untrimmed(index('spec.initContainers', at), image),
    ),
  ];
}

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const longestDeadline = 2_147_483_647;

/** Of what the pod as a whole says in one word or number. */
function* wordViolations(spec: PodSpec): Steps<readonly Violation[]> {
  const { restartPolicy = '', serviceAccountName = '', nodeName = '', activeDeadlineSeconds: deadline } = spec;
  const labelled = (name: 'hostname' | 'subdomain'): readonly Violation[] => {
    const text = wordOf(spec[name]);
    return text === '' ? [] : eachInvalid(`spec.${name}`, text, dnsLabel(text));
  };
  const named = (name: string, text: string): readonly Violation[] =>
    text === '' ? [] : eachInvalid(`spec.${name}`, text, dnsSubdomain(text));
  return [
    ...oneOf('spec.restartPolicy', restartPolicy, restartPolicies),
    ...oneOf('spec.dnsPolicy', wordOf(spec['dnsPolicy']), dnsPolicies),
    ...(yield* validateLabels(
      spec['nodeSelector'] as Readonly<Record<string, string>> | undefined,
      'spec.nodeSelector',
    )),
    ...named('serviceAccountName', serviceAccountName),
    ...named('nodeName', nodeName),
    ...(typeof deadline === 'number' && (deadline < 1 || deadline > longestDeadline)
      ? [invalid('spec.activeDeadlineSeconds', deadline, `must be between 1 and ${longestDeadline}, inclusive`)]
      : []),
    ...labelled('hostname'),
    ...labelled('subdomain'),
    ...named('priorityClassName', wordOf(spec['priorityClassName'])),
  ];
}

/** Of all containers together: none comes or goes once the pod is there. */
export const containerCountViolations = (next: Pod, previous: Pod): readonly Violation[] => {
  const list = (['containers', 'initContainers'] as const).find(
    (each) => (next.spec?.[each] ?? []).length !== (previous.spec?.[each] ?? []).length,
  );
  return list === undefined ? [] : [forbiddenField(`spec.${list}`, 'pod updates may not add or remove containers')];
};
