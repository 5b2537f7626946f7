#!/usr/bin/env node
/**
 * Measures a server of this checkout and prints tables. Everything runs on the loopback, in about a minute.
 * `cpu` is what the server's process used per request: the figure to compare on a shared machine.
 *
 *   node bench/run.mjs [--only start,http,store,certificates,watch] [--seconds 2]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createCertificateRequest, document, generateKey, openStore, silentLogger, systemClock } from 'kedge';
import { connectTo, percentile, underLoad } from './load.mjs';
import { cpuMilliseconds, startProgram } from './process.mjs';

const { values: flags } = parseArgs({
  options: { only: { type: 'string' }, seconds: { type: 'string', default: '2' } },
});
const milliseconds = Number(flags.seconds) * 1_000;
const main = resolve(import.meta.dirname, '../dist/src/main.js');
const work = mkdtempSync(join(tmpdir(), 'kedge-bench-'));
const token = 'bench-token';
const options = join(work, 'options.yaml');
writeFileSync(join(work, 'tokens.csv'), `${token},bench,,"system:masters"\n`);
writeFileSync(options, `tokenFile: ${join(work, 'tokens.csv')}\n`);
const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };

let directories = 0;
const newDirectory = () => join(work, `data-${directories++}`);
const isReady = ({ msg }) => msg === 'ready';
const serve = (directory, ...more) =>
  startProgram([main, 'serve', '--port', '0', '--data-dir', directory, '--log-format', 'json', ...more], isReady);
const serveForLoad = (...more) => serve(newDirectory(), '--config', options, '--log-level', 'info', ...more);

const number = (value, digits = 0) =>
  Number.isFinite(value)
    ? value.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: digits })
    : '';
function table(title, columns, rows) {
  const texts = [columns, ...rows.map((row) => row.map(String))];
  const widths = columns.map((_, at) => Math.max(...texts.map((row) => row[at].length)));
  const line = (row) =>
    row.map((text, at) => (at === 0 ? text.padEnd(widths[at]) : text.padStart(widths[at]))).join('  ');
  process.stdout.write(`\n${title}\n${texts.map((row) => `  ${line(row)}\n`).join('')}`);
}

async function start() {
  const best = async (count, run) => {
    const results = [];
    for (let i = 0; i < count; i++) results.push(await run());
    return results.toSorted((a, b) => a.readyMs - b.readyMs)[0];
  };
  const once = async (directory) => {
    const program = await serve(directory);
    await program.stop();
    return program;
  };
  const cold = await best(3, () => once(newDirectory()));
  const directory = newDirectory();
  await once(directory);
  const warm = await best(5, () => once(directory));
  const { line: inProcess } = await startProgram([join(import.meta.dirname, 'test-server.mjs')], () => true);
  table(
    'Start (best of several)',
    ['', 'ms', 'cpu ms', 'MB'],
    [
      ['serve, cold: process start to ready', number(cold.readyMs), number(cold.cpuMs), number(cold.megabytes)],
      ['serve, warm', number(warm.readyMs), number(warm.cpuMs), number(warm.megabytes)],
      ['testServer(), first in a process', number(inProcess.first), '', ''],
      ['testServer(), next ones', number(inProcess.next), '', ''],
    ],
  );
}

const padding = 'x'.repeat(1_700);
const configMap = (name, data = {}) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: { app: 'bench', tier: 'one' }, annotations: { note: 'of ordinary length' } },
    data: { padding, ...data },
  });

async function measured(pid, load) {
  const before = cpuMilliseconds(pid);
  const { perSecond, requests, latencies } = await underLoad(load);
  return {
    perSecond,
    cpu: ((cpuMilliseconds(pid) - before) * 1_000) / requests,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
  };
}

async function overHttp(...storeFlags) {
  const server = await serveForLoad(...storeFlags);
  const client = connectTo(server.line.url, headers, { sessions: 4 });
  const status = async (...call) => (await client.call(...call)).status;
  const all = '/api/v1/namespaces/bench/configmaps';
  await client.call('POST', '/api/v1/namespaces', '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"bench"}}');
  const one = await client.call('POST', all, configMap('one'));
  if (one.status !== 201) throw new Error(`the server answered ${one.status}: ${one.body}`);
  await Promise.all(Array.from({ length: 999 }, (_, at) => client.call('POST', all, configMap(`o${at}`))));
  // Each write goes to one of many objects, as in life.
  const some = (at) => `${all}/o${at % 200}`;
  const patch =
    (type, body, more = '') =>
    (at) =>
      status('PATCH', `${some(at)}?fieldManager=bench${more}`, body(at), type);
  const operations = {
    GET: () => status('GET', `${all}/one`),
    'LIST 500': () => status('GET', `${all}?limit=500`),
    'LIST by label': () => status('GET', `${all}?labelSelector=app%3Dbench&limit=500`),
    CREATE: (at) => status('POST', all, configMap(`new-${at}`)),
    UPDATE: (at) => status('PUT', some(at), configMap(`o${at % 200}`, { at: String(at) })),
    'JSON PATCH': patch('application/json-patch+json', (at) => `[{"op":"add","path":"/data/at","value":"${at}"}]`),
    'MERGE PATCH': patch('application/merge-patch+json', (at) => `{"data":{"at":"${at}"}}`),
    'STRATEGIC PATCH': patch('application/strategic-merge-patch+json', (at) => `{"data":{"at":"${at}"}}`),
    APPLY: patch(
      'application/apply-patch+yaml',
      (at) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"o${at % 200}"},"data":{"applied":"${at}"}}`,
      '&force=true',
    ),
  };
  const results = new Map();
  await underLoad({ concurrency: 32, milliseconds: milliseconds / 2, request: operations.GET });
  for (const [name, request] of Object.entries(operations)) {
    const isList = name.startsWith('LIST');
    results.set(name, await measured(server.pid, { concurrency: isList ? 8 : 64, milliseconds, request }));
  }
  const answers = [await client.call('GET', `${all}/one`), await client.call('GET', `${all}?limit=500`)];
  client.close();
  await server.stop();
  return { results, answers };
}

/** What Node itself needs for the same bytes. */
async function raw(answers) {
  const files = answers.map(({ body }, at) => {
    const file = join(work, `answer-${at}`);
    writeFileSync(file, body);
    return file;
  });
  const directory = newDirectory();
  await (await serve(directory)).stop();
  const program = [join(import.meta.dirname, 'raw-server.mjs'), join(directory, 'pki/apiserver.pem'), ...files];
  const server = await startProgram(program, isReady);
  const client = connectTo(server.line.url, headers, { sessions: 4 });
  const request = (path) => async () => (await client.call('GET', path)).status;
  await underLoad({ concurrency: 32, milliseconds: milliseconds / 2, request: request('/0') });
  const results = {
    GET: await measured(server.pid, { concurrency: 64, milliseconds, request: request('/0') }),
    'LIST 500': await measured(server.pid, { concurrency: 8, milliseconds, request: request('/1') }),
  };
  client.close();
  await server.stop();
  return results;
}

