/** Limits that apply to callers before they are authenticated. */
export interface ConnectionLimits {
  /** Most connections at a time; further ones are closed at once. 0 means no limit. */
  readonly connections: number;
  /** Size of a request's URL and headers in bytes, from 8,192 to 1,048,576. */
  readonly headerBytes: number;
  /** Time for a TLS handshake, and for the headers of a request, in milliseconds: from 100 to a day. */
  readonly headersMs: number;
  /** Time for a whole request over HTTP/1.1 with its body, in milliseconds. Must be longer than requests may take altogether. */
  readonly requestMs: number;
  /** Time that an idle connection stays open, in milliseconds: from 100 to a day. */
  readonly idleMs: number;
}

/** Defaults, mostly those of Kubernetes. */
export const defaultConnectionLimits: ConnectionLimits = {
  connections: 10_000,
  headerBytes: 131_072,
  headersMs: 32_000,
  requestMs: 90_000,
  idleMs: 90_000,
};

/** File descriptors reserved for the store, watched files and outgoing calls. */
const otherFiles = 128;

/**
 * Returns the limit on connections; undefined if there is none. `connections` is the configured limit, 0 for none;
 * `openFiles` is the system's limit on open files, undefined if unknown. Strangers must not use up the file descriptors
 * that the store needs.
 */
export function maxConnections(connections: number, openFiles: number | undefined): number | undefined {
  const wanted = connections > 0 ? connections : Number.POSITIVE_INFINITY;
  const left = openFiles === undefined ? wanted : openFiles - Math.max(otherFiles, Math.ceil(openFiles / 4));
  const most = Math.min(wanted, Math.max(1, left));
  return Number.isFinite(most) ? most : undefined;
}

/** Requests at a time on one HTTP/2 connection. */
export const concurrentStreams = 100;

/**
 * Megabytes of unread responses on one HTTP/2 connection before it accepts no more requests. Clients use one connection
 * for everything, including large lists for their caches, and few can handle a refusal.
 */
export const maxUnreadMegabytes = 1_024;

/**
 * Streams that a client may reset on one HTTP/2 connection: a burst, and a rate per second. Beyond that it causes work
 * faster than it reads responses. Node itself reacts only at 1,000, and leaves the connection open.
 */
export const streamResetLimit = { atOnce: 500, perSecond: 30 };

/**
 * Bytes that an HTTP/2 header counts in addition to its name and value (RFC 9113 section 6.5.2). The size limit is the
 * only limit on their number.
 */
export const headerOverhead = 32;

/** Milliseconds after which TCP probes whether a silent peer is still there. */
export const keepAliveMs = 180_000;
