/** Limits that apply to callers before they are authenticated. */
export interface ConnectionLimits {
  /** Connections at a time; further ones are closed at once. 0: any number. */
  readonly connections: number;
  /** Bytes of a request's URL and headers, from 8,192 to 1,048,576. */
  readonly headerBytes: number;
  /** Milliseconds for a TLS handshake, and for the headers of a request; from 100 to a day. */
  readonly headersMs: number;
  /** Milliseconds for a whole request over HTTP/1.1, its body included. Longer than requests may take altogether. */
  readonly requestMs: number;
  /** Milliseconds that an idle connection stays open; from 100 to a day. */
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
 * Connections at a time where the system allows so many open files (undefined: nobody knows) and 0 of `connections` is
 * any number; undefined for any number. Strangers must not take what the store needs to open its next file.
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
 * How many streams a client may reset on one HTTP/2 connection: a burst, and a rate per second. Beyond that it causes
 * work faster than it reads responses. Node notices at 1,000, and leaves the connection open.
 */
export const streamResetLimit = { atOnce: 500, perSecond: 30 };

/** What an HTTP/2 header counts beyond its name and value (RFC 9113 section 6.5.2): only their size limits their number. */
export const headerOverhead = 32;

/** TCP asks after this many milliseconds whether a silent peer is still there. */
export const keepAliveMs = 180_000;
