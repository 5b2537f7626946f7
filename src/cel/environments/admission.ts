import { once } from '../../api/once.js';
import type { Steps } from '../../api/steps.js';
import { type Environment, environmentOf } from '../environment.js';
import { kubernetesLibraries } from '../kubernetes.js';
import { authorizerType, resourceCheckType } from '../library/authorizer.js';
import { type Prepared, prepare } from '../prepare.js';
import { fullTypeText } from '../type-text.js';
import { bool, dyn, int, listOf, mapOf, string, timestamp } from '../types.js';
import { struct, userInfo } from './structures.js';

/**
 * Expressions about a request on its way through admission (KEP-3716): `object`, `oldObject`, `request`,
 * `namespaceObject` and `authorizer`.
 */
const admissionEnvironment = once(
  (): Environment =>
    environmentOf({
      variables: new Map([
        ['object', dyn],
        ['oldObject', dyn],
        ['namespaceObject', namespace],
        ['request', request],
        ['authorizer', authorizerType],
        ['authorizer.requestResource', resourceCheckType],
      ]),
      libraries: kubernetesLibraries,
    }),
);

const kind = struct('kubernetes.GroupVersionKind', { group: string, version: string, kind: string });
const resource = struct('kubernetes.GroupVersionResource', { group: string, version: string, resource: string });

/** The fields of an AdmissionReview's request, without `uid` and without the objects. */
const request = struct('kubernetes.AdmissionRequest', {
  kind,
  resource,
  subResource: string,
  requestKind: kind,
  requestResource: resource,
  requestSubResource: string,
  name: string,
  namespace: string,
  operation: string,
  userInfo,
  dryRun: bool,
  options: dyn,
});

const namespace = struct('kubernetes.Namespace', {
  metadata: struct('kubernetes.NamespaceMetadata', {
    name: string,
    generateName: string,
    namespace: string,
    labels: mapOf(string, string),
    annotations: mapOf(string, string),
    UID: string,
    creationTimestamp: timestamp,
    deletionGracePeriodSeconds: int,
    deletionTimestamp: timestamp,
    generation: int,
    resourceVersion: string,
    finalizers: listOf(string),
  }),
  spec: struct('kubernetes.NamespaceSpec', { finalizers: listOf(string) }),
  status: struct('kubernetes.NamespaceStatus', {
    conditions: listOf(
      struct('kubernetes.NamespaceCondition', {
        status: string,
        type: string,
        lastTransitionTime: timestamp,
        message: string,
        reason: string,
      }),
    ),
    phase: string,
  }),
});

/** A condition, ready to be evaluated, or what is wrong with it in kube-apiserver's words. */
export const compileCondition = (expression: string): Steps<Prepared> =>
  prepare(admissionEnvironment(), expression, {
    wrongType: (type) => (type.kind === 'bool' ? undefined : `must evaluate to bool but got ${fullTypeText(type)}`),
  });
