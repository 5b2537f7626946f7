import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { writeFileSync } from 'node:fs';
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
import { cpuMilliseconds } from './process.mjs';
import { headers, newPath, number, serveForLoad, table } from './servers.mjs';

/**
 * Measures how many certificates per second are requested, approved, signed, recorded in the ledger and observed by a
 * watcher; over HTTPS and within the process, in memory and durable.
 */

const usages = ['digital signature', 'client auth'];
const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const key = await generateKey('P-256');
const csrOf = (name, request, signerName) => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name },
  spec: { request, signerName, usages },
});

// Creating requests is the clients' work and not measured. There are more of them than the server caches.
const different = 2_000;
const requestsFor = (subjectOf) =>
  Promise.all(
    Array.from({ length: different }, async (_, at) =>
      Buffer.from(await createCertificateRequest({ subject: subjectOf(at), key })).toString('base64'),
    ),
  );

/** A custom signer, whose requests a rule approves. */
const ordinary = {
  signerName: 'example.com/bench',
  subjectOf: (at) => ({ commonName: `user-${at}` }),
  rule: {
    name: 'bench',
    effect: 'approve',
    signers: ['example.com/bench'],
    requesters: { groups: ['bench'] },
    usages,
    subject: { commonName: ['*'] },
  },
};
/** Requests of node agents: approved by the built-in approver, which checks the permissions of the requester. */
const node = {
  signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
  subjectOf: (at) => ({ commonName: `system:node:n${at}`, organizations: ['system:nodes'] }),
};

const row = (title, { perSecond, cpu, latencies }) => [
  title,
  number(perSecond),
  number(cpu * 1_000),
  ...(latencies === undefined
    ? ['', '']
    : [number(percentile(latencies, 0.5), 1), number(percentile(latencies, 0.99), 1)]),
];

export async function certificates({ milliseconds }) {
  const rows = [];
  for (const [title, store] of [
    ['in process, in memory', 'memory:'],
    ['in process, durable', `level:${newPath()}`],
  ]) {
    rows.push(row(`${title}, 64 at a time`, await inProcess(store, milliseconds)));
  }
  for (const [title, store, sort] of [
    ['HTTPS, in memory', 'memory:', ordinary],
    ['HTTPS, durable', undefined, ordinary],
    ['HTTPS, durable, node clients', undefined, node],
  ]) {
    const results = await overHttps(store, sort, milliseconds);
    for (const [concurrency, result] of results) rows.push(row(`${title}, ${concurrency} at a time`, result));
  }
  table(
    'Certificates: requested, approved, signed, recorded, seen by a watcher',
    ['', 'per second', 'cpu us', 'p50 ms', 'p99 ms'],
    rows,
  );
}

/** Measures issuing alone, and its share of the time of the cryptography in it. */
export async function signing({ milliseconds }) {
  const requests = await requestsFor(ordinary.subjectOf);
  const ca = await createCertificateAuthority({ commonName: 'bench' });
  const privateKey = createPrivateKey(privateKeyPem(key));
  // The form of a key that is read fastest; that of requests takes twice as long.
  const jwk = { key: createPublicKey(privateKey).export({ format: 'jwk' }), format: 'jwk' };
  const data = Buffer.alloc(400, 7);
  const signature = sign('sha256', data, privateKey);
  const issue = (at) => {
    const pem = Buffer.from(requests[at % different], 'base64');
    return ca.issue(readCertificateRequest(pem), { seconds: 3_600, usages });
  };
  const steps = {
    'limit: read key, verify, sign, node:crypto alone': () =>
      verify('sha256', data, createPublicKey(jwk), signature) && sign('sha256', data, privateKey),
    'read, verify, issue': issue,
    'the same request again and again': () => issue(0),
  };
  const results = [];
  for (const [title, run] of Object.entries(steps)) results.push([title, await steadily(run, milliseconds)]);
  const limit = results[0][1].cpu;
  table(
    'Signing step, P-256, one after another',
    ['', 'per second', 'cpu us', 'share of the limit'],
    results.map(([title, { perSecond, cpu }]) => [
      title,
      number(perSecond),
      number(cpu * 1_000),
      `${number((limit / cpu) * 100)} %`,
    ]),
  );
}