async function http() {
  const memory = await overHttp('--store', 'memory:');
  const level = await overHttp();
  const bare = await raw(memory.answers);
  table(
    'Over HTTP/2, objects of 2 KB, 64 requests under way (lists: 8)',
    ['', 'memory/s', 'cpu us', 'p99 ms', 'level/s', 'cpu us', 'p99 ms', 'raw http2 cpu us', 'ratio'],
    [...memory.results].map(([name, inMemory]) => {
      const durable = level.results.get(name);
      const floor = bare[name];
      return [
        name,
        ...[inMemory, durable].flatMap(({ perSecond, cpu, p99 }) => [number(perSecond), number(cpu), number(p99, 1)]),
        floor === undefined ? '' : number(floor.cpu),
        floor === undefined ? '' : number(inMemory.cpu / floor.cpu, 2),
      ];
    }),
  );
}

async function storeAlone(address) {
  const store = await openStore(address, { clock: systemClock, log: silentLogger });
  const value = document({ padding });
  const commits = await underLoad({
    concurrency: 64,
    milliseconds,
    request: async (at) => {
      await store.commit({ key: `/bench/${at}`, document: value, expect: 'absent' });
      return 200;
    },
  });
  const loop = async (run) => {
    let count = 0;
    const began = performance.now();
    while (performance.now() - began < milliseconds / 2) {
      for (let i = 0; i < 100; i++) await run(count + i);
      count += 100;
    }
    return count / ((performance.now() - began) / 1_000);
  };
  const gets = await loop((at) => store.get(`/bench/${at % commits.requests}`));
  const scans = await loop(() => store.scan('/bench/', { limit: 500 }));
  await store.close();
  return [number(commits.perSecond), number(gets), number(scans)];
}

async function store() {
  table(
    'The store alone, documents of 1.7 KB',
    ['', 'commits/s, 64 writers', 'gets/s', 'scans of 500/s'],
    [
      ['memory', ...(await storeAlone('memory:'))],
      ['level', ...(await storeAlone(`level:${newDirectory()}`))],
    ],
  );
}

