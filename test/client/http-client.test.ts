import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { firstValueFrom, lastValueFrom, toArray } from 'rxjs';
import { afterEach, describe, expect, expectTypeOf, test, vi } from 'vitest';
import type { Condition } from '../../src/api/conditions.js';
import { defaultDomains } from '../../src/api/domains.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { type ApiObject, type ObjectKey, resourceType } from '../../src/api/object.js';
import { withAbort } from '../../src/client/abortable-client.js';
import type { DiscoveryFailure } from '../../src/client/client.js';
import { AccessError, type ClusterAccess, fixedCredentials } from '../../src/client/cluster-access.js';
import { domainClient } from '../../src/client/domain-client.js';
import { httpClient } from '../../src/client/http-client.js';
import { httpTransport } from '../../src/client/http-transport.js';
import { linesOf, watchEvent } from '../../src/client/watch-stream.js';
import type { Clock } from '../../src/runtime/clock.js';

type Handler = (request: IncomingMessage & { readonly text: string }, response: ServerResponse) => void;
const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

async function listening(handler: Handler): Promise<AddressInfo> {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    handler(Object.assign(request, { text }), response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return server.address() as AddressInfo;
}

async function serving(handler: Handler, access: Partial<ClusterAccess> = {}) {
  const { port } = await listening(handler);
  const waits: number[] = [];
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    async sleep(milliseconds, signal) {
      waits.push(milliseconds);
      signal?.addEventListener('abort', () => {});
    },
  };
  const client = httpClient(
    { server: `http://127.0.0.1:${port}/base/`, credentials: fixedCredentials({}), ...access },
    { clock, userAgent: 'test/1' },
  );
  open.push(() => client.close());
  return { client, configMaps: client.resource(ConfigMaps), waits, server: `http://127.0.0.1:${port}/base` };
}
const json = (response: ServerResponse, body: unknown, code = 200, headers: Record<string, string> = {}): void => {
  response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
};
const status = (code: number, reason?: string, message = 'why') => ({
  kind: 'Status',
  status: 'Failure',
  code,
  reason,
  message,
});

