import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPemCertificates } from '../../src/pki/certificate.js';
import { eventually } from '../../src/testing/until.js';
import { type Ended, type ServerProgram, startServer, temporaryDirectory } from '../process/program.js';

/**
 * A server runs with every output enabled: debug log, metrics, and an audit log with whole bodies except those that
 * contain secrets. It is given secrets of all sorts, in good and in bad requests. None of them may appear in its
 * output, error responses, metrics, events or the ledger.
 */
const canary = (what: string): string => `canary-${what}-${Buffer.from(what).toString('hex')}-0123456789`;
const base64Url = (value: object | string): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const secrets = {
  staticToken: canary('static'),
  unknownToken: canary('unknown'),
  password: canary('password'),
  inData: canary('data'),
  inText: canary('text'),
  inBadBody: canary('badbody'),
  inPatch: canary('patch'),
  reviewed: canary('reviewed'),
  inProtocol: canary('protocol'),
  inQuery: canary('query'),
  foreign: `${base64Url({ alg: 'ES256', kid: 'k' })}.${base64Url({ iss: 'https://127.0.0.1:1', aud: 'kedge', sub: canary('foreign') })}.${base64Url(canary('signature'))}`,
  bootstrap: 'c4n4ry.0123456789canary',
};
const bootstrapSecret = '0123456789canary';

const dataDir = temporaryDirectory();
let server: ServerProgram;
let ended: Ended;
/** The bodies of error responses, and the contents of metrics, events and the ledger. */
const answers: string[] = [];
/** Signed tokens of another server, and of this one. */
const issued: string[] = [secrets.foreign];
let served = 0;

const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
const ask = (
  line: string,
  {
    body,
    token = secrets.staticToken,
    headers = {},
  }: { body?: object | string; token?: string | undefined; headers?: Record<string, string> } = {},
): Promise<{ readonly code: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const [method = '', path = ''] = line.split(' ');
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const sent = request(
      `${server.url}${path}`,
      {
        agent,
        method,
        headers: {
          ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
          ...(text === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
      },
      (response) => {
        let answer = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
        response.once('end', () => {
          const code = response.statusCode ?? 0;
          served++;
          if (code >= 400 || /metrics|events|ledger/.test(path))
            answers.push(`${line.split('?')[0]}: ${JSON.stringify(response.headers)} ${answer}`);
          resolve({ code, text: answer });
        });
      },
    );
    sent.on('error', reject);
    sent.end(text);
  });

const secret = (name: string, more: object) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, ...more });
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const at = '/api/v1/namespaces/default';

