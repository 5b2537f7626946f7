import type { IncomingHttpHeaders } from 'node:http';
import { Agent, type RequestOptions, request } from 'node:https';
import type { Step } from './transcript.js';

/** Sends the requests of a transcript unchanged, including headers. */
export interface Caller {
  send(step: Step): Promise<Answer>;
  close(): void;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Target {
  readonly url: string;
  /** In PEM. */
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

const watchMs = 1_500;

export function createCaller({ url, ca, certificate, key }: Target): Caller {
  const { hostname, port } = new URL(url);
  const admin = new Agent({ ca, cert: certificate, key, keepAlive: true });
  const nobody = new Agent({ ca, keepAlive: true });

  const send = ({ as = 'admin', method, path, headers, body, raw, watch }: Step): Promise<Answer> => {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const sent = new Map<string, string | readonly string[] | null>([['accept', 'application/json']]);
    if (payload !== undefined) {
      sent.set('content-type', 'application/json').set('content-length', String(Buffer.byteLength(payload)));
    }
    for (const [name, value] of Object.entries(headers ?? {})) sent.set(name.toLowerCase(), value);
    for (const [name, value] of identityHeaders(as)) sent.set(name, value);
    const agent = as === 'anonymous' || (typeof as === 'object' && 'token' in as) ? nobody : admin;
    const kept = [...sent].filter((entry): entry is [string, string | string[]] => entry[1] !== null);
    return exchange({ hostname, port, agent, method, path, headers: Object.fromEntries(kept) }, payload, watch);
  };
  return {
    send,
    close() {
      admin.destroy();
      nobody.destroy();
    },
  };
}

function identityHeaders(as: NonNullable<Step['as']>): readonly (readonly [string, string | readonly string[]])[] {
  if (typeof as === 'string') return [];
  if ('token' in as) return [['authorization', `Bearer ${as.token}`]];
  return [
    ['impersonate-user', as.user],
    ...(as.groups === undefined ? [] : [['impersonate-group', as.groups] as const]),
    ...(as.uid === undefined ? [] : [['impersonate-uid', as.uid] as const]),
    ...Object.entries(as.extra ?? {}).map(([key, values]) => [`impersonate-extra-${key}`, values] as const),
  ];
}

const exchange = (options: RequestOptions, payload: string | undefined, watch: Step['watch']): Promise<Answer> =>
  new Promise((resolve, reject) => {
    let answer = { status: 0, headers: {} as IncomingHttpHeaders, text: '' };
    const outgoing = request(options, (incoming) => {
      answer = { ...answer, status: incoming.statusCode ?? 0, headers: incoming.headers };
      incoming.setEncoding('utf8');
      incoming.on('data', (part: string) => {
        answer = { ...answer, text: answer.text + part };
        if (watch?.events !== undefined && answer.text.split('\n').length > watch.events) outgoing.destroy();
      });
      incoming.on('error', () => {});
      incoming.on('close', () => done());
    });
    // A watch ends after its time, whether or not headers have arrived by then.
    const timer = watch === undefined ? undefined : setTimeout(() => outgoing.destroy(), watch.ms ?? watchMs);
    const done = (): void => {
      clearTimeout(timer);
      resolve(answer);
    };
    outgoing.on('error', (error) => (watch === undefined ? reject(error) : done()));
    outgoing.on('close', () => watch !== undefined && done());
    outgoing.end(payload);
  });