describe('requests', () => {
  test('accept answers with large headers', async () => {
    const { configMaps } = await serving((_, response) =>
      json(response, { metadata: { name: 'a' } }, 200, { 'x-large': 'x'.repeat(100_000) }),
    );
    expect(await configMaps.get({ namespace: 'n', name: 'a' })).toMatchObject({ metadata: { name: 'a' } });
  });

  test('may wait for a retry in any number', async () => {
    const asked = new Map<string, number>();
    const warned = vi.spyOn(process, 'emitWarning');
    const { configMaps } = await serving(({ url = '' }, response) => {
      const before = asked.get(url) ?? 0;
      asked.set(url, before + 1);
      if (before === 0) json(response, status(429, 'TooManyRequests'), 429, { 'retry-after': '1' });
      else json(response, { metadata: {} });
    });
    const names = Array.from({ length: 20 }, (_, at) => `c${at}`);
    await Promise.all(names.map((name) => configMaps.get({ namespace: 'n', name })));
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });

  test('for metadata only accept complete objects, and omit the rest', async () => {
    const accepted: (string | undefined)[] = [];
    const { configMaps } = await serving(({ headers }, response) => {
      accepted.push(headers.accept);
      json(response, { metadata: { resourceVersion: '1' }, items: [{ metadata: { name: 'a' }, data: { k: 'v' } }] });
    });
    const { items } = await configMaps.list({ metadataOnly: true });
    expectTypeOf(items).toEqualTypeOf<readonly ApiObject[]>();
    expect(items).toEqual([{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }]);
    expect(accepted).toEqual(['application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json']);
  });

  test.each(['', 'null', '[]', '{"items":{}}', '{"items":[null]}', '{"items":[{}]}'])(
    'fail if the answer is not a list: %s',
    async (body) => {
      const { configMaps } = await serving((_, response) => void response.end(body));
      await expect(configMaps.list()).rejects.toThrow('the answer of the server is not a list of objects');
    },
  );

  test.each(['{}', '{"items":null}'])('read %s as an empty list', async (body) => {
    const { configMaps } = await serving((_, response) => void response.end(body));
    expect(await configMaps.list()).toEqual({ metadata: { resourceVersion: '' }, items: [] });
  });

  test('have the expected path, query, headers and body', async () => {
    const seen: string[] = [];
    const { configMaps } = await serving(
      ({ method, url, headers, text }, response) => {
        const type = headers['content-type'] ?? '';
        seen.push(
          [method, url, headers['user-agent'], headers.authorization, headers['impersonate-group'], type, text].join(
            ' ',
          ),
        );
        json(response, { metadata: {}, items: [] });
      },
      { credentials: fixedCredentials({ authorization: 'Bearer x' }), headers: { 'Impersonate-Group': ['a', 'b'] } },
    );
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ä b c', namespace: 'n' } };
    const key = { namespace: 'n', name: 'a' };
    await configMaps.create(object, { fieldManager: 'me', dryRun: true });
    await configMaps.update(object);
    await configMaps.patch(key, { type: 'apply', body: {}, fieldManager: 'me', force: true });
    await configMaps.delete(key, { propagationPolicy: 'Orphan', preconditions: { uid: 'u' } });
    await configMaps.delete(key, { gracePeriodSeconds: 5, dryRun: true });
    await configMaps.list({ labelSelector: 'a in (b)', limit: 5, continue: 'x', resourceVersion: '0' });
    await configMaps.subresource('scale').update(object);
    const conditions: readonly Condition[] = [{ type: 'Ready', status: 'True' }];
    await configMaps.subresource('status').patch(key, { type: 'merge', body: { status: { conditions } } });
    const common = 'test/1 Bearer x a, b';
    expect(seen).toEqual([
      `POST /base/api/v1/namespaces/n/configmaps?dryRun=All&fieldManager=me ${common} application/json ${JSON.stringify(object)}`,
      `PUT /base/api/v1/namespaces/n/configmaps/%C3%A4%20b%20c ${common} application/json ${JSON.stringify(object)}`,
      `PATCH /base/api/v1/namespaces/n/configmaps/a?fieldManager=me&force=true ${common} application/apply-patch+yaml {}`,
      `DELETE /base/api/v1/namespaces/n/configmaps/a ${common} application/json {"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Orphan","preconditions":{"uid":"u"}}`,
      `DELETE /base/api/v1/namespaces/n/configmaps/a ${common} application/json {"apiVersion":"v1","kind":"DeleteOptions","dryRun":["All"],"gracePeriodSeconds":5}`,
      `GET /base/api/v1/configmaps?labelSelector=a+in+%28b%29&limit=5&continue=x&resourceVersion=0 ${common}  `,
      `PUT /base/api/v1/namespaces/n/configmaps/%C3%A4%20b%20c/scale ${common} application/json ${JSON.stringify(object)}`,
      `PATCH /base/api/v1/namespaces/n/configmaps/a/status ${common} application/merge-patch+json ${JSON.stringify({ status: { conditions } })}`,
    ]);
  });

  test('for the version return the version that the server reports', async () => {
    const answers: unknown[] = [{ major: '1', gitVersion: 'v1.36.0+k3s1' }, {}, null];
    const { client } = await serving((request, response) =>
      json(response, request.url === '/base/version' ? answers.shift() : status(404), 200),
    );
    expect([await client.serverVersion(), await client.serverVersion(), await client.serverVersion()]).toEqual([
      'v1.36.0+k3s1',
      '',
      '',
    ]);
  });

  test('are not sent if the namespace or name would change the path', async () => {
    const sent: string[] = [];
    const { configMaps } = await serving((request, response) => {
      sent.push(request.url ?? '');
      json(response, { kind: 'ConfigMapList', items: [] });
    });
    const failed = (call: Promise<unknown>) => expect(call).rejects.toMatchObject({ reason: 'BadRequest' });
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'n' } };
    await failed(configMaps.delete({ namespace: 'n', name: '' }));
    await failed(configMaps.delete({ namespace: 'n' } as ObjectKey));
    await failed(configMaps.update(object));
    await failed(configMaps.subresource('status').update(object));
    await failed(configMaps.patch({ namespace: 'n', name: '..' }, { type: 'merge', body: {} }));
    for (const namespace of ['.', '..', '../x', 'a%2Fb']) {
      await failed(configMaps.list({ namespace }));
      await failed(configMaps.get({ namespace, name: 'a' }));
      await failed(configMaps.create({ ...object, metadata: { namespace } }));
      await failed(configMaps.deleteCollection({ namespace }));
      await failed(lastValueFrom(configMaps.watch({ namespace })));
    }
    expect(sent).toEqual([]);
  });

  test('fail with the error of the server', async () => {
    const answers: [number, string][] = [
      [409, JSON.stringify({ ...status(409, 'Conflict'), details: { name: 'a' } })],
      [500, JSON.stringify(status(500))],
      [502, '<html>bad gateway</html>'],
      [500, '{"kind":"Other"}'],
      [418, ''],
      [404, '404 page not found\n'],
      [404, JSON.stringify({ ...status(404, 'NotFound'), details: {} })],
      [404, JSON.stringify({ ...status(404, 'NotFound'), details: { name: 'n', kind: 'namespaces' } })],
      [404, JSON.stringify({ kind: 'Status' })],
      [200, '<html>log in</html>'],
    ];
    const { configMaps, server } = await serving((_, response) => {
      const [code, text] = answers.shift() ?? [200, '{}'];
      response.writeHead(code).end(text);
    });
    const error = () => configMaps.list({ limit: 1 }).catch((failure: unknown) => failure);
    const answered = `GET ${server}/api/v1/configmaps: the server answered with code`;
    const notServed = 'the server does not serve configmaps in version v1';
    expect(await error()).toMatchObject({ reason: 'Conflict', code: 409, message: 'why', details: { name: 'a' } });
    expect(await error()).toMatchObject({ reason: undefined, code: 500, message: 'why' });
    expect(await error()).toMatchObject({ code: 502, message: `${answered} 502: <html>bad gateway</html>` });
    expect(await error()).toMatchObject({ code: 500, message: `${answered} 500: {"kind":"Other"}` });
    expect(await error()).toMatchObject({ code: 418, message: `${answered} 418` });
    expect(await error()).toMatchObject({
      reason: 'NotFound',
      message: `${notServed}: ${answered} 404: 404 page not found`,
    });
    expect(await error()).toMatchObject({ reason: 'NotFound', code: 404, message: `${notServed}: why` });
    expect(await error()).toMatchObject({ reason: 'NotFound', code: 404, message: 'why' });
    expect(await error()).toMatchObject({ reason: undefined, code: 404, message: `${answered} 404` });
    expect(await error()).toMatchObject({ message: `${answered} 200 and no JSON: <html>log in</html>` });
  });

  test('fail with the missing resource if the type is not served', async () => {
    const { client } = await serving((_, response) => void response.writeHead(404).end('404 page not found\n'));
    const widget = { apiVersion: 'example.com/v2', kind: 'Widget', metadata: { namespace: 'n', name: 'a' } };
    const names = { group: 'example.com', version: 'v2', plural: 'widgets', kind: 'Widget', namespaced: true };
    const widgets = client.resource(resourceType(names));
    const calls: readonly Promise<unknown>[] = [
      widgets.list(),
      lastValueFrom(widgets.watch()),
      widgets.create(widget),
      widgets.get(widget.metadata),
      widgets.update(widget),
      widgets.patch(widget.metadata, { type: 'merge', body: {} }),
      widgets.delete(widget.metadata),
      widgets.deleteCollection({ namespace: 'n' }),
    ];
    const text = /^the server does not serve widgets\.example\.com in version v2: [A-Z]+ http.*: 404 page not found$/;
    for (const call of calls) await expect(call).rejects.toThrow(text);
    // The type itself may be served.
    for (const call of [widgets.subresource('scale').get(widget.metadata), client.discover()])
      await expect(call).rejects.toThrow(/^GET /);
  });

  test.each(['', 'null', '[]', '{}', '{"kind":"Status","code":200,"metadata":{}}'])(
    'fail if the answer is not an object: %s',
    async (body) => {
      const { configMaps, server } = await serving((_, response) => void response.end(body));
      const key = { namespace: 'n', name: 'a' };
      const url = `${server}/api/v1/namespaces/n/configmaps/a`;
      const message = (method: string) => `${method} ${url}: the answer of the server is not an object`;
      await expect(configMaps.get(key)).rejects.toThrow(message('GET'));
      await expect(configMaps.patch(key, { type: 'merge', body: {} })).rejects.toThrow(message('PATCH'));
    },
  );

  test.each(['', 'null', '[]', '5', '{"kind":"APIGroupDiscoveryList","items":5}', '{"groups":[null]}'])(
    'fail if the answer is not a discovery document: %s',
    async (body) => {
      const { client, server } = await serving((_, response) => void response.end(body));
      const told = new RegExp(`^GET ${server}/apis?: the answer of the server is not a discovery document$`);
      await expect(client.discover()).rejects.toThrow(told);
    },
  );

  test('for discovery accept null as an empty list', async () => {
    const { client } = await serving(({ url }, response) =>
      json(
        response,
        url === '/apis' ? { groups: [{ name: 'a', versions: null }] } : { versions: ['v1'], resources: null },
      ),
    );
    expect(await client.discover()).toEqual([]);
  });

  test('that create something may be answered with a Status', async () => {
    const { client } = await serving((_, response) => json(response, { ...status(200), metadata: {} }));
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } };
    const answer = client.resource(ConfigMaps).subresource('eviction').create({ namespace: 'n', name: 'a' }, eviction);
    expect(await answer).toMatchObject({ kind: 'Status' });
    const created = client
      .resource(ConfigMaps)
      .create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'n', name: 'a' } });
    expect(await created).toMatchObject({ kind: 'Status' });
  });

  test('report the URL and the error code if the connection fails', async () => {
    const { configMaps, server } = await serving(({ url = '', socket }, response) => {
      if (url.includes('watch')) response.writeHead(200).write('{"ty');
      setImmediate(() => socket.destroy());
    });
    const asked = `${server}/api/v1/configmaps: `;
    const failure = { message: `GET ${asked}socket hang up`, code: 'ECONNRESET', cause: { message: 'socket hang up' } };
    await expect(configMaps.list({ limit: 1 })).rejects.toMatchObject(failure);
    await expect(lastValueFrom(configMaps.watch())).rejects.toMatchObject({ message: `GET ${asked}aborted` });
    const credentials = fixedCredentials({});
    const nowhere = httpClient({ server: 'http://localhost:1', credentials }).resource(ConfigMaps);
    const refused = { message: expect.stringMatching('^GET http://localhost:1/api/v1/configmaps: .*ECONNREFUSED') };
    await expect(nowhere.list()).rejects.toMatchObject({ ...refused, code: 'ECONNREFUSED' });
  });

  test('are retried after Retry-After, a limited number of times', async () => {
    let count = 0;
    const { configMaps, waits } = await serving((_, response) => {
      count++;
      if (count <= 2) json(response, status(429, 'TooManyRequests'), 429, { 'retry-after': '3' });
      else if (count === 3) json(response, { metadata: { name: 'a' } });
      else json(response, status(503, 'ServiceUnavailable'), 503, { 'retry-after': '99999' });
    });
    await configMaps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n' } });
    expect(waits.splice(0)).toEqual([3_000, 3_000]);
    await expect(configMaps.list()).rejects.toMatchObject({ reason: 'ServiceUnavailable' });
    expect(waits).toEqual(Array(5).fill(30_000));
  });

  test('renew credentials once after a refusal', async () => {
    let generation = 1;
    const access = {
      credentials: {
        current: async () => ({ authorization: `Bearer ${generation}` }),
        refused: () => ++generation > 0,
      },
    };
    const { configMaps } = await serving(({ headers }, response) => {
      if (headers.authorization === 'Bearer 2') json(response, { metadata: {}, items: [] });
      else json(response, status(401, 'Unauthorized'), 401);
    }, access);
    await configMaps.list();
    generation = 5;
    await expect(configMaps.list()).rejects.toMatchObject({ reason: 'Unauthorized' });
    expect(generation).toBe(6);
  });

  test('that read are repeated if the connection died, others are not', async () => {
    let count = 0;
    const { configMaps } = await serving(({ socket }, response) => {
      count++;
      if (count % 2 === 0) socket.destroy();
      else json(response, { metadata: {}, items: [] });
    });
    await configMaps.list();
    await configMaps.list();
    expect(count).toBe(3);
    await expect(
      configMaps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n' } }),
    ).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(count).toBe(4);
  });

  test('end when the client is closed, with any credentials, and later ones are refused', async () => {
    let certificate = 'a';
    let arrived: () => void = () => {};
    const sent: string[] = [];
    const { client, configMaps } = await serving(
      ({ url = '' }, response) => {
        sent.push(url);
        if (url.includes('watch')) response.writeHead(200).write('\n');
        arrived();
      },
      { credentials: { current: async () => ({ certificate, key: 'k' }), refused: () => false } },
    );
    const taken = (): Promise<void> =>
      new Promise((resolve) => {
        arrived = resolve;
      });
    const watched = taken();
    const watching = firstValueFrom(configMaps.watch().pipe(toArray()));
    await watched;
    const listed = taken();
    const listing = configMaps.list();
    certificate = 'b';
    await listed;
    const got = taken();
    const getting = configMaps.get({ namespace: 'n', name: 'a' });
    await got;
    const late = configMaps.get({ namespace: 'n', name: 'late' });
    client.close();
    const calls = [watching, listing, getting, late, configMaps.list(), firstValueFrom(configMaps.watch())];
    for (const call of calls) await expect(call).rejects.toThrow('the client was closed');
    expect(sent).toHaveLength(3);
  });

  test('that wait for a retry end when the client is closed', async () => {
    let asked = 0;
    let arrived: () => void = () => {};
    const both = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const { port } = await listening((_, response) => {
      json(response, status(429, 'TooManyRequests'), 429, { 'retry-after': '30' });
    });
    const clock: Clock = {
      now: () => 0,
      monotonic: () => 0,
      sleep: (_, signal) =>
        new Promise((resolve) => {
          signal?.addEventListener('abort', () => resolve());
          if (++asked === 2) arrived();
        }),
    };
    const client = httpClient({ server: `http://127.0.0.1:${port}`, credentials: fixedCredentials({}) }, { clock });
    const configMaps = client.resource(ConfigMaps);
    const calls = [configMaps.list(), firstValueFrom(configMaps.watch())];
    await both;
    client.close();
    for (const call of calls) await expect(call).rejects.toThrow('the client was closed');
  });

  test('require a valid server URL', () => {
    for (const server of ['nonsense', 'ftp://x', '']) {
      expect(() => httpClient({ server, credentials: fixedCredentials({}) })).toThrow(AccessError);
    }
  });
});