/** Runs one call after another for a while. `cpu` is in milliseconds per call. */
async function steadily(run, milliseconds) {
  for (let at = 0; at < 1_000; at++) await run(at);
  const [began, used] = [performance.now(), cpuMilliseconds(process.pid)];
  let count = 0;
  while (performance.now() - began < milliseconds) {
    for (let i = 0; i < 20; i++) await run(count++);
  }
  const perSecond = count / ((performance.now() - began) / 1_000);
  return { perSecond, cpu: (cpuMilliseconds(process.pid) - used) / count };
}

/** Holds the callers that wait for certificates. */
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

/** Measures after a warm-up: code is compiled when it first runs, and this is much code. */
async function measure(pid, { ask, concurrency, milliseconds }) {
  await underLoad({ concurrency, milliseconds: milliseconds * 2, request: ask });
  const used = cpuMilliseconds(pid);
  const { requests: count, perSecond, latencies } = await underLoad({ concurrency, milliseconds, request: ask });
  return { perSecond, cpu: (cpuMilliseconds(pid) - used) / count, latencies };
}

async function inProcess(store, milliseconds) {
  const requests = await requestsFor(ordinary.subjectOf);
  const ca = await createCertificateAuthority({ commonName: 'bench' });
  const signer = {
    serves: ordinary.signerName,
    sign: async ({ request, usages: wanted }) => ({
      issued: await ca.issue(request, { seconds: 3_600, usages: wanted }),
    }),
    trustAnchors: async () => ca.anchors,
  };
  const server = await createServer({
    store,
    certificates: { signers: [], policy: { rules: [ordinary.rule] } },
    signers: [signer],
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
  const ask = async () => {
    const name = `bench-${serial++}`;
    const issued = room.wait(name);
    await requester.create(csrOf(name, requests[serial % different], ordinary.signerName));
    await issued;
    return 200;
  };
  const result = await measure(process.pid, { ask, concurrency: 64, milliseconds });
  watch.unsubscribe();
  await server.stop();
  return result;
}

async function overHttps(store, { signerName, subjectOf, rule }, milliseconds) {
  const requests = await requestsFor(subjectOf);
  const options = rule === undefined ? {} : await ownSigner(signerName, rule);
  const server = await serveForLoad({ options, store });
  const watcher = connectTo(server.line.url, headers);
  const asNode = { ...headers, 'impersonate-user': 'bench:node', 'impersonate-group': 'bench:nodes' };
  const requester = connectTo(server.line.url, rule === undefined ? asNode : headers, { sessions: 4 });
  if (rule === undefined) await bindNodes(watcher);
  const room = waitingRoom();
  let rest = '';
  const watch = watcher.stream('GET', `${path}?watch=true`);
  watch.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const one of lines) room.tell(JSON.parse(one).object);
  });
  let serial = 0;
  const ask = async () => {
    const name = `bench-${serial++}`;
    const issued = room.wait(name);
    const body = JSON.stringify(csrOf(name, requests[serial % different], signerName));
    const { status, body: answer } = await requester.call('POST', path, body);
    if (status !== 201) throw new Error(`the server answered ${status}: ${answer}`);
    await issued;
    return 200;
  };
  const results = [];
  for (const concurrency of [64, 1]) {
    results.push([concurrency, await measure(server.pid, { ask, concurrency, milliseconds })]);
  }
  watch.close();
  watcher.close();
  requester.close();
  await server.stop();
  return results;
}

async function ownSigner(signerName, rule) {
  const ca = await createCertificateAuthority({ commonName: 'bench' });
  const pair = await ca.issueAuthority({ commonName: 'bench issuing' });
  const [certificateFile, keyFile] = [newPath('ca.crt'), newPath('ca.key')];
  writeFileSync(certificateFile, pair.certificate);
  writeFileSync(keyFile, pair.key, { mode: 0o600 });
  return {
    signing: { signers: [{ name: signerName, certificateFile, keyFile }] },
    certificatePolicy: { rules: [rule] },
  };
}

async function bindNodes(client) {
  const rbac = 'rbac.authorization.k8s.io';
  const roles = ['system:node-bootstrapper', 'system:certificates.k8s.io:certificatesigningrequests:nodeclient'];
  for (const [at, role] of roles.entries()) {
    const binding = {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: `bench-${at}` },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: rbac, kind: 'Group', name: 'bench:nodes' }],
    };
    await client.call('POST', `/apis/${rbac}/v1/clusterrolebindings`, JSON.stringify(binding));
  }
}
