import { hostname } from 'node:os';
import type { Domains } from '../api/domains.js';
import { alwaysAllow, alwaysDeny } from '../auth/always.js';
import { type AuthorizationMetrics, authorizationMetrics } from '../auth/authorization-metrics.js';
import type { Authorizer } from '../auth/authorizer.js';
import { type UnionMember, unionAuthorizer } from '../auth/authorizer-union.js';
import { nodeAuthorizer } from '../auth/node/node-authorizer.js';
import type { ObjectSource } from '../auth/object-source.js';
import { privilegedGroup } from '../auth/privileged-group.js';
import type { Rbac } from '../auth/rbac.js';
import { followConfiguration } from '../runtime/configuration-metrics.js';
import type { Metrics } from '../runtime/metrics.js';
import type { FollowOptions } from '../runtime/text-source.js';
import {
  authorizerName,
  type ConfiguredAuthorizer,
  type ConfiguredWebhook,
  readAuthorizationConfiguration,
} from './authorization-configuration.js';
import { kubeconfigTransport } from './kubeconfig-transport.js';
import { optionDefaults } from './option-defaults.js';
import type { AuthorizationMode, ServerOptions } from './options.js';

export interface Authorizers {
  readonly authorizer: Authorizer;
  readonly types: ReadonlySet<AuthorizationMode>;
}

type AuthorizerOptions = Pick<ServerOptions, 'authorization' | 'authorizationWebhook' | 'authorizationConfiguration'>;

interface AuthorizerContext extends FollowOptions {
  readonly objects: ObjectSource;
  readonly roles: Rbac;
  readonly domains: Domains;
  readonly metrics: Metrics | undefined;
}

/**
 * Opens the authorizers of the options or of an AuthorizationConfiguration, whose file is reloaded when it changes;
 * only its webhooks may change.
 *
 * @throws Error with all problems of the options or the configuration
 */
export async function openAuthorizers(options: AuthorizerOptions, context: AuthorizerContext): Promise<Authorizers> {
  const { domains, clock, log, signal, metrics } = context;
  const counted = metrics && authorizationMetrics(metrics, { clock, serverId: hostname() });
  const open = opener({ ...context, counted });
  const { authorizationConfiguration: source } = options;
  if (source === undefined) return open(fromOptions(options));
  for (const other of ['authorization', 'authorizationWebhook'] as const)
    if (options[other] !== undefined) throw new Error(`authorizationConfiguration and ${other} cannot both be given`);
  let current: OpenAuthorizer | undefined;
  const take = async (text: string): Promise<void> => {
    const configured = await readAuthorizationConfiguration(text, domains);
    if (current !== undefined) checkTypes(typesOf(configured), current.types);
    const before = current;
    current = await open(configured);
    if (before !== undefined) void clock.sleep(farewellMs, signal).then(before.close);
  };
  const option = 'authorizationConfiguration';
  await followConfiguration(source, take, { clock, log, signal, option, tell: counted?.configured });
  const now = (): OpenAuthorizer => current as OpenAuthorizer;
  return {
    authorizer: {
      authorize: (attributes) => now().authorizer.authorize(attributes),
      rulesFor: (user, namespace) => now().authorizer.rulesFor(user, namespace),
    },
    types: now().types,
  };
}

type Parts = AuthorizerContext & { readonly counted: AuthorizationMetrics | undefined };

/**
 * Returns a function that opens authorizers in the given order. All except webhooks are the same instances each time.
 */
function opener(parts: Parts): (configured: readonly ConfiguredAuthorizer[]) => Promise<OpenAuthorizer> {
  const { objects, roles, domains, log, counted } = parts;
  const own: Readonly<Record<Exclude<AuthorizationMode, 'Webhook'>, Authorizer>> = {
    Node: nodeAuthorizer(objects, domains),
    RBAC: roles,
    AlwaysAllow: alwaysAllow,
    AlwaysDeny: alwaysDeny,
  };
  const openOne = async (one: ConfiguredAuthorizer): Promise<{ readonly member: UnionMember; close(): void }> => {
    const { authorizer, close } =
      one.type === 'Webhook'
        ? await openWebhook(one.name, one.webhook, parts)
        : { authorizer: own[one.type], close: () => {} };
    return { member: { authorizer, ...(counted && { decided: counted.decisionsOf(one.type, one.name) }) }, close };
  };
  return async (configured) => {
    const opened = await Promise.all(configured.map(openOne));
    const types = typesOf(configured);
    if (types.has('AlwaysAllow'))
      log.warn({ modes: [...types] }, 'AUTHORIZATION IS OFF: every authenticated user may do everything');
    return {
      authorizer: unionAuthorizer({ authorizer: privilegedGroup }, ...opened.map(({ member }) => member)),
      types,
      close() {
        for (const { close } of opened) close();
      },
    };
  };
}

