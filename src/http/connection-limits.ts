/** Limits that apply to callers before they are authenticated. */
export interface ConnectionLimits {
  /** The maximum number of connections; further ones are closed immediately. 0 means no limit. */
  readonly connections: number;
  /** The maximum size of a request's URL and headers in bytes, from 8,192 to 1,048,576. */
  readonly headerBytes: number;
  /** The timeout of a TLS handshake, and of the headers of a request, in milliseconds: from 100 to a day. */
  readonly headersMs: number;
  /**
   * The timeout of a whole HTTP/1.1 request with its body, in milliseconds. Must be longer than any request may take.
   */
  readonly requestMs: number;
  /** The time that an idle connection stays open, in milliseconds: from 100 to a day. */
  readonly idleMs: number;
}

/** The defaults, mostly those of Kubernetes. */
export const defaultConnectionLimits: ConnectionLimits = {
  connections: 10_000,
  headerBytes: 131_072,
  headersMs: 32_000,
  requestMs: 90_000,
  idleMs: 90_000,
};

/** The number of file descriptors reserved for the store, watched files and outgoing calls. */
const otherFiles = 128;

/**
 * Returns the limit on connections; undefined if there is none. `connections` is the configured limit, 0 for none;
 * `openFiles` is the system's limit on open files, undefined if unknown. Unauthenticated callers must not use up the
 * file descriptors that the store needs.
 */
export function maxConnections(connections: number, openFiles: number | undefined): number | undefined {
  const requested = connections > 0 ? connections : Number.POSITIVE_INFINITY;
  const available = openFiles === undefined ? requested : openFiles - Math.max(otherFiles, Math.ceil(openFiles / 4));
  const most = Math.min(requested, Math.max(1, available));
  return Number.isFinite(most) ? most : undefined;
}

/** The maximum number of concurrent requests on one HTTP/2 connection. */
export const concurrentStreams = 100;

/**
 * The maximum size of unread responses on one HTTP/2 connection, in megabytes, before it accepts no more requests. It
 * is large because clients use one connection for everything, including large lists for their caches, and few can
 * handle a rejection.
 */
export const maxUnreadMegabytes = 1_024;

/**
 * The number of streams that a client may reset on one HTTP/2 connection: a burst, and a rate per second. Beyond that
 * it causes work faster than it reads responses. Node.js itself reacts only at 1,000, and leaves the connection open.
 */
export const streamResetLimit = { atOnce: 500, perSecond: 30 };

/**
 * The number of bytes that HTTP/2 counts for each header in addition to its name and value (RFC 9113 section 6.5.2).
 * The size limit is the only limit on the number of headers.
 */
export const headerOverhead = 32;

/** The time after which TCP probes whether a silent peer still exists, in milliseconds. */
export const keepAliveMs = 180_000;
