import { afterAll, beforeAll, expect, test } from 'vitest';
import { Roles } from '../../src/api/kinds/role.js';
import { RoleBindings } from '../../src/api/kinds/role-binding.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { createServer, type Server } from '../../src/embed.js';
import { exchange } from './raw-http.js';

/**
 * Gus has every permission for the Secret `mine`, and none for others. Whatever he requests, he must not see or change
 * them.
 */
const namespace = 'default';
const theirs = Buffer.from('theirs').toString('base64');

let server: Server;
beforeAll(async () => {
  server = await createServer({ listen: {}, controllers: [], staticTokens: 'gus-token,gus,1\n' });
  const client = server.client();
  for (const [name, value] of [
    ['mine', ''],
    ['other', theirs],
  ] as const) {
    const metadata = { namespace, name };
    await client.resource(Secrets).create({ apiVersion: 'v1', kind: 'Secret', metadata, data: { value } });
  }
  const [apiGroup, metadata] = ['rbac.authorization.k8s.io', { namespace, name: 'gus' }];
  const apiVersion = `${apiGroup}/v1`;
  const rules = [{ verbs: ['*'], apiGroups: [''], resources: ['secrets'], resourceNames: ['mine'] }];
  await client.resource(Roles).create({ apiVersion, kind: 'Role', metadata, rules });
  await client.resource(RoleBindings).create({
    apiVersion,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup, kind: 'Role', name: 'gus' },
    subjects: [{ apiGroup, kind: 'User', name: 'gus' }],
  });
});
afterAll(() => server.stop());

const secrets = `/api/v1/namespaces/${namespace}/secrets`;
const watched = `/api/v1/watch/namespaces/${namespace}/secrets`;
const token = Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: -1, start: 'n\u0000' })).toString('base64url');

test.each<[number, string]>([
  [200, `GET ${secrets}/mine`],
  [403, `GET ${secrets}/other`],
  [403, `GET ${secrets}`],
  [200, `GET ${secrets}?fieldSelector=metadata.name%3Dmine`],
  [200, `GET ${secrets}?fieldSelector=metadata.name%3D%3Dmine,type%3DOpaque`],
  [200, `GET ${secrets}?fieldSelector=metadata.name%3Dmine&fieldSelector=metadata.name%3Dother`],
  [200, `GET ${secrets}?fieldSelector=metadata.name%3Dmine,metadata.name%3Dother`],
  [200, `GET ${secrets}?fieldSelector=metadata.name%3Dmine&limit=1&continue=${token}`],
  [200, `GET ${secrets}?fieldSelector=metadata.name%3Dother,metadata.name%3Dmine`],
  [403, `GET ${secrets}?fieldSelector=&fieldSelector=metadata.name%3Dmine`],
  [403, `GET ${secrets}?fieldSelector=metadata.name!%3Dmine`],
  [403, `GET ${secrets}?fieldSelector=metadata.name!%3Dx%5C,metadata.name%3Dmine`],
  [403, `GET ${secrets}?fieldSelector=type%3DOpaque%5C%5C%5C,metadata.name%3Dmine`],
  [403, `GET ${secrets}?labelSelector=metadata.name%3Dmine`],
  [403, `GET /api/v1/secrets?fieldSelector=metadata.name%3Dmine`],
  [200, `GET ${secrets}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dmine`],
  [403, `GET ${secrets}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name!%3Dx%5C,metadata.name%3Dmine`],
  [200, `GET ${watched}/mine?timeoutSeconds=1`],
  [400, `GET ${watched}/mine?timeoutSeconds=1&fieldSelector=metadata.name%3Dother`],
  [403, `GET ${watched}/other?timeoutSeconds=1&fieldSelector=metadata.name%3Dmine`],
  [403, `GET ${watched}?timeoutSeconds=1&fieldSelector=metadata.name%3Dmine`],
  [403, `DELETE ${secrets}?fieldSelector=metadata.name%3Dmine`],
  [403, `GET ${secrets}/mine/../other`],
  [403, `GET ${secrets}/mine%2F..%2Fother`],
  [403, `GET ${secrets}/mine;/../other`],
  [403, `GET ${secrets}/%6fther`],
  [403, `GET //${secrets}//other`],
])('%i: %s', async (code, line) => {
  const text = `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer gus-token\r\n\r\n`;
  const answer = (await exchange(Buffer.from(text), { url: server.url ?? '' }, 'http/1.1')).toString();
  expect(answer).not.toContain(theirs);
  expect(answer.slice(9, 12)).toBe(String(code));
});

test('the other object is still there', async () => {
  expect((await server.client().resource(Secrets).get({ namespace, name: 'other' }))?.data).toEqual({ value: theirs });
});
