import type { AdmissionStep } from '../admission/admission-step.js';
import type { ConditionMetrics } from '../admission/condition-metrics.js';
import { type PolicyHook, policyHooks } from '../admission/policies/hooks.js';
import { policyMetrics } from '../admission/policies/metrics.js';
import { mutatingPolicies } from '../admission/policies/mutating.js';
import type { FindParameters } from '../admission/policies/parameters.js';
import { validatingPolicies } from '../admission/policies/validating.js';
import { policyParameterPermission } from '../admission/steps/policy-parameter-permission.js';
import type { Domains } from '../api/domains.js';
import type { AdmissionPolicy, AdmissionPolicyBinding } from '../api/kinds/admission-policy.js';
import { MutatingAdmissionPolicies, MutatingAdmissionPolicyBindings } from '../api/kinds/mutating-admission-policy.js';
import {
  ValidatingAdmissionPolicies,
  ValidatingAdmissionPolicyBindings,
} from '../api/kinds/validating-admission-policy.js';
import { groupVersion, type ResourceType } from '../api/object.js';
import type { Catalogue } from '../apiserver/catalogue.js';
import { objectInterfaces } from '../apiserver/object-interfaces.js';
import { policyPatcher } from '../apiserver/policy-patcher.js';
import type { StoredObjects } from '../apiserver/stored-objects.js';
import type { Authorizer } from '../auth/authorizer.js';
import type { Client } from '../client/client.js';
import type { Clock } from '../runtime/clock.js';
import type { Metrics } from '../runtime/metrics.js';

/** The admission steps of policies: those that can change objects, and those that can only reject requests. */
export interface Policies {
  readonly mutating: readonly AdmissionStep[];
  readonly validating: readonly AdmissionStep[];
}

/**
 * Opens the admission steps of admission policies, which follow the policies and bindings, and of the permission to
 * write them. While no policy is bound, a write costs only two lookups of an empty list.
 */
export async function openPolicies(context: {
  readonly objects: StoredObjects;
  readonly catalogue: Catalogue;
  readonly authorizer: Authorizer;
  /** Reads parameters. */
  readonly client: () => Client;
  readonly isOpen: () => boolean;
  readonly domains: Domains;
  readonly clock: Clock;
  readonly metrics: Metrics | undefined;
  readonly conditions: ConditionMetrics | undefined;
}): Promise<Policies> {
  const { objects, catalogue, authorizer, domains, clock } = context;
  const { api } = domains;
  const metrics = context.metrics && policyMetrics(context.metrics);
  const parameters: FindParameters = (kind) => {
    const definition = catalogue
      .current()
      .definitions.find((one) => one.kind === kind.kind && groupVersion(one) === kind.apiVersion);
    if (definition === undefined) return undefined;
    const resource = context.client().resource(definition);
    return {
      namespaced: definition.namespaced,
      plural: definition.plural,
      isBuiltIn: definition.origin === 'built-in',
      get: (key) => resource.get(key),
      list: async (within) => (await resource.list(within)).items,
    };
  };
  const parts = {
    kinds: objectInterfaces(catalogue),
    objects,
    authorizer,
    parameters,
    api,
    clock,
    metrics,
    conditions: context.conditions,
  };
  return {
    mutating: [
      mutatingPolicies({
        ...parts,
        hooks: await follow(context, MutatingAdmissionPolicies, MutatingAdmissionPolicyBindings),
        patcher: policyPatcher(catalogue),
      }),
    ],
    validating: [
      policyParameterPermission(parts),
      validatingPolicies({
        ...parts,
        hooks: await follow(context, ValidatingAdmissionPolicies, ValidatingAdmissionPolicyBindings),
      }),
    ],
  };
}

/** Follows the policies of one kind that are bound. */
async function follow<P extends AdmissionPolicy, B extends AdmissionPolicyBinding>(
  { objects, isOpen }: { readonly objects: StoredObjects; readonly isOpen: () => boolean },
  policyType: ResourceType<P>,
  bindingType: ResourceType<B>,
): Promise<() => readonly PolicyHook<P, B>[]> {
  const none: readonly PolicyHook<P, B>[] = [];
  let policies: readonly P[] = [];
  let bindings: readonly B[] = [];
  let hooks: readonly PolicyHook<P, B>[] | undefined = none;
  await objects.follow(policyType, (list) => {
    policies = list;
    hooks = undefined;
  });
  await objects.follow(bindingType, (list) => {
    bindings = list;
    hooks = undefined;
  });
  return () => {
    if (!isOpen()) return none;
    hooks ??= policyHooks(policies, bindings);
    return hooks;
  };
}
