import { isDeepStrictEqual } from 'node:util';
import { defaultDomains } from '../../api/domains.js';
import type { MutatingWebhook, ValidatingWebhook } from '../../api/kinds/webhook-configuration.js';
import { validateLabelSelector } from '../../api/label-selectors.js';
import { dnsSubdomain } from '../../api/names.js';
import type { ApiObject } from '../../api/object.js';
import { reviewVersion, reviewVersions } from '../../api/review-versions.js';
import type { Steps } from '../../api/steps.js';
import {
  child,
  duplicate,
  index,
  invalid,
  notSupportedTypedString,
  required,
  type Violation,
  validateEach,
  validateEachInSteps,
} from '../../api/violations.js';
import { compileCondition } from '../../cel/environments/admission.js';
import { validateMatchConditions } from '../match-conditions.js';
import { reviewVersionsViolations, validateWebhookService, validateWebhookUrl } from '../webhook-client-rules.js';
import { validateWebhookRule } from './rules.js';

const sideEffectsAllowed = ['None', 'NoneOnDryRun'];
const sideEffectsKnown = ['None', 'NoneOnDryRun', 'Some', 'Unknown'];

type Webhook = ValidatingWebhook & Pick<MutatingWebhook, 'reinvocationPolicy'>;
type Webhooks = readonly Webhook[] | undefined;

/** Rules that the stored configuration violates already, so that an update may violate them too. */
interface Leniency {
  readonly matchConditions: boolean;
  readonly sideEffects: boolean;
  readonly reviewVersions: boolean;
  readonly names: boolean;
  readonly labelValues: boolean;
}

const strict: Leniency = {
  matchConditions: false,
  sideEffects: false,
  reviewVersions: false,
  names: false,
  labelValues: false,
};

function* leniencyOf(next: readonly Webhook[], previous: readonly Webhook[]): Steps<Leniency> {
  const accepted = ({ admissionReviewVersions }: Webhook): boolean => {
    const versions = admissionReviewVersions ?? [];
    return versions.length === 0 || reviewVersion(versions) !== undefined;
  };
  return {
    matchConditions:
      next.length === previous.length &&
      next.every(({ matchConditions }, at) =>
        isDeepStrictEqual(matchConditions ?? [], previous[at]?.matchConditions ?? []),
      ),
    sideEffects: previous.some(({ sideEffects }) => !sideEffectsAllowed.includes(sideEffects ?? '')),
    reviewVersions: !previous.every(accepted),
    names: new Set(previous.map(({ name }) => name)).size < previous.length,
    labelValues: yield* someWrongSelector(previous),
  };
}

function* someWrongSelector(webhooks: readonly Webhook[]): Steps<boolean> {
  for (const { namespaceSelector, objectSelector } of webhooks) {
    if ((yield* validateLabelSelector(namespaceSelector, '')).length > 0) return true;
    if ((yield* validateLabelSelector(objectSelector, '')).length > 0) return true;
  }
  return false;
}

/** Validates the webhooks of a configuration, in Kubernetes' order. */
export function* validateWebhooks(next: Webhooks, previous: Webhooks | 'new'): Steps<readonly Violation[]> {
  const webhooks = next ?? [];
  const leniency = previous === 'new' ? strict : yield* leniencyOf(webhooks, previous ?? []);
  const seen = new Set<string>();
  return yield* validateEachInSteps(webhooks, function* (webhook, at) {
    const path = index('webhooks', at);
    const repeated = !leniency.names && Boolean(webhook.name) && seen.has(webhook.name);
    seen.add(webhook.name);
    return [
      ...(yield* validateWebhook(webhook, path, leniency)),
      ...validateReviewVersions(
        webhook.admissionReviewVersions ?? [],
        child(path, 'admissionReviewVersions'),
        leniency,
      ),
      ...(repeated ? [duplicate(child(path, 'name'), webhook.name)] : []),
    ];
  });
}

