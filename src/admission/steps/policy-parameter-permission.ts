import { isDeepStrictEqual } from 'node:util';
import { invalidObject } from '../../api/errors.js';
import {
  type ParamKind,
  ValidatingAdmissionPolicies,
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicyBindings,
} from '../../api/kinds/validating-admission-policy.js';
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
  /** Domain of Kubernetes' own groups. */
  readonly api: string;
}

/**
 * Nobody reads through a policy what they may not read themselves: who names a kind of parameters must be able to get all
 * of its objects, and who binds a policy the parameters that the binding names.
 */
export const policyParameterPermission = (parts: Parts): AdmissionStep => ({
  name: 'PolicyParameterPermission',

  handles: ({ operation, resource, subresource, user }) =>
    (operation === 'CREATE' || operation === 'UPDATE') &&
    resource.group === `admissionregistration.${parts.api}` &&
    (resource.plural === ValidatingAdmissionPolicies.plural ||
      resource.plural === ValidatingAdmissionPolicyBindings.plural) &&
    !subresource &&
    !isPrivileged(user),

  async validate(attributes) {
    const isPolicy = attributes.resource.plural === ValidatingAdmissionPolicies.plural;
    const why = await (isPolicy ? policyRefusal : bindingRefusal)(attributes, parts);
    if (why === undefined) return;
    const { group, kind } = attributes.resource;
    throw invalidObject({ group, kind, name: attributes.object?.metadata.name }, [
      forbiddenField(isPolicy ? 'spec.paramKind' : 'spec.paramRef', why),
    ]);
  },
});

async function policyRefusal(
  { object, previous, user }: AdmissionAttributes,
  parts: Parts,
): Promise<string | undefined> {
  const kind = (object as ValidatingAdmissionPolicy).spec?.paramKind;
  const before = (previous as ValidatingAdmissionPolicy | undefined)?.spec?.paramKind;
  if (!kind || isDeepStrictEqual(kind, before)) return undefined;
  const asked = { verb: 'get', name: '*', namespace: '*', ...resourceOf(kind, parts) };
  if (await allows(asked, user, parts)) return undefined;
  return `user ${goUser(user)} must have "get" permission on all objects of the referenced paramKind (kind=${kind.kind}, apiVersion=${kind.apiVersion})`;
}

async function bindingRefusal(
  { object, previous, user }: AdmissionAttributes,
  parts: Parts,
): Promise<string | undefined> {
  const { policyName = '', paramRef } = (object as ValidatingAdmissionPolicyBinding).spec ?? {};
  const before = (previous as ValidatingAdmissionPolicyBinding | undefined)?.spec;
  if (!paramRef || (before?.policyName === policyName && isDeepStrictEqual(before.paramRef, paramRef)))
    return undefined;
  const policy = await parts.objects.get(ValidatingAdmissionPolicies, { name: policyName });
  const kind = policy?.spec?.paramKind;
  const { name = '', namespace = '' } = paramRef;
  const verb = name === '' ? 'list' : 'get';
  const asked = { verb, name, namespace, ...(kind ? resourceOf(kind, parts) : everything) };
  if (await allows(asked, user, parts)) return undefined;
  const permission = `user ${goUser(user)} does not have "${verb}" permission`;
  if (policy === undefined) {
    return `unable to get policy ${policyName} to determine minimum required permissions and ${permission} for all groups, versions and resources`;
  }
  if (kind && parts.parameters(kind) === undefined) {
    return `unable to resolve paramKind ${goKind(kind)} to determine minimum required permissions and ${permission} for all groups, versions and resources`;
  }
  return `${permission} on the object referenced by paramRef`;
}

const everything = { group: '*', version: '*', resource: '*' };

/** As much as is known of what the kind's objects are called. */
function resourceOf(kind: ParamKind, { parameters }: Parts): typeof everything {
  const [version = '', group = ''] = (kind.apiVersion ?? '').split('/').reverse();
  return { group, version, resource: parameters(kind)?.plural ?? '*' };
}

async function allows(
  asked: typeof everything & { readonly verb: string; readonly name: string; readonly namespace: string },
  user: UserInfo,
  { authorizer }: Parts,
): Promise<boolean> {
  const { verdict } = await authorizer.authorize({ user, subresource: '', ...asked });
  return verdict === 'allow';
}

/** A user as Go prints one. */
const goUser = ({ username, uid = '', groups, extra = {} }: UserInfo): string =>
  `&{${username} ${uid} [${groups.join(' ')}] map[${Object.keys(extra)
    .sort()
    .map((key) => `${key}:[${extra[key]?.join(' ')}]`)
    .join(' ')}]}`;

const goKind = ({ apiVersion = '', kind = '' }: ParamKind): string =>
  `&ParamKind{APIVersion:${apiVersion},Kind:${kind},}`;
