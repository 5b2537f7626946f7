import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { ApiError, untyped } from '../api/errors.js';
import { quote } from '../api/go-text.js';
import { errorForm } from '../apiserver/negotiate.js';
import { eventEncoder, represent } from '../apiserver/represent.js';
import type { ApiRequest, ApiResponse, RequestInfo } from '../apiserver/request.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { readBody } from './body.js';
import type { Exchange, OutgoingHeaders } from './exchange.js';
import { decodePath, queryOf, routeOf, UnroutablePath } from './route.js';
import { writeWatch } from './watch-writer.js';

/** The REST facade: an exchange becomes an ApiRequest, the answer becomes bytes and headers. */

export interface FacadeParts {
  handle(request: ApiRequest): Promise<ApiResponse>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborted when the server stops: watches end. */
  readonly stopping: AbortSignal;
}

/** Answers larger than this are compressed for callers that accept it. */
const gzipAbove = 131_072;

export async function serve(parts: FacadeParts, exchange: Exchange): Promise<void> {
  const auditId = exchange.header('audit-id') || randomUUID();
  const base: OutgoingHeaders = { 'Audit-Id': auditId, 'Cache-Control': 'no-cache, private' };
  const gone = new AbortController();
  exchange.onClosed(() => gone.abort());
  try {
    const request = requestOf(exchange, AbortSignal.any([gone.signal, parts.stopping]));
    await answer(parts, exchange, request, await parts.handle(request), base);
  } catch (error) {
    if (error instanceof UnroutablePath) {
      const text = `Internal Server Error: ${quote(exchange.url)}: failed to create RequestInfo: unable to determine kind and namespace from url, ${error.message}\n`;
      exchange.send(
        500,
        { 'Audit-Id': auditId, 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
        [Buffer.from(text)],
      );
      return;
    }
    parts.log.error({ err: error, method: exchange.method, url: exchange.url }, 'answer failed');
    if (exchange.answered) exchange.cut();
    else
      exchange.send(500, { ...base, 'Content-Type': 'application/json' }, [
        Buffer.from(JSON.stringify(untyped('the answer could not be written').toStatus())),
      ]);
  }
}

function requestOf(exchange: Exchange, signal: AbortSignal): ApiRequest {
  const { url, method, rawHeaders } = exchange;
  const at = url.indexOf('?');
  const path = decodePath(at < 0 ? url : url.slice(0, at));
  const query = queryOf(at < 0 ? '' : url.slice(at + 1));
  const info: RequestInfo = routeOf(method, path, query);
  let body: Promise<Buffer> | undefined;
  return {
    info,
    method,
    query,
    uri: url,
    header: (name) => exchange.header(name),
    caller: {
      credentials: {
        header: (name) => valuesOf(rawHeaders, name),
        headerNames: () => namesOf(rawHeaders),
        certificates: exchange.certificates(),
      },
    },
    body: async () => {
      body ??= readBody(exchange.body, exchange.header('content-length'));
      return { bytes: await body, contentType: exchange.header('content-type') };
    },
    signal,
  };
}

function valuesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  const found: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.length === name.length && rawHeaders[i]?.toLowerCase() === name)
      found.push(rawHeaders[i + 1] ?? '');
  }
  return found;
}
function namesOf(rawHeaders: readonly string[]): readonly string[] {
  return [...new Set(rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()))];
}

async function answer(
  parts: FacadeParts,
  exchange: Exchange,
  request: ApiRequest,
  response: ApiResponse,
  base: OutgoingHeaders,
): Promise<void> {
  const { result, representation } = response;
  const headers: OutgoingHeaders = {
    ...base,
    ...response.headers,
    ...(response.warnings.length ? { Warning: warningHeaders(response.warnings) } : {}),
  };
  switch (result.type) {
    case 'text':
      return exchange.send(
        result.code,
        { ...headers, 'Content-Type': 'text/plain; charset=utf-8', ...result.headers },
        [Buffer.from(result.text)],
      );
    case 'bytes':
      return exchange.send(result.code, { ...headers, 'Content-Type': result.contentType, ...result.headers }, [
        result.bytes,
      ]);
    case 'watch': {
      const contentType =
        representation.mediaType === 'protobuf'
          ? 'application/vnd.kubernetes.protobuf;stream=watch'
          : 'application/json';
      const encode = await eventEncoder(result.definition, representation, () => parts.clock.now());
      const out = exchange.stream(200, { ...headers, 'Content-Type': contentType });
      return writeWatch(result, encode, out, () => exchange.cut());
    }
    default: {
      const { code, contentType, chunks } = await represented(parts, request, response);
      send(exchange, code, { ...headers, 'Content-Type': contentType }, chunks);
    }
  }
}

/** A refusal to put the answer into the form asked for is itself an answer. */
async function represented(parts: FacadeParts, request: ApiRequest, { result, representation }: ApiResponse) {
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

function send(exchange: Exchange, code: number, headers: OutgoingHeaders, chunks: readonly Buffer[]): void {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  if (length > gzipAbove && acceptsGzip(exchange.header('accept-encoding'))) {
    const compressed = gzipSync(Buffer.concat(chunks), { level: 1 });
    return exchange.send(
      code,
      { ...headers, 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding', 'Content-Length': compressed.length },
      [compressed],
    );
  }
  exchange.send(code, { ...headers, 'Content-Length': length }, chunks);
}

const acceptsGzip = (header: string | undefined): boolean =>
  header?.split(',').some((part) => part.trim().split(';', 1)[0] === 'gzip') ?? false;

const warningBudget = 4_096;
const shortened = 256;

/** `299 - "<text>"` each; if together they are too long, each is cut. RFC 7234 section 5.5. */
function warningHeaders(texts: readonly string[]): readonly string[] {
  const total = texts.reduce((sum, text) => sum + [...text].length, 0);
  const kept = total > warningBudget ? texts.map((text) => [...text].slice(0, shortened).join('')) : texts;
  return kept
    .map((text) => `299 - "${text.replace(/[\\"]/g, '\\$&')}"`)
    .map((text) => Buffer.from(text, 'utf8').toString('latin1'));
}
