import type { Domains } from '../api/domains.js';
import type { Secret } from '../api/kinds/secret.js';
import { alwaysAllow, alwaysDeny } from '../auth/always.js';
import type { Authorizer } from '../auth/authorizer.js';
import { union } from '../auth/authorizer-union.js';
import type { ObjectSource } from '../auth/object-source.js';
import { privilegedGroup } from '../auth/privileged-group.js';
import { type Rbac, rbac } from '../auth/rbac.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { type Authentication, openAuthentication } from './authentication.js';
import type { Credentials } from './credentials.js';
import type { AuthorizationMode, ServerOptions } from './options.js';

/** Who is calling, and may they. */
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
    secretTokenUsed(secret: Secret): void;
  },
): Promise<Access> {
  const { credentials, objects, domains, log } = given;
  const authentication = await openAuthentication(
    {
      signingKey: options.serviceAccountSigningKey ?? credentials.serviceAccountKey,
      verificationKeys: options.serviceAccountVerificationKeys ?? [],
      issuers: options.serviceAccountIssuers ?? ['https://kubernetes.default.svc'],
      apiAudiences: options.apiAudiences ?? [],
      keySetUri: options.serviceAccountKeySetUri,
      serverAddress: given.serverAddress,
      clientCa: () => credentials.ca.anchors,
      moreClientCas: options.clientCa,
      tokenFile: options.tokenFile,
      frontProxy: options.frontProxy,
      anonymous: options.anonymous ?? true,
      configuration: options.authenticationConfiguration,
      secretTokenUsed: given.secretTokenUsed,
    },
    given,
  );
  const roles = rbac(objects, domains);
  const modes = modesOf(options);
  if (modes.includes('AlwaysAllow')) {
    log.warn({ authorization: modes }, 'AUTHORIZATION IS OFF: everybody who reaches this server may do everything');
  }
  const byMode: Readonly<Record<AuthorizationMode, () => Authorizer>> = {
    RBAC: () => roles,
    AlwaysAllow: () => alwaysAllow,
    AlwaysDeny: () => alwaysDeny,
  };
  const authorizer = union(privilegedGroup, ...modes.map((mode) => byMode[mode]()));
  return { authentication, authorizer, roles, nodeRestriction: false };
}

/** The modes in the order they are asked. */
function modesOf({ authorization = 'RBAC' }: ServerOptions): readonly AuthorizationMode[] {
  const modes = typeof authorization === 'string' ? [authorization] : authorization;
  if (modes.length === 0) throw new Error('authorization needs at least one mode');
  return modes;
}
