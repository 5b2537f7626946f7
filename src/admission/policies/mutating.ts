import { ApiError, forbidden, internalError, timeout } from '../../api/errors.js';
import { aggregate, quote } from '../../api/go-text.js';
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
} from '../../api/kinds/mutating-admission-policy.js';
import { messageOf } from '../../api/message-of.js';
import type { ApiObject, Json } from '../../api/object.js';
import { overBudget } from '../../cel/cost.js';
import type { Value } from '../../cel/values.js';
import type { AdmissionAttributes, AdmissionStep, ReinvocationContext } from '../admission-step.js';
import { admissionSubject } from '../admission-subject.js';
import { Reinvocation } from '../reinvocation.js';
import { isAbandoned } from '../webhooks/call-webhook.js';
import { convertAttributes, type ResourceKind, type VersionedAttributes } from '../webhooks/versioned-attributes.js';
import { type CompiledMutation, type CompiledMutations, compiledOnce, compileMutations } from './compiled.js';
import { type ExpressionParts, evaluateConditions, evaluateList, expressionListCostBudget } from './expressions.js';
import { type BindingHook, failsOpen, type PolicyHook } from './hooks.js';
import { policyPatchOf } from './policy-patch.js';
import { MutationFailed, type PolicyPatcher } from './policy-patcher.js';
import { isSubjectToPolicies, type PolicyParts, PolicyRequest } from './request.js';

const name = 'MutatingAdmissionPolicy';

type BoundPolicy = BindingHook<MutatingAdmissionPolicyBinding>;
type Hook = PolicyHook<MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding>;

export interface MutatingParts extends PolicyParts {
  readonly hooks: () => readonly Hook[];
  readonly patcher: PolicyPatcher;
}

/**
 * Applies the MutatingAdmissionPolicies that have bindings (KEP-3962), one after the other, each to the result of the
 * previous ones. A policy that fails rejects the request, but only after all others have run.
 */
export const mutatingPolicies = (parts: MutatingParts): AdmissionStep => ({
  name,
  handles: (attributes) =>
    parts.hooks().length > 0 && attributes.operation !== 'DELETE' && isSubjectToPolicies(attributes, parts.api),
  mutate: (attributes, rounds) => new Mutating(attributes, attributes.object, parts, rounds).run(),
});

const compiledOf = compiledOnce<MutatingAdmissionPolicy, CompiledMutations>(compileMutations);

/** A policy with one of its bindings and one of its parameters. */
interface Invocation {
  readonly hook: Hook;
  readonly binding: BoundPolicy;
  readonly params: ApiObject | null;
  /** The requested resource in the version that the policy's rules name. */
  readonly as: ResourceKind;
  readonly version: Version;
}

/** The object of the request in one version, with the changes of the policies that see it in this version. */
interface Version {
  readonly as: ResourceKind;
  readonly previous: ApiObject | undefined;
  object: ApiObject;
  isChanged: boolean;
}

/** Runs all policies on one request. */
class Mutating {
  readonly #parts: MutatingParts;
  readonly #original: ApiObject;
  readonly #request: PolicyRequest;
  readonly #rounds: ReinvocationContext;
  readonly #reinvocation: Reinvocation;
  readonly #versions = new Map<string, Version>();
  readonly #failures: { readonly message: string; readonly reason?: 'Invalid' }[] = [];

  constructor(attributes: AdmissionAttributes, object: ApiObject, parts: MutatingParts, rounds: ReinvocationContext) {
    this.#parts = parts;
    this.#original = object;
    this.#request = new PolicyRequest(attributes, parts);
    this.#rounds = rounds;
    this.#reinvocation = Reinvocation.of(rounds, name);
  }

