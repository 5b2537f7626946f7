import { ApiError, codes, forbidden, notFound, type Reason } from '../../api/errors.js';
import { htmlEscaped } from '../../api/go-text.js';
import { Namespaces } from '../../api/kinds/namespace.js';
import type { ParamKind } from '../../api/kinds/validating-admission-policy.js';
import { messageOf } from '../../api/message-of.js';
import type { ApiObject, Json, JsonObject } from '../../api/object.js';
import type { Authorizer } from '../../auth/authorizer.js';
import type { ObjectSource } from '../../auth/object-source.js';
import { inTurns, TurnTaking } from '../../runtime/turn-taking.js';
import type { AdmissionAttributes, AdmissionStep } from '../admission-step.js';
import { admissionSubject } from '../admission-subject.js';
import { Decisions, requestVariables } from '../request-variables.js';
import { isPolicy } from '../webhooks/matching.js';
import { requestMembers } from '../webhooks/review.js';
import {
  type HookedKinds,
  isNamespace,
  namespaceOf,
  requested,
  type Seen,
  type SeenAs,
  seenAs,
} from '../webhooks/seen.js';
import { type CompiledPolicy, compilePolicy } from './compiled.js';
import { type Decision, evaluatePolicy, type Verdict } from './evaluation.js';
import type { BindingHook, PolicyHook } from './hooks.js';
import { matchedVersion } from './matching.js';
import { type FindParameters, type ParameterResource, parametersOf } from './parameters.js';

export interface PolicyParts {
  readonly hooks: () => readonly PolicyHook[];
  readonly kinds: HookedKinds;
  readonly objects: ObjectSource;
  readonly authorizer: Authorizer;
  readonly parameters: FindParameters;
  /** Domain of Kubernetes' own groups. */
  readonly api: string;
}

/** ValidatingAdmissionPolicies that are bound (KEP-3488). All that match are evaluated; the first denial counts. */
export const validatingPolicies = (parts: PolicyParts): AdmissionStep => ({
  name: 'ValidatingAdmissionPolicy',
  handles: (attributes) =>
    parts.hooks().length > 0 && !isPolicy(attributes, parts.api) && !isReview(attributes, parts.api),
  validate: (attributes) => new Judgement(attributes, parts).run(),
});

/** Questions about identity and rights are never judged: without their answers a cluster may not work. */
const isReview = ({ resource: { group, plural } }: AdmissionAttributes, api: string): boolean =>
  (group === `authentication.${api}` || group === `authorization.${api}`) && plural.endsWith('reviews');

const compiled = new WeakMap<PolicyHook['policy'], CompiledPolicy>();

async function compiledOf({ policy }: PolicyHook, turns: TurnTaking): Promise<CompiledPolicy> {
  const known = compiled.get(policy) ?? (await inTurns(compilePolicy(policy.spec ?? {}), turns));
  compiled.set(policy, known);
  return known;
}

/** Bytes of a record's value that are kept. */
const maxAnnotation = 10 * 1024;

/** What all policies say of one request. */
class Judgement {
  readonly #attributes: AdmissionAttributes;
  readonly #parts: PolicyParts;
  readonly #current: Seen;
  readonly #decisions: Decisions;
  readonly #turns = new TurnTaking();
  /** The first one is told. */
  #denial: { readonly message: string; readonly reason?: string | undefined } | undefined;

  constructor(attributes: AdmissionAttributes, parts: PolicyParts) {
    this.#attributes = attributes;
    this.#parts = parts;
    this.#current = requested(attributes);
    this.#decisions = new Decisions(parts.authorizer, attributes.user);
  }

