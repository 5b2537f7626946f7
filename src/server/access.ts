import { hostname } from 'node:os';
import type { Domains } from '../api/domains.js';
import type { Secret } from '../api/kinds/secret.js';
import { authenticationMetrics } from '../auth/authentication-metrics.js';
import type { Authorizer } from '../auth/authorizer.js';
import type { TokenAuthenticator } from '../auth/bearer-token.js';
import type { ObjectSource } from '../auth/object-source.js';
import { type Rbac, rbac } from '../auth/rbac.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { Metrics } from '../runtime/metrics.js';
import { type Authentication, openAuthentication } from './authentication.js';
import { openAuthorizers } from './authorizers.js';
import { podSigners } from './certificate-rights.js';
import { concatenated } from './concatenated.js';
import type { Credentials } from './credentials.js';
import { kubeconfigTransport } from './kubeconfig-transport.js';
import { optionDefaults } from './option-defaults.js';
import type { ServerOptions } from './options.js';

/** Authentication and authorization. */
export interface Access {
  readonly authentication: Authentication;
  readonly authorizer: Authorizer;
  readonly roles: Rbac;
  /** Whether node agents are restricted to their own objects. */
  readonly nodeRestriction: boolean;
}

/** Opens authentication and authorization for the options. */
export async function openAccess(
  options: ServerOptions,
  context: {
    readonly credentials: Credentials;
    readonly objects: ObjectSource;
    readonly domains: Domains;
    readonly clock: Clock;
    readonly log: Logger;
    readonly signal: AbortSignal;
    serverAddress(): string;
    /** Returns the CAs in PEM of signers whose certificates authenticate clients. */
    signerIssuers(): string;
    secretTokenUsed(secret: Secret): void;
    certificateLifetimeLeft(seconds: number): void;
    readonly metrics: Metrics | undefined;
  },
): Promise<Access> {
  const { credentials, objects, domains, clock, log, metrics } = context;
  const roles = rbac(objects, domains);
  const { authorizer, types } = await openAuthorizers(options, { ...context, roles });
  const issuers = options.serviceAccountIssuers ?? optionDefaults.serviceAccountIssuers;
  const apiAudiences = options.apiAudiences?.length ? options.apiAudiences : issuers.slice(0, 1);
  const authentication = await openAuthentication(
    {
      signingKey: options.serviceAccountSigningKey ?? credentials.serviceAccountKey,
      verificationKeys: options.serviceAccountVerificationKeys ?? [],
      issuers,
      apiAudiences,
      webhook: await openTokenWebhook(options, apiAudiences, context),
      keySetUri: options.serviceAccountKeySetUri,
      serverAddress: context.serverAddress,
      clientCa: concatenated(() => credentials.ca.issuer, context.signerIssuers),
      moreClientCas: options.clientCa,
      staticTokens: options.staticTokens,
      frontProxy: options.frontProxy,
      // As in Kubernetes: otherwise anonymous callers could do everything.
      anonymous: types.has('AlwaysAllow') ? false : (options.anonymous ?? true),
      configuration: options.authenticationConfiguration,
      secretTokenUsed: context.secretTokenUsed,
      certificateLifetimeLeft: context.certificateLifetimeLeft,
      metrics: metrics && authenticationMetrics(metrics, clock, hostname()),
    },
    context,
  );
  const nodeRestriction = options.nodeRestriction ?? types.has('Node');
  const signers = podSigners(options.certificates?.signers, options.signers);
  if (!nodeRestriction && signers.length > 0) {
    log.warn({ signers }, 'nodeRestriction is off: nodes can get certificates for pods of other nodes');
  }
  return { authentication, authorizer, roles, nodeRestriction };
}

interface WebhookContext {
  readonly domains: Domains;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Opens the webhook client, whose module is loaded only if one is configured. */
async function openTokenWebhook(
  { authenticationWebhook: webhook }: ServerOptions,
  apiAudiences: readonly string[],
  { domains, clock, log }: WebhookContext,
): Promise<TokenAuthenticator | undefined> {
  if (webhook === undefined) return undefined;
  const [{ webhookTokens }, { callReview }] = await Promise.all([
    import('../auth/webhook/webhook-tokens.js'),
    import('../auth/webhook/call-review.js'),
  ]);
  const { cacheSeconds = optionDefaults.authenticationWebhook.cacheSeconds } = webhook;
  return webhookTokens({
    call: callReview({
      transport: await kubeconfigTransport('authenticationWebhook.kubeconfig', webhook.kubeconfig),
      clock,
    }),
    apiAudiences,
    domains,
    clock,
    log,
    keepMs: cacheSeconds * 1_000,
  });
}
