import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Secrets } from '../../src/api/kinds/secret.js';
import { ServiceAccounts } from '../../src/api/kinds/service-account.js';
import { type Certificate, readPemCertificates } from '../../src/pki/certificate.js';
import type { ServerOptions } from '../../src/server/options.js';
import { StoreUnavailable } from '../../src/store/store-unavailable.js';
import { testSigningRequest } from '../../src/testing/certificates.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { eventually, until } from '../../src/testing/until.js';
import { configMap, configMaps, keyOfConfigMap, runningServer } from './running-server.js';

describe('metrics', () => {
  const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
  const lease = (name: string): object => ({ metadata: { name } });

  test('requests are counted under the names of Kubernetes', async () => {
    await using server = await runningServer();
    const { ask } = server;
    await ask('alice', `POST ${leases}`, lease('a'));
    await ask('alice', `POST ${leases}?dryRun=All`, lease('b'));
    await ask('alice', `GET ${leases}/a`);
    await ask('alice', `GET ${leases}/none`);
    await ask('alice', `GET ${leases}`);
    await ask('alice', 'GET /apis/coordination.k8s.io/v1/leases');
    await ask('alice', `GET ${leases}?watch=1&timeoutSeconds=1`);
    const applied = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'a' } };
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    await ask('alice', `PATCH ${leases}/a?fieldManager=x`, applied, { headers });
    await ask('alice', `DELETE ${leases}`);
    await ask('alice', 'GET /apis/made.up/v1/things');
    await ask('alice', 'GET /readyz');
    await ask('alice', 'GET /livez/ping');
    await ask('alice', 'GET /made/up');
    await ask('nobody', 'GET /version', undefined, { headers: { authorization: 'Bearer wrong' } });
    const answer = await ask('root', 'GET /metrics');
    expect(answer.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
    const counted = (name: string): readonly string[] => seriesIn(answer.text, name);
    // verb, group, version, resource, subresource, scope, component, dry run, code, count
    const ours = counted('apiserver_request_total').filter((line) => /leases|made|^GET,,,,/.test(line));
    const about = 'coordination.k8s.io,v1,leases,';
    expect(ours).toEqual([
      `POST,${about},resource,apiserver,,201 1`,
      `POST,${about},resource,apiserver,All,201 1`,
      `GET,${about},resource,apiserver,,200 1`,
      `GET,${about},resource,apiserver,,404 1`,
      `LIST,${about},namespace,apiserver,,200 1`,
      `LIST,${about},cluster,apiserver,,200 1`,
      `WATCH,${about},namespace,apiserver,,200 1`,
      `APPLY,${about},resource,apiserver,,200 1`,
      `DELETECOLLECTION,${about},namespace,apiserver,,200 1`,
      'GET,,,,/readyz,,apiserver,,200 1',
      'GET,,,,/livez,,apiserver,,200 1',
      'GET,,,,,,apiserver,,404 1',
      'GET,,,,/version,,apiserver,,401 1',
    ]);
    expect(counted('apiserver_watch_events_total')).toEqual(['coordination.k8s.io,v1,leases 1']);
    expect(counted('apiserver_init_events_total')).toEqual(['coordination.k8s.io,leases 1']);
    expect(counted('apiserver_longrunning_requests')).toEqual([`WATCH,${about},namespace,apiserver 0`]);
    expect(counted('authentication_attempts')).toEqual(['success 14', 'failure 0', 'error 1']);
    expect(counted('apiserver_resource_objects')).toContain(',namespaces 4');
    expect(counted('apiserver_storage_objects')).toContain('leases.coordination.k8s.io 0');
    const underWay = counted('apiserver_current_inflight_requests');
    expect(underWay).toEqual(['readOnly 1', expect.stringMatching(/^mutating [01]$/)]);
    expect(counted('etcd_request_duration_seconds_count')).toContain('create,coordination.k8s.io,leases 1');
    for (const name of [
      'process_cpu_seconds_total',
      'apiserver_response_sizes_bucket',
      'apiserver_request_duration_seconds_sum',
    ]) {
      expect(answer.text).toContain(name);
    }
    expect(counted('kubernetes_build_info')).toEqual([expect.stringMatching(/^1,36,v1\.36\..*\/.* 1$/)]);
    expect(counted('version_info')).toEqual([expect.stringMatching(/^1\.36\..*,kube,1\.36,1\.35 1$/)]);
    expect(counted('kubernetes_feature_enabled')).toEqual(['ShardedListAndWatch,ALPHA 0']);
    for (const [name, series] of [
      ['admission_controller_admission_duration_seconds_count', /^NamespaceLifecycle,CREATE,false,admit \d/],
      ['admission_step_admission_duration_seconds_count', /^DELETE,false,validate \d/],
      ['authorization_decisions_total', /^allowed,alwaysallow,AlwaysAllow \d/],
    ] as const) {
      expect(counted(`apiserver_${name}`)).toContainEqual(expect.stringMatching(series));
    }
    expect(counted('authentication_token_cache_request_total')).toEqual(['miss 3', 'hit 12']);
    const { text } = await ask('root', 'GET /metrics/slis');
    expect(seriesIn(text, 'kubernetes_healthcheck')).toContain('etcd-readiness,readyz 1');
    expect(seriesIn(text, 'kubernetes_healthchecks_total')).toContain('ping,readyz,success 1');
    expect(text).not.toContain('livez');
  });

  test('client certificates are counted by their expiry, issued ones by whether their lifetime was shortened', async () => {
    await using running = await runningServer();
    const { ask, server } = running;
    const [cert = '', key = ''] = ['certificate', 'key'].map((name) =>
      Buffer.from(
        new RegExp(`client-${name}-data: (\\S+)`).exec(server.adminKubeconfig)?.[1] ?? '',
        'base64',
      ).toString(),
    );
    const [{ notBefore, notAfter }] = readPemCertificates(cert) as [Certificate];
    const lifetime = (notAfter - notBefore) / 1_000;
    const patch = { status: { certificate: Buffer.from(cert).toString('base64') } };
    const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    for (const options of [
      { name: 'a', signerName: 'kubernetes.io/kube-apiserver-client', expirationSeconds: lifetime },
      { name: 'b', signerName: 'example.test/own', expirationSeconds: 600 },
      { name: 'c', signerName: 'kubernetes.io/kube-apiserver-client' },
    ]) {
      expect((await ask('alice', `POST ${requests}`, await testSigningRequest(options))).code).toBe(201);
      const headers = { 'content-type': 'application/merge-patch+json' };
      expect((await ask('root', `PATCH ${requests}/${options.name}/status`, patch, { headers })).code).toBe(200);
    }
    const own = { agent: false, rejectUnauthorized: false, cert, key } as const;
    const { code, text } = await ask('nobody', 'GET /metrics', undefined, own);
    expect(code).toBe(200);
    const name = 'apiserver_certificates_registry_csr';
    expect(seriesIn(text, `${name}_requested_duration_total`)).toEqual([
      'kubernetes.io/kube-apiserver-client 1',
      'other 1',
    ]);
    expect(seriesIn(text, `${name}_honored_duration_total`)).toEqual(['kubernetes.io/kube-apiserver-client 1']);
    expect(seriesIn(text, 'apiserver_client_certificate_expiration_seconds_bucket')).toEqual(
      [0, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400, 172_800, 345_600, 604_800]
        .concat([2_592_000, 7_776_000, 15_552_000, 31_104_000])
        .map((limit) => `${limit} ${limit < lifetime ? 0 : 1}`)
        .concat('+Inf 1'),
    );
  });

  test('impersonation attempts are counted, with their authorization', async () => {
    await using server = await runningServer({ authorization: ['RBAC'] });
    const as = (caller: 'root' | 'alice', headers: Record<string, string>) =>
      server.ask(caller, 'GET /version', undefined, { headers });
    await as('root', { 'impersonate-user': 'bob' });
    await as('alice', { 'impersonate-user': 'system:node:n' });
    await as('alice', { 'impersonate-group': 'g' });
    const { text } = await server.ask('root', 'GET /metrics');
    expect(seriesIn(text, 'apiserver_impersonation_attempts_total')).toEqual(['allowed,user-info 1', 'denied, 1']);
    expect(seriesIn(text, 'apiserver_impersonation_attempts_duration_seconds_count')).toHaveLength(2);
    const asked = ['allowed,user-info 2', 'denied,arbitrary-node 1', 'denied,legacy 1'];
    expect(seriesIn(text, 'apiserver_impersonation_authorization_attempts_total')).toEqual(asked);
    expect(seriesIn(text, 'apiserver_impersonation_authorization_attempts_duration_seconds_count')).toEqual(asked);
  });

  test('policy checks and match conditions are counted', async () => {
    await using server = await runningServer();
    const { ask } = server;
    const registration = '/apis/admissionregistration.k8s.io/v1';
    const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }];
    const conditions = { name: 'c', expression: 'object.metadata.name != "excluded" && has(object.data)' };
    const common = { matchConstraints: { resourceRules }, matchConditions: [conditions] };
    const sorts = {
      mutating: {
        reinvocationPolicy: 'Never',
        mutations: [
          { patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "add", path: "/data/x", value: "y"}]' } },
        ],
      },
      validating: { validations: [{ expression: 'object.data.a == "c"' }] },
    };
    for (const [sort, spec] of Object.entries(sorts)) {
      await ask('root', `POST ${registration}/${sort}admissionpolicies`, {
        metadata: { name: sort },
        spec: { ...common, ...spec },
      });
      const binding = { policyName: sort, ...(sort === 'validating' ? { validationActions: ['Warn'] } : {}) };
      const { code } = await ask('root', `POST ${registration}/${sort}admissionpolicybindings`, {
        metadata: { name: sort },
        spec: binding,
      });
      expect(code).toBe(201);
    }
    for (const name of ['a', 'excluded']) await ask('root', `POST ${configMaps}`, configMap(name));
    const { text } = await ask('root', 'GET /metrics');
    const counted = (name: string): readonly string[] => seriesIn(text, `apiserver_${name}`);
    expect(counted('mutating_admission_policy_check_total')).toEqual(['mutating,mutating,no_error 1']);
    expect(counted('validating_admission_policy_check_total')).toEqual(['validating,validating,invalid_error,warn 1']);
    const excluded = ['mutating,policy,validate,CREATE 1', 'validating,policy,validate,CREATE 1'];
    expect(counted('admission_match_condition_evaluation_seconds_count')).toEqual(excluded);
    expect(counted('admission_match_condition_evaluation_errors_total')).toEqual([]);
  });

  test('large responses are compressed on request', async () => {
    await using server = await runningServer();
    const { ask } = server;
    const gzip = { headers: { 'accept-encoding': 'gzip' } };
    const plural = ['configmaps', 'events', 'namespaces', 'nodes', 'pods', 'secrets', 'serviceaccounts'];
    for (const method of ['GET', 'DELETE', 'PUT', 'PATCH', 'POST'])
      for (const one of plural) await ask('alice', `${method} /api/v1/${one}/none`);
    expect((await ask('root', 'GET /metrics')).text.length).toBeGreaterThan(131_072);
    expect((await ask('root', 'GET /metrics', undefined, gzip)).headers['content-encoding']).toBe('gzip');
  });

  test('metrics can be disabled', async () => {
    await using server = await runningServer({ operations: { metrics: false } });
    for (const path of ['/metrics', '/metrics/slis']) expect((await server.ask('root', `GET ${path}`)).code).toBe(404);
  });
});

