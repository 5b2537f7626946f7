import { forbidden, internalError, notFound } from '../../api/errors.js';
import { aggregate } from '../../api/go-text.js';
import type { NamedRuleWithOperations } from '../../api/kinds/admission-policy.js';
import { type Namespace, Namespaces } from '../../api/kinds/namespace.js';
import type { MatchCondition } from '../../api/kinds/webhook-configuration.js';
import type { Labels } from '../../api/label-requirements.js';
import type { LabelSelector } from '../../api/label-selectors.js';
import type { ResourceType } from '../../api/object.js';
import type { ObjectSource } from '../../auth/object-source.js';
import type { Clock } from '../../runtime/clock.js';
import type { TurnTaking } from '../../runtime/turn-taking.js';
import type { AdmissionAttributes } from '../admission-step.js';
import { nameOf } from '../admission-subject.js';
import type { ConditionsVerdict } from '../expression-list.js';
import type { WebhookMetrics } from './metrics.js';
import {
  convertForWebhook,
  isNamespace,
  namespaceOf,
  type ObjectInterfaces,
  originalAttributes,
  type ResourceKind,
  type VersionedAttributes,
  type WebhookType,
} from './versioned-attributes.js';
import type { WebhookAccessor } from './webhook-accessors.js';

/** A call of a webhook, and the version in which the webhook sees the request. */
export interface Invocation {
  readonly hook: WebhookAccessor;
  readonly as: ResourceKind;
}

/**
 * Evaluates match conditions (KEP-3716) for a request whose objects are in the version that the webhook or policy sees.
 * One condition that is false decides, whatever the others do. A failure has the text `expression 'E' resulted in
 * error: <why>`.
 */
export type EvaluateConditions = (
  conditions: readonly MatchCondition[],
  request: { readonly attributes: AdmissionAttributes; readonly seen: VersionedAttributes; readonly turns: TurnTaking },
) => Promise<ConditionsVerdict>;

export interface MatchParts {
  readonly kinds: ObjectInterfaces;
  readonly objects: ObjectSource;
  readonly evaluate: EvaluateConditions;
  readonly clock: Clock;
  readonly metrics?: WebhookMetrics | undefined;
}

/** The MatchParts of one request. */
export interface RequestMatchParts extends MatchParts {
  readonly type: WebhookType;
  readonly turns: TurnTaking;
}

const policyKinds: readonly string[] = [
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
];
const webhookKinds: readonly string[] = ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'];

/**
 * Whether the resource configures admission itself. Writes of such resources are never sent to webhooks, so that a
 * webhook that denies everything can be removed.
 */
export const isExempt = (attributes: Pick<AdmissionAttributes, 'resource'>, api: string): boolean =>
  isKindOf(webhookKinds, attributes, api) || isPolicy(attributes, api);

/**
 * Whether the resource is a policy or a binding. These are exempt from policies for the same reason; webhook
 * configurations are not.
 */
export const isPolicy = (attributes: Pick<AdmissionAttributes, 'resource'>, api: string): boolean =>
  isKindOf(policyKinds, attributes, api);

const isKindOf = (
  kinds: readonly string[],
  { resource }: Pick<AdmissionAttributes, 'resource'>,
  api: string,
): boolean => resource.group === `admissionregistration.${api}` && kinds.includes(resource.plural);

/**
 * Returns the invocation of a webhook; undefined if it is not to be called. `current` is the request with the changes
 * of earlier webhooks.
 *
 * @throws ApiError if that cannot be determined
 */
export async function invocationOf(
  hook: WebhookAccessor,
  attributes: AdmissionAttributes,
  current: VersionedAttributes,
  parts: RequestMatchParts,
): Promise<Invocation | undefined> {
  const { webhook } = hook;
  const namespace = await namespaceMatches(hook, attributes, current, parts.objects);
  if (namespace === false) return undefined;
  if (!objectMatches(hook, current)) return undefined;
  const as = versionFor(webhook.rules ?? [], webhook.matchPolicy, attributes, parts.kinds);
  if (as === undefined) return undefined;
  if (namespace !== true) throw namespace;
  const conditions = webhook.matchConditions ?? [];
  if (conditions.length === 0) return { hook, as };
  const { clock, metrics, type, turns } = parts;
  const seen = await convertForWebhook(type, parts.kinds, current, as);
  const start = clock.monotonic();
  const verdict = await parts.evaluate(conditions, { attributes, seen, turns });
  metrics?.conditionsEvaluated({
    webhook: webhook.name,
    type,
    operation: attributes.operation,
    seconds: (clock.monotonic() - start) / 1_000,
    verdict,
    excluded: 'holds' in verdict ? !verdict.holds : webhook.failurePolicy === 'Ignore',
  });
  if ('holds' in verdict) return verdict.holds ? { hook, as } : undefined;
  if (webhook.failurePolicy === 'Ignore') return undefined;
  const { failures } = verdict;
  const { group, plural } = attributes.resource;
  throw forbidden({ group, plural, name: nameOf(attributes) }, aggregate(failures));
}

