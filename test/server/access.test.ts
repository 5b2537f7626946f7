import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SelfSubjectRulesReviews, SubjectAccessReviews } from '../../src/api/kinds/access-review.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Nodes } from '../../src/api/kinds/node.js';
import { Pods } from '../../src/api/kinds/pod.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { ServiceAccounts } from '../../src/api/kinds/service-account.js';
import type { TokenRequest } from '../../src/api/kinds/token-request.js';
import { TokenReviews } from '../../src/api/kinds/token-review.js';
import type { JsonObject } from '../../src/api/object.js';
import { type UserInfo, wellKnown } from '../../src/api/user.js';
import { type Logger, silentLogger } from '../../src/runtime/logger.js';
import { kubeconfigText } from '../../src/server/kubeconfig-text.js';
import type { ServerOptions } from '../../src/server/options.js';
import { testAuthority } from '../../src/testing/certificates.js';
import { type TestServer, testServer } from '../../src/testing/test-server.js';
import { configMaps, runningServer } from './running-server.js';

async function running(options: ServerOptions, use: (server: TestServer) => Promise<void>): Promise<void> {
  const server = await testServer({ controllers: [], ...options });
  try {
    await use(server);
  } finally {
    await server.stop();
  }
}
const eve: UserInfo = { username: 'eve', groups: [wellKnown.authenticated] };
const listing = ({ server }: TestServer, user = eve) =>
  server.client(user).resource(ConfigMaps).list({ namespace: 'default' });

describe('authorization modes', () => {
  test('the default is RBAC', () =>
    running({}, async (server) => {
      await expect(listing(server)).rejects.toThrow('User "eve" cannot list resource "configmaps"');
    }));

  test('AlwaysAllow logs a loud warning', async () => {
    const warned: string[] = [];
    const log: Logger = { ...silentLogger, warn: (_fields, message) => void warned.push(message), child: () => log };
    await running({ authorization: 'AlwaysAllow', log }, async (server) => {
      expect((await listing(server)).items).toEqual([]);
    });
    expect(warned).toEqual(['AUTHORIZATION IS OFF: every authenticated user may do everything']);
  });

  test('AlwaysAllow admits authenticated users only, even if anonymous requests are enabled', async () => {
    await using server = await runningServer({ authorization: ['RBAC', 'AlwaysAllow'], anonymous: true });
    expect((await server.ask('nobody', 'GET /version')).code).toBe(401);
    expect((await server.ask('alice', `GET ${configMaps}`)).code).toBe(200);
  });

  test('no other mode logs a warning', async () => {
    const warned: string[] = [];
    const log: Logger = { ...silentLogger, warn: (_fields, message) => void warned.push(message), child: () => log };
    await running({ log }, async () => {});
    expect(warned).toEqual([]);
  });

  test('AlwaysDeny does not apply to administrators', () =>
    running({ authorization: ['AlwaysDeny'] }, async (server) => {
      await expect(listing(server)).rejects.toThrow('Everything is forbidden.');
      expect((await listing(server, { username: 'root', groups: [wellKnown.masters] })).items).toEqual([]);
    }));

  test.each<[ServerOptions, string]>([
    [{ authorization: [] }, 'option authorization must be a list that is not empty, not an empty list'],
    [{ authorization: ['RBAC', 'Node', 'RBAC'] }, 'authorization has the mode RBAC more than once'],
    [
      { authorizationWebhook: { kubeconfig: '/nowhere' } },
      'authorizationWebhook is given, and authorization has no mode Webhook',
    ],
    [{ authorization: 'Webhook' }, 'authorization by Webhook needs the kubeconfig of authorizationWebhook'],
    [{ authorizationWebhook: { kubeconfig: '/nowhere' }, authorization: 'Webhook' }, 'no kubeconfig at /nowhere'],
  ])('%j is refused at the start', async (options, message) => {
    await expect(testServer({ controllers: [], ...options })).rejects.toThrow(message);
  });
});

test('a 401 carries a warning about an unreadable header', async () => {
  await using server = await runningServer({ anonymous: false });
  const { code, headers } = await server.ask('nobody', 'GET /version', undefined, {
    headers: { authorization: 'Bearer  root-token' },
  });
  expect([code, headers.warning]).toEqual([
    401,
    '299 - "the provided Authorization header contains extra space before the bearer token, and is ignored"',
  ]);
});

