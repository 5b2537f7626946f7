import { expect } from 'vitest';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { RoleBindings } from '../../src/api/kinds/role-binding.js';
import type { Client } from '../../src/client/client.js';
import { until } from '../../src/testing/until.js';

/** Labels a namespace as a team's and removes the label again; a running `teamAccess` grants access and revokes it. */
export async function teamComesAndGoes(client: Client): Promise<void> {
  const namespaces = client.resource(Namespaces);
  const bindings = client.resource(RoleBindings);
  const metadata = { name: 'shop', labels: { 'example.com/team': 'red' } };
  await namespaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata });
  const key = { namespace: 'shop', name: 'team-edit' };
  const binding = await until(bindings, key, (found) => found !== undefined);
  expect(binding?.roleRef.name).toBe('edit');
  await namespaces.patch(
    { name: 'shop' },
    { type: 'merge', body: { metadata: { labels: { 'example.com/team': null } } } },
  );
  await until(bindings, key, (found) => found === undefined);
}
