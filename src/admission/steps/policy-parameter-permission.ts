import { isDeepStrictEqual } from 'node:util';
import { invalidObject } from '../../api/errors.js';
import type { AdmissionPolicy, AdmissionPolicyBinding, ParamKind } from '../../api/kinds/admission-policy.js';
import {
  MutatingAdmissionPolicies,
  MutatingAdmissionPolicyBindings,
} from '../../api/kinds/mutating-admission-policy.js';
import {
  ValidatingAdmissionPolicies,
  ValidatingAdmissionPolicyBindings,
} from '../../api/kinds/validating-admission-policy.js';
import type { ResourceType } from '../../api/object.js';
import type { UserInfo } from '../../api/user.js';
import { forbiddenField } from '../../api/violations.js';
import type { Authorizer } from '../../auth/authorizer.js';
import type { ObjectSource } from '../../auth/object-source.js';
import type { AdmissionAttributes, AdmissionStep } from '../admission-step.js';
import { isPrivileged } from '../escalation.js';
import type { FindParameters } from '../policies/parameters.js';

interface Parts {
  readonly authorizer: Authorizer;
  readonly objects: ObjectSource;
  readonly parameters: FindParameters;
  /** The domain of the API groups of Kubernetes. */
  readonly api: string;
}

const policyTypes: ReadonlyMap<string, ResourceType<AdmissionPolicy>> = new Map([
  [ValidatingAdmissionPolicies.plural, ValidatingAdmissionPolicies],
  [MutatingAdmissionPolicies.plural, MutatingAdmissionPolicies],
]);
/** The policy type of each binding type, by the plural of the binding type. */
const boundTypes: ReadonlyMap<string, ResourceType<AdmissionPolicy>> = new Map([
  [ValidatingAdmissionPolicyBindings.plural, ValidatingAdmissionPolicies],
  [MutatingAdmissionPolicyBindings.plural, MutatingAdmissionPolicies],
]);

/**
 * Prevents users from reading objects through a policy that they may not read themselves. To set a kind of parameters,
 * a user must be able to get all objects of it; to bind a policy, the parameters that the binding names.
 */
export const policyParameterPermission = (parts: Parts): AdmissionStep => ({
  name: 'PolicyParameterPermission',

  handles: ({ operation, resource, subresource, user }) =>
    (operation === 'CREATE' || operation === 'UPDATE') &&
    resource.group === `admissionregistration.${parts.api}` &&
    (policyTypes.has(resource.plural) || boundTypes.has(resource.plural)) &&
    !subresource &&
    !isPrivileged(user),

  async validate(attributes) {
    const bound = boundTypes.get(attributes.resource.plural);
    const problem = await (bound === undefined
      ? policyRefusal(attributes, parts)
      : bindingRefusal(attributes, bound, parts));
    if (problem === undefined) return;
    const { group, kind } = attributes.resource;
    throw invalidObject({ group, kind, name: attributes.object?.metadata.name }, [
      forbiddenField(bound === undefined ? 'spec.paramKind' : 'spec.paramRef', problem),
    ]);
  },
});

async function policyRefusal(
  { object, previous, user }: AdmissionAttributes,
  parts: Parts,
): Promise<string | undefined> {
  const kind = (object as AdmissionPolicy).spec?.paramKind;
  const before = (previous as AdmissionPolicy | undefined)?.spec?.paramKind;
  if (!kind || isDeepStrictEqual(kind, before)) return undefined;
  const access = { verb: 'get', name: '*', namespace: '*', ...resourceOf(kind, parts) };
  if (await allows(access, user, parts)) return undefined;
  return `user ${goUser(user)} must have "get" permission on all objects of the referenced paramKind (kind=${kind.kind}, apiVersion=${kind.apiVersion})`;
}

/**
 * Returns the refusal of a binding. It is checked on every update, because in Kubernetes two references to parameters
 * are never equal.
 */
async function bindingRefusal(
  { object, user }: AdmissionAttributes,
  bound: ResourceType<AdmissionPolicy>,
  parts: Parts,
): Promise<string | undefined> {
  const { policyName = '', paramRef } = (object as AdmissionPolicyBinding).spec ?? {};
  if (!paramRef) return undefined;
  const policy = await parts.objects.get(bound, { name: policyName });
  const kind = policy?.spec?.paramKind;
  const { name = '', namespace = '' } = paramRef;
  const verb = name === '' ? 'list' : 'get';
  const access = { verb, name, namespace, ...(kind ? resourceOf(kind, parts) : everything) };
  if (await allows(access, user, parts)) return undefined;
  const permission = `user ${goUser(user)} does not have "${verb}" permission`;
  if (policy === undefined) {
    return `unable to get policy ${policyName} to determine minimum required permissions and ${permission} for all groups, versions and resources`;
  }
  // Kubernetes prints one of the two kinds of policies in its internal form, and swaps the following values.
  const isMutating = bound === MutatingAdmissionPolicies;
  if (kind && parts.parameters(kind) === undefined) {
    const text = isMutating ? goInternalKind(kind) : goKind(kind);
    return `unable to resolve paramKind ${text} to determine minimum required permissions and ${permission} for all groups, versions and resources`;
  }
  return isMutating
    ? `user ${verb} does not have "${goUser(user)}" permission on the object referenced by paramRef`
    : `${permission} on the object referenced by paramRef`;
}

const everything = { group: '*', version: '*', resource: '*' };

/** Returns the resource of the kind, as far as it is known. */
function resourceOf(kind: ParamKind, { parameters }: Parts): typeof everything {
  const [version = '', group = ''] = (kind.apiVersion ?? '').split('/').reverse();
  return { group, version, resource: parameters(kind)?.plural ?? '*' };
}

async function allows(
  access: typeof everything & { readonly verb: string; readonly name: string; readonly namespace: string },
  user: UserInfo,
  { authorizer }: Parts,
): Promise<boolean> {
  const { verdict } = await authorizer.authorize({ user, subresource: '', ...access });
  return verdict === 'allow';
}

/** Returns a user as Go prints it. */
const goUser = ({ username, uid = '', groups, extra = {} }: UserInfo): string =>
  `&{${username} ${uid} [${groups.join(' ')}] map[${Object.keys(extra)
    .sort()
    .map((key) => `${key}:[${extra[key]?.join(' ')}]`)
    .join(' ')}]}`;

const goKind = ({ apiVersion = '', kind = '' }: ParamKind): string =>
  `&ParamKind{APIVersion:${apiVersion},Kind:${kind},}`;
const goInternalKind = ({ apiVersion = '', kind = '' }: ParamKind): string => `&{${apiVersion} ${kind}}`;