describe('node agents', () => {
  const agent = { username: 'system:node:n1', groups: [wellKnown.nodes, wellKnown.authenticated] };

  test('read what their pods need, and write their own objects', () =>
    running({}, async ({ server, client }) => {
      const asAgent = server.client(agent);
      const at = (name: string) => ({ namespace: 'default', name });
      await client.resource(ServiceAccounts).create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: at('sa') });
      for (const name of ['mine', 'other']) {
        await client.resource(Secrets).create({ apiVersion: 'v1', kind: 'Secret', metadata: at(name) });
      }
      const pod = await client.resource(Pods).create({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: at('p'),
        spec: {
          serviceAccountName: 'sa',
          nodeName: 'n1',
          containers: [{ name: 'c', image: 'i' }],
          volumes: [{ name: 'v', secret: { secretName: 'mine' } }],
        },
      });
      expect((await asAgent.resource(Secrets).get(at('mine')))?.metadata.name).toBe('mine');
      await expect(asAgent.resource(Secrets).get(at('other'))).rejects.toThrow(
        `secrets "other" is forbidden: User "system:node:n1" cannot get resource "secrets" in API group "" in the namespace "default": no relationship found between node 'n1' and this object`,
      );
      expect(
        (await asAgent.resource(Nodes).create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } })).metadata
          .name,
      ).toBe('n1');
      const state = (phase: string) => ({ type: 'merge' as const, body: { status: { phase } } });
      const told = await asAgent.resource(Pods).subresource('status').patch(at('p'), state('Running'));
      expect(told).toMatchObject({ spec: { nodeName: 'n1' }, status: { phase: 'Running' } });
      const tellOfNode = (conditions: readonly object[], more: object = {}) =>
        asAgent
          .resource(Nodes)
          .subresource('status')
          .patch({ name: 'n1' }, { type: 'strategic', body: { status: { conditions, ...more } } as JsonObject });
      await tellOfNode([{ type: 'Ready', status: 'False' }], { capacity: { cpu: '1', pods: '9' } });
      const capacity = { cpu: '2' };
      const node = await tellOfNode(
        [
          { type: 'DiskPressure', status: 'False' },
          { type: 'Ready', status: 'True' },
        ],
        { capacity },
      );
      expect(node.status).toMatchObject({
        conditions: [
          { type: 'DiskPressure', status: 'False' },
          { type: 'Ready', status: 'True' },
        ],
        capacity: { cpu: '2', pods: '9' },
      });
      await expect(
        asAgent.resource(Nodes).create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n2' } }),
      ).rejects.toThrow('nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"');

      const request: TokenRequest = {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        metadata: {},
        spec: {
          expirationSeconds: 3_607,
          boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: pod.metadata.uid ?? '' },
        },
      };
      const tokens = asAgent.resource(ServiceAccounts).subresource<TokenRequest>('token');
      const { status } = await tokens.create(at('sa'), request);
      const claims = JSON.parse(Buffer.from(status?.token.split('.')[1] ?? '', 'base64url').toString()) as {
        readonly exp: number;
        readonly iat: number;
        readonly 'kubernetes.io': object;
      };
      expect(claims['kubernetes.io']).toMatchObject({
        pod: { name: 'p' },
        node: { name: 'n1' },
        warnafter: claims.iat + 3_607,
      });
      expect(claims.exp - claims.iat).toBe(365 * 86_400);
      await expect(tokens.create(at('sa'), { ...request, spec: {} })).rejects.toThrow(
        'node requested token not bound to a pod',
      );
      await expect(
        tokens.create(at('sa'), { ...request, spec: { ...request.spec, audiences: ['vault'] } }),
      ).rejects.toThrow(
        'audience "vault" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience',
      );
      const rules = await asAgent.resource(SelfSubjectRulesReviews).create({
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectRulesReview',
        metadata: {},
        spec: { namespace: 'default' },
      });
      expect(rules.status).toMatchObject({
        incomplete: true,
        evaluationError: 'node authorizer does not support user rule resolution',
      });
    }));

  test('may do nothing without the Node mode', () =>
    running({ authorization: ['RBAC'] }, async ({ server }) => {
      await expect(server.client(agent).resource(Nodes).get({ name: 'n1' })).rejects.toThrow(
        'cannot get resource "nodes"',
      );
    }));

  test('are answered in access reviews with selectors', () =>
    running({}, async ({ client }) => {
      const ask = async (selector: object) => {
        const resourceAttributes = { verb: 'list', resource: 'pods', ...selector };
        const spec = { user: agent.username, groups: [...agent.groups], resourceAttributes };
        const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {}, spec };
        return (await client.resource(SubjectAccessReviews).create(review)).status?.allowed;
      };
      expect(await ask({})).toBe(false);
      expect(await ask({ fieldSelector: { rawSelector: 'spec.nodeName=n1' } })).toBe(true);
      expect(
        await ask({ fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['n1'] }] } }),
      ).toBe(true);
      expect(
        await ask({ fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'NotIn', values: ['n1'] }] } }),
      ).toBe(false);
    }));
});