describe('watches', () => {
  const event = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;
  const watching = async (write: (response: ServerResponse) => void) => {
    const { configMaps } = await serving((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      write(response);
    });
    return configMaps.watch({ resourceVersion: '1' });
  };

  test('are assembled from chunks of any size', async () => {
    const text =
      event('ADDED', { metadata: { name: 'ä€𝄞' } }) + event('BOOKMARK', { metadata: { resourceVersion: '7' } });
    for (const size of [1, 3, 1_000]) {
      const bytes = Buffer.from(text);
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      const lines: string[] = [];
      for await (const line of linesOf(Readable.from(pieces))) lines.push(line);
      expect(lines.join('\n')).toBe(text.trimEnd());
    }
    const stream = await watching((response) => response.end(text));
    expect(await firstValueFrom(stream.pipe(toArray()))).toEqual([
      { type: 'ADDED', object: { metadata: { name: 'ä€𝄞' } } },
      { type: 'BOOKMARK', resourceVersion: '7', initialEventsEnd: false },
    ]);
  });

  test('fail with the error of an ERROR event', async () => {
    const stream = await watching((response) => response.end(event('ERROR', status(410, 'Expired', 'too old'))));
    await expect(firstValueFrom(stream)).rejects.toMatchObject({ reason: 'Expired', code: 410, message: 'too old' });
  });

  test.each([
    ['{"type":"ADDED"', /ended in the middle/],
    ['nonsense\n', /not JSON/],
    ['[]\n', /not an event/],
    ['{"type":"ADDED","object":null}\n', /not an event/],
    ['{"type":"NEW","object":{}}\n', /unknown type "NEW"/],
    ['{"type":"BOOKMARK","object":{}}\n', /without metadata/],
    ['{"type":"ADDED","object":{"metadata":null}}\n', /without metadata/],
  ])('fail on %j', async (text, message) => {
    const stream = await watching((response) => response.end(text));
    await expect(firstValueFrom(stream)).rejects.toThrow(message);
  });

  test('fail if the connection breaks', async () => {
    const stream = await watching((response) => {
      response.write(event('ADDED', { metadata: {} }));
      setImmediate(() => response.destroy());
    });
    await expect(firstValueFrom(stream.pipe(toArray()))).rejects.toThrow('aborted');
  });

  test('end their request when the last subscriber leaves', async () => {
    let closed: () => void = () => {};
    const gone = new Promise<void>((resolve) => (closed = resolve));
    const stream = await watching((response) => {
      response.on('close', closed);
      response.write(event('ADDED', { metadata: {} }));
    });
    await firstValueFrom(stream);
    await gone;
  });

  test('limit the length of a line', async () => {
    const endless = Readable.from(Array.from({ length: 100 }, () => Buffer.alloc(1_024, 97)));
    await expect(async () => {
      for await (const _ of linesOf(endless, 10_000));
    }).rejects.toThrow('longer than 10000 bytes');
  });

  test('recognize the end of the initial state', () => {
    const metadata = { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } };
    expect(watchEvent(event('BOOKMARK', { metadata }))).toEqual({
      type: 'BOOKMARK',
      resourceVersion: '9',
      initialEventsEnd: true,
    });
  });
});

