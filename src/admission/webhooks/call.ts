import { setMaxListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { quote } from '../../api/go-text.js';
import { AccessError, type ClientCredentials, type CredentialSource } from '../../client/cluster-access.js';
import { maxAnswerHeaders } from '../../client/http-transport.js';
import { TimeoutError, within } from '../../runtime/abort.js';
import { BoundedMap } from '../../runtime/bounded-map.js';
import type { Clock } from '../../runtime/clock.js';
import { setImmediate } from '../../runtime/event-loop.js';
import { connectionError } from './connection-errors.js';
import { looksSelfSigned, type Vouched, vouchedBy } from './self-issued.js';
import { nameMismatch } from './server-name.js';
import type { HookAddress, HookTarget } from './target.js';

/** One call. */
export interface HookCall {
  readonly target: HookTarget;
  /** What the webhook gets to see of who asks; absent: nothing. */
  readonly credentials?: CredentialSource | undefined;
  /** JSON. */
  readonly body: string;
  /** How long it may take, retries included. The webhook is told in whole seconds. */
  readonly milliseconds: number;
  /** Aborts the call: nobody waits for it any more. */
  readonly signal: AbortSignal;
  /** Most bytes of an answer. */
  readonly maxBytes: number;
}

/** What came back, whatever its code. */
export interface HookReply {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: Buffer;
}

/** Nothing came back, or nothing that can be read. The message is what a Go client would say. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  /** What the webhook answered instead of a review; absent where that was no code. */
  readonly code: number | undefined;
  constructor(message: string, { code, ...options }: ErrorOptions & { readonly code?: number } = {}) {
    super(message.length > longestComplaint ? `${message.slice(0, longestComplaint)}...` : message, options);
    this.code = code;
  }
}
/** A webhook chooses part of the text, and may be anybody. */
const longestComplaint = 16_384;

export interface HookClient {
  /** Posts a review. Throws CallFailed, or the reason of the signal. */
  post(call: HookCall): Promise<HookReply>;
  /** Ends all calls and connections. Later calls fail. */
  close(): void;
}

/** Most targets whose connections are kept. */
const maxAgents = 200;
const idleMs = 90_000;
const maxRetries = 10;
const maxRedirects = 10;

/**
 * Calls webhooks over HTTP/1.1 with TLS. Connections are kept for each target, what verifies it, and the certificate that it
 * is shown.
 */
export function hookClient({
  clock,
  userAgent = 'kedge',
}: {
  readonly clock: Clock;
  readonly userAgent?: string;
}): HookClient {
  const agents = new BoundedMap<string, Agent>(maxAgents, retire);
  // Every call under way listens.
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const selfIssued = new BoundedMap<string, Vouched>(maxAgents);
  const agentKey = ({ authority, address, ca }: HookTarget, { certificate }: ClientCredentials): string =>
    JSON.stringify([authority, address, ca ?? null, certificate ?? null]);
  const agentOf = (key: string, target: HookTarget, shown: ClientCredentials): Agent => {
    const agent = agents.get(key) ?? agentFor(target, shown);
    agents.set(key, agent);
    return agent;
  };

  const attempt = async (call: FollowedCall, path: string, signal: AbortSignal): Promise<HookReply & Moved> => {
    const shown = (await call.credentials?.current()) ?? {};
    const { authorization } = shown;
    const { target } = call;
    const key = agentKey(target, shown);
    let looked = false;
    for (;;) {
      const own = selfIssued.get(key);
      const isVouched = own !== undefined && clock.now() < own.validUntil;
      const agent = isVouched
        ? agentOf(`${key}${own.certificate}`, { ...target, ca: `${target.ca}\n${own.certificate}` }, shown)
        : agentOf(key, target, shown);
      try {
        return await once(call, { agent, authorization, userAgent, path, signal });
      } catch (error) {
        if (signal.aborted) throw error;
        // Another is taken, which may have been closed as well; there are ever fewer of them.
        if (error instanceof StaleConnection) continue;
        if (looked || target.ca === undefined || !looksSelfSigned(error)) throw error;
        looked = true;
        const { serverName } = target;
        const { address } = call;
        const found = await vouchedBy(target.ca, { address, serverName, shown, now: clock.now(), signal });
        if (found === undefined) throw error;
        selfIssued.set(key, found);
      }
    }
  };

  const run = async (call: FollowedCall, query: string, signal: AbortSignal): Promise<HookReply> => {
    let path = `${call.target.path}${query}`;
    let redirects = 0;
    for (let retries = 0; ; ) {
      const reply = await attempt(call, path, signal);
      if (reply.location !== undefined) {
        if (++redirects > maxRedirects) throw new CallFailed(`stopped after ${maxRedirects} redirects`);
        path = withinTarget(call.target, path, reply.location);
      } else if (reply.retryMs !== undefined && retries++ < maxRetries) {
        await clock.sleep(reply.retryMs, signal);
        signal.throwIfAborted();
      } else {
        return reply;
      }
    }
  };

  return {
    async post(call) {
      const query = `?timeout=${Math.max(1, Math.ceil(call.milliseconds / 1_000))}s`;
      const { authority, path, address } = call.target;
      const failed = (why: string): CallFailed =>
        new CallFailed(`Post ${quote(`https://${authority}${path}${query}`)}: ${why}`);
      if ('unreachable' in address) throw failed(address.unreachable);
      const progress: Progress = { answered: false };
      try {
        return await within(
          { clock, milliseconds: call.milliseconds, signals: [call.signal, closing.signal] },
          (signal) => run({ ...call, address, progress }, query, signal),
        );
      } catch (error) {
        if (call.signal.aborted) throw call.signal.reason;
        if (error instanceof AccessError) throw failed(error.message);
        if (error instanceof UnreadableBody) throw new CallFailed(error.message, { cause: error });
        if (!(error instanceof TimeoutError)) throw failed(connectionError(error));
        throw progress.answered ? new CallFailed(unreadable(tooLate), { cause: error }) : failed(tooLate);
      }
    },
    close() {
      closing.abort(new Error('the client is closed'));
      for (const agent of agents.values()) agent.destroy();
      agents.clear();
    },
  };
}

function agentFor({ serverName, ca }: HookTarget, { certificate, key }: ClientCredentials): Agent {
  const isAddress = isIP(serverName) !== 0;
  return new Agent({
    keepAlive: true,
    scheduling: 'lifo',
    timeout: idleMs,
    ALPNProtocols: ['http/1.1'],
    // An address is no name that could be asked for.
    servername: isAddress ? '' : serverName,
    checkServerIdentity: (_host, certificate) => nameMismatch(serverName, isAddress, certificate),
    // Any certificate of the bundle is an anchor, also one that somebody else has signed.
    ...(ca === undefined ? {} : { ca, allowPartialTrustChain: true }),
    ...(certificate === undefined ? {} : { cert: certificate, key }),
  });
}

/** Requests under way keep their connections; those come to their end when they are idle. */
function retire(agent: Agent): void {
  for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
}

/** What an answer may ask to be done instead. */
interface Moved {
  readonly location?: string;
  readonly retryMs?: number;
}

/** How far a call has come: do the headers of its answer lie there, and its body not yet? */
interface Progress {
  answered: boolean;
}
interface FollowedCall extends HookCall {
  readonly address: HookAddress;
  readonly progress: Progress;
}

const tooLate = 'context deadline exceeded';
const unreadable = (why: string): string =>
  `unexpected error when reading response body. Please retry. Original error: ${why}`;

/** A kept connection that the other side had closed, or was about to: nothing was written, so that nothing has been asked yet. */
class StaleConnection extends Error {
  override readonly name = 'StaleConnection';
}
class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody';
}

