#!/usr/bin/env node
/**
 * Measures identity and access: tokens issued, requests by token, decisions. Prints a table. `cpu` is what the server's
 * process used per request: the figure to compare on a shared machine.
 *
 *   node bench/access.mjs [--seconds 2] [--bindings 10,10000]
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http2 from 'node:http2';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { connectTo, underLoad } from './load.mjs';
import { cpuMilliseconds, startProgram } from './process.mjs';

const { values: flags } = parseArgs({
  options: { seconds: { type: 'string', default: '2' }, bindings: { type: 'string', default: '10,10000' } },
});
const milliseconds = Number(flags.seconds) * 1_000;
const main = resolve(import.meta.dirname, '../dist/src/main.js');
const work = mkdtempSync(join(tmpdir(), 'kedge-bench-access-'));
const root = 'bench-token';
writeFileSync(join(work, 'tokens.csv'), `${root},bench,,"system:masters"\n`);

const rows = [];
const say = (what, { perSecond }, cpu) =>
  rows.push([what, Math.round(perSecond).toLocaleString('en'), `${Math.round(cpu)} us`]);

async function serve(name, key, run) {
  const directory = join(work, name);
  const file = join(work, `${name}.yaml`);
  writeFileSync(join(work, `${name}.key`), key.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(
    file,
    `store: 'memory:'\ntokenFile: ${join(work, 'tokens.csv')}\nlimits: { readOnlyRequests: 0, mutatingRequests: 0 }\n` +
      `serviceAccounts: { signingKeyFile: ${join(work, `${name}.key`)} }\n`,
  );
  const args = [main, 'serve', '--port', '0', '--data-dir', directory, '--log-format', 'json', '--config', file];
  const program = await startProgram(args, ({ msg }) => msg === 'ready');
  const url = program.line.url;
  const as = (token) => connectTo(url, { authorization: `Bearer ${token}`, accept: 'application/json' });
  const measure = async (what, request) => {
    await underLoad({ concurrency: 64, milliseconds: Math.min(300, milliseconds / 2), request });
    const before = cpuMilliseconds(program.pid);
    const result = await underLoad({ concurrency: 64, milliseconds, request });
    say(what, result, ((cpuMilliseconds(program.pid) - before) * 1_000) / result.requests);
  };
  try {
    await run({ url, as, measure });
  } finally {
    await program.stop();
  }
}

const at = '/api/v1/namespaces/default';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const group = 'rbac.authorization.k8s.io';
const request = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} });

async function ok(answer) {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(`${status}: ${body}`);
  return JSON.parse(body);
}

async function tokens(name, key) {
  await serve(name, key, async ({ url, as, measure }) => {
    const admin = as(root);
    const post = (path, object) => ok(admin.call('POST', path, JSON.stringify(object)));
    await post(`${at}/serviceaccounts`, { metadata: { name: 'sa' } });
    await post(`${at}/configmaps`, { metadata: { name: 'a' }, data: { k: 'v' } });
    await post(`${rbac}/clusterroles`, {
      metadata: { name: 'reader' },
      rules: [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }],
    });
    await post(`${rbac}/clusterrolebindings`, {
      metadata: { name: 'reader' },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'reader' },
      subjects: [{ kind: 'ServiceAccount', name: 'sa', namespace: 'default' }],
    });
    const issue = () => admin.call('POST', `${at}/serviceaccounts/sa/token`, request);
    await measure(`${name}: token issued`, async () => (await issue()).status);

    const many = Math.ceil((milliseconds / 1_000) * 6_000);
    const issued = [];
    while (issued.length < many) {
      const some = await Promise.all(Array.from({ length: 64 }, () => ok(issue())));
      issued.push(...some.map(({ status }) => status.token));
    }
    const session = http2.connect(url, { rejectUnauthorized: false });
    const get = (token) =>
      new Promise((done, fail) => {
        const stream = session.request({
          ':method': 'GET',
          ':path': `${at}/configmaps/a`,
          authorization: `Bearer ${token}`,
        });
        let status = 0;
        stream.on('response', (headers) => (status = headers[':status']));
        stream.on('data', () => {});
        stream.on('end', () => done(status));
        stream.on('error', fail);
        stream.end();
      });
    await measure(`${name}: GET, token known`, () => get(issued[0]));
    let next = 0;
    await measure(`${name}: GET, token seen for the first time`, () => get(issued[next++ % issued.length]));
    session.close();
    admin.close();
  });
}

async function decisions(key) {
  await serve('decisions', key, async ({ as, measure }) => {
    const admin = as(root);
    const post = (path, object) => ok(admin.call('POST', path, JSON.stringify(object)));
    await post(`${rbac}/clusterroles`, {
      metadata: { name: 'reader' },
      rules: [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }],
    });
    let made = 0;
    for (const wanted of flags.bindings.split(',').map(Number)) {
      while (made < wanted) {
        const some = Math.min(64, wanted - made);
        await Promise.all(
          Array.from({ length: some }, (_, i) =>
            post(`${rbac}/clusterrolebindings`, {
              metadata: { name: `b-${made + i}` },
              roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'reader' },
              subjects: [{ apiGroup: group, kind: 'User', name: `user-${made + i}` }],
            }),
          ),
        );
        made += some;
      }
      const review = (user) =>
        JSON.stringify({
          spec: { user, resourceAttributes: { verb: 'get', resource: 'configmaps', namespace: 'default', name: 'a' } },
        });
      const ask = (body) => admin.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', body);
      const last = review(`user-${made - 1}`);
      const nobody = review('nobody');
      await measure(`decision by review, ${made} bindings, allowed`, async () => (await ask(last)).status);
      await measure(`decision by review, ${made} bindings, refused`, async () => (await ask(nobody)).status);
    }
    admin.close();
  });
}

try {
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
  await tokens('ES256', ec);
  await tokens('RS256', rsa);
  await decisions(ec);
  const width = Math.max(...rows.map(([what]) => what.length));
  process.stdout.write(`${'what'.padEnd(width)}  per second       cpu\n`);
  for (const [what, perSecond, cpu] of rows) {
    process.stdout.write(`${what.padEnd(width)}  ${perSecond.padStart(10)}  ${cpu.padStart(8)}\n`);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
