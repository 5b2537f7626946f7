import { readdirSync, readFileSync } from 'node:fs';

/** A request as it goes over the wire, made to do harm or made by a client. */
export interface FuzzRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** Where it comes from, for reports. */
  readonly origin: string;
  /** What must be there for it, in this order, and what takes that away again. Not all of it may succeed. */
  readonly before?: readonly FuzzRequest[];
  readonly after?: readonly FuzzRequest[];
}

/** As clients send it: the body as JSON where it is no text, its type declared. */
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

/** Requests that clients made of a server: the raw material of mutation. One JSON object per line, by area. */
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

/** A request in a form that fits a report: long parts cut, bytes that are no text escaped. */
export function shown({ method, url, headers, body, origin }: FuzzRequest, length = 600): string {
  const cut = (text: string): string => (text.length > length ? `${text.slice(0, length)}...(${text.length})` : text);
  const lines = headers.slice(0, 12).map(([name, value]) => `  ${name}: ${cut(value)}`);
  return [`${method} ${cut(url)}  [${origin}]`, ...lines, cut(JSON.stringify(body.toString('latin1')))].join('\n');
}
