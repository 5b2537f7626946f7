import { expect, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import { type RoleBinding, RoleBindings } from '../../src/api/kinds/role-binding.js';
import type { ApiObject, ObjectKey, ResourceType } from '../../src/api/object.js';
import type { Client, ResourceClient } from '../../src/client/client.js';
import { bootstrap } from '../../src/server/bootstrap.js';
import { testServer } from '../../src/testing/test-server.js';

/** The same client; whatever is deleted, another server has just deleted, and made anew if it was there first. */
const afterAnother = (client: Client, before: (type: ResourceType, key: ObjectKey) => Promise<void>): Client => ({
  ...client,
  resource: <T extends ApiObject>(type: ResourceType<T>): ResourceClient<T> => {
    const resource = client.resource(type);
    return new Proxy(resource, {
      get(target, member) {
        if (member !== 'delete') return Reflect.get(target, member);
        return async (...given: Parameters<ResourceClient<T>['delete']>) => {
          await before(type, given[0]);
          return resource.delete(...given);
        };
      },
    });
  },
});

test.each([
  ['has deleted it', false],
  ['has made it anew', true],
])('a binding that leads elsewhere is made anew, also where another server that starts %s', async (_, made) => {
  const { client, stop } = await testServer({ controllers: [] });
  try {
    const bindings = client.resource<RoleBinding>(RoleBindings);
    const key = { namespace: 'kube-system', name: 'system:controller:token-cleaner' };
    const found = await bindings.get(key);
    if (found === undefined) throw new Error('there is no such binding');
    const { namespace = '', name = '', labels = {}, annotations = {} } = found.metadata;
    const right = { ...found, metadata: { namespace, name, labels, annotations } };
    await bindings.delete(key);
    await bindings.create({ ...right, roleRef: { ...right.roleRef, name: 'elsewhere' } });
    let others: RoleBinding | undefined;
    const another = afterAnother(client, async () => {
      await bindings.delete(key);
      if (made) others = await bindings.create(right);
    });
    await bootstrap(another, defaultDomains, {});
    const now = await bindings.get(key);
    expect(now?.roleRef).toEqual(right.roleRef);
    if (made) expect(now?.metadata.uid).toBe(others?.metadata.uid);
  } finally {
    await stop();
  }
});
