import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { ApiError } from '../api/errors.js';
import { stringify } from '../api/go-text.js';
import { readJson } from '../api/json-text.js';
import { messageOf } from '../api/message-of.js';
import { isObject, type Json, member } from '../api/object.js';
import type { ReconcileContext, Runnable } from '../controller/controller.js';
import { aborted, closed, opened } from '../controller/http-listener.js';
import { readBody } from '../http/body.js';
import { followFiles } from '../runtime/text-source.js';
import { type ReviewContext, UnreadableReview, type Webhook } from './webhook.js';

/** The serving certificate with its chain, and its key: PEM, or files that are followed as somebody renews them. */
export type ServingCertificate =
  | { readonly certificate: string; readonly key: string }
  | { readonly certificateFile: string; readonly keyFile: string };

export type WebhookServerOptions = ServingCertificate & {
  /** By their paths, such as `/validate`. */
  readonly webhooks: Readonly<Record<string, Webhook>>;
  /** Default: every address of the machine. */
  readonly host?: string;
  /** Default 9443; 0 picks a free one. */
  readonly port?: number;
  /** PEM of CAs. With it, only callers with a certificate of theirs are served. Default: any caller. */
  readonly clientCa?: string;
};

/** A server that listens. */
export interface OpenWebhookServer {
  readonly port: number;
  /** Takes no more connections and lets requests end, for ten seconds at most. */
  stop(): Promise<void>;
}

/** Longer than any API server waits for a webhook. */
const requestMs = 30_000;
const headersMs = 10_000;
const graceMs = 10_000;

/** Most bytes of reviews that are read at a time; callers are told to come again when it is reached. */
const maxHeldBytes = 268_435_456;

/**
 * Serves webhooks with TLS until the manager stops. Their handlers get the manager's client. GET `/healthz` and `/readyz`
 * answer 200, for probes. Rejects if the certificate cannot be read or the port not be had.
 */
export const webhookServer = (options: WebhookServerOptions): Runnable => ({
  name: 'webhooks',
  async run(context) {
    const server = await openWebhookServer(options, context);
    await aborted(context.signal);
    await server.stop();
  },
});