  /** Runs the policies and returns the object. Throws ApiError if a policy fails. */
  async run(): Promise<ApiObject> {
    const invocations: Invocation[] = [];
    for (const hook of this.#parts.hooks()) {
      await this.#takeTurn();
      invocations.push(...(await this.#invocationsOf(hook)));
    }
    const object = invocations.length === 0 ? this.#original : await this.#invokeAll(invocations);
    const [first] = this.#failures;
    if (first === undefined) return object;
    const refusal = forbidden(admissionSubject(this.#request.attributes), first.message);
    throw new ApiError({
      message: first.message,
      reason: first.reason ?? 'Forbidden',
      code: refusal.code,
      details: { ...refusal.details, causes: this.#failures.map(({ message }) => ({ message })) },
    });
  }

  async #invocationsOf(hook: Hook): Promise<readonly Invocation[]> {
    const request = this.#request;
    const found: Invocation[] = [];
    let as: ResourceKind | undefined;
    let resource: ReturnType<PolicyRequest['parameterResource']>;
    try {
      as = await request.matched(hook.constraints);
      if (as === undefined) return [];
      resource = request.parameterResource(hook.policy.spec?.paramKind);
    } catch (error) {
      this.#misconfigured(hook, undefined, error);
      return [];
    }
    for (const binding of hook.bindings) {
      try {
        if (!(await request.isBound(binding))) continue;
        const version = await this.#versionOf(as, hook);
        if (version === undefined) continue;
        for (const parameter of await request.parameters(resource, binding)) {
          const params = parameter !== null && resource?.isBuiltIn ? withoutTypes(parameter) : parameter;
          found.push({ hook, binding, params, as, version });
        }
      } catch (error) {
        this.#misconfigured(hook, binding, error);
      }
    }
    return found;
  }

  /** Returns the version of the object that all policies share that see the request in this version. */
  async #versionOf(as: ResourceKind, hook: Hook): Promise<Version | undefined> {
    const key = JSON.stringify([as.kind.group, as.kind.version, as.kind.kind]);
    const known = this.#versions.get(key);
    if (known !== undefined) return known;
    let seen: VersionedAttributes;
    try {
      seen = await this.#request.inVersion(as);
    } catch (error) {
      this.#misconfigured(hook, undefined, error);
      return undefined;
    }
    const { object, previous } = seen;
    const created: Version = { as, previous, object: object as ApiObject, isChanged: false };
    this.#versions.set(key, created);
    return created;
  }

  async #invokeAll(invocations: readonly Invocation[]): Promise<ApiObject> {
    const isRepeat = this.#rounds.round > 0;
    const reinvocation = this.#reinvocation;
    const { kinds } = this.#parts;
    if (isRepeat && !kinds.same(reinvocation.left, this.#original)) reinvocation.changed();
    const namespace = await this.#request.namespace();
    let last: Version | undefined;
    for (const invocation of invocations) {
      await this.#takeTurn();
      const { hook, version } = invocation;
      const policy = await compiledOf(hook.policy, this.#request.turns);
      if (!(await this.#holds(policy, invocation, namespace))) continue;
      const id = idOf(invocation);
      if (isRepeat && !reinvocation.isDue(id)) continue;
      const before = version.object;
      for (const mutation of policy.mutations) {
        last = version;
        await this.#mutate(policy, mutation, invocation, namespace);
      }
      if (!kinds.same(before, version.object)) this.#changed();
      reinvocation.asked(id, hook.policy.spec?.reinvocationPolicy);
    }
    const object = last?.isChanged ? await this.#asOriginal(last) : this.#original;
    if (last?.isChanged) this.#changed();
    reinvocation.left = object;
    return object;
  }

  /**
   * Whether the match conditions are met. A condition that fails to evaluate is a failure of the policy, unless the
   * policy ignores failures.
   */
  async #holds(policy: CompiledMutations, invocation: Invocation, namespaceObject: Json): Promise<boolean> {
    if (policy.conditions.length === 0) return true;
    const verdict = await evaluateConditions(policy, this.#partsOf(invocation, namespaceObject));
    if ('holds' in verdict) return verdict.holds;
    this.#failed(invocation.hook, invocation.binding, aggregate(verdict.failures));
    return false;
  }

  async #mutate(
    policy: CompiledMutations,
    mutation: CompiledMutation,
    invocation: Invocation,
    namespaceObject: Json,
  ): Promise<void> {
    const { hook, binding, version } = invocation;
    const { clock, metrics } = this.#parts;
    const start = clock.monotonic();
    let failure: string | undefined;
    try {
      const value = await evaluated(policy, mutation, this.#partsOf(invocation, namespaceObject));
      version.object = await this.#applied(mutation, value, version);
      version.isChanged = true;
    } catch (error) {
      failure = messageOf(error);
      if (!(error instanceof MutationFailed)) throw error;
      this.#failed(hook, binding, failure);
    } finally {
      const seconds = (clock.monotonic() - start) / 1_000;
      metrics?.mutated({ policy: hook.name, binding: binding.name, failure, seconds });
    }
    await this.#takeTurn();
  }

  async #applied(mutation: CompiledMutation, value: Value, { as, object }: Version): Promise<ApiObject> {
    const { patcher } = this.#parts;
    const change = await policyPatchOf(mutation, value, this.#request.turns);
    const changedAs = { as, given: this.#request.original };
    return 'operations' in change
      ? patcher.applyJsonPatch(object, changedAs, change.operations)
      : patcher.applyConfiguration(object, changedAs, change.configuration);
  }

  #partsOf({ hook, as, version, params }: Invocation, namespaceObject: Json): ExpressionParts {
    const { object, previous } = version;
    return this.#request.expressionParts({ as, object, previous }, { policy: hook.name, params, namespaceObject });
  }

  /** Returns the object with all its changes, in the version of the request. */
  async #asOriginal({ as, object }: Version): Promise<ApiObject> {
    const { kinds } = this.#parts;
    const original = this.#request.original;
    try {
      return (await convertAttributes(kinds, { as, object, previous: undefined }, original)).object ?? object;
    } catch (error) {
      throw internalError(`failed to convert object: ${messageOf(error)}`, error);
    }
  }

  #changed(): void {
    this.#reinvocation.changed();
    this.#rounds.requestReinvocation();
  }

  /** Yields to the event loop, and throws if the caller no longer waits for the response. */
  async #takeTurn(): Promise<void> {
    const { attributes, turns } = this.#request;
    if (!turns.isDue) return;
    await turns.next();
    if (isAbandoned(attributes, this.#parts.clock)) throw timeout('request did not complete within requested timeout');
  }

  #misconfigured(hook: Hook, binding: BoundPolicy | undefined, error: unknown): void {
    if (failsOpen(hook)) return;
    const of = binding === undefined ? quote(hook.name) : `'${hook.name}' with binding '${binding.name}'`;
    const target = binding === undefined ? 'policy' : 'binding';
    this.#failures.push({ message: `policy ${of} denied request: failed to configure ${target}: ${messageOf(error)}` });
  }

  #failed(hook: Hook, { name: binding }: BoundPolicy, message: string): void {
    if (failsOpen(hook)) return;
    this.#failures.push({
      message: `policy '${hook.name}' with binding '${binding}' denied request: ${message}`,
      reason: 'Invalid',
    });
  }
}

/** Evaluates the expression of a mutation. Throws MutationFailed. */
async function evaluated(
  policy: CompiledMutations,
  mutation: CompiledMutation,
  parts: ExpressionParts,
): Promise<Value> {
  const { prepared } = mutation;
  if (prepared.wrong !== undefined) throw new MutationFailed(prepared.wrong);
  const { results } = await evaluateList(policy, [mutation], expressionListCostBudget, parts, {
    hasAuthorizer: true,
    hasNamespace: true,
  });
  if (results === undefined) throw new MutationFailed(overBudget);
  const result = results[0] ?? { value: null };
  if ('error' in result) throw new MutationFailed(result.error);
  return result.value;
}

/**
 * Returns the parameters without apiVersion and kind, which Kubernetes does not show to these policies for built-in
 * kinds.
 */
const withoutTypes = ({ apiVersion: _, kind: __, ...rest }: ApiObject): ApiObject => rest as ApiObject;

/** Returns a text that identifies an invocation in both rounds. */
const idOf = ({ hook, binding, params }: Invocation): string =>
  JSON.stringify([hook.name, binding.name, params?.metadata.namespace, params?.metadata.name]);
