import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../../api/kinds/pod.js';
import { type ContainerList, containersIn } from '../../api/kinds/pod-references.js';
import { member, type ObjectMeta } from '../../api/object.js';
import {
  child,
  forbiddenField,
  index,
  invalid,
  mapKey,
  outOfRange,
  required,
  type Violation,
} from '../../api/violations.js';
import { untrimmedImage } from './container-rules.js';
import { longestDeadline } from './validate.js';

/** Returns the violations of a pod's update, as `ValidatePodUpdate` of Kubernetes' core/validation. */
export function podUpdateViolations(next: Pod, previous: Pod): readonly Violation[] {
  const containers = containerViolations(next, previous);
  if (containers.isLast) return containers.found;
  const deadline = deadlineViolations(next, previous);
  if (deadline.isLast) return [...containers.found, ...deadline.found];
  const isSettled = isDeepStrictEqual(withoutMutable(next, previous), withoutMutable(previous, previous));
  return [
    ...containers.found,
    ...deadline.found,
    ...tolerationViolations(next, previous),
    ...gateViolations(next, previous),
    ...(isSettled ? [] : [forbiddenField('spec', `pod updates may not change fields other than ${changeable}`)]),
  ];
}

const changeable = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',');

/** Violations, and whether nothing further is checked. */
interface FinalViolations {
  readonly found: readonly Violation[];
  readonly isLast: boolean;
}

/** Checks that no container is added or removed, and that each keeps an image, which pod validation requires as well. */
function containerViolations(next: Pod, previous: Pod): FinalViolations {
  const found: Violation[] = [];
  for (const list of ['containers', 'initContainers'] as const) {
    const now = next.spec?.[list] ?? [];
    if (now.length !== (previous.spec?.[list] ?? []).length) {
      found.push(forbiddenField(`spec.${list}`, 'pod updates may not add or remove containers'));
      return { found, isLast: true };
    }
    for (const [at, { image = '' }] of now.entries()) {
      const path = index(`spec.${list}`, at);
      found.push(...(image === '' ? [required(child(path, 'image'))] : []), ...untrimmedImage(path, image));
    }
  }
  return { found, isLast: false };
}

/** Checks that the deadline is only set for the first time or brought forward. */
function deadlineViolations(next: Pod, previous: Pod): FinalViolations {
  const [now, before] = [next, previous].map((pod) => numberIn(pod, 'activeDeadlineSeconds'));
  const wrong = (message: string): Violation => invalid('spec.activeDeadlineSeconds', now ?? null, message);
  if (now === undefined) {
    const found = before === undefined ? [] : [wrong('must not update from a positive integer to nil value')];
    return { found, isLast: false };
  }
  const isLater = before !== undefined && before < now;
  const [problem] = [
    ...outOfRange(now, 0, longestDeadline),
    ...(isLater ? ['must be less than or equal to previous value'] : []),
  ];
  return problem === undefined ? { found: [], isLast: false } : { found: [wrong(problem)], isLast: true };
}

/** Checks that no toleration is removed or changed, except for its seconds. */
function tolerationViolations(next: Pod, previous: Pod): readonly Violation[] {
  const now = new Set(listIn(next, 'tolerations').map(tolerationText));
  return listIn(previous, 'tolerations').every((one) => now.has(tolerationText(one)))
    ? []
    : [forbiddenField('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
}

const tolerationText = ({ tolerationSeconds: _, ...rest }: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Checks that scheduling gates are only removed, never added. */
function gateViolations(next: Pod, previous: Pod): readonly Violation[] {
  const before = new Set(listIn(previous, 'schedulingGates').map(({ name }) => name));
  return listIn(next, 'schedulingGates').flatMap(({ name }, at) =>
    before.has(name)
      ? []
      : [
          forbiddenField(
            child(index('spec.schedulingGates', at), 'name'),
            `only deletion is allowed, but found new scheduling gate '${String(name ?? '')}'`,
          ),
        ],
  );
}

const numberIn = ({ spec }: Pod, name: string): number | undefined => {
  const value = spec?.[name];
  return typeof value === 'number' ? value : undefined;
};
const listIn = ({ spec }: Pod, name: string): readonly Readonly<Record<string, unknown>>[] =>
  (spec?.[name] ?? []) as readonly Readonly<Record<string, unknown>>[];

/**
 * Returns the part of the spec that must not change, because service accounts, nodes and Secrets depend on it:
 * everything except what has rules of its own.
 */
function withoutMutable(pod: Pod, previous: Pod): object {
  const { activeDeadlineSeconds: _1, tolerations: _2, schedulingGates: _3, ...rest } = pod.spec ?? {};
  const [grace, before] = [pod, previous].map((one) => numberIn(one, 'terminationGracePeriodSeconds'));
  const isMended = before !== undefined && before < 0 && grace === 1;
  const withoutImages = (list: ContainerList) => containersIn(pod, list).map((one) => ({ ...one, image: '' }));
  return {
    ...rest,
    terminationGracePeriodSeconds: isMended ? before : grace,
    containers: withoutImages('containers'),
    initContainers: withoutImages('initContainers'),
  };
}

/**
 * Checks that a mirror pod, which mirrors a file of a node agent, is on that agent's node. `mirror` is the annotation
 * that marks it.
 */
export function mirrorViolations({ metadata, spec }: Pod, mirror: string): readonly Violation[] {
  const now = ownAnnotation(metadata, mirror);
  return now === undefined || spec?.nodeName
    ? []
    : [invalid(annotationPath(mirror), now, 'must set spec.nodeName if mirror pod annotation is set')];
}

/** Checks that a pod neither becomes nor ceases to be a mirror pod. */
export function mirrorChangeViolations(next: Pod, previous: Pod, mirror: string): readonly Violation[] {
  const [now, before] = [next, previous].map(({ metadata }) => ownAnnotation(metadata, mirror));
  const change = before === undefined ? 'add' : 'remove or update';
  return [
    ...(now === before ? [] : [forbiddenField(annotationPath(mirror), `may not ${change} mirror pod annotation`)]),
    ...mirrorViolations(next, mirror),
  ];
}

const annotationPath = (key: string): string => mapKey('metadata.annotations', key);
const ownAnnotation = ({ annotations = {} }: ObjectMeta, key: string): string | undefined => member(annotations, key);
