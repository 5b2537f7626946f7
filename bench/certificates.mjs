#!/usr/bin/env node
/**
 * How many certificates a second: requested, approved by a rule, signed, recorded in the ledger and observed, by 64
 * requesters at a time; over HTTPS and within the process, in memory and durable. And how much of what cryptography
 * alone allows the signing step reaches. Needs a build; takes about half a minute. `cpu` is what the process used for one:
 * the figure to compare on a shared machine.
 *
 *   node bench/certificates.mjs [--seconds 4] [--requesters 64]
 */
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  CertificateSigningRequests,
  createCertificateAuthority,
  createCertificateRequest,
  createServer,
  generateKey,
  privateKeyPem,
  readCertificateRequest,
} from 'kedge';
import { connectTo, percentile, underLoad } from './load.mjs';
import { cpuMilliseconds, startProgram } from './process.mjs';

const { values: flags } = parseArgs({
  options: { seconds: { type: 'string', default: '4' }, requesters: { type: 'string', default: '64' } },
});
const milliseconds = Number(flags.seconds) * 1_000;
const concurrency = Number(flags.requesters);
const main = resolve(import.meta.dirname, '../dist/src/main.js');
const work = mkdtempSync(join(tmpdir(), 'kedge-bench-certificates-'));
const signerName = 'example.com/bench';
const usages = ['digital signature', 'client auth'];
const rule = {
  name: 'bench',
  effect: 'approve',
  signers: [signerName],
  requesters: { groups: ['bench'] },
  usages,
  subject: { commonName: ['*'] },
};
const key = await generateKey('P-256');
const requestOf = async (name) =>
  Buffer.from(await createCertificateRequest({ subject: { commonName: name }, key })).toString('base64');
const csrOf = (name, request) => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name },
  spec: { request, signerName, usages },
});
// Making requests is the requesters' work and not what is measured.
const prepared = await Promise.all(Array.from({ length: 4_000 }, (_, at) => requestOf(`user-${at}`)));
const requests = (at) => prepared[at % prepared.length];

const number = (value, digits = 0) =>
  value.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: digits });
const line = (title, perSecond, cpu, latencies) =>
  process.stdout.write(
    `  ${title.padEnd(44)}${number(perSecond).padStart(8)}/s   cpu ${number(cpu, 2).padStart(5)} ms${
      latencies === undefined
        ? ''
        : `   p50 ${number(percentile(latencies, 0.5), 1)} ms   p99 ${number(percentile(latencies, 0.99), 1)} ms`
    }\n`,
  );

/** Runs one thing after another for a while. */
async function steadily(run) {
  for (let at = 0; at < 200; at++) await run(at);
  const [began, used] = [performance.now(), cpuMilliseconds(process.pid)];
  let count = 0;
  while (performance.now() - began < milliseconds / 2) {
    for (let i = 0; i < 20; i++) await run(count++);
  }
  const perSecond = count / ((performance.now() - began) / 1_000);
  return { perSecond, cpu: (cpuMilliseconds(process.pid) - used) / count };
}

async function signingStep() {
  const ca = await createCertificateAuthority({ commonName: 'bench' });
  const pem = Buffer.from(requests(0), 'base64');
  const privateKey = createPrivateKey(privateKeyPem(key));
  const publicKey = createPublicKey(privateKey);
  const data = Buffer.alloc(400, 7);
  const signature = sign('sha256', data, privateKey);
  const limit = await steadily(() => verify('sha256', data, publicKey, signature) && sign('sha256', data, privateKey));
  const step = await steadily((at) =>
    ca.issue(readCertificateRequest(Buffer.from(requests(at), 'base64')), { seconds: 3_600, usages }),
  );
  const again = await steadily(() => ca.issue(readCertificateRequest(pem), { seconds: 3_600, usages }));
  process.stdout.write('\nSigning step, one after another\n');
  line('limit: verify and sign, node:crypto alone', limit.perSecond, limit.cpu);
  line('read, verify, issue', step.perSecond, step.cpu);
  line('the same request again and again', again.perSecond, again.cpu);
  process.stdout.write(`  share of the limit: ${number((limit.cpu / step.cpu) * 100)} %\n`);
}

