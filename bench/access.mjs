import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import http2 from 'node:http2';
import { createServer, SubjectAccessReviews } from 'kedge';
import { connectTo, underLoad } from './load.mjs';
import { cpuMilliseconds } from './process.mjs';
import { headers, measured, newPath, number, serveForLoad, table } from './servers.mjs';

/** Measures issuing tokens, requests with tokens, and authorization decisions. */

const at = '/api/v1/namespaces/default';
const group = 'rbac.authorization.k8s.io';
const rbac = `/apis/${group}/v1`;
const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }];
const bindingOf = (name, subject) => ({
  metadata: { name },
  roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'reader' },
  subjects: [subject],
});
const reviewOf = (user) => ({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SubjectAccessReview',
  metadata: {},
  spec: { user, resourceAttributes: { verb: 'get', resource: 'configmaps', namespace: 'default', name: 'a' } },
});
const limits = { readOnlyRequests: 0, mutatingRequests: 0 };

const row = (title, { perSecond, cpu }) => [title, number(perSecond), number(cpu)];

/** Measures after a second under load, when frequently used code has been compiled. */
async function warm(pid, request, milliseconds) {
  await underLoad({ concurrency: 64, milliseconds: 1_000, request });
  return measured(pid, { concurrency: 64, milliseconds, request });
}

async function open(options) {
  const server = await serveForLoad({ store: 'memory:', options: { limits, ...options } });
  const client = connectTo(server.line.url, headers);
  const post = async (path, object) => {
    const { status, body } = await client.call('POST', path, JSON.stringify(object));
    if (status >= 300) throw new Error(`the server answered ${status}: ${body}`);
    return JSON.parse(body);
  };
  await post(`${rbac}/clusterroles`, { metadata: { name: 'reader' }, rules });
  const stop = () => {
    client.close();
    return server.stop();
  };
  return { server, client, post, stop };
}

async function tokens(title, key, milliseconds) {
  const file = newPath('key');
  writeFileSync(file, key.export({ type: 'pkcs8', format: 'pem' }));
  const { server, client, post, stop } = await open({ serviceAccounts: { signingKeyFile: file } });
  await post(`${at}/serviceaccounts`, { metadata: { name: 'sa' } });
  await post(`${at}/configmaps`, { metadata: { name: 'a' }, data: { k: 'v' } });
  const subject = { kind: 'ServiceAccount', name: 'sa', namespace: 'default' };
  await post(`${rbac}/clusterrolebindings`, bindingOf('reader', subject));

  const issue = () => client.call('POST', `${at}/serviceaccounts/sa/token`, '{}');
  const rows = [
    row(`${title}: token issued`, await warm(server.pid, async () => (await issue()).status, milliseconds)),
  ];
  const issued = [];
  // Enough for both periods of load, at twice the number that is looked up per second.
  for (let wanted = 3 * (1_000 + milliseconds); issued.length < wanted; ) {
    const some = await Promise.all(Array.from({ length: 64 }, issue));
    issued.push(...some.map(({ body }) => JSON.parse(body).status.token));
  }
  const session = http2.connect(server.line.url, { rejectUnauthorized: false });
  const get = (token) =>
    new Promise((done, fail) => {
      const stream = session.request({ ':path': `${at}/configmaps/a`, authorization: `Bearer ${token}` });
      stream.once('response', (answer) => stream.once('end', () => done(answer[':status'])));
      stream.once('error', fail).resume();
    });
  const known = () => get(issued[0]);
  rows.push(row(`${title}: GET, token known`, await warm(server.pid, known, milliseconds)));
  let next = 0;
  const unknown = () => get(issued[next++ % issued.length]);
  rows.push(row(`${title}: GET, token seen for the first time`, await warm(server.pid, unknown, milliseconds)));
  session.close();
  await stop();
  return rows;
}

/** Runs calls, 64 at a time. */
async function inBatches(count, run) {
  for (let from = 0; from < count; from += 64) {
    await Promise.all(Array.from({ length: Math.min(64, count - from) }, (_, i) => run(from + i)));
  }
}

const userSubject = (i) => ({ apiGroup: group, kind: 'User', name: `user-${i}` });

async function decisions(bindings, milliseconds) {
  const { server, client, post, stop } = await open({});
  await inBatches(bindings, (i) => post(`${rbac}/clusterrolebindings`, bindingOf(`b-${i}`, userSubject(i))));
  const ask = (user) => {
    const body = JSON.stringify(reviewOf(user));
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
    return async () => (await client.call('POST', path, body)).status;
  };
  const title = `review, ${number(bindings)} bindings`;
  const rows = [
    row(`${title}, allowed`, await warm(server.pid, ask(`user-${bindings - 1}`), milliseconds)),
    row(`${title}, refused`, await warm(server.pid, ask('nobody'), milliseconds)),
  ];
  await stop();
  return rows;
}

/** Measures decisions without sockets. The CPU time is that of this process, which also makes the requests. */
async function decisionsInProcess(bindings, milliseconds) {
  const server = await createServer({ store: 'memory:', controllers: [] });
  const type = (plural, kind) => ({ group, version: 'v1', plural, kind, namespaced: false });
  const create = (plural, kind, object) =>
    server
      .client()
      .resource(type(plural, kind))
      .create({ apiVersion: `${group}/v1`, kind, ...object });
  await create('clusterroles', 'ClusterRole', { metadata: { name: 'reader' }, rules });
  await inBatches(bindings, (i) =>
    create('clusterrolebindings', 'ClusterRoleBinding', bindingOf(`b-${i}`, userSubject(i))),
  );
  const reviews = server.client().resource(SubjectAccessReviews);
  const request = async () => {
    await reviews.create(reviewOf(`user-${bindings - 1}`));
    return 201;
  };
  await underLoad({ concurrency: 64, milliseconds: 1_000, request });
  const before = cpuMilliseconds(process.pid);
  const { perSecond, requests } = await underLoad({ concurrency: 64, milliseconds, request });
  const cpu = ((cpuMilliseconds(process.pid) - before) * 1_000) / requests;
  await server.stop();
  return row(`review in process, ${number(bindings)} bindings`, { perSecond, cpu });
}

export async function access({ milliseconds }) {
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
  const rows = [...(await tokens('ES256', ec, milliseconds)), ...(await tokens('RS256', rsa, milliseconds))];
  for (const bindings of [10, 10_000]) {
    rows.push(...(await decisions(bindings, milliseconds)), await decisionsInProcess(bindings, milliseconds));
  }
  table('Identity and access over HTTP/2, 64 requests under way', ['', 'per second', 'cpu us'], rows);
}
