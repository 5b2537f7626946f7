import type { CustomResourceConversion } from '../../api/kinds/custom-resource-definition.js';
import { reviewVersion, reviewVersions } from '../../api/review-versions.js';
import { child, forbiddenField, invalid, notSupported, required, type Violation } from '../../api/violations.js';
import { reviewVersionsViolations, validateWebhookService, validateWebhookUrl } from '../webhook-client-rules.js';
import { validateCaBundle } from './ca-bundle.js';

/** Validation of how objects are converted between versions. */

const strategies = ['None', 'Webhook'];

export interface ConversionRuleOptions {
  /** Whether one of the review versions must be known. */
  readonly knownReviewVersion: boolean;
  readonly anyCaBundle: boolean;
}

export function conversionViolations(
  conversion: CustomResourceConversion | undefined,
  path: string,
  options: ConversionRuleOptions,
): readonly Violation[] {
  if (conversion === undefined) return [];
  const { strategy, webhook } = conversion;
  const at = child(path, 'strategy');
  const wrong = strategy
    ? strategies.includes(strategy)
      ? []
      : [notSupported(at, strategy, strategies)]
    : [required(at)];
  return [...wrong, ...(strategy === 'Webhook' ? webhookViolations : strayWebhook)(webhook, path, options)];
}

type Webhook = CustomResourceConversion['webhook'];
const clientPath = (path: string): string => child(path, 'webhookClientConfig');
const reviewPath = (path: string): string => child(path, 'conversionReviewVersions');

function strayWebhook(webhook: Webhook, path: string): readonly Violation[] {
  const message = 'should not be set when strategy is not set to Webhook';
  return [
    ...(webhook?.clientConfig ? [forbiddenField(clientPath(path), message)] : []),
    ...(webhook?.conversionReviewVersions?.length ? [forbiddenField(reviewPath(path), message)] : []),
  ];
}

function webhookViolations(webhook: Webhook, path: string, options: ConversionRuleOptions): readonly Violation[] {
  return [
    ...clientViolations(webhook?.clientConfig, clientPath(path), options),
    ...reviewVersionViolations(webhook?.conversionReviewVersions ?? [], reviewPath(path), options),
  ];
}

function clientViolations(
  client: NonNullable<Webhook>['clientConfig'],
  path: string,
  { anyCaBundle }: ConversionRuleOptions,
): readonly Violation[] {
  if (!client) return [required(path, 'required when strategy is set to Webhook')];
  const { url, service, caBundle } = client;
  const where = (): readonly Violation[] => {
    if ((url === undefined) === (service === undefined)) {
      return [required(path, 'exactly one of url or service is required')];
    }
    if (url !== undefined) return validateWebhookUrl(child(path, 'url'), url);
    return validateWebhookService(child(path, 'service'), service ?? {});
  };
  return [...where(), ...(caBundle && !anyCaBundle ? validateCaBundle(child(path, 'caBundle'), caBundle) : [])];
}

function reviewVersionViolations(
  versions: readonly string[],
  path: string,
  { knownReviewVersion }: ConversionRuleOptions,
): readonly Violation[] {
  if (versions.length === 0) return [required(path)];
  const found = reviewVersionsViolations(versions, path);
  return !knownReviewVersion || reviewVersion(versions) !== undefined
    ? found
    : [...found, invalid(path, versions, `must include at least one of ${reviewVersions.join(', ')}`)];
}

/** Whether the review versions of a stored definition were acceptable, which an empty list also is. */
export const hasKnownReviewVersion = (conversion: CustomResourceConversion | undefined): boolean => {
  const versions = conversion?.webhook?.conversionReviewVersions ?? [];
  return versions.length === 0 || reviewVersion(versions) !== undefined;
};
