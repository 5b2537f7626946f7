import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ServerOptions } from '../../src/server/options.js';
import { runningServer } from './running-server.js';

interface Question {
  readonly user: string;
  readonly resourceAttributes?: { readonly verb: string; readonly namespace?: string };
}
/** The requests, as `<path of the webhook> <user> <verb>`. */
let asked: string[] = [];
let answer: (path: string, question: Question) => object | undefined;
/** Responds at every path, unless there is no response. */
const webhooks = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString()));
  request.on('end', () => {
    const { spec } = JSON.parse(body) as { spec: Question };
    const path = request.url ?? '';
    asked.push(`${path} ${spec.user} ${spec.resourceAttributes?.verb ?? 'path'}`);
    const status = answer(path, spec);
    if (status === undefined) response.writeHead(403).end('no');
    else response.end(JSON.stringify({ status }));
  });
});
const directory = mkdtempSync(join(tmpdir(), 'kedge-authorizers-'));
const file = join(directory, 'authorizers.yaml');
beforeAll(async () => {
  await new Promise<void>((resolve) => webhooks.listen(0, '127.0.0.1', resolve));
  for (const name of ['one', 'two']) {
    const server = `http://127.0.0.1:${(webhooks.address() as AddressInfo).port}/${name}`;
    writeFileSync(
      join(directory, name),
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server } }],
        users: [{ name: 'u', user: { token: 'ours' } }],
        contexts: [{ name: 'k', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'k',
      }),
    );
  }
});
afterAll(() => {
  webhooks.closeAllConnections();
  webhooks.close();
  rmSync(directory, { recursive: true, force: true });
});
beforeEach(() => {
  asked = [];
  answer = () => ({ allowed: true });
});

const webhook = (name: string, more: object = {}) => ({
  type: 'Webhook',
  name,
  webhook: {
    timeout: '5s',
    subjectAccessReviewVersion: 'v1',
    failurePolicy: 'NoOpinion',
    connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: join(directory, name) },
    ...more,
  },
});
const when = (expression: string) => ({
  matchConditionSubjectAccessReviewVersion: 'v1',
  matchConditions: [{ expression }],
});
const rbac = { type: 'RBAC', name: 'rbac' };
const configuration = (...authorizers: readonly object[]): string =>
  JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration', authorizers });
