import { randomUUID } from 'node:crypto';
import { ApiError, untyped } from '../api/errors.js';
import { entitiesFor, quote } from '../api/go-text.js';
import { errorForm } from '../apiserver/negotiate.js';
import { isLongRunning } from '../apiserver/operations/in-flight.js';
import { bodyOf, represent } from '../apiserver/represent.js';
import { type EventEncoder, eventEncoder } from '../apiserver/represent-event.js';
import type { ApiRequest, ApiResponse, Outcome, WatchResult } from '../apiserver/request.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { TurnTaking } from '../runtime/turn-taking.js';
import { Cancellation } from './cancellation.js';
import type { Exchange, OutgoingHeaders } from './exchange.js';
import { ReceivedRequest } from './received-request.js';
import { UnreadablePath, UnroutablePath } from './request-info.js';
import { send } from './send.js';
import { warningHeaders } from './warning-headers.js';
import { writeWatch } from './watch-writer.js';

/** Serves HTTP exchanges: converts each to an ApiRequest, and the result to bytes and headers. */

export interface HandlerParts {
  handle(request: ApiRequest): Promise<ApiResponse>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborted when the server stops: watches end, other requests continue. */
  readonly stopping: AbortSignal;
}

export async function handleExchange(parts: HandlerParts, exchange: Exchange): Promise<void> {
  const auditId = exchange.header('audit-id') || randomUUID();
  const cancellation = new Cancellation();
  exchange.onClosed(() => cancellation.abort());
  try {
    if (headSize(exchange) >= largeHead) {
      // Parsing a long request head takes time, and unauthenticated callers may send many at once.
      await new TurnTaking().next();
      if (cancellation.signal.aborted) return;
    }
    const request = new ReceivedRequest(exchange, auditId, cancellation);
    if (isLongRunning(request.info)) cancellation.endWith(parts.stopping);
    const response = await parts.handle(request);
    let outcome: Outcome = { code: 500, bytes: 0 };
    try {
      outcome = await answer(parts, exchange, request, response);
    } finally {
      response.onSettled?.(exchange.isStalled ? { ...outcome, isAborted: true } : outcome);
    }
  } catch (error) {
    if (error instanceof UnroutablePath || error instanceof UnreadablePath)
      return await refusePath(exchange, error, auditId);
    parts.log.error({ err: error, method: exchange.method, url: exchange.url }, 'answer failed');
    if (exchange.responseStarted) exchange.abort();
    else {
      const status = JSON.stringify(untyped('the answer could not be written').toStatus());
      await exchange.send(
        500,
        { ...commonHeaders(auditId), 'Content-Type': 'application/json' },
        bodyOf(Buffer.from(status)),
      );
    }
  } finally {
    cancellation.release();
  }
}

/**
 * The length of a request head from which its parsing yields, in characters. Requests usually have a few hundred, or a
 * few thousand with a token.
 */
const largeHead = 8_192;

function headSize({ url, rawHeaders }: Exchange): number {
  let size = url.length;
  for (const text of rawHeaders) size += text.length;
  return size;
}

/** Answers a path that is not routed to the API, as Kubernetes does; for an unreadable path without an audit ID. */
async function refusePath(exchange: Exchange, error: UnroutablePath | UnreadablePath, auditId: string): Promise<void> {
  const text = { 'Content-Type': 'text/plain; charset=utf-8' };
  if (error instanceof UnreadablePath) {
    await exchange.send(400, text, bodyOf(Buffer.from('400 Bad Request')));
    return;
  }
  const message = `Internal Server Error: ${quote(exchange.url)}: failed to create RequestInfo: unable to determine kind and namespace from url, ${exchange.url}\n`;
  const headers = { 'Audit-Id': auditId, ...text, 'X-Content-Type-Options': 'nosniff' };
  await exchange.send(500, headers, bodyOf(Buffer.from(entitiesFor(message))));
}

/** Headers of every API response. */
const commonHeaders = (auditId: string): OutgoingHeaders => ({
  'Audit-Id': auditId,
  'Cache-Control': 'no-cache, private',
});

