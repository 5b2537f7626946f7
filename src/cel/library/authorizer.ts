import { trimSpace } from '../../api/go-text.js';
import { dnsLabel, dnsSubdomain } from '../../api/names.js';
import { perByte, type Range } from '../cost.js';
import type { Library } from '../functions.js';
import { exactly, plus, scaled } from '../ranges.js';
import { bool, opaque, string } from '../types.js';
import { Failure, type OpaqueValue } from '../values.js';
import { sizeEstimate, sizeOf } from './call-costs.js';
import { type Costs, member } from './declarations.js';

/** Authorization checks: Kubernetes' `authz` and `authzSelectors` libraries. */

const names = {
  authorizer: 'kubernetes.authorization.Authorizer',
  path: 'kubernetes.authorization.PathCheck',
  group: 'kubernetes.authorization.GroupCheck',
  resource: 'kubernetes.authorization.ResourceCheck',
  decision: 'kubernetes.authorization.Decision',
} as const;
export const authorizerType = opaque(names.authorizer);
const pathCheckType = opaque(names.path);
const groupCheckType = opaque(names.group);
export const resourceCheckType = opaque(names.resource);
const decisionType = opaque(names.decision);

/** The attributes of a check. Texts that the expression did not give are empty. */
export interface CheckedAttributes {
  /** The service account that the check is about; undefined for the user that the authorizer stands for. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
  readonly verb: string;
  /** The path of a non-resource request. */
  readonly path?: string;
  readonly resource?: ResourceAttributes;
}

