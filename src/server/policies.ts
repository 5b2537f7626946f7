import type { AdmissionStep } from '../admission/admission-step.js';
import { type PolicyHook, policyHooks } from '../admission/policies/hooks.js';
import type { FindParameters } from '../admission/policies/parameters.js';
import { validatingPolicies } from '../admission/policies/validating.js';
import { policyParameterPermission } from '../admission/steps/policy-parameter-permission.js';
import type { Domains } from '../api/domains.js';
import {
  ValidatingAdmissionPolicies,
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicyBindings,
} from '../api/kinds/validating-admission-policy.js';
import { groupVersion } from '../api/object.js';
import type { Catalogue } from '../apiserver/catalogue.js';
import { hookedKinds } from '../apiserver/hooked-kinds.js';
import type { StoredObjects } from '../apiserver/stored-objects.js';
import type { Authorizer } from '../auth/authorizer.js';
import type { Client } from '../client/client.js';

/**
 * Admission policies as their objects say from now on, and who may make them. While none is bound, a write costs one look
 * at an empty list.
 */
export async function openPolicies(given: {
  readonly objects: StoredObjects;
  readonly catalogue: Catalogue;
  readonly authorizer: Authorizer;
  /** Reads parameters. */
  readonly client: () => Client;
  readonly isOpen: () => boolean;
  readonly domains: Domains;
}): Promise<readonly AdmissionStep[]> {
  const { objects, catalogue, authorizer, domains, isOpen } = given;
  const none = policyHooks([], []);
  let policies: readonly ValidatingAdmissionPolicy[] = [];
  let bindings: readonly ValidatingAdmissionPolicyBinding[] = [];
  let hooks: readonly PolicyHook[] | undefined = none;
  await objects.follow(ValidatingAdmissionPolicies, (list) => {
    policies = list;
    hooks = undefined;
  });
  await objects.follow(ValidatingAdmissionPolicyBindings, (list) => {
    bindings = list;
    hooks = undefined;
  });
  const parameters: FindParameters = (kind) => {
    const definition = catalogue
      .current()
      .definitions.find((one) => one.kind === kind.kind && groupVersion(one) === kind.apiVersion);
    if (definition === undefined) return undefined;
    const resource = given.client().resource(definition);
    return {
      namespaced: definition.namespaced,
      plural: definition.plural,
      get: (key) => resource.get(key),
      list: async (within) => (await resource.list(within)).items,
    };
  };
  return [
    policyParameterPermission({ authorizer, objects, parameters, api: domains.api }),
    validatingPolicies({
      hooks: () => {
        if (!isOpen()) return none;
        hooks ??= policyHooks(policies, bindings);
        return hooks;
      },
      kinds: hookedKinds(catalogue),
      objects,
      authorizer,
      parameters,
      api: domains.api,
    }),
  ];
}
