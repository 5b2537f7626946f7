import { once } from '../../api/once.js';
import type { Steps } from '../../api/steps.js';
import { environmentOf } from '../environment.js';
import { kubernetesLibraries } from '../kubernetes.js';
import { type Prepared, prepare } from '../prepare.js';
import { listOf, mapOf, string } from '../types.js';
import { requireKind } from './result-type.js';
import { struct } from './structures.js';

const requirement = struct('kubernetes.SelectorRequirement', {
  key: string,
  operator: string,
  values: listOf(string),
});
const selector = { rawSelector: string, requirements: listOf(requirement) };

/** The spec of a SubjectAccessReview. */
const request = struct('kubernetes.SubjectAccessReviewSpec', {
  resourceAttributes: struct('kubernetes.ResourceAttributes', {
    namespace: string,
    verb: string,
    group: string,
    version: string,
    resource: string,
    subresource: string,
    name: string,
    fieldSelector: struct('kubernetes.FieldSelectorAttributes', selector),
    labelSelector: struct('kubernetes.LabelSelectorAttributes', selector),
  }),
  nonResourceAttributes: struct('kubernetes.NonResourceAttributes', { path: string, verb: string }),
  user: string,
  groups: listOf(string),
  extra: mapOf(string, listOf(string)),
  uid: string,
});

const environment = once(() =>
  environmentOf({ variables: new Map([['request', request]]), libraries: kubernetesLibraries }),
);

/** Compiles a match condition of an authorizer (KEP-3221), which is about the `request` to be authorized. */
export const compileReviewCondition = (expression: string): Steps<Prepared> =>
  prepare(environment(), expression, { wrongType: requireKind(['bool']) });
