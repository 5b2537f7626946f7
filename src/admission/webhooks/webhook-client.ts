import { quote } from '../../api/go-text.js';
import { AccessError } from '../../client/cluster-access.js';
import { TimeoutError, withTimeout } from '../../runtime/abort.js';
import type { Clock } from '../../runtime/clock.js';
import { connectionError } from './connection-errors.js';
import { type ReachablePost, WebhookConnections, type WebhookPost } from './connections.js';
import { type Progress, UnreadableBody, unreadableBody, type WebhookResponse } from './exchange.js';
import type { WebhookTarget } from './target.js';

/** A call of a webhook. */
export interface WebhookCall extends WebhookPost {
  /** The timeout in milliseconds, including retries. The webhook receives it in whole seconds. */
  readonly milliseconds: number;
  /** Aborts the call when its result is no longer needed. */
  readonly signal?: AbortSignal | undefined;
}

/** Thrown when a call has failed or its response is unreadable. The message is that of a Go client. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  /** The HTTP code of the response, if there was one. */
  readonly code: number | undefined;
  constructor(message: string, { code, ...options }: ErrorOptions & { readonly code?: number } = {}) {
    super(message.length > longestComplaint ? `${message.slice(0, longestComplaint)}...` : message, options);
    this.code = code;
  }
}
/** The maximum length of an error text, part of which an untrusted webhook chooses. */
const longestComplaint = 16_384;

export interface WebhookClient {
  /** Posts a review. Throws CallFailed, or the reason of the signal. */
  post(call: WebhookCall): Promise<WebhookResponse>;
  /** Ends all calls and connections. Later calls fail. */
  close(): void;
}

const tooLate = 'context deadline exceeded';

const maxRetries = 10;
const maxRedirects = 10;

/** Returns a client that calls webhooks over HTTP/1.1 with TLS. */
export function webhookClient({
  clock,
  userAgent = 'kedge',
}: {
  readonly clock: Clock;
  readonly userAgent?: string;
}): WebhookClient {
  const connections = new WebhookConnections({ clock, userAgent });
  const closing = new AbortController();

  /** Sends a request, and follows redirects and Retry-After. */
  const followed = async (post: ReachablePost, query: string, signal: AbortSignal): Promise<WebhookResponse> => {
    let path = `${post.target.path}${query}`;
    let redirects = 0;
    for (let retries = 0; ; ) {
      const reply = await connections.post(post, path, signal);
      if (reply.location !== undefined) {
        if (++redirects > maxRedirects) throw new CallFailed(`stopped after ${maxRedirects} redirects`);
        path = withinTarget(post.target, path, reply.location);
      } else if (reply.retryMs !== undefined && retries++ < maxRetries) {
        await clock.sleep(reply.retryMs, signal);
        signal.throwIfAborted();
      } else {
        return reply;
      }
    }
  };

  return {
    async post({ milliseconds, signal: callerSignal, ...post }) {
      const query = `?timeout=${Math.max(1, Math.ceil(milliseconds / 1_000))}s`;
      const { authority, path, address } = post.target;
      const failed = (problem: string): CallFailed =>
        new CallFailed(`Post ${quote(`https://${authority}${path}${query}`)}: ${problem}`);
      if ('unreachable' in address) throw failed(address.unreachable);
      const progress: Progress = { answered: false };
      const signals = callerSignal === undefined ? [closing.signal] : [callerSignal, closing.signal];
      try {
        return await withTimeout({ clock, milliseconds, signals }, (signal) =>
          followed({ ...post, address, progress }, query, signal),
        );
      } catch (error) {
        callerSignal?.throwIfAborted();
        if (error instanceof AccessError) throw failed(error.message);
        if (error instanceof UnreadableBody) throw new CallFailed(error.message, { cause: error });
        if (!(error instanceof TimeoutError)) throw failed(connectionError(error));
        throw progress.answered ? new CallFailed(unreadableBody(tooLate), { cause: error }) : failed(tooLate);
      }
    },
    close() {
      closing.abort(new Error('the client is closed'));
      connections.close();
    },
  };
}

/** Returns the path of a redirect. Redirects to other hosts are not followed. */
function withinTarget({ authority }: WebhookTarget, path: string, location: string): string {
  const base = `https://${authority}`;
  if (!URL.canParse(location, `${base}${path}`))
    throw new CallFailed('the webhook answered a redirect without a location');
  const next = new URL(location, `${base}${path}`);
  if (next.origin !== new URL(base).origin) throw new CallFailed('the webhook redirects to another server');
  return `${next.pathname}${next.search}`;
}