function once(
  { address, target, body, maxBytes, progress }: FollowedCall,
  options: {
    readonly agent: Agent;
    readonly authorization: string | undefined;
    readonly userAgent: string;
    readonly path: string;
    readonly signal: AbortSignal;
  },
): Promise<HookReply & Moved> {
  const { agent, authorization, userAgent, path, signal } = options;
  progress.answered = false;
  return new Promise((resolve, reject) => {
    let isWritten = false;
    const request = httpsRequest(
      {
        agent,
        host: address.host,
        port: address.port,
        method: 'POST',
        path,
        signal,
        maxHeaderSize: maxAnswerHeaders,
        headers: {
          host: target.authority,
          'user-agent': userAgent,
          ...(authorization === undefined ? {} : { authorization }),
          'content-type': 'application/json',
          accept: 'application/json, */*',
          'content-length': String(Buffer.byteLength(body)),
        },
      },
      (response) => {
        if (!isWritten) {
          // Said before anything was asked, as by proxies that tire of waiting: it is no answer to this.
          request.destroy();
          reject(new StaleConnection('the connection was closed'));
          return;
        }
        progress.answered = true;
        read(response, maxBytes).then(
          (bytes) => {
            progress.answered = false;
            resolve(replyOf(response, bytes));
          },
          (error: unknown) => {
            request.destroy();
            reject(error);
          },
        );
      },
    );
    request.maxHeadersCount = 0;
    const write = (): void => {
      if (request.destroyed) return;
      isWritten = true;
      request.end(body);
    };
    request.on('socket', () => (request.reusedSocket ? afterReading(write) : write()));
    request.on('error', (error) => {
      const isStale = request.reusedSocket && !isWritten;
      reject(isStale ? new StaleConnection('the connection was closed', { cause: error }) : error);
    });
  });
}

/** Does it once all that has come in so far is read: the end of a connection, for one, before it is written to. */
const afterReading = (act: () => void): void => void setImmediate(() => setImmediate(act));

async function read(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new UnreadableBody(unreadable(response.complete ? connectionError(error) : 'unexpected EOF'), {
      cause: error,
    });
  }
  if (size > maxBytes) throw new UnreadableBody(`the response is larger than ${maxBytes} bytes`);
  return Buffer.concat(chunks);
}

function replyOf({ statusCode: status = 0, headers }: IncomingMessage, body: Buffer): HookReply & Moved {
  const { location, 'retry-after': retryAfter = '' } = headers;
  const asksToWait = (status === 429 || status >= 500) && /^\d{1,6}$/.test(retryAfter);
  return {
    status,
    contentType: headers['content-type'],
    body,
    ...((status === 307 || status === 308) && location ? { location } : {}),
    ...(asksToWait ? { retryMs: Number(retryAfter) * 1_000 } : {}),
  };
}

/** The path that a redirect leads to. One to somewhere else is not followed. */
function withinTarget({ authority }: HookTarget, path: string, location: string): string {
  const base = `https://${authority}`;
  if (!URL.canParse(location, `${base}${path}`)) throw new CallFailed('the webhook redirects to nowhere');
  const next = new URL(location, `${base}${path}`);
  if (next.origin !== new URL(base).origin) throw new CallFailed('the webhook redirects to another server');
  return `${next.pathname}${next.search}`;
}
