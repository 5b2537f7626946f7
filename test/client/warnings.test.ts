import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { withAbort } from '../../src/client/abortable-client.js';
import type { Client, ClientOptions } from '../../src/client/client.js';
import { domainClient } from '../../src/client/domain-client.js';
import { connect } from '../../src/client/remote-client.js';
import { warningTexts, withWarnings } from '../../src/client/warnings.js';
import type { Runnable } from '../../src/controller/controller.js';
import { createManager } from '../../src/controller/manager.js';
import { createServer, type Server } from '../../src/embed.js';
import { silentLogger } from '../../src/runtime/logger.js';

test.each<[string | undefined, readonly string[]]>([
  [undefined, []],
  ['', []],
  ['299 - "a"', ['a']],
  ['299 - "a, b", 299 kedge "say \\"x\\" \\\\"', ['a, b', 'say "x" \\']],
  ['299 - "a" "Wed, 21 Oct 2015 07:28:00 GMT",299 - "b"', ['a', 'b']],
  [`299 - "${Buffer.from('ä€').toString('latin1')}"`, ['ä€']],
  ['nonsense', []],
  ['299 - "without an end', []],
])('the warnings are read from the header %j', (header, texts) => {
  expect(warningTexts(header)).toEqual(texts);
});

let server: Server;
beforeAll(async () => {
  server = await createServer({ listen: { host: '127.0.0.1', port: 0 }, controllers: [] });
});
afterAll(() => server.stop());

const misspelt = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { generateName: 'a-', namespace: 'default' },
  dta: { 'ä"': 'v' },
};
const write = (client: Client) => client.resource(ConfigMaps).create(misspelt);

describe.each<[string, (options: ClientOptions) => Promise<Client>]>([
  ['in process', async (options) => server.client(undefined, options)],
  ['over HTTP', (options) => connect({ kubeconfigText: server.adminKubeconfig, ...options })],
])('a client %s', (_, open) => {
  const unknown = 'unknown field "dta"';

  test('reports warnings of the server, also through wrappers for another domain and for abort', async () => {
    const texts: string[] = [];
    const onWarning = (text: string): void => void texts.push(text);
    const client = await open({ onWarning });
    await write(client);
    await write(withAbort(new AbortController().signal, client));
    await write(domainClient({ ...defaultDomains, api: 'x.y' }, client));
    await expect(
      client.resource(ConfigMaps).update({ ...misspelt, metadata: { name: 'none', namespace: 'default' } }),
    ).rejects.toThrow();
    expect(texts).toEqual([unknown, unknown, unknown, unknown]);
    const silent = await open({});
    await write(withWarnings(onWarning, silent));
    await write(withWarnings(onWarning, domainClient({ ...defaultDomains, api: 'x.y' }, silent)));
    await write(silent);
    expect(texts).toHaveLength(6);
  });

  test('validates strictly if created so and the call does not override it', async () => {
    const client = await open({ fieldValidation: 'Strict' });
    await expect(write(client)).rejects.toMatchObject({ reason: 'BadRequest' });
    await client.resource(ConfigMaps).create(misspelt, { fieldValidation: 'Ignore' });
    expect((await client.resource(ConfigMaps).list({ namespace: 'default', limit: 1 })).items).toHaveLength(1);
  });

  test('given to controllers by a manager has each warning logged once', async () => {
    const logged: object[] = [];
    const log = {
      ...silentLogger,
      warn: (fields: object, message: string) => void logged.push({ ...fields, message }),
    };
    const run = (client: Client): Promise<void> => {
      const stop = new AbortController();
      const twice: Runnable = {
        name: 'twice',
        async run(context) {
          await write(context.client);
          await write(context.client);
          stop.abort();
        },
      };
      return createManager({ client, log }).add(twice).run(stop.signal);
    };
    await run(await open({}));
    expect(logged).toEqual([{ runnable: 'twice', warning: unknown, message: 'warning from the server' }]);
    const texts: string[] = [];
    await run(await open({ onWarning: (text) => void texts.push(text) }));
    expect([texts, logged.length]).toEqual([[unknown, unknown], 1]);
  });
});
