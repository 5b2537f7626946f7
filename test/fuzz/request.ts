import { readdirSync, readFileSync } from 'node:fs';

/** A request as sent over the wire, by a client or with a hostile purpose. */
export interface FuzzRequest {
  readonly method: string;
  /** The path and query. */
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** The origin of the request, for reports. */
  readonly origin: string;
  /**
   * The requests that create what it needs, in this order, and those that remove it. Not all of them have to succeed.
   */
  readonly before?: readonly FuzzRequest[];
  readonly after?: readonly FuzzRequest[];
}

/** Returns a request as clients send it: a body that is not text is sent as JSON, with its type declared. */
export function requestTo(
  method: string,
  url: string,
  { body, type = 'application/json', headers = [], origin = 'by hand' }: RequestParts = {},
): FuzzRequest {
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body));
  return {
    method,
    url,
    headers: body === undefined ? headers : [['content-type', type], ...headers],
    body: bytes,
    origin,
  };
}

interface RequestParts {
  readonly body?: unknown;
  readonly type?: string;
  readonly headers?: FuzzRequest['headers'];
  readonly origin?: string;
}

/**
 * Reads requests that clients sent to a server, the raw material of mutation: files by area with one JSON object per
 * line.
 */
export function readCorpus(folder: string): readonly FuzzRequest[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.jsonl'))
    .sort()
    .flatMap((file) =>
      readFileSync(`${folder}/${file}`, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line, at) => {
          const recorded = JSON.parse(line) as Recorded;
          const { 'content-type': type = 'application/json', ...headers } = recorded.headers ?? {};
          return requestTo(recorded.method, recorded.path, {
            body: recorded.body,
            type,
            headers: Object.entries(headers),
            origin: `${file}:${at + 1}`,
          });
        }),
    );
}

interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Formats a request for a report: long parts are cut, and bytes that are not text escaped. */
export function shown({ method, url, headers, body, origin }: FuzzRequest, length = 600): string {
  const cut = (text: string): string => (text.length > length ? `${text.slice(0, length)}...(${text.length})` : text);
  const lines = headers.slice(0, 12).map(([name, value]) => `  ${name}: ${cut(value)}`);
  return [`${method} ${cut(url)}  [${origin}]`, ...lines, cut(JSON.stringify(body.toString('latin1')))].join('\n');
}