beforeAll(async () => {
  const file = (name: string, text: string): string => {
    writeFileSync(join(dataDir, name), text);
    return join(dataDir, name);
  };
  const policy = file(
    'policy.yaml',
    `apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: Metadata
  resources:
  - resources: [secrets, serviceaccounts/token]
  - { group: authentication.k8s.io, resources: [tokenreviews] }
  - { group: certificates.k8s.io, resources: [certificatesigningrequests] }
- level: RequestResponse
`,
  );
  const issuers = file(
    'issuers.yaml',
    `apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer: { url: 'https://127.0.0.1:1', audiences: [kedge] }
  claimMappings: { username: { claim: sub, prefix: '' } }
`,
  );
  const tokens = file('tokens.csv', `${secrets.staticToken},root,1,"system:masters"\n`);
  const config = file(
    'server.yaml',
    `logLevel: debug\ntokenFile: ${tokens}\naudit: { policyFile: ${policy} }\nauthenticationConfigFile: ${issuers}\n`,
  );
  server = await startServer(dataDir, ['--config', config, '--log-level', 'debug']);

  expect((await ask(`POST ${at}/secrets`, { body: secret('a', { data: { k: base64(secrets.inData) } }) })).code).toBe(
    201,
  );
  expect((await ask(`POST ${at}/secrets`, { body: secret('b', { stringData: { k: secrets.inText } }) })).code).toBe(
    201,
  );
  expect((await ask(`GET ${at}/secrets/a`)).text).toContain(base64(secrets.inData));
  await ask(`GET ${at}/secrets?limit=1`);
  await ask(`GET ${at}/secrets?watch=true&timeoutSeconds=1`);
  // Good requests that fail.
  await ask(`POST ${at}/secrets`, { body: secret('a', { data: { k: base64(secrets.inData) } }) });
  await ask(`PUT ${at}/secrets/a`, { body: secret('a', { data: { k: base64(secrets.inData) }, type: 'other' }) });
  const merge = { 'content-type': 'application/merge-patch+json' };
  await ask(`PATCH ${at}/secrets/a`, { body: { data: { k: base64(secrets.inPatch) } }, headers: merge });
  const patch = { 'content-type': 'application/json-patch+json' };
  await ask(`PATCH ${at}/secrets/a`, {
    body: [{ op: 'test', path: '/data/k', value: secrets.inPatch }],
    headers: patch,
  });
  const apply = { 'content-type': 'application/apply-patch+yaml' };
  const applied = secret('a', { data: { k: base64(secrets.inPatch) } });
  await ask(`PATCH ${at}/secrets/a?fieldManager=other`, { body: applied, headers: apply });
  await ask(`PATCH ${at}/secrets/b?fieldManager=other`, {
    body: secret('b', { data: { k: base64(secrets.inPatch) } }),
    headers: apply,
  });
  // Bad bodies.
  const dockerConfig = {
    type: 'kubernetes.io/dockerconfigjson',
    stringData: { '.dockerconfigjson': secrets.inBadBody },
  };
  for (const body of [
    secret('c', dockerConfig),
    secret('c', { data: { k: `!${secrets.inBadBody}` } }),
    secret('c', { data: { k: [secrets.inBadBody] } }),
    secret('c', { data: secrets.inBadBody }),
    secret('c', { stringData: { k: { nested: secrets.inBadBody } } }),
    secret('c', {
      type: 'kubernetes.io/tls',
      stringData: { 'tls.crt': secrets.inBadBody, 'tls.key': secrets.inBadBody },
    }),
    `{"kind":"Secret","apiVersion":"v1","data":{"k":"${secrets.inBadBody}"`,
    `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"c"},"data":{"k":"${secrets.inBadBody}","k":"x"}}`,
  ]) {
    await ask(`POST ${at}/secrets`, { body });
    await ask(`POST ${at}/secrets?fieldValidation=Strict`, { body });
  }
  const yaml = { 'content-type': 'application/yaml' };
  await ask(`POST ${at}/secrets`, {
    body: `kind: Secret\napiVersion: v1\ndata:\n  k: ${secrets.inBadBody}\n bad`,
    headers: yaml,
  });
  await ask(`PATCH ${at}/secrets/a`, {
    body: `[{"op":"add","path":"/data/k","value":"${secrets.inBadBody}`,
    headers: patch,
  });
  // Credentials, good and bad.
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  await eventually(
    () => ask(`GET ${at}/serviceaccounts/default`),
    ({ code }) => code === 200,
  );
  for (let i = 0; i < 2; i++) {
    const { text } = await ask(`POST ${at}/serviceaccounts/default/token`, { body: request });
    issued.push((JSON.parse(text) as { status: { token: string } }).status.token);
  }
  const good = issued.at(-1) ?? '';
  await ask('GET /api', { token: good });
  await ask('GET /api', { token: `${good.slice(0, -4)}AAAA` });
  await ask(`GET ${at}/secrets`, { token: good });
  await ask('GET /api', { token: secrets.unknownToken });
  await ask('GET /api', { token: secrets.foreign });
  await ask(`GET /api?access_token=${secrets.inQuery}`, { token: '' });
  await ask(`GET /api?acces%73%5Ftoken=${secrets.inQuery}`, { token: '' });
  await ask('GET /api', { token: '', headers: { authorization: `Basic ${base64(`user:${secrets.password}`)}` } });
  await ask('GET /api', { token: '', headers: { authorization: `Bearer  ${secrets.unknownToken}` } });
  await ask('GET /api', {
    token: '',
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-protocol': `base64url.bearer.authorization.k8s.io.${Buffer.from(secrets.inProtocol).toString('base64url')}, x`,
    },
  });
  const review = (token: string) => ({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } });
  for (const token of [secrets.reviewed, good, secrets.staticToken, secrets.foreign]) {
    await ask('POST /apis/authentication.k8s.io/v1/tokenreviews', { body: review(token) });
  }
  await ask('POST /apis/authentication.k8s.io/v1/tokenreviews', {
    body: { ...review(''), spec: { token: [secrets.reviewed] } },
  });
  const bootstrapData = {
    'token-id': 'c4n4ry',
    'token-secret': bootstrapSecret,
    'usage-bootstrap-authentication': 'true',
  };
  await ask('POST /api/v1/namespaces/kube-system/secrets', {
    body: secret('bootstrap-token-c4n4ry', { type: 'bootstrap.kubernetes.io/token', stringData: bootstrapData }),
  });
  await ask('GET /api', { token: secrets.bootstrap });
  await ask('GET /api', { token: 'c4n4ry.0123456789canarx' });
  // A token in a Secret, filled by a controller.
  await ask(`POST ${at}/secrets`, {
    body: {
      ...secret('legacy', { type: 'kubernetes.io/service-account-token' }),
      metadata: { name: 'legacy', annotations: { 'kubernetes.io/service-account.name': 'default' } },
    },
  });
  const { text } = await eventually(
    () => ask(`GET ${at}/secrets/legacy`),
    (found) => found.text.includes('"token"'),
  );
  issued.push(Buffer.from((JSON.parse(text) as { data: { token: string } }).data.token, 'base64').toString());
  await ask('GET /api', { token: issued.at(-1) });
  // A private key instead of a request for a certificate.
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  issued.push(...pem.split('\n').slice(1, -2));
  await ask('POST /apis/certificates.k8s.io/v1/certificatesigningrequests', {
    body: {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'k' },
      spec: { request: base64(pem), signerName: 'example.org/x', usages: ['client auth'] },
    },
  });
  await ask('GET /api/v1/events');
  await ask('GET /apis/certificates.kedge.internal/v1/certificateledgerentries');
  await ask('GET /metrics');
  agent.destroy();
  ended = await server.stop();
});
afterAll(async () => {
  agent.destroy();
  await server?.stop();
});

