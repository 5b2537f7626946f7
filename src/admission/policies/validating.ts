import { ApiError, codes, forbidden, type Reason } from '../../api/errors.js';
import { htmlEscaped } from '../../api/go-text.js';
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../api/kinds/validating-admission-policy.js';
import { messageOf } from '../../api/message-of.js';
import type { ApiObject, Json } from '../../api/object.js';
import type { AdmissionAttributes, AdmissionStep } from '../admission-step.js';
import { admissionSubject } from '../admission-subject.js';
import type { ResourceKind, VersionedAttributes } from '../webhooks/versioned-attributes.js';
import { type CompiledValidations, compiledOnce, compileValidations } from './compiled.js';
import { type Decision, evaluatePolicy, type Verdict } from './evaluation.js';
import { type BindingHook, failsOpen, type PolicyHook } from './hooks.js';
import type { Enforcement } from './metrics.js';
import type { ParameterResource } from './parameters.js';
import { isSubjectToPolicies, type PolicyParts, PolicyRequest } from './request.js';

type BoundPolicy = BindingHook<ValidatingAdmissionPolicyBinding>;
type Hook = PolicyHook<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding>;

export interface ValidatingParts extends PolicyParts {
  readonly hooks: () => readonly Hook[];
}

/**
 * Applies the ValidatingAdmissionPolicies that have bindings (KEP-3488). All matching policies are evaluated, and the
 * first denial is reported.
 */
export const validatingPolicies = (parts: ValidatingParts): AdmissionStep => ({
  name: 'ValidatingAdmissionPolicy',
  handles: (attributes) => parts.hooks().length > 0 && isSubjectToPolicies(attributes, parts.api),
  validate: (attributes) => new Judgement(attributes, parts).run(),
});

const compiledOf = compiledOnce<ValidatingAdmissionPolicy, CompiledValidations>(compileValidations);

const enforcements: Readonly<Record<string, Enforcement>> = { Audit: 'audit', Deny: 'deny', Warn: 'warn' };

/** The maximum size of the value of an audit annotation in bytes; the rest is cut off. */
const maxAnnotation = 10 * 1024;

/** Collects the verdicts of all policies on one request. */
class Judgement {
  readonly #parts: ValidatingParts;
  readonly #request: PolicyRequest;
  /** The first denial, which is reported. */
  #denial: { readonly message: string; readonly reason?: string | undefined } | undefined;

  constructor(attributes: AdmissionAttributes, parts: ValidatingParts) {
    this.#parts = parts;
    this.#request = new PolicyRequest(attributes, parts);
  }

  /** Evaluates the policies. Throws ApiError if the request is denied. */
  async run(): Promise<void> {
    const { attributes, turns } = this.#request;
    for (const hook of this.#parts.hooks()) {
      if (turns.isDue) await turns.next();
      await this.#judge(hook);
    }
    if (this.#denial === undefined) return;
    const { message, reason = 'Invalid' } = this.#denial;
    const refusal = forbidden(admissionSubject(attributes), message);
    throw new ApiError({
      message: refusal.message,
      reason: reason as Reason,
      code: codes[reason as Reason] ?? codes.Invalid,
      details: { ...refusal.details, causes: [{ message }] },
    });
  }

  async #judge(hook: Hook): Promise<void> {
    const request = this.#request;
    let as: ResourceKind | undefined;
    let resource: ParameterResource | undefined;
    try {
      as = await request.matched(hook.constraints);
      if (as === undefined) return;
      resource = request.parameterResource(hook.policy.spec?.paramKind);
    } catch (error) {
      return this.#misconfigured(hook, undefined, error);
    }
    const annotations = new Map<string, string[]>();
    let seen: VersionedAttributes | undefined;
    for (const binding of hook.bindings) {
      let all: readonly (ApiObject | null)[];
      try {
        if (!(await request.isBound(binding))) continue;
        all = await request.parameters(resource, binding);
        if (all.length === 0) continue;
        seen ??= await this.#converted(as);
      } catch (error) {
        this.#misconfigured(hook, binding, error);
        continue;
      }
      const namespace = await request.namespace();
      for (const params of all)
        this.#follow(await this.#evaluate(hook, seen, params, namespace), hook, binding, annotations);
    }
    for (const [key, values] of annotations) request.attributes.annotate?.(`${hook.name}/${key}`, values.join(', '));
  }

  async #converted(as: ResourceKind): Promise<VersionedAttributes> {
    try {
      return await this.#request.inVersion(as);
    } catch (error) {
      throw new Error(`failed to convert object version: ${messageOf(error)}`, { cause: error });
    }
  }

  async #evaluate(
    hook: Hook,
    seen: VersionedAttributes,
    params: ApiObject | null,
    namespaceObject: Json,
  ): Promise<Verdict> {
    const policy = await compiledOf(hook.policy, this.#request.turns);
    const parts = this.#request.expressionParts(seen, { policy: hook.name, params, namespaceObject });
    return evaluatePolicy(policy, { ...parts, ignoresFailures: failsOpen(hook) });
  }

  #follow(verdict: Verdict, hook: Hook, binding: BoundPolicy, annotations: Map<string, string[]>): void {
    const { name } = binding;
    const count = (action: Enforcement, failure: string, seconds = 0): void =>
      this.#parts.metrics?.validated({ policy: hook.name, binding: name, failure, seconds }, action);
    for (const [index, { denial, ignored, seconds }] of verdict.decisions.entries()) {
      if (ignored !== undefined) count('allow', ignored, seconds);
      if (denial === undefined) continue;
      for (const action of binding.binding.spec?.validationActions ?? []) {
        count(enforcements[action] ?? 'allow', denial.message, seconds);
        if (action === 'Deny') this.#deny(hook, name, denial);
        else if (action === 'Audit') this.#record(index, denial.message, hook, binding);
        else if (action === 'Warn') {
          this.#request.attributes.warn(
            `Validation failed for ValidatingAdmissionPolicy '${hook.name}' with binding '${name}': ${denial.message}`,
          );
        }
      }
    }
    for (const annotation of verdict.annotations) {
      if ('error' in annotation) {
        count('deny', annotation.error);
        this.#deny(hook, name, { message: annotation.error });
        continue;
      }
      const values = annotations.get(annotation.key) ?? [];
      const value = Buffer.from(annotation.value).subarray(0, maxAnnotation).toString();
      if (!values.includes(value)) annotations.set(annotation.key, [...values, value]);
    }
  }

  #record(expressionIndex: number, message: string, hook: Hook, { binding, name }: BoundPolicy): void {
    this.#request.attributes.annotate?.(
      `validation.policy.admission.${this.#parts.api}/validation_failure`,
      htmlEscaped(
        JSON.stringify([
          {
            message,
            policy: hook.name,
            binding: name,
            expressionIndex,
            validationActions: binding.spec?.validationActions ?? [],
          },
        ]),
      ),
    );
  }

  #misconfigured(hook: Hook, binding: BoundPolicy | undefined, error: unknown): void {
    if (failsOpen(hook)) return;
    const target = binding === undefined ? 'policy' : 'binding';
    this.#deny(hook, binding?.name, { message: `failed to configure ${target}: ${messageOf(error)}` });
  }

  #deny(hook: Hook, binding: string | undefined, { message, reason }: NonNullable<Decision['denial']>): void {
    const where = binding === undefined ? '' : ` with binding '${binding}'`;
    this.#denial ??= {
      message: `ValidatingAdmissionPolicy '${hook.name}'${where} denied request: ${message}`,
      reason,
    };
  }
}