describe('discovery', () => {
  const verbs = ['get', 'list'];
  const wanted = [
    {
      group: '',
      version: 'v1',
      plural: 'pods',
      singular: 'pod',
      kind: 'Pod',
      listKind: 'PodList',
      namespaced: true,
      verbs,
      preferred: true,
      shortNames: ['po'],
    },
    {
      group: 'g.io',
      version: 'v2',
      plural: 'xs',
      singular: 'x',
      kind: 'X',
      listKind: 'XList',
      namespaced: false,
      verbs,
      preferred: true,
    },
    {
      group: 'g.io',
      version: 'v1',
      plural: 'xs',
      singular: 'x',
      kind: 'X',
      listKind: 'XList',
      namespaced: false,
      verbs,
      preferred: false,
    },
  ];

  test('takes two requests if the server aggregates it', async () => {
    const x = {
      resource: 'xs',
      responseKind: { group: 'g.io', version: 'v1', kind: 'X' },
      scope: 'Cluster',
      singularResource: 'x',
      verbs,
    };
    const groups: Readonly<Record<string, object>> = {
      '/base/api': {
        versions: [
          {
            version: 'v1',
            resources: [
              {
                resource: 'pods',
                responseKind: { kind: 'Pod' },
                scope: 'Namespaced',
                singularResource: 'pod',
                verbs,
                shortNames: ['po'],
              },
            ],
          },
        ],
      },
      '/base/apis': {
        metadata: { name: 'g.io' },
        versions: [
          { version: 'v2', resources: [x] },
          { version: 'v1', resources: [x] },
        ],
      },
    };
    const { client } = await serving(({ url = '' }, response) =>
      json(response, { kind: 'APIGroupDiscoveryList', items: [groups[url]] }),
    );
    expect(await client.discover()).toEqual(wanted);
  });

  test('reports stale versions of groups, and omits their resources', async () => {
    const x = { resource: 'xs', responseKind: { kind: 'X' }, scope: 'Cluster', singularResource: 'x', verbs };
    const versions = [
      { version: 'v2', freshness: 'Stale', resources: [x] },
      { version: 'v1', freshness: 'Current', resources: [x] },
    ];
    const { client } = await serving(({ url }, response) => {
      const items = url === '/base/apis' ? [{ metadata: { name: 'g.io' }, versions }] : [];
      json(response, { kind: 'APIGroupDiscoveryList', items });
    });
    for (const one of [client, domainClient({ ...defaultDomains, api: 'example.com' }, client)]) {
      const failures: DiscoveryFailure[] = [];
      const found = await one.discover({ onFailure: (failure) => failures.push(failure) });
      expect(found.map(({ version, preferred }) => [version, preferred])).toEqual([['v1', true]]);
      expect(failures).toEqual([{ group: 'g.io', version: 'v2', message: 'stale GroupVersion discovery: g.io/v2' }]);
    }
    expect((await client.discover()).length).toBe(1);
  });

  test('otherwise reads group by group, and reports groups that fail or are gone', async () => {
    const x = { name: 'xs', singularName: 'x', namespaced: false, kind: 'X', verbs };
    const answers: Readonly<Record<string, object>> = {
      '/base/api': { kind: 'APIVersions', versions: ['v1'] },
      '/base/apis': {
        kind: 'APIGroupList',
        groups: [
          { name: 'g.io', versions: [{ version: 'v1' }, { version: 'v2' }], preferredVersion: { version: 'v2' } },
          { name: 'gone.io', versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } },
          { name: 'ill.io', versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } },
        ],
      },
      '/base/api/v1': {
        resources: [
          { name: 'pods', singularName: 'pod', namespaced: true, kind: 'Pod', verbs, shortNames: ['po'] },
          { name: 'pods/log', namespaced: true, kind: 'Pod', verbs },
        ],
      },
      '/base/apis/g.io/v1': { resources: [x] },
      '/base/apis/g.io/v2': { resources: [x] },
    };
    const { client } = await serving(({ url = '' }, response) => {
      const answer = answers[url];
      if (answer !== undefined) json(response, answer);
      else if (url === '/base/apis/gone.io/v1') json(response, status(404, 'NotFound', 'gone'), 404);
      else json(response, status(503, 'ServiceUnavailable', 'ill'), 503);
    });
    const failures: DiscoveryFailure[] = [];
    expect(await client.discover({ onFailure: (failure) => failures.push(failure) })).toEqual(wanted);
    expect(failures.sort((a, b) => (a.group < b.group ? -1 : 1))).toEqual([
      { group: 'gone.io', version: 'v1', message: 'gone' },
      { group: 'ill.io', version: 'v1', message: 'ill' },
    ]);
    expect(await client.discover()).toEqual(wanted);
  });
});

