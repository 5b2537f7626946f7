import type { IncomingMessage, ServerResponse } from 'node:http';
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { Readable, Writable } from 'node:stream';
import type { TLSSocket } from 'node:tls';

/** One request and its answer, whichever HTTP version carries them. */
export interface Exchange {
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
  /** Calls back when the caller has gone before the answer was complete. */
  onClosed(listener: () => void): void;
  readonly answered: boolean;
  /** Sends a whole answer. */
  send(code: number, headers: OutgoingHeaders, chunks: readonly Buffer[]): void;
  /** Begins an answer that goes on; headers are sent at once. */
  stream(code: number, headers: OutgoingHeaders): Writable;
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
  return {
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
        if (!response.writableFinished) listener();
      });
    },
    get answered() {
      return response.headersSent;
    },
    send: (code, headers, chunks) => {
      response.writeHead(code, headers as Record<string, string | number | string[]>);
      for (const chunk of chunks) response.write(chunk);
      response.end();
    },
    stream: (code, headers) => {
      response.writeHead(code, headers as Record<string, string | number | string[]>);
      response.flushHeaders();
      return response;
    },
    cut: () => void response.destroy(),
  };
}

export function http2Exchange(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
): Exchange {
  const session = stream.session;
  return {
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
      stream.once('close', () => {
        if (!stream.writableFinished) listener();
      });
    },
    get answered() {
      return stream.headersSent;
    },
    send: (code, outgoing, chunks) => {
      if (stream.destroyed || stream.closed) return;
      stream.respond({ ':status': code, ...(outgoing as Record<string, string | number | string[]>) });
      stream.end(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
    },
    stream: (code, outgoing) => {
      if (!stream.destroyed && !stream.closed)
        stream.respond({ ':status': code, ...(outgoing as Record<string, string | number | string[]>) });
      return stream;
    },
    cut: () => void stream.close(),
  };
}