const write = (text: string): void => {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
};
const running = (...authorizers: readonly object[]) => {
  write(configuration(...authorizers));
  return runningServer({ authorization: undefined, authorizationConfiguration: { file } } as object as ServerOptions);
};
const configMaps = '/api/v1/namespaces/default/configmaps';
const listed = `GET ${configMaps}`;
const metricsOf = async (server: Awaited<ReturnType<typeof running>>, names: RegExp): Promise<readonly string[]> =>
  (await server.ask('root', 'GET /metrics')).text
    .split('\n')
    .filter((line) => names.test(line) && !/^#|_bucket|_sum/.test(line));
const reloads = async (server: Awaited<ReturnType<typeof running>>, status: string): Promise<number> => {
  const [line = ''] = await metricsOf(server, new RegExp(`authorization_config_\\w+_reloads_total.*"${status}"`));
  return Number(line.split(' ').at(-1));
};

describe('an AuthorizationConfiguration', () => {
  test('calls webhooks in order, each for requests that match its conditions', async () => {
    await using server = await running(
      webhook('one', when("request.resourceAttributes.verb == 'list'")),
      webhook('two'),
      rbac,
    );
    answer = (path) => (path === '/one' ? { denied: true, reason: 'not today' } : { allowed: true });
    expect(await server.ask('alice', listed)).toMatchObject({ code: 403, text: expect.stringContaining('not today') });
    expect((await server.ask('alice', `POST ${configMaps}`, { metadata: { name: 'a' } })).code).toBe(201);
    expect(asked).toEqual(['/one alice list', '/two alice create']);
    expect(await metricsOf(server, /^apiserver_authorization_(decisions|match|webhook_ev)/)).toEqual([
      'apiserver_authorization_decisions_total{decision="denied",name="one",type="Webhook"} 1',
      'apiserver_authorization_decisions_total{decision="allowed",name="two",type="Webhook"} 1',
      'apiserver_authorization_match_condition_evaluation_seconds_count{type="Webhook",name="one"} 2',
      'apiserver_authorization_match_condition_exclusions_total{type="Webhook",name="one"} 1',
      'apiserver_authorization_webhook_evaluations_total{name="one",result="success"} 1',
      'apiserver_authorization_webhook_evaluations_total{name="two",result="success"} 1',
    ]);
  });

  test('decides by failurePolicy when a webhook fails or its conditions cannot be evaluated', async () => {
    answer = () => undefined;
    await using server = await running(webhook('one', { failurePolicy: 'Deny' }), webhook('two'));
    expect(await server.ask('alice', listed)).toMatchObject({
      code: 500,
      text: expect.stringContaining('webhook call failed'),
    });
    expect(asked).toEqual(['/one alice list']);

    write(configuration(webhook('one', when('request.extra.nothing[0] == "x"')), webhook('two')));
    answer = () => ({ allowed: true });
    await expect.poll(() => reloads(server, 'success')).toBe(1);
    expect((await server.ask('alice', listed)).code).toBe(200);
    expect(asked.at(-1)).toBe('/two alice list');
    expect(await metricsOf(server, /condition_evaluation_errors/)).toEqual([
      'apiserver_authorization_match_condition_evaluation_errors_total{type="Webhook",name="one"} 1',
    ]);
  });

  test('is reloaded when its file changes, and kept if the new one is invalid', async () => {
    await using server = await running(webhook('one'), rbac);
    expect((await server.ask('alice', listed)).code).toBe(200);

    for (const [count, [text, why]] of [
      [configuration(webhook('one')), 'missing required types: [RBAC]'],
      [
        configuration(webhook('one'), rbac, { type: 'AlwaysAllow', name: 'alwaysallow' }),
        'authorizer type AlwaysAllow is not allowed if it was not enabled at initial server startup',
      ],
      [configuration(webhook('one', { timeout: '' }), rbac), 'authorizers[0].timeout: Required value'],
      ['nonsense', 'must be AuthorizationConfiguration'],
    ].entries()) {
      write(text ?? '');
      await expect.poll(() => reloads(server, 'failure')).toBe(count + 1);
      expect(JSON.stringify(server.lines.at(-1)?.fields, errorText)).toContain(why);
    }
    asked = [];
    expect((await server.ask('alice', `${listed}?limit=1`)).code).toBe(200);
    // The decision is cached.
    expect(asked).toEqual([]);

    write(configuration(rbac, webhook('two')));
    await expect.poll(() => reloads(server, 'success')).toBe(1);
    expect((await server.ask('alice', listed)).code).toBe(200);
    expect(asked).toEqual(['/two alice list']);
  });

  test('with AlwaysAllow does not admit unauthenticated users', async () => {
    await using server = await running({ type: 'AlwaysAllow', name: 'alwaysallow' });
    expect((await server.ask('nobody', 'GET /version')).code).toBe(401);
    expect(server.lines.map(({ message }) => message)).toContainEqual(expect.stringMatching(/^AUTHORIZATION IS OFF/));
  });

  test.each<[ServerOptions, string]>([
    [{ authorization: 'RBAC' }, 'authorizationConfiguration and authorization cannot both be given'],
    [
      { authorizationWebhook: { kubeconfig: '/nowhere' } },
      'authorizationConfiguration and authorizationWebhook cannot both be given',
    ],
    [{ authorizationConfiguration: configuration() }, 'at least one authorization mode must be defined'],
  ])('with %j is refused at the start', async (options, why) => {
    await expect(
      runningServer({
        authorization: undefined,
        authorizationConfiguration: configuration(rbac),
        ...options,
      } as object as ServerOptions),
    ).rejects.toThrow(why);
  });
});

const errorText = (_: string, value: unknown): unknown => (value instanceof Error ? value.message : value);