async function answer(
  parts: HandlerParts,
  exchange: Exchange,
  request: ReceivedRequest,
  response: ApiResponse,
): Promise<Outcome> {
  const { result, deadline } = response;
  const headers: OutgoingHeaders = Object.assign(commonHeaders(request.auditId), response.headers);
  if (response.warnings.length > 0) headers['Warning'] = warningHeaders(response.warnings);
  if (isLast(parts, exchange, response)) exchange.closeAfterResponse();
  switch (result.type) {
    case 'text': {
      const bytes = Buffer.from(result.text);
      const type = 'text/plain; charset=utf-8';
      const textHeaders = { ...headers, 'Content-Type': type, 'Content-Length': bytes.length, ...result.headers };
      await exchange.send(result.code, textHeaders, bodyOf(bytes), deadline);
      return { code: result.code, bytes: bytes.length };
    }
    case 'bytes': {
      const { code, bytes, contentType, compressible = false } = result;
      // A 304 carries no content type: the document that the caller has keeps its own.
      if (contentType !== undefined && code !== 304) headers['Content-Type'] = contentType;
      Object.assign(headers, result.headers);
      return { code, bytes: await send(exchange, code, headers, bodyOf(bytes), { deadline, compressible }) };
    }
    case 'watch':
      return answerWatch(parts, exchange, result, { response, headers });
    default: {
      const { code, contentType, body } = await represented(parts, request, response);
      headers['Content-Type'] = contentType;
      return { code, bytes: await send(exchange, code, headers, body, { deadline }) };
    }
  }
}

async function answerWatch(
  parts: HandlerParts,
  exchange: Exchange,
  result: WatchResult,
  {
    response: { representation, deadline },
    headers,
  }: { readonly response: ApiResponse; readonly headers: OutgoingHeaders },
): Promise<Outcome> {
  const isProtobuf = representation.mediaType === 'protobuf';
  const contentType = isProtobuf ? 'application/vnd.kubernetes.protobuf;stream=watch' : 'application/json';
  const { webSocket } = exchange;
  if (webSocket?.refusal !== undefined) {
    const { code, headers: more, text } = webSocket.refusal;
    const bytes = Buffer.from(text);
    await exchange.send(code, { ...more, 'Content-Length': bytes.length }, bodyOf(bytes), deadline);
    return { code, bytes: bytes.length };
  }
  headers['Content-Type'] = contentType;
  if (exchange.method === 'HEAD') {
    await exchange.send(200, headers, bodyOf(Buffer.alloc(0)), deadline);
    return { code: 200, bytes: 0 };
  }
  const encode = await eventEncoder(result.definition, representation, () => parts.clock.now());
  const out = (await webSocket?.accept({ binary: isProtobuf })) ?? exchange.stream(200, headers);
  await writeWatch(result, reportingSent(encode, result), out, { abort: () => exchange.abort(), clock: parts.clock });
  return { code: webSocket === undefined ? 200 : 101, bytes: 0 };
}

/** Whether the connection ends with this response. For an unauthenticated caller, this is the case only over HTTP/2. */
const isLast = ({ stopping }: HandlerParts, { version }: Exchange, { unknownCaller }: ApiResponse): boolean =>
  stopping.aborted || (version === 2 && unknownCaller === true);

/** Wraps the encoder so that each event is reported to `onSent`. */
function reportingSent(encode: EventEncoder, { onSent }: WatchResult): EventEncoder {
  if (onSent === undefined) return encode;
  return (item) => {
    const bytes = encode(item);
    const counted = (sent: Buffer): Buffer => {
      onSent(item, sent.length);
      return sent;
    };
    if (bytes instanceof Promise) return bytes.then(counted);
    return bytes && counted(bytes);
  };
}

/** Represents the result; an error while doing so becomes the response. */
async function represented(parts: HandlerParts, request: ApiRequest, { result, representation }: ApiResponse) {
  if (result.type === 'text' || result.type === 'bytes' || result.type === 'watch')
    throw new Error('has no body to represent');
  const now = parts.clock.now();
  try {
    return await represent(result, representation, now);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const form = errorForm(request.header('accept'), request.query, request.header('user-agent'));
    return represent({ type: 'object', code: error.code, object: error.toStatus() }, form, now);
  }
}