/** Returns the label values and the value of each series of a metric. */
const seriesIn = (text: string, name: string): readonly string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`))
    .map(
      (line) => `${[...line.matchAll(/\w+="([^"]*)"/g)].map(([, value]) => value).join(',')} ${line.split(' ').at(-1)}`,
    );

describe('audit', () => {
  const policy = {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    rules: [
      { level: 'None', users: ['system:apiserver'] },
      { level: 'Metadata', resources: [{ resources: ['secrets', 'serviceaccounts/token'] }] },
      {
        level: 'RequestResponse',
        resources: [{ group: '' }],
        omitManagedFields: true,
        omitStages: ['RequestReceived'],
      },
      { level: 'Metadata', omitStages: ['RequestReceived'] },
    ],
  };

  /** Returns the events that a server records while `use` runs. */
  async function recorded(
    use: (server: Awaited<ReturnType<typeof runningServer>>) => Promise<unknown>,
    options: ServerOptions = {},
  ) {
    const folder = await mkdtemp(join(tmpdir(), 'audit-'));
    const logFile = join(folder, 'audit.log');
    try {
      {
        await using server = await runningServer({
          operations: { audit: { policy: JSON.stringify(policy), logFile } },
          ...options,
        });
        await use(server);
      }
      return (await readFile(logFile, 'utf8'))
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  test('a write is recorded with both objects, the decision and the addresses', async () => {
    const events = await recorded(({ ask }) =>
      ask('alice', `POST ${configMaps}`, configMap('a'), { headers: { 'audit-id': 'mine', 'user-agent': 'test' } }),
    );
    expect(events).toEqual([
      {
        kind: 'Event',
        apiVersion: 'audit.k8s.io/v1',
        level: 'RequestResponse',
        auditID: 'mine',
        stage: 'ResponseComplete',
        requestURI: configMaps,
        verb: 'create',
        user: { username: 'alice', uid: '2', groups: ['system:authenticated'] },
        sourceIPs: ['127.0.0.1'],
        userAgent: 'test',
        objectRef: { resource: 'configmaps', namespace: 'default', name: 'a', apiVersion: 'v1' },
        responseStatus: { metadata: {}, code: 201 },
        requestObject: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { a: 'b' } },
        responseObject: {
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: {
            name: 'a',
            namespace: 'default',
            uid: expect.any(String),
            resourceVersion: expect.any(String),
            creationTimestamp: expect.any(String),
          },
          data: { a: 'b' },
        },
        requestReceivedTimestamp: expect.stringMatching(/\.\d{6}Z$/),
        stageTimestamp: expect.stringMatching(/\.\d{6}Z$/),
        annotations: { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': '' },
      },
    ]);
  });

  test('patches and options are recorded as objects, lists without managed fields', async () => {
    const events = await recorded(async ({ ask }) => {
      await ask('alice', `POST ${configMaps}`, configMap('a'));
      await ask(
        'alice',
        `PATCH ${configMaps}/a`,
        { data: { c: 'd' } },
        {
          headers: { 'content-type': 'application/merge-patch+json' },
        },
      );
      await ask('alice', `GET ${configMaps}`);
      await ask('alice', `DELETE ${configMaps}/a`, { propagationPolicy: 'Background' });
      await ask('alice', `DELETE ${configMaps}/a`);
    });
    const [, patch, list, deletion, again] = events;
    expect(patch).toMatchObject({ verb: 'patch', requestObject: { data: { c: 'd' } } });
    expect(list.responseObject.items).toHaveLength(1);
    expect(JSON.stringify(events)).not.toContain('managedFields');
    expect(deletion.requestObject).toEqual({
      kind: 'DeleteOptions',
      apiVersion: 'meta.k8s.io/v1',
      propagationPolicy: 'Background',
    });
    expect(deletion.responseStatus).toMatchObject({ status: 'Success', code: 200 });
    expect(again.responseStatus).toMatchObject({ status: 'Failure', reason: 'NotFound', code: 404 });
  });

  test('objects with credentials are recorded at Metadata by the policy, and no event contains a token', async () => {
    const events = await recorded(async ({ ask }) => {
      await ask('alice', 'POST /api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } });
      await ask('alice', 'POST /api/v1/namespaces/default/serviceaccounts/robot/token', {});
      await ask('alice', 'POST /api/v1/namespaces/default/secrets', {
        metadata: { name: 's' },
        stringData: { p: 'hush' },
      });
    });
    const [, asked, token, , secret] = events;
    expect([asked.stage, token.stage]).toEqual(['RequestReceived', 'ResponseComplete']);
    expect(token.annotations['authentication.kubernetes.io/issued-credential-id']).toMatch(/^JTI=/);
    expect(secret.objectRef).toEqual({ resource: 'secrets', namespace: 'default', name: 's', apiVersion: 'v1' });
    expect(JSON.stringify(events)).not.toMatch(/eyJ|hush|alice-token/);
  });

  test('a watch is recorded at its start and end', async () => {
    const events = await recorded(({ ask }) => ask('alice', `GET ${configMaps}?watch=1&timeoutSeconds=1`));
    expect(events.map(({ stage, responseStatus }) => [stage, responseStatus.code])).toEqual([
      ['ResponseStarted', 200],
      ['ResponseComplete', 200],
    ]);
  });

  test('a refused watch is, too', async () => {
    const events = await recorded(({ ask }) => ask('alice', `GET ${configMaps}?watch=1&labelSelector==`));
    expect(events.map(({ stage, responseStatus }) => [stage, responseStatus.code])).toEqual([
      ['ResponseStarted', 400],
      ['ResponseComplete', 400],
    ]);
    expect(events[0].responseObject).toMatchObject({ kind: 'Status', reason: 'BadRequest' });
  });

  test('requests in a deprecated version are marked', async () => {
    const schema = { openAPIV3Schema: { type: 'object' } };
    const versions = [
      { name: 'v1', served: true, storage: true, schema },
      { name: 'v1beta1', served: true, storage: false, deprecated: true, schema },
    ];
    const use = async ({ ask }: Awaited<ReturnType<typeof runningServer>>): Promise<void> => {
      await ask('root', 'POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
        metadata: { name: 'widgets.example.com' },
        spec: { group: 'example.com', scope: 'Cluster', names: { plural: 'widgets', kind: 'Widget' }, versions },
      });
      const old = 'GET /apis/example.com/v1beta1/widgets/x';
      await eventually(
        () => ask('root', old),
        ({ text }) => text.includes('widgets.example.com'),
      );
      await ask('root', 'GET /apis/example.com/v1/widgets/x');
    };
    const events = await recorded(use, { controllers: ['crd-names', 'crd-established'] });
    const marked = (version: string): unknown =>
      events.findLast(({ requestURI }) => requestURI.includes(`/${version}/widgets`)).annotations['k8s.io/deprecated'];
    expect([marked('v1'), marked('v1beta1')]).toEqual([undefined, 'true']);
  });

  test('bad credentials are recorded without a user, an impersonated user beside the caller', async () => {
    const events = await recorded(async ({ ask }) => {
      await ask('nobody', `GET ${configMaps}`, undefined, { headers: { authorization: 'Bearer wrong' } });
      await ask('root', 'GET /version', undefined, { headers: { 'impersonate-user': 'bob' } });
      await ask('alice', `GET ${configMaps}?timeout=x`);
    });
    const unauthorized = { status: 'Failure', message: 'Unauthorized', reason: 'Unauthorized', code: 401 };
    expect(events[0]).toMatchObject({ stage: 'ResponseStarted', user: {}, responseStatus: unauthorized });
    expect(events[0].responseObject).toEqual({ kind: 'Status', apiVersion: 'v1', metadata: {}, ...unauthorized });
    expect(events[1]).toMatchObject({
      user: { username: 'root' },
      impersonatedUser: { username: 'bob', groups: ['system:authenticated'] },
      authenticationMetadata: { impersonationConstraint: 'impersonate:user-info' },
    });
    expect(events[2]).toMatchObject({
      stage: 'ResponseStarted',
      user: {},
      responseStatus: { code: 400 },
      responseObject: { kind: 'Status', code: 400 },
    });
  });

  test('a slow request is recorded with its latencies', async () => {
    const clock = new FakeClock();
    const events = await recorded(
      async ({ ask, store }) => {
        for (const milliseconds of [500, 501]) {
          store.hold(keyOfConfigMap('slow'));
          const answer = ask('alice', `GET ${configMaps}/slow?timeout=20s`);
          await eventually(
            () => store.waiting,
            (count) => count === 1,
          );
          await clock.advance(milliseconds);
          store.release();
          await answer;
        }
      },
      { clock },
    );
    const latencies = events.map(({ annotations }) =>
      Object.entries(annotations).filter(([key]) => key.startsWith('apiserver.latency.k8s.io/')),
    );
    expect(latencies).toEqual([[], [['apiserver.latency.k8s.io/total', '501ms']]]);
  });

  test('the use of a Secret token is annotated, accepted or refused', async () => {
    const secrets = '/api/v1/namespaces/default/secrets';
    const use = async ({ ask, server }: Awaited<ReturnType<typeof runningServer>>) => {
      const accounts = server.client().resource(ServiceAccounts);
      const account = { namespace: 'default', name: 'robot' };
      await accounts.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
      const annotations = { 'kubernetes.io/service-account.name': 'robot' };
      await ask('root', `POST ${secrets}`, {
        metadata: { name: 's', annotations },
        type: 'kubernetes.io/service-account-token',
      });
      const key = { namespace: 'default', name: 's' };
      const filled = await until(server.client().resource(Secrets), key, (found) => Boolean(found?.data?.['token']));
      const token = Buffer.from(filled?.data?.['token'] ?? '', 'base64').toString();
      const bearing = { headers: { authorization: `Bearer ${token}` } };
      const mark = (since: string | null) =>
        ask(
          'root',
          `PATCH ${secrets}/s`,
          { metadata: { labels: { 'kubernetes.io/legacy-token-invalid-since': since } } },
          { headers: { 'content-type': 'application/merge-patch+json' } },
        );
      await mark('2025-01-01');
      await ask('nobody', 'GET /version?refused', undefined, bearing);
      await mark(null);
      await ask('nobody', 'GET /version?used', undefined, bearing);
    };
    const events = await recorded(use, { controllers: ['service-account-token'] });
    const annotationsOf = (uri: RegExp) => events.find(({ requestURI }) => uri.test(requestURI))?.annotations;
    const legacy = { 'authentication.k8s.io/legacy-token': 'system:serviceaccount:default:robot' };
    expect(annotationsOf(/version.used/)).toMatchObject({
      ...legacy,
      'authentication.k8s.io/legacy-token-manual-secret': 's',
    });
    expect(annotationsOf(/refused/)).toEqual({
      ...legacy,
      'authentication.k8s.io/legacy-token-invalidated': 's/default',
    });
  });

  test('an internal fault is recorded as a panic', async () => {
    const events = await recorded(async ({ ask, store }) => {
      store.fail(keyOfConfigMap('a'), new TypeError('x is not a function'));
      await ask('alice', `GET ${configMaps}/a`);
    });
    expect(events).toMatchObject([
      { stage: 'Panic', responseStatus: { message: "APIServer panic'd: x is not a function", code: 500 } },
    ]);
  });

  test('a timed-out request is recorded with the reason', async () => {
    const events = await recorded(async ({ ask, store }) => {
      store.hold(keyOfConfigMap('slow'));
      await ask('alice', `GET ${configMaps}/slow?timeout=20ms`);
      store.release();
    });
    const why = 'Timeout: request did not complete within requested timeout - context deadline exceeded';
    const status = { status: 'Failure', message: why, reason: 'Timeout', details: {}, code: 504 };
    expect(events).toMatchObject([{ stage: 'ResponseComplete', responseStatus: status, responseObject: status }]);
  });

  test.skipIf(process.platform !== 'linux')('events that cannot be written to disk are counted', async () => {
    const audit = { policy: JSON.stringify(policy), logFile: '/dev/full' };
    await using server = await runningServer({ operations: { audit } });
    await server.ask('alice', `GET ${configMaps}`);
    const lost = async (): Promise<number> =>
      Number(
        /^apiserver_audit_error_total\{plugin="log"\} (\d+)/m.exec(
          (await server.ask('root', 'GET /metrics')).text,
        )?.[1],
      );
    expect(await eventually(lost, (count) => count > 0)).toBeGreaterThan(0);
  });

  test('events are sent to a webhook, with or without a file', async () => {
    const bodies: string[] = [];
    const hook = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += chunk));
      request.on('end', () => {
        bodies.push(`${request.method} ${request.url} ${request.headers.authorization} ${body}`);
        response.end();
      });
    }).listen(0, '127.0.0.1');
    await once(hook, 'listening');
    const folder = await mkdtemp(join(tmpdir(), 'audit-'));
    const kubeconfig = join(folder, 'hook.kubeconfig');
    const { port } = hook.address() as AddressInfo;
    await writeFile(
      kubeconfig,
      JSON.stringify({
        clusters: [{ name: 'a', cluster: { server: `http://127.0.0.1:${port}/events` } }],
        users: [{ name: 'a', user: { token: 'of-the-server' } }],
        contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
        'current-context': 'a',
      }),
    );
    try {
      const audit = { policy: JSON.stringify(policy), webhook: { kubeconfig, waitSeconds: 3_600 } };
      await using server = await runningServer({ operations: { audit } });
      await server.ask('alice', `POST ${configMaps}`, configMap('a'), { headers: { 'audit-id': 'mine' } });
      await server.server.stop();
      // A server that is stopping does not wait for more events.
      expect(bodies).toHaveLength(1);
      const [, head, text = ''] = /^(.*?) (\{.*)$/s.exec(bodies[0] ?? '') ?? [];
      expect(head).toBe('POST /events?timeout=30s Bearer of-the-server');
      const { items, ...list } = JSON.parse(text);
      expect(list).toEqual({ kind: 'EventList', apiVersion: 'audit.k8s.io/v1', metadata: {} });
      expect(items.filter(({ auditID }: { auditID: string }) => auditID === 'mine')).not.toHaveLength(0);
      expect(items[0]).not.toHaveProperty('kind');
    } finally {
      hook.close();
      await rm(folder, { recursive: true });
    }
    await expect(runningServer({ operations: { audit: { policy: JSON.stringify(policy) } } })).rejects.toThrow(
      'audit events have no destination: neither logFile nor webhook is set',
    );
  });

  test('an invalid policy prevents the start', async () => {
    const audit = { policy: 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Much}]', logFile: '-' };
    await expect(runningServer({ operations: { audit } })).rejects.toThrow(
      'the audit policy cannot be used: rules[0].level: Unsupported value: "Much"',
    );
    const twice = `${audit.policy.replace('Much', 'None')}\nrules: [{level: Metadata}]`;
    await expect(runningServer({ operations: { audit: { ...audit, policy: twice } } })).rejects.toThrow(
      'the audit policy cannot be used: strict decoding error: yaml: unmarshal errors:\n  line 4: key "rules" already set in map',
    );
    const more = `${JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [] })}\nrules: [{level: None}]`;
    await expect(runningServer({ operations: { audit: { ...audit, policy: more } } })).rejects.toThrow(
      'the audit policy cannot be used: must be one document: line 2 has more behind its end',
    );
  });
});

