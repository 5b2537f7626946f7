import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Readable, Writable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { Body } from '../apiserver/represent.js';

/** One request and its answer, whichever HTTP version carries them. */
export interface Exchange {
  /** Of HTTP. */
  readonly version: 1 | 2;
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  /** First (or joined) value of a header. */
  header(name: string): string | undefined;
  /** Names (as sent) and values alternating, repetitions kept. */
  readonly rawHeaders: readonly string[];
  readonly body: Readable;
  /** Peer certificates as DER, leaf first. */
  certificates(): readonly Buffer[];
  readonly remoteAddress: string;
  /** Calls back when the caller has gone before the answer was given. */
  onClosed(listener: () => void): void;
  readonly answered: boolean;
  /** The answer was broken off, because nobody took it. */
  readonly stuck: boolean;
  /** Sends a whole answer; if that takes a while, resolves when the last of it was handed over, or nobody reads any more. */
  send(code: number, headers: OutgoingHeaders, body: Body): Promise<void> | undefined;
  /** Begins an answer that goes on; headers are sent at once. */
  stream(code: number, headers: OutgoingHeaders): Writable;
  /** Said before an answer: the connection ends with it. */
  last(): void;
  /** Breaks off. */
  cut(): void;
}

export type OutgoingHeaders = Record<string, string | number | readonly string[]>;

const peers = new WeakMap<object, readonly Buffer[]>();

/** Certificates of a TLS peer, read once per connection (`owner` stands for it). */
function peerCertificates(owner: object, socket: Pick<TLSSocket, 'getPeerCertificate'>): readonly Buffer[] {
  const known = peers.get(owner);
  if (known !== undefined) return known;
  const chain: Buffer[] = [];
  const seen = new Set<string>();
  let next: ReturnType<TLSSocket['getPeerCertificate']> | undefined =
    typeof socket.getPeerCertificate === 'function' ? socket.getPeerCertificate(true) : undefined;
  while (next?.raw !== undefined && !seen.has(next.fingerprint256)) {
    seen.add(next.fingerprint256);
    chain.push(next.raw);
    next = 'issuerCertificate' in next ? (next.issuerCertificate as typeof next) : undefined;
  }
  peers.set(owner, chain);
  return chain;
}

export function http1Exchange(request: IncomingMessage, response: ServerResponse): Exchange {
  const { socket } = request;
  let stuck = false;
  return {
    version: 1,
    method: request.method ?? 'GET',
    url: request.url ?? '/',
    header: (name) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value[0] : value;
    },
    rawHeaders: request.rawHeaders,
    body: request,
    certificates: () => peerCertificates(socket, socket as TLSSocket),
    remoteAddress: socket.remoteAddress ?? '',
    onClosed: (listener) => {
      response.once('close', () => {
        if (!response.writableEnded) listener();
      });
    },
    get answered() {
      return response.headersSent;
    },
    get stuck() {
      return stuck;
    },
    send: (code, headers, body) => {
      // What is still to come of a large body would have to be read to its end before the next request.
      if (!request.complete && !hasSmallBody(request)) response.setHeader('Connection', 'close');
      response.writeHead(code, headers as Record<string, string | number | string[]>);
      return write(body, response, () => (stuck = true));
    },
    stream: (code, headers) => {
      response.writeHead(code, headers as Record<string, string | number | string[]>);
      response.flushHeaders();
      return response;
    },
    last: () => void response.setHeader('Connection', 'close'),
    cut: () => void response.destroy(),
  };
}

export function http2Exchange(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
): Exchange {
  const session = stream.session;
  let isLast = false;
  let stuck = false;
  return {
    version: 2,
    method: headers[':method'] ?? 'GET',
    url: headers[':path'] ?? '/',
    header: (name) => {
      const value = headers[name];
      return Array.isArray(value) ? value[0] : value;
    },
    rawHeaders,
    body: stream,
    certificates: () => (session === undefined ? [] : peerCertificates(session, session.socket as TLSSocket)),
    remoteAddress: session?.socket.remoteAddress ?? '',
    onClosed: (listener) => {
      stream.on('close', () => {
        if (!stream.writableEnded) listener();
      });
    },
    get answered() {
      return stream.headersSent;
    },
    get stuck() {
      return stuck;
    },
    send: (code, outgoing, body) => {
      if (stream.destroyed || stream.closed) return undefined;
      stream.respond({ ':status': code, ...outgoing } as OutgoingHttpHeaders);
      // Whatever the caller goes on sending is not wanted.
      if (!stream.endAfterHeaders && !stream.readableEnded) {
        stream.once('finish', () => stream.close(constants.NGHTTP2_NO_ERROR));
      }
      const written = write(body, stream, () => (stuck = true));
      if (isLast) session?.close();
      return written;
    },
    stream: (code, outgoing) => {
      if (!stream.destroyed && !stream.closed) stream.respond({ ':status': code, ...outgoing } as OutgoingHttpHeaders);
      if (isLast) session?.close();
      return stream;
    },
    last: () => {
      isLast = true;
    },
    // Closing would wait for a reader that may never come.
    cut: () => void stream.destroy(),
  };
}

const smallBody = 262_144;
const hasSmallBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= smallBody;

/** Smaller answers fit into the buffers of the system, and nobody waits for their reader. */
const longAnswer = 65_536;
const stuckMs = 60_000;

/**
 * Of a long answer no more is made and kept than its reader takes. Whoever asks for much and does not read it loses the
 * answer after a while in which nothing moved.
 */
function write(
  { length, chunks }: Body,
  out: ServerResponse | ServerHttp2Stream,
  onStuck: () => void,
): Promise<void> | undefined {
  if (length <= longAnswer) {
    const [first = Buffer.alloc(0), ...others] = chunks;
    out.end(others.length === 0 ? first : Buffer.concat([first, ...others]));
    return undefined;
  }
  out.setTimeout(stuckMs, () => {
    onStuck();
    out.destroy();
  });
  return new Promise((resolve) => {
    const coming = chunks[Symbol.iterator]();
    const proceed = (): void => {
      while (!out.destroyed && !out.writableEnded) {
        const { done, value } = coming.next();
        if (done) out.end();
        else if (!out.write(value)) {
          out.once('drain', proceed);
          return;
        }
      }
      resolve();
    };
    out.once('close', resolve);
    proceed();
  });
}
