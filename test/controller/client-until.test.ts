import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Leases } from '../../src/api/kinds/lease.js';
import type { Client } from '../../src/client/client.js';
import { fixedCredentials } from '../../src/client/cluster-access.js';
import { domainClient } from '../../src/client/domain-client.js';
import { httpClient } from '../../src/client/http-client.js';
import { clientUntil, underlyingClient } from '../../src/controller/client-until.js';
import { registerDueCheck } from '../../src/runtime/abort.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { FakeClient } from '../fake-client.js';

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/**
 * Returns a client of a server that accepts requests and does not respond; `asked` resolves with the next response to
 * send.
 */
async function unanswered() {
  const server = createServer((_, response) => void server.emit('asked', response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const client = httpClient({ server: `http://127.0.0.1:${port}`, credentials: fixedCredentials({}) });
  open.push(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });
  const asked = async (): Promise<ServerResponse> => (await once(server, 'asked'))[0];
  return { client, asked };
}

describe('a pending call to a remote server ends with the signal, and so does its request', () => {
  const never = new AbortController().signal;
  test.each<[string, (signal: AbortSignal, client: Client) => Client]>([
    ['the plain client', clientUntil],
    [
      'in another domain',
      (signal, client) => clientUntil(signal, domainClient({ ...defaultDomains, api: 'x.y' }, client)),
    ],
    ['inside another with a longer life', (signal, client) => clientUntil(never, clientUntil(signal, client))],
    ['around another with a longer life', (signal, client) => clientUntil(signal, clientUntil(never, client))],
  ])('%s', async (_, made) => {
    const { client, asked } = await unanswered();
    const stop = new AbortController();
    const answer = asked();
    const call = made(stop.signal, client).resource(ConfigMaps).get({ namespace: 'n', name: 'a' });
    const closed = once(await answer, 'close');
    stop.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await closed;
  });
});

test('answers that arrive after the abort are discarded, also when calls cannot be cancelled', async () => {
  const fake = new FakeClient(new FakeClock());
  const stop = new AbortController();
  const maps = clientUntil(stop.signal, fake).resource(ConfigMaps);
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n' } };
  fake.fail = () => void stop.abort(new Error('enough'));
  await expect(maps.create(map)).rejects.toThrow('enough');
  expect(await fake.resource(ConfigMaps).get({ namespace: 'n', name: 'a' })).toMatchObject(map);
});

test('calls of the underlying client are not ended', async () => {
  const { client, asked } = await unanswered();
  const stop = new AbortController();
  const answer = asked();
  const call = underlyingClient(clientUntil(stop.signal, client)).resource(Leases).get({ namespace: 'n', name: 'a' });
  const response = await answer;
  stop.abort();
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"kind":"Lease","metadata":{}}');
  expect(await call).toEqual({ kind: 'Lease', metadata: {} });
});

describe('a client whose call is about to abort', () => {
  const asking = () => {
    const fake = new FakeClient(new FakeClock());
    const stop = new AbortController();
    const maps = clientUntil(stop.signal, fake).resource(ConfigMaps);
    registerDueCheck(stop.signal, () => {
      throw new Error('too late');
    });
    const watched = (): Promise<unknown> =>
      new Promise((_, reject) => maps.watch({}).subscribe({ error: reject, complete: () => reject(undefined) }));
    const calls = [() => maps.get({ namespace: 'n', name: 'a' }), watched];
    return { fake, stop, calls };
  };

  test('sends nothing', async () => {
    const { fake, calls } = asking();
    for (const call of calls) await expect(call()).rejects.toThrow('too late');
    expect(fake.calls).toEqual([]);
  });

  test('fails with the reason of the abort', async () => {
    const { stop, calls } = asking();
    stop.abort(new Error('enough'));
    for (const call of calls) await expect(call()).rejects.toThrow('enough');
  });
});