/** The selectors of a webhook or policy. */
export interface Selectors {
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
}

/** Whether the object, or its previous state, matches the objectSelector. */
export const objectMatches = ({ objectSelector }: Selectors, { object, previous }: VersionedAttributes): boolean =>
  objectSelector.empty ||
  [object, previous].some((one) => one !== undefined && objectSelector.matches(one.metadata.labels));

/**
 * Whether the namespace of the request matches the namespaceSelector. An error is returned, not thrown, because it is
 * relevant only if everything else matches.
 */
export async function namespaceMatches(
  { namespaceSelector }: Selectors,
  attributes: AdmissionAttributes,
  current: VersionedAttributes,
  objects: ObjectSource,
): Promise<boolean | Error> {
  const name = namespaceOf(attributes);
  if (namespaceSelector.empty || (name === '' && !isNamespace(attributes.resource))) return true;
  const labels = await namespaceLabels(attributes, current, objects, name);
  return labels instanceof Error ? labels : namespaceSelector.matches(labels);
}

async function namespaceLabels(
  { operation, resource, subresource }: AdmissionAttributes,
  { object }: VersionedAttributes,
  objects: ObjectSource,
  name: string,
): Promise<Labels | undefined | Error> {
  const isItself = isNamespace(resource) && subresource === undefined;
  if (isItself && (operation === 'CREATE' || operation === 'UPDATE')) return object?.metadata.labels;
  const found = byName(await objects.list(Namespaces)).get(name) ?? (await objects.get(Namespaces, { name }));
  return found === undefined ? notFound({ ...Namespaces, name }) : found.metadata.labels;
}

const indexes = new WeakMap<readonly Namespace[], ReadonlyMap<string, Namespace>>();

function byName(list: readonly Namespace[]): ReadonlyMap<string, Namespace> {
  const known = indexes.get(list);
  if (known !== undefined) return known;
  const index = new Map(list.map((one) => [one.metadata.name ?? '', one]));
  indexes.set(list, index);
  return index;
}

/** Returns the version in which the rules match: that of the request, or else the first equivalent one. */
export function versionFor(
  rules: readonly NamedRuleWithOperations[],
  matchPolicy: string | undefined,
  attributes: AdmissionAttributes,
  kinds: ObjectInterfaces,
): ResourceKind | undefined {
  const { resource, subresource, operation } = attributes;
  const request = { operation, subresource, namespace: namespaceOf(attributes), name: nameOf(attributes) };
  if (rules.some((rule) => ruleMatches(rule, resource, request))) return originalAttributes(attributes).as;
  if (matchPolicy !== 'Equivalent') return undefined;
  const others = kinds.equivalents(resource, subresource);
  if (others.length === 0) return undefined;
  for (const rule of rules) {
    const found = others.find((other) => ruleMatches(rule, other.resource, request));
    if (found === undefined) continue;
    if (found.kind.kind === '') throw internalError(`unable to convert to ${found.resource.plural}: unknown kind`);
    return found;
  }
  return undefined;
}

/** The properties of a request that rules match, besides the resource. */
interface RuledRequest {
  readonly operation: string;
  readonly subresource: string | undefined;
  /** The namespace; empty for cluster-scoped resources. */
  readonly namespace: string;
  /** The name; empty or absent if there is none, or while it is still to be generated. */
  readonly name?: string;
}

/** Whether a rule matches the request. Pure. */
export function ruleMatches(
  {
    operations = [],
    apiGroups = [],
    apiVersions = [],
    resources = [],
    resourceNames = [],
    scope = '*',
  }: NamedRuleWithOperations,
  resource: Pick<ResourceType, 'group' | 'version' | 'plural'>,
  { operation, subresource = '', namespace, name = '' }: RuledRequest,
): boolean {
  return (
    inScope(scope, isNamespace(resource) || namespace === '') &&
    names(operations, operation) &&
    names(apiGroups, resource.group) &&
    names(apiVersions, resource.version) &&
    resources.some((text) => namesResource(text, resource.plural, subresource)) &&
    (resourceNames.length === 0 || resourceNames.includes(name))
  );
}

const names = (items: readonly string[], value: string): boolean => items.includes('*') || items.includes(value);

const inScope = (scope: string, isClusterWide: boolean): boolean =>
  scope === '*' || (scope === 'Cluster' && isClusterWide) || (scope === 'Namespaced' && !isClusterWide);

/** Whether an entry of a rule names a resource. `pods/*` includes pods themselves. */
function namesResource(text: string, plural: string, subresource: string): boolean {
  const slash = text.indexOf('/');
  const resource = slash < 0 ? text : text.slice(0, slash);
  const sub = slash < 0 ? '' : text.slice(slash + 1);
  return (resource === '*' || resource === plural) && (sub === '*' || sub === subresource);
}
