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
 * Values with blanks at their ends count, as in Kubernetes: Node leaves out the whole header otherwise, and nobody is
 * told that somebody acts for another. Unknown to the types, and to Node 20.
 */
const asSent: object = { strictFieldWhitespaceValidation: false };

/** A server that nobody listens to yet; `connections` of the limits: how many the system allows, if it says. */
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
    // Beyond this Node ends the stream without a word; what is larger than the limit is answered up to there.
    settings: { maxConcurrentStreams: concurrentStreams, maxHeaderListSize: 2 * limits.headerBytes },
  });
  // What Node's own server of HTTP/1.1 takes as options is read from members here.
  Object.assign(server, {
    maxConnections: limits.connections,
    maxHeaderSize: limits.headerBytes,
    // Node passes over what is beyond its own number without a word: whom somebody acts for, for one.
    maxHeadersCount: 0,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: Math.min(30_000, Math.ceil(limits.headersMs / 2)),
    // Newer versions of Node hand over only requests for what is spoken here, and answer others as if they asked for nothing.
    shouldUpgradeCallback: isWebSocketRequest,
    // When it closes, Node would cut answers whose last bytes are on their way; `stop` ends idle connections itself.
    closeIdleConnections: ignore,
  });
  return server;
}

/** Clients without HTTP/1.1 are refused in the handshake. Node would replace a list of protocols by its own. */
export const onlyHttp1 = ({ protocols }: { readonly protocols: readonly string[] }): string | undefined =>
  protocols.find((protocol) => protocol === 'http/1.1');

const ignore = (): void => {};
