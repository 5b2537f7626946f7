import { ClusterRoleBindings, type UserInfo } from 'kedge';
import { readManifests, testServer } from 'kedge/testing';
import { expect, test } from 'vitest';
import { Teams } from '../custom-resource/team.ts';
import { TeamsV1alpha1 } from './team-conversion.ts';
import { teamWebhooks } from './team-webhooks.ts';

/** The same manifests as for a real server. */
const manifests = ['crd.yaml', 'webhooks.yaml'].map((file) => new URL(file, import.meta.url));

const user = (username: string): UserInfo => ({ username, groups: ['system:authenticated'] });
const everybody = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'everybody' },
  roleRef: { apiGroup: ClusterRoleBindings.group, kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ apiGroup: ClusterRoleBindings.group, kind: 'Group', name: 'system:authenticated' }],
};

const objects = [...(await readManifests(...manifests)), everybody];

test('who makes a team belongs to it, and strangers leave it alone', async () => {
  await using kit = await testServer({ objects, webhooks: teamWebhooks });
  const warnings: string[] = [];
  const onWarning = (text: string): void => void warnings.push(text);
  const ofDora = kit.server.client(user('dora'), { onWarning }).resource(Teams);
  const red = { apiVersion: 'example.com/v1', kind: 'Team', metadata: { name: 'red' } };
  expect((await ofDora.create(red)).spec?.members).toEqual(['dora']);
  expect(warnings).toEqual(['a team of one has nobody to take over']);

  const ofEve = kit.server.client(user('eve')).resource(Teams);
  const join = { type: 'merge', body: { spec: { members: ['dora', 'eve'] } } } as const;
  await expect(ofEve.patch({ name: 'red' }, join)).rejects.toMatchObject({
    code: 403,
    message: 'admission webhook "members-only.example.com" denied the request: eve is no member of the team',
  });
  expect((await ofDora.patch({ name: 'red' }, join)).spec?.members).toEqual(['dora', 'eve']);
  await ofEve.delete({ name: 'red' });
});

test('a team of the older version is the same team', async () => {
  await using kit = await testServer({ objects, webhooks: teamWebhooks });
  const ofDora = kit.server.client(user('dora'));
  const red = { apiVersion: 'example.com/v1alpha1', kind: 'Team', metadata: { name: 'red' } };
  const spec = { lead: 'dora', others: ['bob'] };
  expect((await ofDora.resource(TeamsV1alpha1).create({ ...red, spec })).spec).toEqual(spec);
  expect((await ofDora.resource(Teams).get({ name: 'red' }))?.spec).toEqual({ members: ['dora', 'bob'] });
});
