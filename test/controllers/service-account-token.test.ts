import { describe, expect, test } from 'vitest';
import { serviceAccountTokenController } from '../../controllers/service-account-token/service-account-token.js';
import { type Secret, Secrets } from '../../src/api/kinds/secret.js';
import { type ServiceAccount, ServiceAccounts } from '../../src/api/kinds/service-account.js';
import { settled } from '../../src/testing/fake-clock.js';
import { runControllers } from './run-controllers.js';

const name = 'kubernetes.io/service-account.name';
const uid = 'kubernetes.io/service-account.uid';
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const secret = (annotations: Readonly<Record<string, string>>, more: object = {}): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'tok', namespace: 'n', annotations },
  type: 'kubernetes.io/service-account-token',
  ...more,
});

async function start() {
  let minted = 0;
  const mint = async ({ metadata }: ServiceAccount): Promise<string> => `token ${++minted} of ${metadata.uid}`;
  const world = await runControllers([serviceAccountTokenController({ mint, rootCa: () => 'PEM' })], (client) =>
    client.resource(ServiceAccounts).create({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'x', namespace: 'n' },
      secrets: [{ name: 'tok' }, { name: 'other' }],
    }),
  );
  const secrets = world.client.resource(Secrets);
  const accounts = world.client.resource(ServiceAccounts);
  const get = () => secrets.get({ namespace: 'n', name: 'tok' });
  return { ...world, secrets, accounts, get };
}

describe('service-account-token', () => {
  test('fills a Secret, and restores removed data', async () => {
    const { secrets, get, client } = await start();
    await secrets.create(secret({ [name]: 'x' }, { data: { extra: 'YQ==' } }));
    await settled();
    const filled = await get();
    expect(filled?.data).toEqual({
      extra: 'YQ==',
      'ca.crt': base64('PEM'),
      namespace: base64('n'),
      token: base64('token 1 of uid-1'),
    });
    expect(filled?.metadata.annotations).toEqual({ [name]: 'x', [uid]: 'uid-1' });
    await secrets.patch({ namespace: 'n', name: 'tok' }, { type: 'merge', body: { data: { token: null } } });
    await settled();
    expect((await get())?.data?.['token']).toBe(base64('token 2 of uid-1'));
    expect(client.writes.filter((write) => write.startsWith('update secrets')).length).toBe(2);
  });

  test('keeps a namespace that somebody set, and does not restore removed annotations', async () => {
    const { secrets, get, client } = await start();
    await secrets.create(secret({ [name]: 'x' }, { data: { namespace: base64('other') } }));
    await settled();
    expect((await get())?.data).toMatchObject({ namespace: base64('other'), token: base64('token 1 of uid-1') });
    const body = { metadata: { annotations: { [uid]: null } } };
    await secrets.patch({ namespace: 'n', name: 'tok' }, { type: 'merge', body });
    await settled();
    expect((await get())?.metadata.annotations).toEqual({ [name]: 'x' });
    expect(client.writes.filter((write) => write.startsWith('update secrets')).length).toBe(1);
  });

  test.each([
    ['a missing account', { [name]: 'missing' }],
    ['a former account of that name', { [name]: 'x', [uid]: 'uid-of-old' }],
  ])('deletes the Secret of %s', async (_, annotations) => {
    const { secrets, get } = await start();
    await secrets.create(secret(annotations));
    await settled();
    expect(await get()).toBeUndefined();
  });

  test('deletes the Secret with its account', async () => {
    const { secrets, accounts, get } = await start();
    await secrets.create(secret({ [name]: 'x' }));
    await settled();
    await accounts.delete({ namespace: 'n', name: 'x' });
    await settled();
    expect(await get()).toBeUndefined();
  });

  test('removes a deleted Secret from the list of its account', async () => {
    const { secrets, accounts } = await start();
    await secrets.create(secret({ [name]: 'x' }));
    await settled();
    await secrets.delete({ namespace: 'n', name: 'tok' });
    await settled();
    expect((await accounts.get({ namespace: 'n', name: 'x' }))?.secrets).toEqual([{ name: 'other' }]);
  });

  test('ignores other Secrets', async () => {
    const { secrets, client } = await start();
    const before = client.writes.length;
    await secrets.create(secret({ [name]: 'missing' }, { type: 'Opaque' }));
    await settled();
    expect(client.writes.slice(before)).toEqual(['create secrets n/tok']);
  });
});
