import { createSecureServer, type Http2SecureServer, type SecureServerOptions } from 'node:http2';
import {
  type ConnectionLimits,
  concurrentStreams,
  headerOverhead,
  keepAliveMs,
  maxUnreadMegabytes,
} from './connection-limits.js';
import { isWebSocketRequest } from './web-socket.js';

/**
 * Accepts header values with spaces at either end, as Kubernetes does. Otherwise Node.js would drop the whole header,
 * and for example an impersonation would go unnoticed. Neither the type definitions nor Node.js 20 know this option.
 */
const asSent: object = { strictFieldWhitespaceValidation: false };

/**
 * Returns a server that does not listen yet. `connections` of the limits is the number that the system allows,
 * undefined if unknown.
 */
export function secureServer(
  context: SecureServerOptions,
  limits: Omit<ConnectionLimits, 'connections'> & { readonly connections: number | undefined },
): Http2SecureServer {
  const server = createSecureServer({
    allowHTTP1: true,
    requestCert: true,
    rejectUnauthorized: false,
    ...context,
    handshakeTimeout: limits.headersMs,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveMs,
    maxHeaderListPairs: Math.ceil((2 * limits.headerBytes) / headerOverhead),
    maxSessionMemory: maxUnreadMegabytes,
    ...asSent,
    // Node.js ends a stream beyond this size without an answer; below it, requests above the real limit are answered
    // with 431.
    settings: { maxConcurrentStreams: concurrentStreams, maxHeaderListSize: 2 * limits.headerBytes },
  });
  // The HTTP/1.1 server of Node.js reads its options from these members.
  Object.assign(server, {
    maxConnections: limits.connections,
    maxHeaderSize: limits.headerBytes,
    // Node.js silently drops the headers beyond its own limit on their number, which could for example be impersonation
    // headers.
    maxHeadersCount: 0,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: Math.min(30_000, Math.ceil(limits.headersMs / 2)),
    // Newer versions of Node.js upgrade only requests for which this returns true, and answer others as if they had no
    // Upgrade header.
    shouldUpgradeCallback: isWebSocketRequest,
    // On close, Node.js would cut off responses whose last bytes are in flight; `stop` ends idle connections itself.
    closeIdleConnections: ignore,
  });
  return server;
}

/**
 * Selects HTTP/1.1 in the handshake, and rejects clients that do not offer it. Node.js would replace a list of
 * protocols with its own.
 */
export const onlyHttp1 = ({ protocols }: { readonly protocols: readonly string[] }): string | undefined =>
  protocols.find((protocol) => protocol === 'http/1.1');

const ignore = (): void => {};