function* validateWebhook(webhook: Webhook, path: string, leniency: Leniency): Steps<readonly Violation[]> {
  const at = (member: string): string => child(path, member);
  const oneOf = (member: 'failurePolicy' | 'matchPolicy' | 'reinvocationPolicy', values: readonly string[]) => {
    const value = webhook[member];
    return value === undefined || value === null || values.includes(value)
      ? []
      : [notSupportedTypedString(at(member), value, values)];
  };
  const { timeoutSeconds } = webhook;
  const selector = { allowInvalidValues: leniency.labelValues };
  return [
    ...validateName(webhook.name, at('name')),
    ...validateEach(webhook.rules ?? [], (rule, i) => validateWebhookRule(rule, index(at('rules'), i))),
    ...oneOf('failurePolicy', ['Fail', 'Ignore']),
    ...oneOf('matchPolicy', ['Equivalent', 'Exact']),
    ...validateSideEffects(webhook.sideEffects, at('sideEffects'), leniency),
    ...(typeof timeoutSeconds === 'number' && (timeoutSeconds > 30 || timeoutSeconds < 1)
      ? [invalid(at('timeoutSeconds'), timeoutSeconds, 'the timeout value must be between 1 and 30 seconds')]
      : []),
    ...(yield* validateLabelSelector(webhook.namespaceSelector, at('namespaceSelector'), selector)),
    ...(yield* validateLabelSelector(webhook.objectSelector, at('objectSelector'), selector)),
    ...oneOf('reinvocationPolicy', ['IfNeeded', 'Never']),
    ...validateClientConfig(webhook.clientConfig, at('clientConfig')),
    ...(leniency.matchConditions
      ? []
      : yield* validateMatchConditions(webhook.matchConditions ?? [], at('matchConditions'), compileCondition)),
  ];
}

function validateName(name: string | undefined, path: string): readonly Violation[] {
  if (!name) return [required(path)];
  const wrong = dnsSubdomain(name);
  if (wrong.length > 0) return [invalid(path, name, wrong.join())];
  return name.split('.').length < 3
    ? [invalid(path, name, 'should be a domain with at least three segments separated by dots')]
    : [];
}

function validateSideEffects(
  value: ValidatingWebhook['sideEffects'],
  path: string,
  leniency: Leniency,
): readonly Violation[] {
  const values = leniency.sideEffects ? sideEffectsKnown : sideEffectsAllowed;
  if (value === undefined || value === null) return [required(path, `must specify one of ${values.join(', ')}`)];
  return values.includes(value) ? [] : [notSupportedTypedString(path, value, values)];
}

function validateClientConfig(
  config: ValidatingWebhook['clientConfig'] | undefined,
  path: string,
): readonly Violation[] {
  const { url, service } = config ?? {};
  const hasUrl = url !== undefined && url !== null;
  const hasService = service !== undefined && service !== null;
  if (hasUrl === hasService) return [required(path, 'exactly one of url or service is required')];
  if (hasUrl) return validateWebhookUrl(child(path, 'url'), url);
  return hasService ? validateWebhookService(child(path, 'service'), service) : [];
}

function validateReviewVersions(versions: readonly string[], path: string, leniency: Leniency): readonly Violation[] {
  const accepted = reviewVersions.join(', ');
  if (versions.length === 0) return [required(path, `must specify one of ${accepted}`)];
  const wrong = reviewVersionsViolations(versions, path);
  return leniency.reviewVersions || reviewVersion(versions) !== undefined
    ? wrong
    : [...wrong, invalid(path, versions, `must include at least one of ${accepted}`)];
}

/** Returns a warning for a name that is reserved for configurations in files on the server's disk. */
export function reservedNameWarnings({ metadata }: ApiObject): readonly string[] {
  const suffix = `.static.${defaultDomains.api}`;
  return metadata.name?.endsWith(suffix)
    ? [
        `metadata.name: names ending with "${suffix}" are reserved for static manifest-based configurations and cannot be managed via the API`,
      ]
    : [];
}
