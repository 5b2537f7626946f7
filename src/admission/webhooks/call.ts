import { Agent } from 'node:https';
import { isIP } from 'node:net';
import { quote } from '../../api/go-text.js';
import { AccessError, type ClientCredentials, type CredentialSource } from '../../client/cluster-access.js';
import { TimeoutError, within } from '../../runtime/abort.js';
import { BoundedMap } from '../../runtime/bounded-map.js';
import type { Clock } from '../../runtime/clock.js';
import { connectionError } from './connection-errors.js';
import {
  exchange,
  type HookReply,
  type Moved,
  type Progress,
  StaleConnection,
  UnreadableBody,
  unreadable,
} from './exchange.js';
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

interface FollowedCall extends HookCall {
  readonly address: HookAddress;
  readonly progress: Progress;
}

const tooLate = 'context deadline exceeded';

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
  const closing = new AbortController();
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
    const { target, address, body, maxBytes, progress } = call;
    const asked = { address, authority: target.authority, path, userAgent, body, maxBytes, progress, signal };
    const key = agentKey(target, shown);
    let looked = false;
    for (;;) {
      const own = selfIssued.get(key);
      const isVouched = own !== undefined && clock.now() < own.validUntil;
      const agent = isVouched
        ? agentOf(`${key}${own.certificate}`, { ...target, ca: `${target.ca}\n${own.certificate}` }, shown)
        : agentOf(key, target, shown);
      try {
        return await exchange({ ...asked, agent, authorization: shown.authorization });
      } catch (error) {
        if (signal.aborted) throw error;
        // Another is taken, which may have been closed as well; there are ever fewer of them.
        if (error instanceof StaleConnection) continue;
        if (looked || target.ca === undefined || !looksSelfSigned(error)) throw error;
        looked = true;
        const { serverName } = target;
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

/** The path that a redirect leads to. One to somewhere else is not followed. */
function withinTarget({ authority }: HookTarget, path: string, location: string): string {
  const base = `https://${authority}`;
  if (!URL.canParse(location, `${base}${path}`)) throw new CallFailed('the webhook redirects to nowhere');
  const next = new URL(location, `${base}${path}`);
  if (next.origin !== new URL(base).origin) throw new CallFailed('the webhook redirects to another server');
  return `${next.pathname}${next.search}`;
}