/** Returns the forms in which a text might leak. */
const forms = (text: string): readonly string[] => [
  text,
  base64(text),
  Buffer.from(text).toString('hex'),
  JSON.stringify(text).slice(1, -1),
];
const printed = (): string => `${ended.stdout}\n${ended.stderr}`;

test('the run produced logs, audit events and answers to check', () => {
  expect(served).toBeGreaterThan(40);
  expect(ended.code).toBe(0);
  expect(printed()).toContain('"level":"debug"');
  expect(printed()).toContain('"kind":"Event","apiVersion":"audit.k8s.io/v1"');
  expect(printed()).toContain('"resource":"secrets"');
  expect(printed()).toContain('"requestObject":');
  expect(answers.length).toBeGreaterThan(20);
  expect(answers.some((answer) => answer.startsWith('GET /metrics:') && answer.includes('# TYPE'))).toBe(true);
});

test.each(Object.entries(secrets))('%s appears nowhere', (_name, text) => {
  for (const form of forms(text)) {
    expect(printed()).not.toContain(form);
    expect(answers.filter((answer) => answer.includes(form))).toEqual([]);
  }
});

test('issued tokens and their signatures appear nowhere', () => {
  expect(issued.length).toBeGreaterThan(3);
  for (const text of issued) {
    const secretPart = text.includes('.') ? (text.split('.')[2] ?? '') : text;
    expect(secretPart.length).toBeGreaterThan(20);
    expect(printed()).not.toContain(secretPart);
    expect(answers.join('\n')).not.toContain(secretPart);
  }
});

test('private keys appear nowhere', () => {
  const folder = join(dataDir, 'pki');
  const kubeconfig = readFileSync(join(dataDir, 'admin.kubeconfig'), 'utf8');
  const [, inKubeconfig = ''] = /client-key-data: (\S+)/.exec(kubeconfig) ?? [];
  expect(inKubeconfig.length).toBeGreaterThan(100);
  expect(printed()).not.toContain(inKubeconfig);
  const keys = [...readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'))].flatMap((text) =>
    [...text.matchAll(/-----BEGIN [A-Z ]*PRIVATE KEY-----\n([\s\S]*?)-----END/g)].map(([, body = '']) => body),
  );
  expect(keys.length).toBeGreaterThan(2);
  for (const line of keys.flatMap((body) => body.trim().split('\n')).filter(({ length }) => length > 20)) {
    expect(printed()).not.toContain(line);
    expect(answers.join('\n')).not.toContain(line);
  }
  expect(printed()).not.toContain('PRIVATE KEY');
  expect(readPemCertificates(readFileSync(join(folder, 'ca.crt'), 'utf8'))).toHaveLength(1);
});