/** Resolves once connections are accepted. */
export async function openWebhookServer(
  options: WebhookServerOptions,
  context: ReconcileContext,
): Promise<OpenWebhookServer> {
  const { webhooks, host, port = 9443, clientCa } = options;
  for (const path of Object.keys(webhooks))
    if (!/^\/[^?#]+$/.test(path))
      throw new Error(`webhooks: ${JSON.stringify(path)} is not a path such as "/validate"`);
  const { clock, log, signal } = context;
  const answers = new ReviewAnswers(new Map(Object.entries(webhooks)), context);
  const clients = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true };
  let server: Server | undefined;
  const take = ([cert = '', key = '']: readonly string[]): void => {
    for (const [what, text] of Object.entries({ certificate: cert, key }))
      if (!text) throw new Error(`webhooks: there is no ${what}`);
    const secure = { cert, key, minVersion: 'TLSv1.2', ...clients } as const;
    if (server !== undefined) server.setSecureContext(secure);
    else
      server = createServer(
        { ...secure, requestTimeout: requestMs, headersTimeout: headersMs, handshakeTimeout: headersMs },
        (request, response) => void answers.answer(request, response),
      );
  };
  if ('certificateFile' in options)
    await followFiles([options.certificateFile, options.keyFile], take, { clock, log, signal });
  else take([options.certificate, options.key]);
  const listener = server as Server | undefined;
  if (listener === undefined) throw new Error('webhooks: there is no certificate');
  listener.on('tlsClientError', (error) => log.debug({ err: error }, 'TLS handshake failed'));
  const bound = await opened(listener, { host, port });
  listener.on('error', (error) => log.error({ err: error }, 'the listener for webhooks failed'));
  log.info({ port: bound, paths: Object.keys(webhooks) }, 'webhooks are served');
  return { port: bound, stop: () => closed(listener, clock, graceMs) };
}

/** What is answered instead of a review. */
class Refusal extends Error {
  readonly code: number;
  readonly headers: Readonly<Record<string, string>>;
  constructor(code: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }
}

class ReviewAnswers {
  readonly #webhooks: ReadonlyMap<string, Webhook>;
  readonly #context: ReconcileContext;
  #heldBytes = 0;

  constructor(webhooks: ReadonlyMap<string, Webhook>, context: ReconcileContext) {
    this.#webhooks = webhooks;
    this.#context = context;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const log = this.#context.log.child({ webhook: path });
    const webhook = this.#webhooks.get(path);
    const startedAt = this.#context.clock.monotonic();
    const answered = webhook && this.#context.metrics?.reviewing?.(path);
    response.on('error', () => {});
    // Also of one who has left before.
    response.once('close', () =>
      answered?.(response.statusCode, (this.#context.clock.monotonic() - startedAt) / 1_000),
    );
    // A caller who hears no more can ask again elsewhere.
    if (this.#context.signal.aborted) response.setHeader('connection', 'close');
    try {
      if (webhook === undefined) return probed(request, path, response);
      const gone = new AbortController();
      response.once('close', () => gone.abort(unheard));
      const { client, clock } = this.#context;
      const answer = stringify(await this.#answerOf(request, webhook, { client, clock, log, signal: gone.signal }));
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
    } catch (error) {
      const { code, message, headers } = refusalOf(error);
      const remoteAddress = request.socket.remoteAddress;
      if (code === 500) log.error({ err: error }, 'the webhook failed');
      else if (!response.destroyed) log.warn({ remoteAddress, code, why: message }, 'a review was refused');
      // What is left of the body is not read.
      if (!request.complete) response.setHeader('connection', 'close');
      response.writeHead(code, { 'content-type': 'text/plain', ...headers }).end(`${message}\n`);
    }
  }

  async #answerOf(request: IncomingMessage, webhook: Webhook, context: ReviewContext): Promise<object> {
    if (request.method !== 'POST') throw new Refusal(405, 'reviews are posted', { allow: 'POST' });
    const mediaType = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
    if (mediaType !== 'application/json') throw new Refusal(415, 'a review is application/json');
    return this.#held(request, webhook.maxBytes, async () => {
      const { apiVersion, uid, request: asked } = read(webhook, await bodyOf(request, webhook.maxBytes));
      const answer = await webhook.respond(asked, context);
      return { kind: webhook.review, apiVersion, response: { uid, ...answer } };
    });
  }

  /** Runs with what a body may take counted. */
  async #held<R>(request: IncomingMessage, maxBytes: number, run: () => Promise<R>): Promise<R> {
    const bytes = Math.min(Number(request.headers['content-length'] ?? maxBytes), maxBytes);
    if (this.#heldBytes + bytes > maxHeldBytes)
      throw new Refusal(429, 'too many reviews at a time', { 'retry-after': '1' });
    this.#heldBytes += bytes;
    try {
      return await run();
    } finally {
      this.#heldBytes -= bytes;
    }
  }
}

const unheard = new Error('nobody waits for the answer any more');

function probed(request: IncomingMessage, path: string, response: ServerResponse): void {
  if (request.method !== 'GET' || !['/healthz', '/readyz'].includes(path))
    throw new Refusal(404, `nothing is served at ${JSON.stringify(path)}`);
  response.writeHead(200, { 'content-type': 'text/plain' }).end('ok');
}

async function bodyOf(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  try {
    return await readBody(request, request.headers['content-length'], maxBytes);
  } catch (error) {
    throw error instanceof ApiError ? new Refusal(error.code, error.message) : error;
  }
}

/** The request in a review. */
function read(webhook: Webhook, body: Buffer) {
  const review = json(body);
  if (!isObject(review)) throw new UnreadableReview('a review is an object');
  const apiVersion = member(review, 'apiVersion');
  const versions: readonly unknown[] = [`${webhook.group}/v1`, `${webhook.group}/v1beta1`];
  if (member(review, 'kind') !== webhook.review || !versions.includes(apiVersion))
    throw new UnreadableReview(`expected ${versions[0]} ${webhook.review}`);
  const request = member(review, 'request');
  if (!isObject(request)) throw new UnreadableReview('request is missing');
  const uid = member(request, 'uid');
  if (typeof uid !== 'string') throw new UnreadableReview('request.uid is missing');
  return { apiVersion, uid, request };
}

/** Every value costs time, but whoever sends a review has been through the limits of an API server. */
function json(body: Buffer): Json {
  try {
    return readJson(body, { maxValues: Number.POSITIVE_INFINITY }).value;
  } catch (error) {
    throw new UnreadableReview(messageOf(error));
  }
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof UnreadableReview) return new Refusal(400, error.message);
  // What failed is nothing for the caller.
  return new Refusal(500, 'the webhook failed');
}