/** From the request that creates a CertificateSigningRequest to the event that carries its certificate. */
async function certificates() {
  const server = await serveForLoad();
  const rbac = 'rbac.authorization.k8s.io';
  const client = connectTo(server.line.url, headers, { sessions: 2 });
  const bind = (name, role) =>
    client.call(
      'POST',
      `/apis/${rbac}/v1/clusterrolebindings`,
      JSON.stringify({
        apiVersion: `${rbac}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name },
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
        subjects: [{ apiGroup: rbac, kind: 'Group', name: 'bench:nodes' }],
      }),
    );
  await bind('bench-requests', 'system:node-bootstrapper');
  await bind('bench-approval', 'system:certificates.k8s.io:certificatesigningrequests:nodeclient');
  const node = connectTo(
    server.line.url,
    { ...headers, 'impersonate-user': 'bench:node', 'impersonate-group': 'bench:nodes' },
    { sessions: 2 },
  );
  const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const waiting = new Map();
  const watch = client.stream('GET', `${path}?watch=true`);
  let rest = '';
  watch.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const { object } = JSON.parse(line);
      if (object.status?.certificate === undefined) continue;
      waiting.get(object.metadata.name)?.();
      waiting.delete(object.metadata.name);
    }
  });
  const key = await generateKey('P-256');
  const newSpec = async (name) => {
    const subject = { commonName: `system:node:${name}`, organizations: ['system:nodes'] };
    return {
      request: Buffer.from(await createCertificateRequest({ subject, key })).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'client auth'],
    };
  };
  let serial = 0;
  const issue = async () => {
    const name = `bench-${serial++}`;
    const issued = new Promise((resolve) => waiting.set(name, resolve));
    const spec = await newSpec(name);
    const body = { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata: { name }, spec };
    const { status, body: answer } = await node.call('POST', path, JSON.stringify(body));
    if (status !== 201) throw new Error(`the server answered ${status}: ${answer}`);
    await issued;
    return 200;
  };
  await underLoad({ concurrency: 4, milliseconds: milliseconds / 2, request: issue });
  const rows = [];
  for (const concurrency of [1, 64]) {
    const { perSecond, cpu, p50, p99 } = await measured(server.pid, { concurrency, milliseconds, request: issue });
    rows.push([`${concurrency} at a time`, number(perSecond), number(cpu), number(p50, 1), number(p99, 1)]);
  }
  watch.close();
  client.close();
  node.close();
  await server.stop();
  table(
    'Certificates: created, approved, signed, seen by a watcher (level store)',
    ['', 'per second', 'cpu us', 'p50 ms', 'p99 ms'],
    rows,
  );
}

async function watch() {
  const rows = [];
  for (const watchers of [1, 100, 1_000]) {
    const server = await serveForLoad('--store', 'memory:');
    const client = connectTo(server.line.url, headers, { sessions: Math.ceil(watchers / 90) + 1 });
    const all = '/api/v1/namespaces/bench/configmaps';
    await client.call(
      'POST',
      '/api/v1/namespaces',
      '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"bench"}}',
    );
    await new Promise((resolve) => setTimeout(resolve, 500));
    let seen = 0;
    let arrived = () => {};
    const streams = Array.from({ length: watchers }, () => client.stream('GET', `${all}?watch=true`));
    await Promise.all(streams.map((stream) => new Promise((resolve) => stream.once('response', resolve))));
    for (const stream of streams) {
      stream.on('data', (chunk) => {
        // Events end with a line break, and none is inside of them.
        for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) seen++;
        arrived();
      });
    }
    const writes = watchers === 1 ? 1_000 : 20_000 / watchers;
    const base = seen;
    const latencies = [];
    const before = cpuMilliseconds(server.pid);
    const began = performance.now();
    for (let at = 0; at < writes; at++) {
      const wrote = performance.now();
      const everybody = new Promise((resolve) => {
        arrived = () => {
          if (seen - base >= (at + 1) * watchers) resolve();
        };
      });
      await client.call('POST', all, configMap(`w${at}`));
      arrived();
      await everybody;
      latencies.push(performance.now() - wrote);
    }
    const events = writes * watchers;
    rows.push([
      `${number(watchers)} watchers`,
      number(events / ((performance.now() - began) / 1_000)),
      number(((cpuMilliseconds(server.pid) - before) * 1_000) / events, 1),
      number(percentile(latencies, 0.5), 1),
      number(percentile(latencies, 0.99), 1),
    ]);
    for (const stream of streams) stream.close();
    client.close();
    await server.stop();
  }
  table(
    'Watch: one write after the other, until the last watcher has seen it',
    ['', 'events/s', 'cpu us per event', 'p50 ms', 'p99 ms'],
    rows,
  );
}

const parts = { start, http, store, certificates, watch };
const wanted = flags.only?.split(',') ?? Object.keys(parts);
try {
  for (const name of wanted) {
    if (!Object.hasOwn(parts, name))
      throw new Error(`there is no part ${name}; there are ${Object.keys(parts).join(', ')}`);
    await parts[name]();
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
