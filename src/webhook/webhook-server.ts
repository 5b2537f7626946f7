import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import { ApiError } from '../api/errors.js';
import { stringify } from '../api/go-text.js';
import { JsonSyntaxError, readJsonInSteps } from '../api/json-text.js';
import { isObject, type Json, member } from '../api/object.js';
import type { Steps } from '../api/steps.js';
import type { ReconcileContext, Runnable } from '../controller/controller.js';
import { HttpListener, requestLimits } from '../controller/http-listener.js';
import { aborted } from '../runtime/abort.js';
import { followFiles, prefixErrors } from '../runtime/text-source.js';
import { runInTurns } from '../runtime/turn-taking.js';
import { type Exchange, type IntakeLimits, Overloaded, ReviewIntake } from './review-intake.js';
import { type ReviewContext, UnreadableReview, type Webhook } from './webhook.js';

/** The serving certificate with its chain and its key: PEM, or files that are followed when they are renewed. */
export type ServingCertificate =
  | { readonly certificate: string; readonly key: string }
  | { readonly certificateFile: string; readonly keyFile: string };

/** The webhooks by path, the serving certificate, and the callers that are served. */
export type WebhookServerOptions = ServingCertificate & {
  /** The webhooks by their paths, such as `/validate`. */
  readonly webhooks: Readonly<Record<string, Webhook>>;
  /** The address to listen on. Default: every address of the machine. */
  readonly host?: string;
  /** The port. Default 9443; 0 picks a free one. */
  readonly port?: number;
  /**
   * CA certificates as PEM. If given, only callers with a certificate issued by these are served. Default: any caller.
   */
  readonly clientCa?: string;
};

/** A server that is listening. */
export interface OpenWebhookServer {
  readonly port: number;
  /** Closes the listener and lets requests finish, for ten seconds at most. */
  stop(): Promise<void>;
}

const graceMs = 10_000;
/** The time that a response waits for a caller who does not read it. */
const unreadMs = 30_000;

/**
 * The minimum number of bytes per value: objects have more, and bodies with fewer cost more memory and time than their
 * size suggests.
 */
const leastBytesPerValue = 8;

/**
 * Serves webhooks with TLS until the manager stops. Their handlers receive the manager's client. GET `/healthz` and
 * `/readyz` return 200, for probes. Rejects if the certificate cannot be read or the port is not available.
 */
export const webhookServer = (options: WebhookServerOptions): Runnable => ({
  name: 'webhooks',
  async run(context) {
    const server = await openWebhookServer(options, context);
    await aborted(context.signal);
    await server.stop();
  },
});