test('connections with old credentials close after their last request, and all close with the client', async () => {
  const connections = new Set<object>();
  const { port } = await listening((request, response) => {
    connections.add(request.socket.once('close', () => connections.delete(request.socket)));
    json(response, { kind: 'List', items: [] });
  });
  let count = 0;
  const credentials = { current: async () => ({ certificate: String(count++), key: '' }), refused: () => false };
  const client = httpClient({ server: `http://127.0.0.1:${port}`, credentials });
  for (let at = 0; at < 5; at++) await client.resource(ConfigMaps).list();
  await expect.poll(() => connections.size).toBe(1);
  client.close();
  await expect.poll(() => connections.size).toBe(0);
});

test.each(['before its answer', 'within its answer'])('a server that stays silent %s is given up', async (when) => {
  const { port } = await listening((_, response) => void (when === 'within its answer' && response.write('{')));
  const transport = httpTransport({ server: `http://127.0.0.1:${port}`, credentials: fixedCredentials({}) }, 'test/1');
  open.push(() => transport.close());
  const read = async () => {
    const { answer } = await transport.send({ method: 'GET', path: '/', silenceMs: 50 });
    for await (const _ of answer);
  };
  await expect(read()).rejects.toThrow('the server was silent for 50 ms');
});

test('waiting for slow credentials ends when the call is aborted', async () => {
  const credentials = { current: () => new Promise<never>(() => {}), refused: () => false };
  const stop = new AbortController();
  const client = withAbort(stop.signal, httpClient({ server: 'http://127.0.0.1:1', credentials }));
  const asked = client.resource(ConfigMaps).list();
  setImmediate(() => stop.abort(new Error('enough')));
  await expect(asked).rejects.toThrow('enough');
});
