import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { Domains } from '../api/domains.js';
import { parseDuration } from '../api/go-duration.js';
import { trimSpace } from '../api/go-text.js';
import { messageOf } from '../api/message-of.js';
import { dnsSubdomain } from '../api/names.js';
import {
  child,
  duplicate,
  index,
  invalid,
  invalidExpression,
  notSupported,
  required,
  tooMany,
  type Violation,
} from '../api/violations.js';
import { readYaml } from '../api/yaml.js';
import type { ReviewCondition } from '../auth/webhook/review-conditions.js';
import { compileReviewCondition } from '../cel/environments/authorization.js';
import { runInTurns } from '../runtime/turn-taking.js';
import { boolean, field, list, optional, string, struct } from '../schema/builder.js';
import { checkConfiguration, configurationVersions, decodeConfiguration } from '../schema/configuration-file.js';
import { optionDefaults } from './option-defaults.js';
import { type AuthorizationMode, authorizationModes } from './options.js';

/**
 * Reads the file with the authorizers, in the order in which they are asked: kind AuthorizationConfiguration of
 * Kubernetes.
 */

const webhook = struct('WebhookConfiguration', {
  authorizedTTL: field(1, string()),
  cacheAuthorizedRequests: optional(2, boolean()),
  unauthorizedTTL: field(3, string()),
  cacheUnauthorizedRequests: optional(4, boolean()),
  timeout: field(5, string()),
  subjectAccessReviewVersion: field(6, string()),
  matchConditionSubjectAccessReviewVersion: field(7, string()),
  failurePolicy: field(8, string()),
  connectionInfo: field(
    9,
    struct('WebhookConnectionInfo', { type: field(1, string()), kubeConfigFile: field(2, string()) }),
  ),
  matchConditions: field(10, list(struct('WebhookMatchCondition', { expression: field(1, string()) }))),
});
const schema = struct('AuthorizationConfiguration', {
  apiVersion: field(1, string()),
  kind: field(2, string()),
  authorizers: field(
    3,
    list(
      struct('AuthorizerConfiguration', {
        type: field(1, string()),
        name: field(2, string()),
        webhook: optional(3, webhook),
      }),
    ),
  ),
});

interface WebhookEntry {
  readonly authorizedTTL?: string;
  readonly cacheAuthorizedRequests?: boolean;
  readonly unauthorizedTTL?: string;
  readonly cacheUnauthorizedRequests?: boolean;
  readonly timeout?: string;
  readonly subjectAccessReviewVersion?: string;
  readonly matchConditionSubjectAccessReviewVersion?: string;
  readonly failurePolicy?: string;
  readonly connectionInfo?: { readonly type?: string; readonly kubeConfigFile?: string };
  readonly matchConditions?: readonly { readonly expression?: string }[];
}
interface AuthorizerEntry {
  readonly type?: string;
  readonly name?: string;
  readonly webhook?: WebhookEntry;
}

/** A webhook that decides about access. */
export interface ConfiguredWebhook {
  /** The kubeconfig file of the webhook, and the path of the field that names it, for errors. */
  readonly kubeconfig: string;
  readonly option: string;
  readonly version: 'v1' | 'v1beta1';
  readonly timeoutMs?: number;
  /** How long decisions are cached, in milliseconds: those that allow, and all others. */
  readonly allowedMs: number;
  readonly refusedMs: number;
  readonly onFailure: 'no-opinion' | 'deny';
  /** The match conditions; if there are none, the webhook is asked about every request. */
  readonly conditions: readonly ReviewCondition[];
}

export type ConfiguredAuthorizer =
  | { readonly type: Exclude<AuthorizationMode, 'Webhook'>; readonly name: string }
  | { readonly type: 'Webhook'; readonly name: string; readonly webhook: ConfiguredWebhook };

const versions = ['v1', 'v1beta1', 'v1alpha1'] as const;
const longestTimeoutMs = 30_000;
const mostConditions = 64;

/** Returns the name of an authorizer that is not a webhook. */
export const authorizerName = (type: string): string => type.toLowerCase();