  /** Throws ApiError if the request is denied. */
  async run(): Promise<void> {
    for (const hook of this.#parts.hooks()) {
      if (this.#turns.isDue) await this.#turns.next();
      await this.#judge(hook);
    }
    if (this.#denial === undefined) return;
    const { message, reason = 'Invalid' } = this.#denial;
    const refusal = forbidden(admissionSubject(this.#attributes), message);
    throw new ApiError({
      message: refusal.message,
      reason: reason as Reason,
      code: codes[reason as Reason] ?? codes.Invalid,
      details: { ...refusal.details, causes: [{ message }] },
    });
  }

  async #judge(hook: PolicyHook): Promise<void> {
    let as: SeenAs | undefined;
    let resource: ParameterResource | undefined;
    try {
      as = await matchedVersion(hook.constraints, this.#attributes, this.#current, this.#parts);
      if (as === undefined) return;
      resource = this.#parametersOf(hook.policy.spec?.paramKind);
    } catch (error) {
      return this.#misconfigured(hook, undefined, error);
    }
    const annotations = new Map<string, string[]>();
    let seen: Seen | undefined;
    for (const binding of hook.bindings) {
      let all: readonly (ApiObject | null)[];
      try {
        if (!(await this.#isBound(binding))) continue;
        all = await parametersOf(resource, binding.binding.spec?.paramRef, namespaceOf(this.#attributes));
        if (all.length === 0) continue;
        seen ??= await this.#converted(as);
      } catch (error) {
        this.#misconfigured(hook, binding, error);
        continue;
      }
      const namespace = await this.#namespace();
      for (const params of all)
        this.#follow(await this.#evaluate(hook, seen, params, namespace), hook, binding, annotations);
    }
    for (const [key, values] of annotations) this.#attributes.annotate?.(`${hook.name}/${key}`, values.join(', '));
  }

  async #isBound({ constraints }: BindingHook): Promise<boolean> {
    if (constraints === undefined) return true;
    return (await matchedVersion(constraints, this.#attributes, this.#current, this.#parts)) !== undefined;
  }

  #parametersOf(kind: ParamKind | null | undefined): ParameterResource | undefined {
    if (!kind) return undefined;
    const found = this.#parts.parameters(kind);
    if (found !== undefined) return found;
    const { apiVersion = '', kind: name = '' } = kind;
    const version = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
    throw new Error(`failed to find resource referenced by paramKind: '${version}, Kind=${name}'`);
  }

  async #converted(as: SeenAs): Promise<Seen> {
    try {
      return await seenAs(this.#parts.kinds, this.#current, as);
    } catch (error) {
      throw new Error(`failed to convert object version: ${messageOf(error)}`, { cause: error });
    }
  }

  /** What expressions see of the namespace; null for what is in none, and for namespaces. */
  async #namespace(): Promise<Json> {
    const name = isNamespace(this.#attributes.resource) ? '' : namespaceOf(this.#attributes);
    if (name === '') return null;
    const found = await this.#parts.objects.get(Namespaces, { name });
    if (found === undefined) throw notFound({ ...Namespaces, name });
    const { managedFields: _, ownerReferences: __, ...metadata } = found.metadata;
    return { metadata, spec: found.spec ?? {}, status: found.status ?? {} } as unknown as JsonObject;
  }

  async #evaluate(hook: PolicyHook, seen: Seen, params: ApiObject | null, namespaceObject: Json): Promise<Verdict> {
    const { kinds } = this.#parts;
    const shown = (object: ApiObject | undefined): Json => (object === undefined ? null : kinds.shown(object, seen.as));
    const policy = await compiledOf(hook, this.#turns);
    const json = {
      object: shown(seen.object),
      oldObject: shown(seen.previous),
      request: requestMembers(this.#attributes, seen.as),
    };
    // To conditions, which see no namespace, the resource is the one that was asked for.
    const forConditions = requestMembers(this.#attributes, { ...this.#current.as, kind: seen.as.kind });
    return evaluatePolicy(policy, {
      decisions: this.#decisions,
      turns: this.#turns,
      ignoresFailures: isLenient(hook),
      variables: ({ hasAuthorizer, hasNamespace }) =>
        requestVariables(this.#attributes, hasAuthorizer ? this.#decisions : undefined, {
          ...json,
          ...(hasNamespace ? {} : { request: forConditions }),
          params: params as unknown as JsonObject | null,
          namespaceObject: hasNamespace ? namespaceObject : null,
        }),
    });
  }

  #follow(verdict: Verdict, hook: PolicyHook, binding: BindingHook, annotations: Map<string, string[]>): void {
    const { name } = binding;
    for (const [index, { denial }] of verdict.decisions.entries()) {
      if (denial === undefined) continue;
      for (const action of binding.binding.spec?.validationActions ?? []) {
        if (action === 'Deny') this.#deny(hook, name, denial);
        else if (action === 'Audit') this.#record(index, denial.message, hook, binding);
        else if (action === 'Warn') {
          this.#attributes.warn(
            `Validation failed for ValidatingAdmissionPolicy '${hook.name}' with binding '${name}': ${denial.message}`,
          );
        }
      }
    }
    for (const annotation of verdict.annotations) {
      if ('error' in annotation) {
        this.#deny(hook, name, { message: annotation.error });
        continue;
      }
      const values = annotations.get(annotation.key) ?? [];
      const value = Buffer.from(annotation.value).subarray(0, maxAnnotation).toString();
      if (!values.includes(value)) annotations.set(annotation.key, [...values, value]);
    }
  }

  #record(expressionIndex: number, message: string, hook: PolicyHook, { binding, name }: BindingHook): void {
    this.#attributes.annotate?.(
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

  #misconfigured(hook: PolicyHook, binding: BindingHook | undefined, error: unknown): void {
    if (isLenient(hook)) return;
    const what = binding === undefined ? 'policy' : 'binding';
    this.#deny(hook, binding?.name, { message: `failed to configure ${what}: ${messageOf(error)}` });
  }

  #deny(hook: PolicyHook, binding: string | undefined, { message, reason }: NonNullable<Decision['denial']>): void {
    const where = binding === undefined ? '' : ` with binding '${binding}'`;
    this.#denial ??= {
      message: `ValidatingAdmissionPolicy '${hook.name}'${where} denied request: ${message}`,
      reason,
    };
  }
}

const isLenient = ({ policy }: PolicyHook): boolean => policy.spec?.failurePolicy === 'Ignore';