describe('overload', () => {
  const busy = { code: 429, text: 'Too many requests, please try again later.\n' };

  test('requests beyond the limit are refused, except those of administrators', async () => {
    await using server = await runningServer({ operations: { readOnlyRequests: 1, mutatingRequests: 1 } });
    const { ask, store } = server;
    store.hold(keyOfConfigMap('slow'));
    const slow = ask('alice', `GET ${configMaps}/slow`);
    await eventually(
      () => store.waiting,
      (count) => count === 1,
    );
    const refused = await ask('alice', `GET ${configMaps}`);
    expect(refused).toMatchObject(busy);
    expect(refused.headers).toMatchObject({
      'retry-after': '1',
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'audit-id': expect.any(String),
    });
    expect((await ask('root', `GET ${configMaps}`)).code).toBe(200);
    expect((await ask('alice', `POST ${configMaps}`, configMap('a'))).code).toBe(201);
    expect((await ask('alice', `GET ${configMaps}?watch=1&timeoutSeconds=1`)).code).toBe(200);
    store.release();
    expect((await slow).code).toBe(404);
    expect((await ask('alice', `GET ${configMaps}`)).code).toBe(200);
    const { text } = await ask('root', 'GET /metrics');
    expect(text).toMatch(/apiserver_request_terminations_total\{verb="LIST",.*code="429"\} 1/);
  });

  test('watches of a user beyond the limit are refused until one ends', async () => {
    await using server = await runningServer({ operations: { watches: 1 } });
    const { ask } = server;
    const session = server.http2();
    const asked = { ':path': `${configMaps}?watch=1`, ...server.headersOf('alice') };
    const watch = session.request(asked);
    await new Promise((resolve) => watch.once('response', resolve));
    const refused = await ask('alice', `GET ${configMaps}?watch=1`);
    expect(refused).toMatchObject({ ...busy, headers: { 'retry-after': '1' } });
    expect((await ask('alice', `GET ${configMaps}`)).code).toBe(200);
    expect((await ask('root', `GET ${configMaps}?watch=1&timeoutSeconds=1`)).code).toBe(200);
    watch.close();
    const isOver = ({ code }: { readonly code: number }): boolean => code === 200;
    const again = () => ask('alice', `GET ${configMaps}?watch=1&timeoutSeconds=1`);
    await eventually(again, isOver);
    // A request that never begins to watch, or is rejected, ends as well.
    for (const never of [`HEAD ${configMaps}?watch=1`, `GET ${configMaps}?watch=1&labelSelector==`]) {
      await ask('alice', never);
      expect((await again()).code).toBe(200);
    }
    session.close();
  });

  test('a request that times out is answered with 504, and keeps its place until it is finished', async () => {
    await using server = await runningServer({ operations: { readOnlyRequests: 1 } });
    const { ask, store, lines } = server;
    store.hold(keyOfConfigMap('slow'));
    const late = await ask('alice', `GET ${configMaps}/slow?timeout=20ms`);
    expect(late.code).toBe(504);
    expect(late.text).toBe(
      '{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout","reason":"Timeout","details":{},"code":504}\n',
    );
    expect(late.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(lines.filter(({ message }) => message === 'request timed out')).toHaveLength(1);
    expect((await ask('alice', `GET ${configMaps}`)).code).toBe(429);
    store.release();
    await eventually(
      () => ask('alice', `GET ${configMaps}`),
      ({ code }) => code === 200,
    );
  });

  test('so does one that timed out during authentication, with the place it gets later', async () => {
    await using server = await runningServer({ operations: { readOnlyRequests: 1 } });
    const { ask, store } = server;
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await ask('alice', `POST ${accounts}`, { metadata: { name: 'a' } });
    const { status } = JSON.parse((await ask('alice', `POST ${accounts}/a/token`, { spec: {} })).text);
    const headers = { authorization: `Bearer ${status.token}` };
    store.hold('core/serviceaccounts/default/a');
    expect((await ask('nobody', `GET ${configMaps}?timeout=20ms`, undefined, { headers })).code).toBe(504);
    expect(store.waiting).toBe(1);
    store.release();
    await eventually(
      () => ask('alice', `GET ${configMaps}`),
      ({ code }) => code === 200,
    );
  });

  test.each(['1ns', '0.5ms', '999us'])('a request with a timeout of %s is not started', async (time) => {
    await using server = await runningServer();
    const { ask } = server;
    const created = await ask('alice', `POST ${configMaps}?timeout=${time}`, configMap('a'));
    expect([created.code, created.text]).toEqual([504, expect.stringContaining('within the allotted timeout')]);
    expect((await ask('alice', `GET ${configMaps}/a`)).code).toBe(404);
    const counted = /^apiserver_request_terminations_total\{.*verb="POST".*code="504"\} 1$/m;
    expect((await ask('alice', 'GET /metrics')).text).toMatch(counted);
  });

  test('a body that does not arrive is not waited for', async () => {
    await using server = await runningServer({ operations: { requestTimeoutMs: 100 } });
    const session = server.http2();
    const stream = session.request({ ':method': 'POST', ':path': configMaps, ...server.headersOf('alice') });
    stream.write('{');
    const code = await new Promise((resolve) => stream.once('response', (headers) => resolve(headers[':status'])));
    expect(code).toBe(504);
    await new Promise((resolve) => stream.resume().once('close', resolve));
    session.close();
  });

  describe('a request without its body gives its place back, though its client stays', () => {
    const tooLate = `${configMaps}?timeout=50ms`;
    const limited = () => runningServer({ operations: { mutatingRequests: 1 } });
    const isFree = ({ ask }: Awaited<ReturnType<typeof limited>>) =>
      eventually(
        () => ask('alice', `POST ${configMaps}`, configMap('a')),
        ({ code }) => code === 201,
      );

    test('over HTTP/1.1', async () => {
      await using server = await limited();
      const agent = new Agent({ keepAlive: true });
      const slow = request(`${server.url}${tooLate}`, {
        agent,
        method: 'POST',
        rejectUnauthorized: false,
        headers: { ...server.headersOf('alice'), 'content-length': 10 },
      });
      slow.on('error', () => {}).write('{');
      const answer = await new Promise<IncomingMessage>((resolve) => slow.once('response', resolve));
      expect(answer.statusCode).toBe(504);
      await isFree(server);
      agent.destroy();
    });

    test('over HTTP/2, if the client does not read the response', async () => {
      await using server = await limited();
      const session = server.http2({ initialWindowSize: 0 });
      await new Promise((resolve) => session.once('localSettings', resolve));
      const slow = session.request({ ':method': 'POST', ':path': tooLate, ...server.headersOf('alice') });
      slow.on('error', () => {}).write('{');
      const code = await new Promise((resolve) => slow.once('response', (headers) => resolve(headers[':status'])));
      expect(code).toBe(504);
      await isFree(server);
      session.destroy();
    });
  });

  test('a long response that is not read in time is aborted and gives its place back', async () => {
    const clock = new FakeClock();
    await using server = await runningServer({ clock, operations: { readOnlyRequests: 1 } });
    const session = server.http2({ initialWindowSize: 20_000 });
    await new Promise((resolve) => session.once('localSettings', resolve));
    const path = '/openapi/v2?timeout=5s';
    const slow = session.request({ ':path': path, ...server.headersOf('alice') });
    const ended = new Promise((resolve) => slow.once('error', resolve));
    const code = await new Promise((resolve) => slow.once('response', (headers) => resolve(headers[':status'])));
    expect(code).toBe(200);
    expect((await server.ask('alice', `GET ${configMaps}`)).code).toBe(429);
    await clock.advance(5_000);
    expect(await ended).toMatchObject({ message: 'Stream closed with error code NGHTTP2_INTERNAL_ERROR' });
    await eventually(
      () => server.ask('alice', `GET ${configMaps}`),
      ({ code }) => code === 200,
    );
    session.destroy();
  });

  test('an invalid timeout is refused before authentication', async () => {
    await using server = await runningServer({ anonymous: false });
    const { code, text } = await server.ask('nobody', `GET ${configMaps}?timeout=soon`);
    expect([code, JSON.parse(text).message]).toEqual([
      400,
      'invalid timeout specified in the request URL - time: invalid duration "soon"',
    ]);
  });
});

describe('faults', () => {
  test('an internal fault is answered like a panic in Kubernetes, and logged once with its cause', async () => {
    await using server = await runningServer();
    const { ask, store, lines } = server;
    store.fail(keyOfConfigMap('a'), new TypeError("Cannot read properties of undefined (reading 'secret')"));
    const { code, text, headers } = await ask('alice', `GET ${configMaps}/a`);
    expect([code, text]).toEqual([500, 'This request caused apiserver to panic. Look in the logs for details.\n']);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(lines.filter(({ level }) => level === 'error')).toEqual([
      { level: 'error', message: 'request panicked', fields: expect.objectContaining({ method: 'GET' }) },
    ]);
  });

  test('an unavailable store is a timeout, logged in one line per request, without a stack', async () => {
    await using server = await runningServer();
    server.store.fail(keyOfConfigMap('a'), new StoreUnavailable('etcd at a:1 does not answer'));
    const { code, text } = await server.ask('alice', `GET ${configMaps}/a`);
    const told = 'Timeout: request did not complete within requested timeout - context deadline exceeded';
    expect([code, JSON.parse(text)]).toMatchObject([504, { reason: 'Timeout', message: told, details: {}, code: 504 }]);
    const [{ message, fields } = { message: '', fields: {} }] = server.lines.filter(({ level }) => level === 'error');
    const { err } = fields as { err?: Error };
    expect([message, err?.message, err?.stack]).toEqual(['request failed', 'etcd at a:1 does not answer', undefined]);
  });

  test('a store error is an internal error, and fails the liveness check', async () => {
    await using server = await runningServer();
    const { ask, store } = server;
    store.fail('health', new Error('disk on fire'));
    store.fail(keyOfConfigMap('a'), new Error('disk on fire'));
    expect(JSON.parse((await ask('alice', `GET ${configMaps}/a`)).text)).toMatchObject({
      message: 'disk on fire',
      code: 500,
    });
    const { code, text } = await ask('alice', 'GET /livez?exclude=ping&exclude=b&exclude=a');
    expect(code).toBe(500);
    expect(text).toBe(
      [
        '[+]ping excluded: ok',
        '[+]log ok',
        '[-]etcd failed: reason withheld',
        '[+]poststarthook/bootstrap ok',
        'warn: some health checks cannot be excluded: no matches for "a","b"',
        'livez check failed',
        '',
      ].join('\n'),
    );
    expect(await ask('root', 'GET /livez/etcd')).toMatchObject({
      code: 500,
      text: 'internal server error: error getting data from etcd: disk on fire\n',
    });
    expect((await ask('root', 'GET /livez/shutdown')).code).toBe(404);
    expect((await ask('root', 'GET /readyz/shutdown')).text).toBe('ok');
    expect((await ask('root', 'GET /readyz/poststarthook/bootstrap')).text).toBe('ok');
  });
});