interface OpenAuthorizer extends Authorizers {
  readonly authorizer: Required<Authorizer>;
  close(): void;
}

/** The time that earlier calls have to finish when a configuration is replaced, in milliseconds. */
const farewellMs = 60_000;

const typesOf = (configured: readonly ConfiguredAuthorizer[]): ReadonlySet<AuthorizationMode> =>
  new Set(configured.map(({ type }) => type));

/**
 * Throws if a changed configuration has other types of authorizers than the first one: a mistake in the file must
 * neither remove all access nor grant any.
 */
function checkTypes(next: ReadonlySet<AuthorizationMode>, first: ReadonlySet<AuthorizationMode>): void {
  const others = (from: ReadonlySet<AuthorizationMode>, to: ReadonlySet<AuthorizationMode>): readonly string[] =>
    [...from].filter((type) => type !== 'Webhook' && !to.has(type));
  const missing = others(first, next);
  if (missing.length > 0) throw new Error(`missing required types: [${missing.join(' ')}]`);
  const [added] = others(next, first);
  if (added !== undefined)
    throw new Error(`authorizer type ${added} is not allowed if it was not enabled at initial server startup`);
}

/** Returns the authorizers of the options in the form of a configuration. */
function fromOptions({
  authorization = optionDefaults.authorization,
  authorizationWebhook: webhook,
}: AuthorizerOptions): readonly ConfiguredAuthorizer[] {
  const modes = typeof authorization === 'string' ? [authorization] : authorization;
  const twice = modes.find((mode, at) => modes.indexOf(mode) !== at);
  if (twice !== undefined) throw new Error(`authorization has the mode ${twice} more than once`);
  // A webhook that is configured but not used is an error.
  if (webhook !== undefined && !modes.includes('Webhook'))
    throw new Error('authorizationWebhook is given, and authorization has no mode Webhook');
  return modes.map((type): ConfiguredAuthorizer => {
    if (type !== 'Webhook') return { type, name: authorizerName(type) };
    if (webhook === undefined) throw new Error('authorization by Webhook needs the kubeconfig of authorizationWebhook');
    const usual = optionDefaults.authorizationWebhook;
    const { kubeconfig, allowedSeconds = usual.allowedSeconds, refusedSeconds = usual.refusedSeconds } = webhook;
    return {
      type,
      name: defaultName,
      webhook: {
        kubeconfig,
        option: 'authorizationWebhook.kubeconfig',
        version: 'v1',
        allowedMs: allowedSeconds * 1_000,
        refusedMs: refusedSeconds * 1_000,
        onFailure: 'no-opinion',
        conditions: [],
      },
    };
  });
}

/** The name that kube-apiserver gives to the webhook of its options. */
const defaultName = 'default';

/** Opens the webhook client, whose module is loaded only if one is configured. */
async function openWebhook(
  name: string,
  { kubeconfig, option, timeoutMs, conditions, ...settings }: ConfiguredWebhook,
  { domains, clock, log, counted }: Parts,
): Promise<{ readonly authorizer: Authorizer; close(): void }> {
  const [{ webhookAuthorizer }, { callReview }, { reviewConditions }] = await Promise.all([
    import('../auth/webhook/webhook-authorizer.js'),
    import('../auth/webhook/call-review.js'),
    import('../auth/webhook/review-conditions.js'),
  ]);
  const transport = await kubeconfigTransport(option, kubeconfig);
  const metrics = counted?.webhook(name);
  return {
    authorizer: webhookAuthorizer({
      ...settings,
      call: callReview({ transport, clock, timeoutMs, called: metrics?.called }),
      asks: conditions.length === 0 ? undefined : reviewConditions(conditions, { clock, metrics: metrics?.conditions }),
      domains,
      clock,
      log,
      metrics,
    }),
    close: () => transport.close(),
  };
}