export interface ResourceAttributes {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** The selector as written, not parsed yet. */
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

export interface CheckDecision {
  readonly allowed: boolean;
  readonly reason: string;
  /** The error that occurred while deciding, if any. */
  readonly error?: string;
}

/** Decides a check; returns undefined if the decision is not known yet. */
export type Decide = (attributes: CheckedAttributes) => CheckDecision | undefined;

/** Thrown by a check that has no decision yet; the expression must be evaluated again when there is one. */
export class DecisionNeeded extends Error {
  override readonly name = 'DecisionNeeded';
  readonly attributes: CheckedAttributes;
  constructor(attributes: CheckedAttributes) {
    super('an authorization decision is needed');
    this.attributes = attributes;
  }
}

interface AuthorizerValue extends OpaqueValue {
  readonly decide: Decide;
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
}
interface PathCheckValue extends OpaqueValue {
  readonly authorizer: AuthorizerValue;
  readonly path: string;
}
interface GroupCheckValue extends OpaqueValue {
  readonly authorizer: AuthorizerValue;
  readonly group: string;
}
interface ResourceCheckValue extends OpaqueValue {
  readonly authorizer: AuthorizerValue;
  readonly resource: ResourceAttributes;
}
interface DecisionValue extends OpaqueValue {
  readonly decision: CheckDecision;
}

/** Returns a value of the library. As in Kubernetes, such values cannot be compared with any value. */
const value = (name: string): OpaqueValue => ({
  kind: 'opaque',
  name,
  equals: () => false,
  isComparable: () => false,
});

/** The variable `authorizer`. */
export const authorizerValue = (decide: Decide): OpaqueValue => authorizerWith(decide);

const authorizerWith = (decide: Decide): AuthorizerValue => ({ ...value(names.authorizer), decide });

/** The variable `authorizer.requestResource`. */
export const requestResourceValue = (
  decide: Decide,
  resource: Omit<ResourceAttributes, 'fieldSelector' | 'labelSelector'>,
): OpaqueValue => resourceCheck(authorizerWith(decide), { ...resource, fieldSelector: '', labelSelector: '' });

const resourceCheck = (authorizer: AuthorizerValue, resource: ResourceAttributes): ResourceCheckValue => ({
  ...value(names.resource),
  authorizer,
  resource,
});

const isBlank = (text: string): boolean => trimSpace(text) === '';

function pathCheck(authorizer: AuthorizerValue, path: string): PathCheckValue | Failure {
  if (isBlank(path)) return new Failure('path must not be empty');
  return { ...value(names.path), authorizer, path };
}

const groupCheck = (authorizer: AuthorizerValue, group: string): GroupCheckValue => ({
  ...value(names.group),
  authorizer,
  group,
});

function ofServiceAccount({ decide }: AuthorizerValue, namespace: string, name: string): AuthorizerValue | Failure {
  if (dnsSubdomain(name).length > 0) return new Failure('Invalid service account name');
  if (dnsLabel(namespace).length > 0) return new Failure('Invalid service account namespace');
  return { ...authorizerWith(decide), serviceAccount: { namespace, name } };
}

function resourceOfGroup({ authorizer, group }: GroupCheckValue, resource: string): ResourceCheckValue | Failure {
  if (isBlank(resource)) return new Failure('resource must not be empty');
  const unspecified = { subresource: '', namespace: '', name: '', fieldSelector: '', labelSelector: '' };
  return resourceCheck(authorizer, { group, resource, ...unspecified });
}

function checked(authorizer: AuthorizerValue, request: Omit<CheckedAttributes, 'serviceAccount'>): DecisionValue {
  const { serviceAccount, decide } = authorizer;
  const attributes = serviceAccount === undefined ? request : { ...request, serviceAccount };
  const decision = decide(attributes);
  if (decision === undefined) throw new DecisionNeeded(attributes);
  return { ...value(names.decision), decision };
}

const checkPath = ({ authorizer, path }: PathCheckValue, verb: string): DecisionValue =>
  checked(authorizer, { path, verb });
const checkResource = ({ authorizer, resource }: ResourceCheckValue, verb: string): DecisionValue =>
  checked(authorizer, { resource, verb });

/** The cost of a check: the cost limit of an expression allows only two. */
const checking: Costs = { cost: () => 350_000, estimate: () => ({ cost: exactly(350_000) }) };

/**
 * Estimates the cost of parsing a selector: a list and a structure per requirement; the shortest requirement has two
 * characters.
 */
const selectorCost = (size: Range): Range =>
  plus(exactly(10), plus(scaled(size, perByte), scaled(scaled(size, 0.5), 50)));
const selecting: Costs = {
  cost: ([, selector]) => selectorCost(exactly(sizeOf(selector))).max,
  estimate: (_, [selector]) => ({ cost: selectorCost(sizeEstimate(selector)) }),
};

const narrowed = (name: keyof ResourceAttributes, id: string, costs?: Costs) => ({
  name,
  overloads: [
    member(
      id,
      [resourceCheckType, string],
      resourceCheckType,
      ({ authorizer, resource }: ResourceCheckValue, text: string) =>
        resourceCheck(authorizer, { ...resource, [name]: text }),
      costs,
    ),
  ],
});

export const authorization: Library = {
  functions: [
    { name: 'path', overloads: [member('authorizer_path', [authorizerType, string], pathCheckType, pathCheck)] },
    { name: 'group', overloads: [member('authorizer_group', [authorizerType, string], groupCheckType, groupCheck)] },
    {
      name: 'serviceAccount',
      overloads: [
        member('authorizer_serviceaccount', [authorizerType, string, string], authorizerType, ofServiceAccount),
      ],
    },
    {
      name: 'resource',
      overloads: [member('groupcheck_resource', [groupCheckType, string], resourceCheckType, resourceOfGroup)],
    },
    narrowed('subresource', 'resourcecheck_subresource'),
    narrowed('namespace', 'resourcecheck_namespace'),
    narrowed('name', 'resourcecheck_name'),
    narrowed('fieldSelector', 'authorizer_fieldselector', selecting),
    narrowed('labelSelector', 'authorizer_labelselector', selecting),
    {
      name: 'check',
      overloads: [
        member('pathcheck_check', [pathCheckType, string], decisionType, checkPath, checking),
        member('resourcecheck_check', [resourceCheckType, string], decisionType, checkResource, checking),
      ],
    },
    {
      name: 'errored',
      overloads: [
        member('decision_errored', [decisionType], bool, ({ decision }: DecisionValue) => decision.error !== undefined),
      ],
    },
    {
      name: 'error',
      overloads: [
        member('decision_error', [decisionType], string, ({ decision }: DecisionValue) => decision.error ?? ''),
      ],
    },
    {
      name: 'allowed',
      overloads: [member('decision_allowed', [decisionType], bool, ({ decision }: DecisionValue) => decision.allowed)],
    },
    {
      name: 'reason',
      overloads: [member('decision_reason', [decisionType], string, ({ decision }: DecisionValue) => decision.reason)],
    },
  ],
};
