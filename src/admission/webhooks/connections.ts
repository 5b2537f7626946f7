import { Agent } from 'node:https';
import type { ClientCredentials, CredentialSource } from '../../client/cluster-access.js';
import { serverVerification } from '../../client/server-verification.js';
import { BoundedMap } from '../../runtime/bounded-map.js';
import type { Clock } from '../../runtime/clock.js';
import { exchange, type Progress, type RedirectOrRetry, StaleConnection, type WebhookResponse } from './exchange.js';
import { looksSelfSigned, type VerifiedCertificate, verifySelfIssued } from './self-issued.js';
import type { WebhookAddress, WebhookTarget } from './target.js';

/** A request to a webhook. */
export interface WebhookPost {
  readonly target: WebhookTarget;
  /** Credentials for the webhook; absent if there are none. */
  readonly credentials?: CredentialSource | undefined;
  /** The body, in JSON. */
  readonly body: string;
  /** The maximum size of the response in bytes. */
  readonly maxBytes: number;
}

/** A request to a target whose address is known. */
export interface ReachablePost extends WebhookPost {
  readonly address: WebhookAddress;
  readonly progress: Progress;
}

/** The maximum number of targets whose connections are kept. */
const maxAgents = 200;
const idleMs = 90_000;

/** TLS connections, pooled by target, CA bundle and client certificate. */
export class WebhookConnections {
  readonly #agents = new BoundedMap<string, Agent>(maxAgents, retire);
  /** Certificates that look self-signed but were issued by a CA of their target. */
  readonly #vouched = new BoundedMap<string, VerifiedCertificate>(maxAgents);
  readonly #clock: Clock;
  readonly #userAgent: string;

  constructor({ clock, userAgent }: { readonly clock: Clock; readonly userAgent: string }) {
    this.#clock = clock;
    this.#userAgent = userAgent;
  }

  /**
   * Sends a request once to a path of the target. Rejects as `exchange` does, except that stale connections are
   * replaced.
   */
  async post(post: ReachablePost, path: string, signal: AbortSignal): Promise<WebhookResponse & RedirectOrRetry> {
    const shown = (await post.credentials?.current()) ?? {};
    const { target, address, body, maxBytes, progress } = post;
    const { authority, serverName, ca } = target;
    const request = { address, authority, path, userAgent: this.#userAgent, body, maxBytes, progress, signal };
    const key = agentKey(target, shown);
    let looked = false;
    for (;;) {
      try {
        return await exchange({
          ...request,
          agent: this.#agentFor(key, target, shown),
          authorization: shown.authorization,
        });
      } catch (error) {
        if (signal.aborted) throw error;
        // The next attempt uses another connection, which may be stale as well; their number only decreases.
        if (error instanceof StaleConnection) continue;
        if (looked || ca === undefined || !looksSelfSigned(error)) throw error;
        looked = true;
        const found = await verifySelfIssued(ca, { address, serverName, shown, now: this.#clock.now(), signal });
        if (found === undefined) throw error;
        this.#vouched.set(key, found);
      }
    }
  }

  #agentFor(key: string, target: WebhookTarget, shown: ClientCredentials): Agent {
    const own = this.#vouched.get(key);
    if (own === undefined || this.#clock.now() >= own.validUntil) return this.#cachedAgent(key, target, shown);
    return this.#cachedAgent(`${key}${own.certificate}`, { ...target, ca: `${target.ca}\n${own.certificate}` }, shown);
  }

  #cachedAgent(key: string, target: WebhookTarget, shown: ClientCredentials): Agent {
    const agent = this.#agents.get(key) ?? newAgent(target, shown);
    this.#agents.set(key, agent);
    return agent;
  }

  /** Closes all connections. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }
}

const agentKey = ({ authority, address, ca }: WebhookTarget, { certificate }: ClientCredentials): string =>
  JSON.stringify([authority, address, ca ?? null, certificate ?? null]);

function newAgent({ serverName, ca }: WebhookTarget, { certificate, key }: ClientCredentials): Agent {
  return new Agent({
    keepAlive: true,
    scheduling: 'lifo',
    timeout: idleMs,
    ALPNProtocols: ['http/1.1'],
    ...serverVerification({ ca, serverName }),
    ...(certificate === undefined ? {} : { cert: certificate, key }),
  });
}

/** Lets pending requests finish. Connections are closed once they are idle. */
function retire(agent: Agent): void {
  for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
}
