import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import { expect } from 'vitest';
import { readYaml } from '../../src/api/yaml.js';
import { createServer, type Server } from '../../src/embed.js';
import type { ServerOptions } from '../../src/server/options.js';
import { eventually } from '../../src/testing/until.js';

/** A server in this process, called over its socket, so that tests compare what is sent over the wire. */
export interface Served {
  readonly server: Server;
  /** The credentials of an administrator. */
  readonly credentials: { readonly ca: string; readonly cert: Buffer; readonly key: Buffer };
  ask(method: string, path: string, more?: AskOptions): Promise<Answer>;
  stop(): Promise<void>;
}

export interface AskOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Text and bytes are sent unchanged, anything else as JSON. */
  readonly body?: unknown;
  /** Disconnects after this many lines of the response, for watches. */
  readonly lines?: number;
}

export interface Answer {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** The text, or each of its lines, parsed as JSON. */
  json<T = Tree>(): T;
  events<T = Tree>(): readonly T[];
}

// biome-ignore lint/suspicious/noExplicitAny: only tests read responses in this way
export type Tree = any;

export async function serve(options: ServerOptions = {}): Promise<Served> {
  const server = await createServer({ store: 'memory:', controllers: [], ...options, listen: { port: 0 } });
  const { value } = await readYaml(Buffer.from(server.adminKubeconfig));
  const [{ user }] = (value as Tree).users as readonly [Tree];
  const pem = (base64: string): Buffer => Buffer.from(base64, 'base64');
  const credentials = {
    ca: server.ca,
    cert: pem(user['client-certificate-data']),
    key: pem(user['client-key-data']),
  };
  const agent = new Agent({ ...credentials, keepAlive: true });
  const { hostname, port } = new URL(server.url ?? '');

  const ask = (method: string, path: string, { headers = {}, body, lines }: AskOptions = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const raw = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
      const length = raw === undefined ? {} : { 'content-length': Buffer.byteLength(raw) };
      const all = { ...length, ...headers };
      const outgoing = request({ hostname, port, agent, method, path, headers: all }, (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          if (lines !== undefined && Buffer.concat(chunks).toString().split('\n').length > lines) incoming.destroy();
        });
        incoming.on('error', () => {});
        incoming.on('close', () =>
          resolve(answerOf(incoming.statusCode ?? 0, incoming.headers, Buffer.concat(chunks))),
        );
      });
      outgoing.on('error', reject);
      outgoing.end(raw);
    });
  const stop = async (): Promise<void> => {
    agent.destroy();
    await server.stop();
  };
  return { server, credentials, ask, stop };
}

function answerOf(code: number, headers: IncomingHttpHeaders, bytes: Buffer): Answer {
  const text = bytes.toString();
  return {
    code,
    headers,
    bytes,
    text,
    json: () => JSON.parse(text),
    events: () =>
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
  };
}

/** Returns a CustomResourceDefinition of a cluster-scoped kind, for `ask`. */
export const definitionOf = (
  { group, plural, kind }: { readonly group: string; readonly plural: string; readonly kind: string },
  versions: readonly object[],
  more: object = {},
) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: { group, names: { plural, kind }, scope: 'Cluster', versions, ...more },
});

/** Returns a served version of it; `v1` is the stored one. */
export const versionOf = (name: string, properties: object = {}, more: object = {}) => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: { type: 'object', properties } },
  ...more,
});

/** Returns a definition of `widgets.example.com`; by default its schema accepts anything. */
export const widgets = (schema: object = {}, more: object = {}) =>
  definitionOf({ group: 'example.com', plural: 'widgets', kind: 'Widget' }, [
    versionOf('v1', { spec: { type: 'object', ...schema } }, more),
  ]);

/** Creates a definition, and waits until its kind is served at the path. */
export async function define({ ask }: Served, definition: object, path: string): Promise<void> {
  const { code, text } = await ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    body: definition,
  });
  expect(code, text).toBe(201);
  await eventually(
    () => ask('GET', path),
    ({ code: there }) => there === 200,
    { timeoutMs: 40_000, what: path },
  );
}
