import { once } from '../../api/once.js';
import type { Steps } from '../../api/steps.js';
import { type Environment, environmentOf } from '../environment.js';
import type { Library } from '../functions.js';
import { kubernetesLibraries } from '../kubernetes.js';
import { authorizerType, resourceCheckType } from '../library/authorizer.js';
import { jsonPatches } from '../library/json-patch.js';
import { objectTypeName, operationTypeName, patchType } from '../patch-types.js';
import { type Prepared, prepare } from '../prepare.js';
import { bool, dyn, int, listOf, mapOf, string, type Type, timestamp } from '../types.js';
import { requireKind, requireType } from './result-type.js';
import { struct, userInfo } from './structures.js';

/**
 * The environment of expressions about an admission request (KEP-3716): `object`, `oldObject`, `request`,
 * `namespaceObject` and `authorizer`; in policies (KEP-3488) also `params` and `variables`.
 */
const environment = ({
  hasAuthorizer = true,
  hasParams = false,
  hasPatchTypes = false,
  variables,
  types: { object = dyn, params = dyn } = {},
}: {
  readonly hasAuthorizer?: boolean;
  readonly hasParams?: boolean;
  /** Whether `Object{...}` and `JSONPatch{...}` are available. */
  readonly hasPatchTypes?: boolean;
  readonly variables?: Type | undefined;
  readonly types?: KnownTypes | undefined;
} = {}): Environment =>
  environmentOf({
    variables: new Map([
      ['object', object],
      ['oldObject', object],
      ['namespaceObject', namespace],
      ['request', request],
      ...(hasAuthorizer
        ? ([
            ['authorizer', authorizerType],
            ['authorizer.requestResource', resourceCheckType],
          ] as const)
        : []),
      ...(hasParams ? [['params', params] as const] : []),
      ...(variables === undefined ? [] : [['variables', variables] as const]),
    ]),
    ...(hasPatchTypes ? { libraries: withJsonPatches, written: patchType } : { libraries: kubernetesLibraries }),
  });

const withJsonPatches: readonly Library[] = [...kubernetesLibraries, jsonPatches];

const conditionEnvironment = once(() => environment());

const kind = struct('kubernetes.GroupVersionKind', { group: string, version: string, kind: string });
const resource = struct('kubernetes.GroupVersionResource', { group: string, version: string, resource: string });

/** The fields of an AdmissionReview's request, without `uid` and the objects. */
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

/** Compiles a match condition, or returns its error in kube-apiserver's words. */
export const compileCondition = (expression: string): Steps<Prepared> =>
  prepare(conditionEnvironment(), expression, { wrongType: requireKind(['bool']) });

/** The types of the objects that a policy sees; undefined where they are unknown. */
export interface KnownTypes {
  readonly object?: Type | undefined;
  readonly params?: Type | undefined;
}

/** Compiles the expressions of one policy, each with the variables it can use. */
export interface PolicyCompiler {
  /** Compiles a variable. Must be called in the order of the variables, because each may use the previous ones. */
  variable(name: string, expression: string): Steps<Prepared>;
  condition(expression: string): Steps<Prepared>;
  validation(expression: string): Steps<Prepared>;
  message(expression: string): Steps<Prepared>;
  annotation(expression: string): Steps<Prepared>;
  /** Compiles an expression that returns `Object{...}`. */
  configuration(expression: string): Steps<Prepared>;
  /** Compiles an expression that returns a list of `JSONPatch{...}`. */
  operations(expression: string): Steps<Prepared>;
  /** Returns the error of a validation or message, whatever type it has; undefined if there is none. */
  complaint(expression: string): Steps<string | undefined>;
}

/**
 * Returns the compiler for a policy. `hasParams`: the policy has a `paramKind`. `hasVariables`: there is at least one
 * variable.
 */
export function policyCompiler({
  hasParams,
  hasVariables,
  types,
}: {
  readonly hasParams: boolean;
  readonly hasVariables: boolean;
  readonly types?: KnownTypes;
}): PolicyCompiler {
  const fields = new Map<string, Type>();
  const variables: Type | undefined = hasVariables
    ? { kind: 'struct', name: 'kubernetes.variables', fields }
    : undefined;
  const complete = once(() => environment({ hasParams, variables, types }));
  const withoutVariables = once(() => environment({ hasParams }));
  const withoutAuthorizer = once(() => environment({ hasParams, variables, hasAuthorizer: false }));
  const withPatchTypes = once(() => environment({ hasParams, variables, hasPatchTypes: true }));
  return {
    *variable(name, expression) {
      const prepared = yield* prepare(complete(), expression, { wrongType: () => undefined });
      fields.set(name, prepared.wrong === undefined ? fieldType(prepared.checked.type) : dyn);
      return prepared;
    },
    condition: (expression) => prepare(withoutVariables(), expression, { wrongType: requireKind(['bool']) }),
    validation: (expression) => prepare(complete(), expression, { wrongType: requireKind(['bool']) }),
    message: (expression) => prepare(withoutAuthorizer(), expression, { wrongType: requireKind(['string']) }),
    annotation: (expression) => prepare(complete(), expression, { wrongType: requireKind(['string', 'null']) }),
    configuration: (expression) =>
      prepare(withPatchTypes(), expression, {
        wrongType: requireType(objectTypeName, (type) => isWritten(objectTypeName, type)),
      }),
    operations: (expression) =>
      prepare(withPatchTypes(), expression, {
        wrongType: requireType(
          `list(${operationTypeName})`,
          (type) => type.kind === 'list' && isWritten(operationTypeName, type.element),
        ),
      }),
    *complaint(expression) {
      const { issues } = yield* complete().compile(expression);
      return issues?.map((issue) => issue.text).join('\n');
    },
  };
}

/**
 * Returns the type of a variable as later expressions know it; structures, opaque types and optionals become unknown.
 */
function fieldType(type: Type): Type {
  if (type.kind === 'list') return listOf(fieldType(type.element));
  if (type.kind === 'map') return mapOf(fieldType(type.key), fieldType(type.value));
  return type.kind === 'struct' || type.kind === 'opaque' || type.kind === 'type' ? dyn : type;
}

const isWritten = (name: string, type: Type): boolean => type.kind === 'struct' && type.name === name;