test('remote webhooks authenticate tokens and authorize requests', async () => {
  const authority = await testAuthority();
  const pair = await authority.issueServing({ commonName: 'localhost', dnsNames: ['localhost'], seconds: 3_600 });
  const asked: string[] = [];
  const reviewer = createTlsServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { kind, spec } = JSON.parse(body) as { kind: string; spec: { token?: string; user?: string } };
      asked.push(`${request.url} ${kind} ${request.headers.authorization}`);
      const status =
        kind === 'TokenReview'
          ? { authenticated: spec.token === 'theirs', user: { username: 'carol', groups: ['g'] } }
          : { allowed: spec.user === 'carol', reason: 'because' };
      response.end(JSON.stringify({ status }));
    });
  });
  await new Promise<void>((resolve) => reviewer.listen(0, 'localhost', resolve));
  const directory = mkdtempSync(join(tmpdir(), 'kedge-webhook-'));
  try {
    const url = `https://localhost:${(reviewer.address() as AddressInfo).port}/review`;
    const kubeconfig = join(directory, 'kubeconfig');
    writeFileSync(
      kubeconfig,
      kubeconfigText({ url, ca: authority.anchors, user: 'kedge', credentials: { token: 'ours' } }),
    );
    const options: ServerOptions = {
      authenticationWebhook: { kubeconfig },
      authorization: ['RBAC', 'Webhook'],
      authorizationWebhook: { kubeconfig },
    };
    await running(options, async (server) => {
      const review = {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        metadata: {},
        spec: { token: 'theirs' },
      };
      const { status } = await server.client.resource(TokenReviews).create(review);
      expect(status?.user).toEqual({ username: 'carol', groups: ['g', 'system:authenticated'] });
      expect((await listing(server, { username: 'carol', groups: [] })).items).toEqual([]);
      await expect(listing(server)).rejects.toThrow('in the namespace "default": because');
    });
    expect(new Set(asked)).toEqual(
      new Set(['/review TokenReview Bearer ours', '/review SubjectAccessReview Bearer ours']),
    );
  } finally {
    reviewer.closeAllConnections();
    reviewer.close();
    rmSync(directory, { recursive: true, force: true });
  }
});

test('an error of an authorizer is answered with 500 in plain text, not with a denial', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kedge-webhook-'));
  const kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(
    kubeconfig,
    kubeconfigText({
      url: 'https://localhost:1',
      ca: (await testAuthority()).anchors,
      user: 'kedge',
      credentials: { token: 'ours' },
    }),
  );
  try {
    await using server = await runningServer({
      authorization: ['RBAC', 'Webhook'],
      authorizationWebhook: { kubeconfig },
    });
    const { code, text, headers } = await server.ask('alice', 'GET /api/v1/secrets?a&b');
    expect([code, headers['content-type'], headers['x-content-type-options']]).toEqual([
      500,
      'text/plain; charset=utf-8',
      'nosniff',
    ]);
    expect(text).toMatch(/^Internal Server Error: "\/api\/v1\/secrets\?a&amp;b": .*ECONNREFUSED.*\n$/);
    const listed = server.server.client(eve).resource(ConfigMaps).list({ namespace: 'default' });
    await expect(listed).rejects.toMatchObject({ code: 500, message: expect.stringContaining('ECONNREFUSED') });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