/** Parses YAML or JSON. Unknown and repeated fields are rejected. Throws Error with all problems. */
export async function readAuthorizationConfiguration(
  text: string,
  domains: Domains,
): Promise<readonly ConfiguredAuthorizer[]> {
  const { authorizers = [] } = decodeConfiguration(schema, await readYaml(text), {
    kind: 'AuthorizationConfiguration',
    versions: configurationVersions(domains, versions),
  }) as { readonly authorizers?: readonly AuthorizerEntry[] };
  const violations: Violation[] = [];
  const read: ConfiguredAuthorizer[] = [];
  if (authorizers.length === 0)
    violations.push(required('authorizers', 'at least one authorization mode must be defined'));
  for (const [at, authorizer] of authorizers.entries()) {
    const path = index('authorizers', at);
    const { type = '', name = '', webhook: settings } = authorizer;
    violations.push(...checkAuthorizer(authorizer, path, read));
    if (!isType(type)) continue;
    if (type !== 'Webhook') read.push({ type, name });
    else if (settings !== undefined) {
      violations.push(...checkWebhook(settings, path), ...(await checkKubeconfig(settings, path)));
      const conditions = await readConditions(settings.matchConditions ?? [], child(path, 'matchConditions'));
      violations.push(...conditions.violations);
      read.push({ type, name, webhook: readWebhook(settings, path, conditions.compiled) });
    }
  }
  checkConfiguration(violations);
  return read;
}

const isType = (text: string): text is AuthorizationMode => (authorizationModes as readonly string[]).includes(text);

/** Returns the errors in an authorizer, except for those in a webhook. */
function checkAuthorizer(
  { type = '', name = '', webhook: settings }: AuthorizerEntry,
  path: string,
  earlier: readonly ConfiguredAuthorizer[],
): readonly Violation[] {
  const place = child(path, 'type');
  if (type === '') return [required(place)];
  if (!isType(type)) return [notSupported(place, type, [...authorizationModes].sort())];
  if (type !== 'Webhook' && earlier.some((one) => one.type === type)) return [duplicate(place, type)];
  const wrongName = checkName(name, child(path, 'name'), type, earlier);
  if ((type === 'Webhook') === (settings !== undefined)) return wrongName;
  const member = child(path, 'webhook');
  const wrong =
    settings === undefined
      ? required(member, 'required when type=Webhook')
      : invalid(member, 'non-null', 'may only be specified when type=Webhook');
  return [...wrongName, wrong];
}

function checkName(
  name: string,
  path: string,
  type: AuthorizationMode,
  earlier: readonly ConfiguredAuthorizer[],
): readonly Violation[] {
  if (name === '') return [required(path)];
  if (earlier.some((one) => one.name === name)) return [duplicate(path, name)];
  const wrong = dnsSubdomain(name);
  if (wrong.length > 0) return [invalid(path, name, `authorizer name is invalid: ${wrong.join(', ')}`)];
  return type === 'Webhook' || name === authorizerName(type)
    ? []
    : [invalid(path, name, `expected name ${authorizerName(type)} for authorizer ${type}`)];
}

/** Returns the errors in a webhook. As in Kubernetes, their path is that of the authorizer. */
function checkWebhook(webhook: WebhookEntry, path: string): readonly Violation[] {
  const { timeout, authorizedTTL, unauthorizedTTL, subjectAccessReviewVersion, failurePolicy, matchConditions } =
    webhook;
  const { matchConditionSubjectAccessReviewVersion: conditionVersion } = webhook;
  return [
    ...checkTimeout(timeout, child(path, 'timeout')),
    ...checkLifetime(authorizedTTL, child(path, 'authorizedTTL')),
    ...checkLifetime(unauthorizedTTL, child(path, 'unauthorizedTTL')),
    ...checkWord(subjectAccessReviewVersion, child(path, 'subjectAccessReviewVersion'), ['v1', 'v1beta1']),
    ...(conditionVersion || matchConditions?.length
      ? checkWord(
          conditionVersion,
          child(path, 'matchConditionSubjectAccessReviewVersion'),
          ['v1'],
          'required if match conditions are specified',
        )
      : []),
    ...checkWord(failurePolicy, child(path, 'failurePolicy'), ['NoOpinion', 'Deny']),
  ];
}

