import type { Domains } from '../../api/domains.js';
import { messageOf } from '../../api/message-of.js';
import type { UserInfo } from '../../api/user.js';
import { FailureLog } from '../../client/failure-log.js';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../runtime/logger.js';
import { commonAudiences } from '../audience-agnostic.js';
import { type Authenticated, AuthenticationError } from '../authenticator.js';
import type { TokenAuthenticator } from '../bearer-token.js';
import { TokenCache } from '../token-cache.js';
import type { CallReview } from './call-review.js';
import { flagIn, membersIn, textIn, textsIn } from './review-members.js';

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
    { authenticateToken: (token, audiences) => review(options, { token, wanted: audiences, failed }) },
    { clock, keepMs },
  );
}

async function review(
  { call, apiAudiences, domains }: WebhookTokenOptions,
  request: { readonly token: string; readonly wanted: readonly string[]; failed(error: unknown): void },
): Promise<Authenticated | undefined> {
  const { token, wanted } = request;
  const question = {
    apiVersion: `authentication.${domains.api}/v1`,
    kind: 'TokenReview',
    metadata: { creationTimestamp: null },
    spec: { token, audiences: wanted },
    status: { user: {} },
  };
  const {
    authenticated,
    audiences: given,
    error,
    user,
  } = await call(question)
    .then(readStatus)
    .catch((reason: unknown) => {
      request.failed(reason);
      throw new AuthenticationError(messageOf(reason));
    });
  const audiences = commonAudiences(wanted, given.length > 0 ? given : apiAudiences);
  if (wanted.length > 0 && audiences.length === 0) return undefined;
  if (!authenticated) {
    if (error !== '') throw new AuthenticationError(error);
    return undefined;
  }
  if (user.username === '') throw new AuthenticationError('the token webhook answered without a user');
  return { user, audiences };
}

/** Reads the status of a TokenReview. Throws an Error for members of other types. */
function readStatus({ authenticated, audiences, error, user }: Readonly<Record<string, unknown>>) {
  return {
    authenticated: flagIn(authenticated, 'TokenReviewStatus.status.authenticated'),
    audiences: textsIn(audiences, 'TokenReviewStatus.status.audiences'),
    error: textIn(error, 'TokenReviewStatus.status.error'),
    user: userIn(membersIn(user, 'TokenReviewStatus.status.user', 'v1.UserInfo')),
  };
}

function userIn(members: Readonly<Record<string, unknown>>): UserInfo {
  const fields = 'UserInfo.status.user';
  const uid = textIn(members['uid'], `${fields}.uid`);
  const field = `${fields}.extra`;
  const extra = Object.entries(membersIn(members['extra'], field, 'map[string]v1.ExtraValue')).map(
    ([key, values]) => [key, textsIn(values, field, 'v1.ExtraValue')] as const,
  );
  return {
    username: textIn(members['username'], `${fields}.username`),
    ...(uid === '' ? {} : { uid }),
    groups: textsIn(members['groups'], `${fields}.groups`),
    ...(extra.length > 0 ? { extra: Object.fromEntries(extra) } : {}),
  };
}
