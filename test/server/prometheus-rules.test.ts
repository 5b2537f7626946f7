import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kedgeNames } from '../../src/api/kedge-names.js';
import { CertificateSigningRequests, isIssued } from '../../src/api/kinds/certificate-signing-request.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import type { ServerOptions } from '../../src/server/options.js';
import { testSigningRequest } from '../../src/testing/certificates.js';
import { eventually, until } from '../../src/testing/until.js';
import { root } from '../process/build.js';
import { temporaryDirectory } from '../process/program.js';
import { readAlertRules } from './alert-rules.js';
import { configMap, configMaps, keyOfConfigMap, runningServer } from './running-server.js';

/** Alerts use metrics and labels that a server has; with a misspelt one, an alert would never fire. */

const rules = readAlertRules();

/** The use of a metric in an expression, with its label matchers and the labels by which its series are grouped. */
interface Use {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly holds: (value: string) => boolean }[];
}

const text = /"(?:[^"\\]|\\.)*"/;
const matcher = new RegExp(`(\\w+)\\s*(=~|!~|!=|=)\\s*(${text.source})`, 'g');
const selector = new RegExp(`\\b([a-z_:][a-z0-9_:]*)\\b\\s*(\\{(?:[^}"]|${text.source})*\\})?(?!\\s*\\()`, 'gi');
const grouping = /\b(?:by|on|ignoring|without|group_left|group_right)\s*\(([^)]*)\)/g;
const words = new Set(['and', 'or', 'unless', 'bool', 'offset']);

/** Parses just enough of PromQL for these rules. */
function usesIn(expr: string): readonly Use[] {
  const bare = expr.replace(grouping, '').replace(/\[[^\]]*\]/g, '');
  return [...bare.matchAll(selector)]
    .filter(([, metric = '']) => !words.has(metric))
    .map(([, metric = '', braces = '']) => ({ metric, matchers: [...braces.matchAll(matcher)].map(holding) }));
}

function holding([, label = '', operator, quoted = '']: RegExpExecArray): Use['matchers'][number] {
  const wanted = JSON.parse(quoted) as string;
  const pattern = new RegExp(`^(?:${wanted})$`);
  const isOf = (value: string): boolean => (operator?.endsWith('~') ? pattern.test(value) : value === wanted);
  return { label, holds: operator?.startsWith('!') ? (value) => !isOf(value) : isOf };
}

const groupedBy = (expr: string): readonly string[] =>
  [...expr.matchAll(grouping)].flatMap(([, names = '']) => names.split(',').map((name) => name.trim()));

type Series = Readonly<Record<string, string>>;
/** The series of each metric; a metric whose event has not occurred has none. */
const exposed = new Map<string, Series[]>();

function read(metrics: string): void {
  for (const line of metrics.split('\n')) {
    const [, announced] = /^# TYPE (\S+) /.exec(line) ?? [];
    if (announced !== undefined && !exposed.has(announced)) exposed.set(announced, []);
    const [, metric, labels = ''] = /^([a-z_:][a-z0-9_:]*)(\{.*\})? /i.exec(line) ?? [];
    if (metric === undefined) continue;
    const series = Object.fromEntries(
      [...labels.matchAll(matcher)].map(([, name, , value = '']) => [name, JSON.parse(value)]),
    );
    exposed.set(metric, [...(exposed.get(metric) ?? []), series]);
  }
}

let server: Awaited<ReturnType<typeof runningServer>>;
const signerName = 'kubernetes.io/kube-apiserver-client';

/** Starts a server, and causes the events of counters that only appear with their first event. */
beforeAll(async () => {
  const policy = 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: None }]';
  server = await runningServer({
    controllers: ['csr-signer', 'trust-bundle-publisher', 'ca-rotation'],
    certificates: {
      signers: [{ name: 'example.test/rotated', secret: 'pki/ca', rotation: {} }],
      // No controller distributes this bundle here.
      trust: {
        bundles: [
          { name: 'corp', sources: [{ signer: 'example.test/rotated' }], targets: { clusterTrustBundle: 'c' } },
        ],
      },
    },
    operations: { readOnlyRequests: 1, audit: { policy, logFile: join(temporaryDirectory(), 'audit') } },
  });
  const { ask, store } = server;
  const requests = server.server.client().resource(CertificateSigningRequests);
  const asked = await requests.create(await testSigningRequest({ name: 'r', signerName }));
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Test' }];
  await requests.subresource('approval').update({ ...asked, status: { conditions } });
  await until(requests, { name: 'r' }, (csr) => csr !== undefined && isIssued(csr));
  const labels = { [kedgeNames.trustOwnerLabel]: 'kedge', [kedgeNames.trustBundleLabel]: 'corp' };
  await ask('alice', `POST ${configMaps}`, { metadata: { name: 'corp', labels } });
  const secrets = server.server.client().resource(Secrets);
  const secret = await until(secrets, { namespace: 'pki', name: 'ca' }, (found) => found !== undefined);
  const annotations = { ...secret?.metadata.annotations, [kedgeNames.rotateAnnotation]: 'now' };
  await secrets.update({ ...secret!, metadata: { ...secret?.metadata, annotations } });
  await ask('alice', `POST ${configMaps}`, configMap('a'));
  await ask('alice', `PUT ${configMaps}/a`, configMap('a'));
  await ask('alice', `DELETE ${configMaps}/a`);
  store.hold(keyOfConfigMap('slow'));
  const slow = ask('alice', `GET ${configMaps}/slow?timeout=500ms`);
  await eventually(
    () => store.waiting,
    (count) => count === 1,
  );
  expect((await ask('alice', `GET ${configMaps}`)).code).toBe(429);
  expect((await slow).code).toBe(504);
  store.release();
  const metrics = async (): Promise<string> => (await ask('root', 'GET /metrics')).text;
  read(await eventually(metrics, (all) => all.includes('\nkedge_ca_rotation_held_up_seconds{')));
  read(await metricsWithoutKey());
  read(await metricsOfReloads());
});
afterAll(() => server[Symbol.asyncDispose]());