function checkWord(word = '', path: string, supported: readonly string[], message?: string): readonly Violation[] {
  if (word === '') return [required(path, message)];
  return supported.includes(word) ? [] : [notSupported(path, word, supported)];
}

function checkTimeout(text: string | undefined, path: string): readonly Violation[] {
  const time = parseDuration(text ?? '0');
  if (time.wrong !== undefined) return [invalid(path, text, time.wrong)];
  if (time.nanoseconds === 0n) return [required(path)];
  const isGood = time.nanoseconds > 0n && time.milliseconds <= longestTimeoutMs;
  return isGood ? [] : [invalid(path, text, 'must be > 0s and <= 30s')];
}

function checkLifetime(text: string | undefined, path: string): readonly Violation[] {
  const time = parseDuration(text ?? '0');
  const wrong = time.wrong ?? (time.nanoseconds < 0n ? 'must be > 0s' : undefined);
  return wrong === undefined ? [] : [invalid(path, text, wrong)];
}

/** Checks the source of the kubeconfig; an in-cluster configuration does not exist here. */
async function checkKubeconfig(
  { connectionInfo: { type = '', kubeConfigFile = '' } = {} }: WebhookEntry,
  path: string,
): Promise<readonly Violation[]> {
  const place = child(path, 'connectionInfo', 'type');
  if (type === '') return [required(place)];
  if (type !== 'KubeConfigFile') return [notSupported(place, type, ['KubeConfigFile'])];
  const file = child(path, 'connectionInfo', 'kubeConfigFile');
  if (kubeConfigFile === '') return [required(file)];
  if (!isAbsolute(kubeConfigFile)) return [invalid(file, kubeConfigFile, 'must be an absolute path')];
  try {
    if ((await stat(kubeConfigFile)).isFile()) return [];
    return [invalid(file, kubeConfigFile, 'must be a regular file')];
  } catch (error) {
    return [invalid(file, kubeConfigFile, `error loading file: ${messageOf(error)}`)];
  }
}

async function readConditions(
  conditions: NonNullable<WebhookEntry['matchConditions']>,
  path: string,
): Promise<{ readonly violations: readonly Violation[]; readonly compiled: readonly ReviewCondition[] }> {
  if (conditions.length > mostConditions)
    return { violations: [tooMany(path, conditions.length, mostConditions)], compiled: [] };
  const violations: Violation[] = [];
  const compiled: ReviewCondition[] = [];
  const seen = new Set<string>();
  for (const [at, { expression: text = '' }] of conditions.entries()) {
    const place = child(index(path, at), 'expression');
    if (trimSpace(text) === '') violations.push(required(place));
    else if (seen.has(text)) violations.push(duplicate(place, text));
    else {
      seen.add(text);
      const prepared = await runInTurns(compileReviewCondition(text));
      if (prepared.wrong === undefined) compiled.push({ text, program: prepared.program });
      else violations.push(invalidExpression(place, text, prepared));
    }
  }
  return { violations, compiled };
}

function readWebhook(webhook: WebhookEntry, path: string, conditions: readonly ReviewCondition[]): ConfiguredWebhook {
  const { cacheAuthorizedRequests = true, cacheUnauthorizedRequests = true } = webhook;
  const { authorizedTTL, unauthorizedTTL } = webhook;
  const { allowedSeconds, refusedSeconds } = optionDefaults.authorizationWebhook;
  return {
    kubeconfig: webhook.connectionInfo?.kubeConfigFile ?? '',
    option: child(path, 'connectionInfo', 'kubeConfigFile'),
    version: webhook.subjectAccessReviewVersion === 'v1beta1' ? 'v1beta1' : 'v1',
    timeoutMs: milliseconds(webhook.timeout),
    allowedMs: cacheAuthorizedRequests ? milliseconds(authorizedTTL) || allowedSeconds * 1_000 : 0,
    refusedMs: cacheUnauthorizedRequests ? milliseconds(unauthorizedTTL) || refusedSeconds * 1_000 : 0,
    onFailure: webhook.failurePolicy === 'Deny' ? 'deny' : 'no-opinion',
    conditions,
  };
}

/** Parses a duration into milliseconds; 0 if there is none. */
function milliseconds(text = '0'): number {
  const time = parseDuration(text);
  return time.wrong === undefined ? time.milliseconds : 0;
}
