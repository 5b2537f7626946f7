import type { Domains } from '../../api/domains.js';
import { messageOf } from '../../api/message-of.js';
import { isObject } from '../../api/object.js';
import type { UserInfo } from '../../api/user.js';
import { FailureLog } from '../../client/failure-log.js';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../runtime/logger.js';
import { commonAudiences } from '../audience-agnostic.js';
import { type Authenticated, AuthenticationError } from '../authenticator.js';
import type { TokenAuthenticator } from '../bearer-token.js';
import { TokenCache } from '../token-cache.js';
import type { CallReview } from './call-review.js';

export interface WebhookTokenOptions {
  readonly call: CallReview;
  /** The audiences of a token whose review names none. */
  readonly apiAudiences: readonly string[];
  readonly domains: Domains;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long responses are cached, in milliseconds. */
  readonly keepMs: number;
}

/** Authenticates tokens by sending a TokenReview to a remote server. */
export function webhookTokens(options: WebhookTokenOptions): TokenAuthenticator {
  const { clock, log, keepMs } = options;
  const troubles = new FailureLog();
  // Any caller can cause calls by sending tokens.
  const failed = (error: unknown): void =>
    troubles.report(log, { error, now: clock.monotonic(), message: 'the token webhook does not answer' });
  return new TokenCache(
    { authenticateToken: (token, wanted) => review(options, { token, wanted, failed }) },
    { clock, keepMs },
  );
}

async function review(
  { call, apiAudiences, domains }: WebhookTokenOptions,
  asked: { readonly token: string; readonly wanted: readonly string[]; failed(error: unknown): void },
): Promise<Authenticated | undefined> {
  const { token, wanted } = asked;
  const question = {
    apiVersion: `authentication.${domains.api}/v1`,
    kind: 'TokenReview',
    metadata: { creationTimestamp: null },
    spec: { token, audiences: wanted },
    status: { user: {} },
  };
  const status = await call(question).catch((error: unknown) => {
    asked.failed(error);
    throw new AuthenticationError(messageOf(error));
  });
  const given = texts(status['audiences']);
  const audiences = commonAudiences(wanted, given.length > 0 ? given : apiAudiences);
  if (wanted.length > 0 && audiences.length === 0) return undefined;
  if (status['authenticated'] !== true) {
    const { error } = status;
    if (typeof error === 'string' && error !== '') throw new AuthenticationError(error);
    return undefined;
  }
  return { user: userIn(status['user']), audiences };
}

function userIn(value: unknown): UserInfo {
  const user = isObject(value) ? value : {};
  const { username, uid } = user;
  const extra = Object.entries(isObject(user['extra']) ? user['extra'] : {}).map(
    ([key, values]) => [key, texts(values)] as const,
  );
  if (typeof username !== 'string' || username === '') {
    throw new AuthenticationError('the token webhook answered without a user');
  }
  return {
    username,
    ...(typeof uid === 'string' && uid !== '' ? { uid } : {}),
    groups: texts(user['groups']),
    ...(extra.length > 0 ? { extra: Object.fromEntries(extra) } : {}),
  };
}

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
