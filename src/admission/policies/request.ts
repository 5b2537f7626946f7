import { notFound } from '../../api/errors.js';
import type { AdmissionPolicyBinding, ParamKind } from '../../api/kinds/admission-policy.js';
import { Namespaces } from '../../api/kinds/namespace.js';
import type { ApiObject, Json, JsonObject } from '../../api/object.js';
import type { Authorizer } from '../../auth/authorizer.js';
import type { ObjectSource } from '../../auth/object-source.js';
import type { Clock } from '../../runtime/clock.js';
import { TurnTaking } from '../../runtime/turn-taking.js';
import type { AdmissionAttributes } from '../admission-step.js';
import type { ConditionMetrics } from '../condition-metrics.js';
import { AuthorizerDecisions, requestVariables } from '../request-variables.js';
import { isPolicy } from '../webhooks/matching.js';
import { requestMembers } from '../webhooks/review.js';
import {
  convertAttributes,
  isNamespace,
  namespaceOf,
  type ObjectInterfaces,
  originalAttributes,
  type ResourceKind,
  type VersionedAttributes,
} from '../webhooks/versioned-attributes.js';
import type { ExpressionParts } from './expressions.js';
import type { BindingHook, Constraints } from './hooks.js';
import { matchedVersion } from './matching.js';
import type { PolicyMetrics } from './metrics.js';
import { type FindParameters, type ParameterResource, parametersOf } from './parameters.js';

/** The dependencies of validating and mutating policies. */
export interface PolicyParts {
  readonly kinds: ObjectInterfaces;
  readonly objects: ObjectSource;
  readonly authorizer: Authorizer;
  readonly parameters: FindParameters;
  /** The domain of the API groups of Kubernetes. */
  readonly api: string;
  readonly clock: Clock;
  readonly metrics?: PolicyMetrics | undefined;
  readonly conditions?: ConditionMetrics | undefined;
}

/**
 * Whether policies apply to the request. Policies themselves are exempt, and so are reviews of identity and access,
 * without which a cluster may not work.
 */
export const isSubjectToPolicies = (attributes: AdmissionAttributes, api: string): boolean =>
  !isPolicy(attributes, api) && !isReview(attributes, api);

const isReview = ({ resource: { group, plural } }: AdmissionAttributes, api: string): boolean =>
  (group === `authentication.${api}` || group === `authorization.${api}`) && plural.endsWith('reviews');

/** A request, with the facts about it that policies need; each is determined once. */
export class PolicyRequest {
  readonly attributes: AdmissionAttributes;
  readonly turns = new TurnTaking();
  readonly #parts: PolicyParts;
  readonly #current: VersionedAttributes;
  readonly #decisions: AuthorizerDecisions;

  constructor(attributes: AdmissionAttributes, parts: PolicyParts) {
    this.attributes = attributes;
    this.#parts = parts;
    this.#current = originalAttributes(attributes);
    this.#decisions = new AuthorizerDecisions(parts.authorizer, attributes.user);
  }

  /**
   * Returns the version in which the constraints match the request; undefined if they do not. Throws ApiError if that
   * cannot be determined.
   */
  matched(constraints: Constraints): Promise<ResourceKind | undefined> {
    return matchedVersion(constraints, this.attributes, this.#current, this.#parts);
  }

  /** The resource and kind in the version of the request. */
  get original(): ResourceKind {
    return this.#current.as;
  }

  async isBound({ constraints }: Pick<BindingHook<AdmissionPolicyBinding>, 'constraints'>): Promise<boolean> {
    return constraints === undefined || (await this.matched(constraints)) !== undefined;
  }

  /** Returns the resource of the parameters; undefined if the policy has none. Throws Error if they cannot be used. */
  parameterResource(kind: ParamKind | null | undefined): ParameterResource | undefined {
    if (!kind) return undefined;
    const found = this.#parts.parameters(kind);
    if (found !== undefined) return found;
    const { apiVersion = '', kind: name = '' } = kind;
    const version = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
    throw new Error(`failed to find resource referenced by paramKind: '${version}, Kind=${name}'`);
  }

  parameters(
    resource: ParameterResource | undefined,
    { binding }: Pick<BindingHook<AdmissionPolicyBinding>, 'binding'>,
  ): Promise<readonly (ApiObject | null)[]> {
    return parametersOf(resource, binding.spec?.paramRef, namespaceOf(this.attributes));
  }

  /** Returns the request with its objects in another version. */
  inVersion(as: ResourceKind): Promise<VersionedAttributes> {
    return convertAttributes(this.#parts.kinds, this.#current, as);
  }

  /** Returns the `namespaceObject` of expressions; null for cluster-scoped requests and for namespaces. */
  async namespace(): Promise<Json> {
    const name = isNamespace(this.attributes.resource) ? '' : namespaceOf(this.attributes);
    if (name === '') return null;
    const found = await this.#parts.objects.get(Namespaces, { name });
    if (found === undefined) throw notFound({ ...Namespaces, name });
    const { managedFields: _, ownerReferences: __, ...metadata } = found.metadata;
    return { metadata, spec: found.spec ?? {}, status: found.status ?? {} } as unknown as JsonObject;
  }

  /** Returns the inputs of expressions, with the objects in the version that the policy matched. */
  expressionParts(
    seen: VersionedAttributes,
    {
      policy,
      params,
      namespaceObject,
    }: { readonly policy: string; readonly params: ApiObject | null; readonly namespaceObject: Json },
  ): ExpressionParts {
    const { kinds, clock, conditions } = this.#parts;
    const { operation } = this.attributes;
    const shown = (object: ApiObject | undefined): Json =>
      object === undefined ? null : kinds.toJson(object, seen.as);
    const json = {
      object: shown(seen.object),
      oldObject: shown(seen.previous),
      request: requestMembers(this.attributes, seen.as),
    };
    // For match conditions, which see no namespace, the resource is the requested one.
    const forConditions = requestMembers(this.attributes, { ...this.#current.as, kind: seen.as.kind });
    return {
      decisions: this.#decisions,
      turns: this.turns,
      clock,
      onConditions:
        conditions &&
        ((judgement) => conditions({ name: policy, kind: 'policy', type: 'validate', operation, ...judgement })),
      variables: ({ hasAuthorizer, hasNamespace }) =>
        requestVariables(this.attributes, hasAuthorizer ? this.#decisions : undefined, {
          ...json,
          ...(hasNamespace ? {} : { request: forConditions }),
          params: params as unknown as JsonObject | null,
          namespaceObject: hasNamespace ? namespaceObject : null,
        }),
    };
  }
}