/** Returns the metrics of a server that lacks the key of a Secret. */
async function metricsWithoutKey(): Promise<string> {
  const store = `level:${join(temporaryDirectory(), 'store')}`;
  const run = (provider: string) =>
    runningServer({
      store,
      controllers: [],
      encryptionConfiguration: `{ apiVersion: apiserver.config.k8s.io/v1, kind: EncryptionConfiguration, resources: [{ resources: [secrets], providers: [${provider}] }] }`,
    });
  {
    await using before = await run(`aesgcm: { keys: [{ name: k, secret: ${Buffer.alloc(32).toString('base64')} }] }`);
    await before.ask('root', 'POST /api/v1/namespaces/default/secrets', { metadata: { name: 's' } });
  }
  await using after = await run('identity: {}');
  return (await after.ask('root', 'GET /metrics')).text;
}

/** Returns the metrics of a server whose configuration files were invalid once and are valid again. */
async function metricsOfReloads(): Promise<string> {
  const directory = temporaryDirectory();
  const members = {
    AuthenticationConfiguration: { jwt: [] },
    AuthorizationConfiguration: { authorizers: [{ type: 'RBAC', name: 'rbac' }] },
    EncryptionConfiguration: { resources: [{ resources: ['secrets'], providers: [{ identity: {} }] }] },
  };
  const files = Object.entries(members).map(([kind, rest]) => {
    const good = JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind, ...rest });
    return { file: join(directory, kind), good };
  });
  for (const { file, good } of files) writeFileSync(file, good);
  const [authenticationConfiguration, authorizationConfiguration, encryptionConfiguration] = files.map(({ file }) => ({
    file,
  }));
  await using spoilt = await runningServer({
    store: `level:${join(directory, 'store')}`,
    authorization: undefined,
    authenticationConfiguration,
    authorizationConfiguration,
    encryptionConfiguration,
  } as object as ServerOptions);
  const scrape = async (): Promise<string> => (await spoilt.ask('root', 'GET /metrics')).text;
  const told = (status: string) => (text: string) =>
    text.match(new RegExp(`_config_controller_automatic_reloads_total\\{.*"${status}"\\} [1-9]`, 'gm'))?.length ===
    files.length;
  for (const { file } of files) writeFileSync(file, 'nonsense');
  await eventually(scrape, told('failure'));
  for (const { file, good } of files) writeFileSync(file, good);
  return await eventually(scrape, told('success'));
}

/** The labels that Prometheus adds to each series. */
const added: readonly string[] = ['job', 'instance'];

test.each(rules.map((rule) => [rule.alert, rule.expr]))('the metrics and labels of %s exist', (_, expr) => {
  const uses = usesIn(expr);
  expect(uses.length).toBeGreaterThan(0);
  const labels = groupedBy(expr).filter((label) => !added.includes(label));
  for (const { metric, matchers } of uses) {
    const series = exposed.get(metric);
    expect([metric, series !== undefined]).toEqual([metric, true]);
    // A server that does not share its store is not a candidate in any leader election.
    if (matchers.length + labels.length === 0) continue;
    const fitting = (series ?? []).filter((one) =>
      matchers.every(({ label, holds }) => label in one && holds(one[label] ?? '')),
    );
    expect([metric, fitting.length > 0]).toEqual([metric, true]);
    expect([metric, Object.keys(fitting[0] ?? {})]).toEqual([metric, expect.arrayContaining([...labels])]);
  }
});

test('annotations use only labels of their series', () => {
  for (const { alert, expr, annotations } of rules) {
    const named = Object.values(annotations).flatMap((one) =>
      [...one.matchAll(/\$labels\.(\w+)/g)].map(([, name]) => name),
    );
    expect([alert, groupedBy(expr)]).toEqual([alert, expect.arrayContaining(named)]);
  }
});

test('each alert is on the operations page, in the same order', () => {
  const page = readFileSync(join(root, 'docs/operations.md'), 'utf8');
  const lines = [...page.matchAll(/^\| `(Kedge\w+)` \| (\w+) \|/gm)].map(([, alert, severity]) => [alert, severity]);
  expect(lines).toEqual(rules.map(({ alert, labels }) => [alert, labels.severity]));
});

test('the parser extracts metrics and matchers', () => {
  const [use] = usesIn('sum by (a) (rate(x_total{code=~"5..", b!="c"}[5m])) / 2 > 0.1');
  expect(use?.metric).toBe('x_total');
  expect(use?.matchers.map(({ label, holds }) => [label, holds('500'), holds('c')])).toEqual([
    ['code', true, false],
    ['b', true, false],
  ]);
  expect(usesIn('max(a) - time() < 3 and b offset 5m').map(({ metric }) => metric)).toEqual(['a', 'b']);
});