/** Keeps who waits for which certificate. */
function waitingRoom() {
  const waiting = new Map();
  return {
    wait: (name) => new Promise((done) => waiting.set(name, done)),
    tell(csr) {
      if (csr.status?.certificate === undefined) return;
      waiting.get(csr.metadata.name)?.();
      waiting.delete(csr.metadata.name);
    },
  };
}

async function measure(title, pid, ask) {
  await underLoad({ concurrency, milliseconds: milliseconds / 2, request: ask });
  const used = cpuMilliseconds(pid);
  const { requests: count, perSecond, latencies } = await underLoad({ concurrency, milliseconds, request: ask });
  line(title, perSecond, (cpuMilliseconds(pid) - used) / count, latencies);
}

async function inProcess(title, store) {
  const server = await createServer({
    store,
    certificates: { signers: [], policy: { rules: [rule] } },
    signers: [await benchSigner()],
  });
  const room = waitingRoom();
  const requester = server
    .client({ username: 'bench', groups: ['bench', 'system:masters'] })
    .resource(CertificateSigningRequests);
  const watch = requester.watch({ resourceVersion: '0' }).subscribe({
    next: (event) => event.type !== 'BOOKMARK' && room.tell(event.object),
    error: () => {},
  });
  let serial = 0;
  await measure(title, process.pid, async () => {
    const name = `bench-${serial++}`;
    const issued = room.wait(name);
    await requester.create(csrOf(name, requests(serial)));
    await issued;
    return 200;
  });
  watch.unsubscribe();
  await server.stop();
}

async function benchSigner() {
  const ca = await createCertificateAuthority({ commonName: 'bench' });
  return {
    serves: signerName,
    sign: async ({ request, usages: wanted }) => ({
      issued: await ca.issue(request, { seconds: 3_600, usages: wanted }),
    }),
    trustAnchors: async () => ca.anchors,
  };
}

async function overHttps(title, store) {
  const ca = await createCertificateAuthority({ commonName: 'bench' });
  const pair = await ca.issueAuthority({ commonName: 'bench issuing' });
  writeFileSync(join(work, 'ca.crt'), pair.certificate);
  writeFileSync(join(work, 'ca.key'), pair.key, { mode: 0o600 });
  writeFileSync(join(work, 'tokens.csv'), 'bench-token,bench,,"bench,system:masters"\n');
  const configuration = {
    tokenFile: join(work, 'tokens.csv'),
    signing: { signers: [{ name: signerName, certificateFile: join(work, 'ca.crt'), keyFile: join(work, 'ca.key') }] },
    certificatePolicy: { rules: [rule] },
  };
  writeFileSync(join(work, 'options.yaml'), JSON.stringify(configuration));
  const args = ['serve', '--port', '0', '--data-dir', join(work, title.replaceAll(/\W/g, '')), '--log-format', 'json'];
  const more = store === undefined ? [] : ['--store', store];
  const server = await startProgram(
    [main, ...args, ...more, '--config', join(work, 'options.yaml'), '--log-level', 'info'],
    ({ msg }) => msg === 'ready',
  );
  const headers = { authorization: 'Bearer bench-token', accept: 'application/json' };
  const client = connectTo(server.line.url, headers, { sessions: 4 });
  const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const room = waitingRoom();
  let rest = '';
  const watch = client.stream('GET', `${path}?watch=true`);
  watch.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const one of lines) room.tell(JSON.parse(one).object);
  });
  let serial = 0;
  await measure(title, server.pid, async () => {
    const name = `bench-${serial++}`;
    const issued = room.wait(name);
    const { status, body } = await client.call('POST', path, JSON.stringify(csrOf(name, requests(serial))));
    if (status !== 201) throw new Error(`the server answered ${status}: ${body}`);
    await issued;
    return 200;
  });
  watch.close();
  client.close();
  await server.stop();
}

try {
  await signingStep();
  process.stdout.write(`\nEnd to end, ${concurrency} requesters\n`);
  await inProcess('in process, in memory', 'memory:');
  await inProcess('in process, durable', `level:${join(work, 'store')}`);
  await overHttps('HTTPS, in memory', 'memory:');
  await overHttps('HTTPS, durable', undefined);
} finally {
  rmSync(work, { recursive: true, force: true });
}
