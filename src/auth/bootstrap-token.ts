import { createHash, timingSafeEqual } from 'node:crypto';
import type { Domains } from '../api/domains.js';
import { parseRfc3339 } from '../api/go-time.js';
import { type Secret, Secrets } from '../api/kinds/secret.js';
import { member } from '../api/object.js';
import type { Clock } from '../runtime/clock.js';
import type { TokenAuthenticator } from './bearer-token.js';
import type { ObjectSource } from './object-source.js';

const tokenPattern = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const groupPattern = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
const group = 'system:bootstrappers';

/**
 * Authenticates bootstrap tokens, `<id>.<secret>`, with which machines request their first certificate. Each is stored
 * in a Secret `kube-system/bootstrap-token-<id>`. A token that is invalid in any respect counts as unknown, not as an
 * error.
 */
export const bootstrapTokens = (options: {
  readonly objects: ObjectSource;
  readonly domains: Domains;
  readonly clock: Clock;
}): TokenAuthenticator => ({
  async authenticateToken(token) {
    const [, id, secretPart] = tokenPattern.exec(token) ?? [];
    if (id === undefined || secretPart === undefined) return undefined;
    const secret = await options.objects.get(Secrets, { namespace: 'kube-system', name: `bootstrap-token-${id}` });
    if (secret === undefined || secret.metadata.deletionTimestamp) return undefined;
    if (secret.type !== `bootstrap.${options.domains.signer}/token`) return undefined;

    if (!isSame(value(secret, 'token-secret'), secretPart) || value(secret, 'token-id') !== id) return undefined;
    if (hasExpired(value(secret, 'expiration'), options.clock.now())) return undefined;
    if (value(secret, 'usage-bootstrap-authentication') !== 'true') return undefined;
    const groups = extraGroups(value(secret, 'auth-extra-groups'));
    if (groups === undefined) return undefined;
    return { user: { username: `system:bootstrap:${id}`, groups: [...new Set([group, ...groups])].sort() } };
  },
});

const value = ({ data = {} }: Secret, key: string): string =>
  Buffer.from(member(data, key) ?? '', 'base64').toString('utf8');

/** Whether a token has expired. An unreadable date counts as past. */
const hasExpired = (expiration: string, now: number): boolean =>
  expiration !== '' && !((parseRfc3339(expiration) ?? 0) > now);

/** Returns the extra groups; undefined if one of them is not allowed for bootstrap tokens. */
function extraGroups(listed: string): readonly string[] | undefined {
  if (listed === '') return [];
  const groups = listed.split(',');
  return groups.every((name) => groupPattern.test(name)) ? groups : undefined;
}

const isSame = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