/** Opens the server. Resolves once connections are accepted. */
export async function openWebhookServer(
  options: WebhookServerOptions,
  context: ReconcileContext,
  limits?: IntakeLimits,
): Promise<OpenWebhookServer> {
  const { webhooks, host, port = 9443, clientCa } = options;
  for (const path of Object.keys(webhooks))
    if (!/^\/[^?#]+$/.test(path))
      throw new Error(`webhooks: ${JSON.stringify(path)} is not a path such as "/validate"`);
  const { clock, log, signal } = context;
  const answers = new ReviewAnswers(new Map(Object.entries(webhooks)), context, limits);
  const callers = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true };
  const server = createServer(
    { ...callers, ...requestLimits, handshakeTimeout: requestLimits.headersTimeout },
    (request, response) => void answers.answer(request, response).catch(() => response.destroy()),
  );
  const take = ([cert = '', key = '']: readonly string[]): void => {
    for (const [member, text] of Object.entries({ certificate: cert, key }))
      if (!text) throw new Error(`${member} is missing`);
    server.setSecureContext({ cert, key, minVersion: 'TLSv1.2', ...callers });
  };
  if ('certificateFile' in options)
    await followFiles([options.certificateFile, options.keyFile], take, { clock, log, signal });
  else await prefixErrors('webhooks: certificate and key', () => take([options.certificate, options.key]));
  server.on('tlsClientError', (error) => log.debug({ err: error }, 'TLS handshake failed'));
  const listener = new HttpListener(server, clock);
  const bound = await listener.open({ host, port });
  server.on('error', (error) => log.error({ err: error }, 'webhook listener failed'));
  log.info({ port: bound, paths: Object.keys(webhooks) }, 'serving webhooks');
  return { port: bound, stop: () => listener.close(graceMs) };
}

/** Thrown to send an error response instead of a review. */
class RefusedRequest extends Error {
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
  /** One intake for each kind of review, so that one kind does not keep out another. */
  readonly #intakes: Readonly<Record<Webhook['review'], ReviewIntake>>;
  /** The last response of each connection. */
  readonly #responses = new WeakMap<Socket, ServerResponse>();

  constructor(webhooks: ReadonlyMap<string, Webhook>, context: ReconcileContext, limits?: IntakeLimits) {
    this.#webhooks = webhooks;
    this.#context = context;
    this.#intakes = { AdmissionReview: new ReviewIntake(limits), ConversionReview: new ReviewIntake(limits) };
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Pipelined requests could arrive without any limit counting them.
    const before = this.#responses.get(request.socket);
    if (before !== undefined && !before.writableEnded) return void request.socket.destroy();
    this.#responses.set(request.socket, response);
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const { client, clock, log: parent, metrics } = this.#context;
    const log = parent.child({ webhook: path });
    const webhook = this.#webhooks.get(path);
    const startedAt = clock.monotonic();
    const answered = webhook && metrics?.reviewing?.(path);
    const gone = new AbortController();
    response.on('error', () => {});
    // A response that waits for the one before it is not notified when its connection closes.
    const { socket } = request;
    const onSocketClosed = (): void => {
      if (!response.closed) response.destroy().emit('close');
    };
    // Pipelined probes are all answered, as many as their responses fit; each adds a listener.
    socket.setMaxListeners(0).once('close', onSocketClosed);
    response.once('close', () => {
      socket.off('close', onSocketClosed);
      gone.abort(unheard);
      answered?.(response.headersSent ? response.statusCode : callerLeft, (clock.monotonic() - startedAt) / 1_000);
    });
    try {
      if (webhook === undefined) return probed(request, path, response);
      const context = { client, clock, log, signal: gone.signal };
      const answer = await this.#answerOf({ request, response }, webhook, context);
      this.#send(response, 200, { 'content-type': 'application/json' }, answer);
    } catch (error) {
      if (error === unheard) return;
      if (response.destroyed) return log.debug({ err: error }, 'the webhook failed after its caller had gone');
      const { code, message, headers } = refusalOf(error);
      const remoteAddress = request.socket.remoteAddress;
      // The rest of the body is not read.
      const last: Readonly<Record<string, string>> = request.complete ? {} : { connection: 'close' };
      this.#send(response, code, { 'content-type': 'text/plain', ...last, ...headers }, `${message}\n`);
      if (code === 500) log.error({ err: error }, 'the webhook failed');
      else log.warn({ remoteAddress, code, why: message }, 'rejected a review');
    }
  }

  /** Sends a response. A caller who does not read it is disconnected after a timeout. */
  #send(response: ServerResponse, code: number, headers: Readonly<Record<string, string>>, text: string): void {
    const { clock, signal } = this.#context;
    // During shutdown the connection closes, so that the caller can retry elsewhere.
    response.writeHead(code, signal.aborted ? { ...headers, connection: 'close' } : headers).end(text);
    const closed = new AbortController();
    response.once('close', () => closed.abort());
    void clock.sleep(unreadMs, closed.signal).then(() => response.destroy());
  }

  async #answerOf(exchange: Exchange, webhook: Webhook, context: ReviewContext): Promise<string> {
    const { method, headers } = exchange.request;
    if (method !== 'POST') throw new RefusedRequest(405, 'reviews must be sent with POST', { allow: 'POST' });
    const mediaType = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
    if (mediaType !== 'application/json') throw new RefusedRequest(415, 'a review must be application/json');
    const intake = this.#intakes[webhook.review];
    const body = await intake.body(exchange, webhook.maxBytes).catch(refuse);
    return intake.answering(body.length, context.signal, async () => {
      const { apiVersion, uid, request } = await read(webhook, body, context.signal);
      const answer = await webhook.respond(request, context);
      return stringify({ kind: webhook.review, apiVersion, response: { uid, ...answer } }) ?? '';
    });
  }
}

/** The status recorded for callers who disconnected before a response, as in proxies. */
const callerLeft = 499;

const unheard = new Error('the caller no longer waits for the answer');

function probed(request: IncomingMessage, path: string, response: ServerResponse): void {
  if (request.method !== 'GET' || !['/healthz', '/readyz'].includes(path))
    throw new RefusedRequest(404, `nothing is served at ${JSON.stringify(path)}`);
  response.writeHead(200, { 'content-type': 'text/plain' }).end('ok');
}

/** Parses the request of a review. */
async function read(webhook: Webhook, body: Buffer, signal: AbortSignal) {
  const review = await json(body, webhook.maxBytes / leastBytesPerValue, signal);
  if (!isObject(review)) throw new UnreadableReview('a review must be an object');
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

async function json(body: Buffer, maxValues: number, signal: AbortSignal): Promise<Json> {
  try {
    return (await runInTurns(until(signal, readJsonInSteps(body, { maxValues })))).value;
  } catch (error) {
    throw error instanceof JsonSyntaxError ? new UnreadableReview(error.message) : error;
  }
}

/** Runs the same steps until the signal aborts, then throws its reason. */
function* until<R>(signal: AbortSignal, steps: Steps<R>): Steps<R> {
  for (;;) {
    signal.throwIfAborted();
    const { done, value } = steps.next();
    if (done) return value;
    yield;
  }
}

/** Throws an error for a body that was not accepted, as a Refusal if its status is known. */
function refuse(error: unknown): never {
  if (error instanceof Overloaded) throw new RefusedRequest(429, error.message, { 'retry-after': '1' });
  throw error instanceof ApiError ? new RefusedRequest(error.code, error.message) : error;
}

function refusalOf(error: unknown): RefusedRequest {
  if (error instanceof RefusedRequest) return error;
  if (error instanceof UnreadableReview) return new RefusedRequest(400, error.message);
  // The caller does not learn what failed.
  return new RefusedRequest(500, 'the webhook failed');
}
