import { hostname } from 'node:os';
import type { Domains } from '../api/domains.js';
import type { Secret } from '../api/kinds/secret.js';
import { alwaysAllow, alwaysDeny } from '../auth/always.js';
import { authenticationMetrics } from '../auth/authentication-metrics.js';
import { type AuthorizationWebhookMetrics, authorizationMetrics } from '../auth/authorization-metrics.js';
import type { Authorizer } from '../auth/authorizer.js';
import { type UnionMember, union } from '../auth/authorizer-union.js';
import type { TokenAuthenticator } from '../auth/bearer-token.js';
import { nodeAuthorizer } from '../auth/node/node-authorizer.js';
import type { ObjectSource } from '../auth/object-source.js';
import { privilegedGroup } from '../auth/privileged-group.js';
import { type Rbac, rbac } from '../auth/rbac.js';
import type { CallReview } from '../auth/webhook/call-review.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { Metrics } from '../runtime/metrics.js';
import { type Authentication, openAuthentication } from './authentication.js';
import { podSigners } from './certificate-rights.js';
import type { Credentials } from './credentials.js';
import { joined } from './joined.js';
import { kubeconfigTransport } from './kubeconfig-transport.js';
import { optionDefaults } from './option-defaults.js';
import type { AuthorizationMode, ServerOptions } from './options.js';

/** Authentication and authorization. */
export interface Access {
  readonly authentication: Authentication;
  readonly authorizer: Authorizer;
  readonly roles: Rbac;
  /** Is what node agents write restricted to what is theirs? */
  readonly nodeRestriction: boolean;
}

/** Opens authentication and authorization as the options say. */
export async function openAccess(
  options: ServerOptions,
  given: {
    readonly credentials: Credentials;
    readonly objects: ObjectSource;
    readonly domains: Domains;
    readonly clock: Clock;
    readonly log: Logger;
    readonly signal: AbortSignal;
    serverAddress(): string;
    /** PEM of CAs of signers whose certificates say who is calling. */
    signerIssuers(): string;
    secretTokenUsed(secret: Secret): void;
    certificateLifetimeLeft(seconds: number): void;
    readonly metrics: Metrics | undefined;
  },
): Promise<Access> {
  const { credentials, objects, domains, clock, log, metrics } = given;
  const modes = modesOf(options);
  const allowsAll = modes.includes('AlwaysAllow');
  const issuers = options.serviceAccountIssuers ?? optionDefaults.serviceAccountIssuers;
  const apiAudiences = options.apiAudiences?.length ? options.apiAudiences : issuers.slice(0, 1);
  const authentication = await openAuthentication(
    {
      signingKey: options.serviceAccountSigningKey ?? credentials.serviceAccountKey,
      verificationKeys: options.serviceAccountVerificationKeys ?? [],
      issuers,
      apiAudiences,
      webhook: await openTokenWebhook(options, apiAudiences, given),
      keySetUri: options.serviceAccountKeySetUri,
      serverAddress: given.serverAddress,
      clientCa: joined(() => credentials.ca.issuer, given.signerIssuers),
      moreClientCas: options.clientCa,
      staticTokens: options.staticTokens,
      frontProxy: options.frontProxy,
      // As in Kubernetes: strangers could do everything.
      anonymous: allowsAll ? false : (options.anonymous ?? true),
      configuration: options.authenticationConfiguration,
      secretTokenUsed: given.secretTokenUsed,
      certificateLifetimeLeft: given.certificateLifetimeLeft,
      metrics: metrics && authenticationMetrics(metrics, clock, hostname()),
    },
    given,
  );
  const roles = rbac(objects, domains);
  if (allowsAll) log.warn({ modes }, 'AUTHORIZATION IS OFF: everybody known to this server may do everything');
  const counted = metrics && authorizationMetrics(metrics);
  const byMode: Readonly<Record<AuthorizationMode, () => Authorizer | Promise<Authorizer>>> = {
    Webhook: () => openAuthorizationWebhook(options, counted?.webhook, given),
    RBAC: () => roles,
    Node: () => nodeAuthorizer(objects, domains),
    AlwaysAllow: () => alwaysAllow,
    AlwaysDeny: () => alwaysDeny,
  };
  const member = async (mode: AuthorizationMode): Promise<UnionMember> => {
    const authorizer = await byMode[mode]();
    return counted === undefined ? { authorizer } : { authorizer, decided: counted.decisionsOf(mode) };
  };
  const authorizer = union({ authorizer: privilegedGroup }, ...(await Promise.all(modes.map(member))));
  const nodeRestriction = options.nodeRestriction ?? modes.includes('Node');
  const signers = podSigners(options.certificates?.signers, options.signers);
  if (!nodeRestriction && signers.length > 0) {
    log.warn({ signers }, 'nodeRestriction is off: nodes get certificates for pods that they do not run');
  }
  return { authentication, authorizer, roles, nodeRestriction };
}

interface Surroundings {
  readonly domains: Domains;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Calls to the server of a kubeconfig, loaded only where one is named. */
async function openCall(
  option: 'authenticationWebhook' | 'authorizationWebhook',
  kubeconfig: string,
  clock: Clock,
  called?: AuthorizationWebhookMetrics['called'],
): Promise<CallReview> {
  const { callReview } = await import('../auth/webhook/call-review.js');
  const transport = await kubeconfigTransport(`${option}.kubeconfig`, kubeconfig);
  return callReview({ transport, clock, called });
}

async function openTokenWebhook(
  { authenticationWebhook: webhook }: ServerOptions,
  apiAudiences: readonly string[],
  { domains, clock, log }: Surroundings,
): Promise<TokenAuthenticator | undefined> {
  if (webhook === undefined) return undefined;
  const { webhookTokens } = await import('../auth/webhook/webhook-tokens.js');
  const { cacheSeconds = optionDefaults.authenticationWebhook.cacheSeconds } = webhook;
  return webhookTokens({
    call: await openCall('authenticationWebhook', webhook.kubeconfig, clock),
    apiAudiences,
    domains,
    clock,
    log,
    keepMs: cacheSeconds * 1_000,
  });
}

async function openAuthorizationWebhook(
  { authorizationWebhook: webhook }: ServerOptions,
  metrics: AuthorizationWebhookMetrics | undefined,
  { domains, clock, log }: Surroundings,
): Promise<Authorizer> {
  if (webhook === undefined) throw new Error('authorization by Webhook needs the kubeconfig of authorizationWebhook');
  const { webhookAuthorizer } = await import('../auth/webhook/webhook-authorizer.js');
  const usual = optionDefaults.authorizationWebhook;
  const { allowedSeconds = usual.allowedSeconds, refusedSeconds = usual.refusedSeconds } = webhook;
  return webhookAuthorizer({
    call: await openCall('authorizationWebhook', webhook.kubeconfig, clock, metrics?.called),
    domains,
    clock,
    log,
    metrics,
    allowedMs: allowedSeconds * 1_000,
    refusedMs: refusedSeconds * 1_000,
  });
}

/** The modes in the order they are asked. */
function modesOf({
  authorization = optionDefaults.authorization,
  authorizationWebhook,
}: ServerOptions): readonly AuthorizationMode[] {
  const modes = typeof authorization === 'string' ? [authorization] : authorization;
  const twice = modes.find((mode, at) => modes.indexOf(mode) !== at);
  if (twice !== undefined) throw new Error(`authorization has the mode ${twice} more than once`);
  // Whoever gives one believes that it is asked.
  if (authorizationWebhook !== undefined && !modes.includes('Webhook'))
    throw new Error('authorizationWebhook is given, and authorization has no mode Webhook');
  return modes;
}
