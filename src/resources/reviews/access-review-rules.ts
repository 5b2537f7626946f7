import type {
  AccessQuestion,
  LocalSubjectAccessReview,
  ResourceAttributes,
  SelectorAttributes,
  SelfSubjectAccessReview,
  SubjectAccessReview,
  SubjectAccessReviewSpec,
} from '../../api/kinds/access-review.js';
import { labelValue, qualifiedName } from '../../api/names.js';
import type { JsonObject, ObjectMeta } from '../../api/object.js';
import type { Steps } from '../../api/steps.js';
import {
  child,
  forbiddenField,
  index,
  invalid,
  invalidInSteps,
  required,
  type Violation,
  validateEach,
} from '../../api/violations.js';
import { type EncodedType, orderMembers } from '../../schema/encode.js';
import { objectMeta } from '../../schema/meta.js';
import type { Requirement } from './access-question.js';

/** Validation of access reviews. */

export function* checkSubjectReview({ spec = {}, metadata }: SubjectAccessReview): Steps<readonly Violation[]> {
  return [...checkSubjectSpec(spec), ...(yield* checkMetadata(metadata, [], 'must be empty'))];
}

export function* checkSelfReview({ spec = {}, metadata }: SelfSubjectAccessReview): Steps<readonly Violation[]> {
  return [
    ...checkAspects(spec),
    ...checkAttributes(spec.resourceAttributes),
    ...(yield* checkMetadata(metadata, [], 'must be empty')),
  ];
}

export function* checkLocalReview({ spec = {}, metadata }: LocalSubjectAccessReview): Steps<readonly Violation[]> {
  const { resourceAttributes, nonResourceAttributes } = spec;
  const { namespace = '' } = resourceAttributes ?? {};
  return [
    ...checkSubjectSpec(spec),
    ...(yield* checkMetadata(metadata, ['namespace'], 'must be empty except for namespace')),
    ...(resourceAttributes !== undefined && namespace !== (metadata.namespace ?? '')
      ? [invalid('spec.resourceAttributes.namespace', namespace, 'must match metadata.namespace')]
      : []),
    ...(nonResourceAttributes === undefined
      ? []
      : [
          invalid('spec.nonResourceAttributes', shownPath(nonResourceAttributes), 'disallowed on this kind of request'),
        ]),
  ];
}

const checkSubjectSpec = (spec: SubjectAccessReviewSpec): readonly Violation[] => [
  ...checkAspects(spec),
  ...(!spec.user && !spec.groups?.length
    ? [invalid('spec.user', '', 'at least one of user or group must be specified')]
    : []),
  ...checkAttributes(spec.resourceAttributes),
];

function checkAspects({ resourceAttributes, nonResourceAttributes }: AccessQuestion): readonly Violation[] {
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    return [
      invalid(
        'spec.nonResourceAttributes',
        shownPath(nonResourceAttributes),
        'cannot be specified in combination with resourceAttributes',
      ),
    ];
  }
  if (resourceAttributes !== undefined || nonResourceAttributes !== undefined) return [];
  return [
    invalid(
      'spec.resourceAttributes',
      undefined,
      'exactly one of nonResourceAttributes or resourceAttributes must be specified',
    ),
  ];
}

/** Returns the attributes as errors print them, with the names of the server's internal fields. */
const shownPath = ({ path = '', verb = '' }: NonNullable<AccessQuestion['nonResourceAttributes']>): object => ({
  Path: path,
  Verb: verb,
});

function checkAttributes(attributes: ResourceAttributes | undefined): readonly Violation[] {
  const path = 'spec.resourceAttributes';
  return [
    ...checkSelector(attributes?.fieldSelector, child(path, 'fieldSelector'), checkFieldRequirement),
    ...checkSelector(attributes?.labelSelector, child(path, 'labelSelector'), checkLabelRequirement),
  ];
}

function checkSelector(
  selector: SelectorAttributes | undefined,
  path: string,
  checkRequirement: (requirement: Requirement, path: string) => readonly Violation[],
): readonly Violation[] {
  if (selector === undefined) return [];
  const { rawSelector = '', requirements = [] } = selector;
  const all = child(path, 'requirements');
  return [
    ...(rawSelector !== '' && requirements.length > 0
      ? [invalid(child(path, 'rawSelector'), rawSelector, 'may not specified at the same time as requirements')]
      : []),
    ...(rawSelector === '' && requirements.length === 0
      ? [required(all, `when ${path} is specified, requirements or rawSelector is required`)]
      : []),
    ...validateEach(requirements, (requirement, at) => checkRequirement(requirement, index(all, at))),
  ];
}

const checkFieldRequirement = (requirement: Requirement, path: string): readonly Violation[] => [
  ...(requirement.key ? [] : [required(child(path, 'key'), 'must be specified')]),
  ...checkOperator(requirement, path),
];

const checkLabelRequirement = (requirement: Requirement, path: string): readonly Violation[] => [
  ...checkOperator(requirement, path),
  ...qualifiedName(requirement.key ?? '').map((message) => invalid(child(path, 'key'), requirement.key ?? '', message)),
  ...validateEach(requirement.values ?? [], (value, at) =>
    labelValue(value).map((message) => invalid(index(child(path, 'values'), at), value, message)),
  ),
];

/**
 * Validates an operator and its values. Unknown operators pass: they come from newer clients and only narrow the
 * question.
 */
function checkOperator({ operator, values = [] }: Requirement, path: string): readonly Violation[] {
  const field = child(path, 'values');
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0) {
    return [required(field, "must be specified when `operator` is 'In' or 'NotIn'")];
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0) {
    return [forbiddenField(field, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
  }
  return [];
}

const metadataType: EncodedType = {
  group: 'meta.k8s.io',
  version: 'v1',
  kind: 'ObjectMeta',
  origin: 'built-in',
  schema: objectMeta,
};

function* checkMetadata(
  metadata: ObjectMeta,
  allowed: readonly (keyof ObjectMeta)[],
  message: string,
): Steps<readonly Violation[]> {
  const may: readonly string[] = ['managedFields', ...allowed];
  const isEmpty = Object.entries(metadata).every(([name, value]) => may.includes(name) || isNothing(value));
  if (isEmpty) return [];
  yield;
  return [yield* invalidInSteps('metadata', orderMembers(metadataType, metadata as JsonObject), message)];
}

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === 0 ||
  (typeof value === 'object' && Object.keys(value).length === 0);
