import type { Domains } from '../api/domains.js';
import { quote } from '../api/go-text.js';
import { Nodes } from '../api/kinds/node.js';
import { Pods } from '../api/kinds/pod.js';
import { Secrets } from '../api/kinds/secret.js';
import { ServiceAccounts } from '../api/kinds/service-account.js';
import type { ApiObject, ResourceType } from '../api/object.js';
import { serviceAccountGroups, serviceAccountUsername, type UserInfo } from '../api/user.js';
import type { Clock } from '../runtime/clock.js';
import type { AuthenticationMetrics } from './authentication-metrics.js';
import { AuthenticationError } from './authenticator.js';
import type { TokenAuthenticator } from './bearer-token.js';
import { credentialExtra, extraOf } from './credential-extra.js';
import type { ObjectSource } from './object-source.js';
import {
  type AccountClaims,
  type ClaimedObject,
  readAccountClaims,
  type TokenClaims,
} from './service-account-claims.js';
import { type TokenVerification, verifiedClaims } from './verified-claims.js';

/**
 * The tolerated difference between the clocks of servers and issuers, in seconds. For the same time, deleted objects
 * still count as existing.
 */
const leeway = 60;

export interface ServiceAccountTokenOptions extends TokenVerification {
  readonly objects: ObjectSource;
  readonly domains: Domains;
  readonly clock: Clock;
  readonly metrics?: Pick<AuthenticationMetrics, 'legacyToken' | 'renewedToken'> | undefined;
}

/**
 * Authenticates tokens that the server issued through TokenRequest. The service account of a token and the object that
 * it is bound to must still exist unchanged, so deleting one of them invalidates the token.
 */
export const serviceAccountTokens = (options: ServiceAccountTokenOptions): TokenAuthenticator => ({
  async authenticateToken(token, requested) {
    const verified = verifiedClaims(token, requested, options);
    if (verified === undefined) return undefined;
    const { token: claims, audiences } = verified;
    const { domains, metrics } = options;
    const isLegacy = claims.audiences.length === 0;
    if (isLegacy) metrics?.legacyToken();
    const now = options.clock.now() / 1_000;
    checkTimes(claims, now);

    const account = readAccountClaims(verified.claims, domains);
    await checkAccount(account, options.objects, now);
    for (const bound of boundObjects(account)) await checkBound(bound, account.namespace, options.objects, now);

    const { warnAfter } = account;
    const isStale = warnAfter !== undefined && now > warnAfter;
    if (warnAfter !== undefined) metrics?.renewedToken(isStale);
    const prefix = `authentication.${domains.api}`;
    const annotations = {
      ...(isLegacy ? { [`${prefix}/legacy-token`]: claims.subject } : {}),
      ...(isStale ? { [`${prefix}/stale-token`]: staleness(claims, Math.floor(now) - warnAfter) } : {}),
    };
    return { user: userOf(claims, account, domains), audiences, annotations };
  },
});

function checkTimes({ notBefore, expires, issuedAt }: TokenClaims, now: number): void {
  if (notBefore !== undefined && now + leeway < notBefore) {
    throw new AuthenticationError('service account token is not valid yet');
  }
  if (expires !== undefined && now - leeway > expires) {
    throw new AuthenticationError('service account token has expired');
  }
  if (issuedAt !== undefined && now + leeway < issuedAt) {
    throw new AuthenticationError('service account token is issued in the future');
  }
}

async function checkAccount(
  { namespace, account: { name, uid } }: AccountClaims,
  objects: ObjectSource,
  now: number,
): Promise<void> {
  const account = await objects.get(ServiceAccounts, { namespace, name });
  if (account === undefined) throw new AuthenticationError(`serviceaccounts ${quote(name)} not found`);
  if (account.metadata.uid !== uid) {
    throw new AuthenticationError(`service account UID (${account.metadata.uid}) does not match claim (${uid})`);
  }
  if (isLongDeleted(account, now)) {
    throw new AuthenticationError(`service account ${namespace}/${name} has been deleted`);
  }
}

interface BoundObject {
  readonly type: ResourceType;
  readonly claim: ClaimedObject;
  readonly word: 'secret' | 'pod' | 'node';
}

/**
 * Returns the objects that must still exist, in the order in which they are checked. A pod also represents the node
 * that it runs on.
 */
function boundObjects({ secret, pod, node }: AccountClaims): readonly BoundObject[] {
  return [
    ...(secret === undefined ? [] : [{ type: Secrets, claim: secret, word: 'secret' } as const]),
    ...(pod === undefined ? [] : [{ type: Pods, claim: pod, word: 'pod' } as const]),
    ...(node === undefined || pod !== undefined ? [] : [{ type: Nodes, claim: node, word: 'node' } as const]),
  ];
}

async function checkBound(
  { type, claim, word }: BoundObject,
  namespace: string,
  objects: ObjectSource,
  now: number,
): Promise<void> {
  const key = type.namespaced ? { namespace, name: claim.name } : { name: claim.name };
  const object = await objects.get(type, key);
  if (object === undefined) throw new AuthenticationError('service account token has been invalidated');
  if (object.metadata.uid !== claim.uid) {
    throw new AuthenticationError(
      `${word} UID (${object.metadata.uid}) does not match service account ${word} ref claim (${claim.uid})`,
    );
  }
  if (isLongDeleted(object, now)) throw new AuthenticationError('service account token has been invalidated');
}

const isLongDeleted = ({ metadata: { deletionTimestamp } }: ApiObject, now: number): boolean =>
  typeof deletionTimestamp === 'string' && Date.parse(deletionTimestamp) / 1_000 < now - leeway;

const staleness = ({ subject }: TokenClaims, late: number): string =>
  `subject: ${subject}, seconds after warning threshold: ${late}`;

function userOf({ id }: TokenClaims, { namespace, account, pod, node }: AccountClaims, domains: Domains): UserInfo {
  const keys = credentialExtra(domains);
  const extra = extraOf({
    [keys.credentialId]: id === '' ? '' : `JTI=${id}`,
    [keys.nodeName]: node?.name,
    [keys.nodeUid]: node?.uid,
    [keys.podName]: pod?.name,
    [keys.podUid]: pod?.uid,
  });
  return {
    username: serviceAccountUsername(namespace, account.name),
    uid: account.uid,
    groups: serviceAccountGroups(namespace),
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  };
}
