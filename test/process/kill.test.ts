import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  type CertificateSigningRequest,
  CertificateSigningRequests,
  certificatePem,
} from '../../src/api/kinds/certificate-signing-request.js';
import { type ConfigMap, ConfigMaps } from '../../src/api/kinds/config-map.js';
import { connect, type RemoteClient } from '../../src/client/remote-client.js';
import { testRequest } from '../../src/testing/certificates.js';
import { until } from '../../src/testing/until.js';
import { startServer, temporaryDirectory } from './program.js';

/** `kill -9` during writes: acknowledged writes are not lost, and no request gets a second certificate. */

const rounds = 5;
const writers = 8;

interface Acknowledged {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** What was acknowledged to clients, over all rounds. */
interface Record {
  readonly configMaps: Map<string, Acknowledged>;
  readonly requests: Map<string, Acknowledged>;
  /** The certificates seen, by the name of the request. */
  readonly certificates: Map<string, Set<string>>;
}

const acknowledged = ({ metadata: { uid = '', resourceVersion = '' } }: ConfigMap | CertificateSigningRequest) => ({
  uid,
  resourceVersion,
});

test('nothing acknowledged is lost by kill -9, over several rounds', async () => {
  const dataDir = temporaryDirectory();
  const request = (await testRequest({ commonName: 'system:node:n', organizations: ['system:nodes'] })).base64;
  const record: Record = { configMaps: new Map(), requests: new Map(), certificates: new Map() };

  for (let round = 1; round <= rounds; round++) {
    const server = await startServer(dataDir);
    const client = await connect({ kubeconfig: server.kubeconfig });
    await compare(client, record);
    const stopNoting = noteCertificates(client, record);
    // The server is killed during the following writes.
    let wanted = 1 + Math.floor(Math.random() * 80);
    const acknowledge = (): void => {
      wanted -= 1;
      if (wanted === 0) server.kill('SIGKILL');
    };
    const ends = Array.from({ length: writers }, (_, writer) =>
      write(client, { record, request, prefix: `r${round}-w${writer}`, acknowledge }),
    );
    expect(await server.ended).toMatchObject({ signal: 'SIGKILL' });
    await Promise.all(ends);
    stopNoting();
    client.close();
  }

  const server = await startServer(dataDir);
  const client = await connect({ kubeconfig: server.kubeconfig });
  await compare(client, record);
  const requests = client.resource(CertificateSigningRequests);
  const all = (await requests.list()).items.map(({ metadata }) => ({ name: metadata.name ?? '' }));
  await Promise.all(
    all.map(async (key) => {
      const csr = await until(requests, key, (found) => found?.status?.certificate !== undefined);
      if (csr !== undefined) note(csr, record);
    }),
  );
  expect([...record.certificates].filter(([, seen]) => seen.size !== 1)).toEqual([]);
  const serials = [...record.certificates.values()].flatMap((seen) =>
    [...seen].map((pem) => new X509Certificate(pem).serialNumber),
  );
  expect(new Set(serials).size).toBe(record.certificates.size);
  expect(record.certificates.size).toBeGreaterThanOrEqual(record.requests.size);
  expect(record.requests.size).toBeGreaterThan(0);
  client.close();
  await server.stop();
}, 300_000);

/** Creates one object after the other until the server is gone. */
async function write(
  client: RemoteClient,
  given: { readonly record: Record; readonly request: string; readonly prefix: string; acknowledge(): void },
): Promise<void> {
  const { record, request, prefix, acknowledge } = given;
  try {
    for (let count = 0; ; count++) {
      const name = `${prefix}-${count}`;
      if (count % 2 === 0) {
        const metadata = { namespace: 'default', name };
        const map = await client
          .resource(ConfigMaps)
          .create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { name } });
        record.configMaps.set(name, acknowledged(map));
      } else {
        const spec = {
          request,
          signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
          usages: ['digital signature', 'client auth'],
        };
        const csr = await client.resource(CertificateSigningRequests).create({
          apiVersion: 'certificates.k8s.io/v1',
          kind: 'CertificateSigningRequest',
          metadata: { name },
          spec,
        });
        record.requests.set(name, acknowledged(csr));
      }
      acknowledge();
    }
  } catch {
    // The server was killed; writes that it did not acknowledge may or may not have happened.
  }
}

function note(csr: CertificateSigningRequest, { certificates }: Record): void {
  const pem = certificatePem(csr);
  if (pem === undefined) return;
  const name = csr.metadata.name ?? '';
  certificates.set(name, (certificates.get(name) ?? new Set()).add(pem));
}

function noteCertificates(client: RemoteClient, record: Record): () => void {
  const subscription = client
    .resource(CertificateSigningRequests)
    .watch()
    .subscribe({ next: (event) => event.type !== 'BOOKMARK' && note(event.object, record), error: () => {} });
  return () => subscription.unsubscribe();
}

/** Checks that no acknowledged object is missing, replaced by another, or older. */
async function compare(client: RemoteClient, { configMaps, requests }: Record): Promise<void> {
  const maps = await client.resource(ConfigMaps).list({ namespace: 'default' });
  const found = new Map(maps.items.map((map) => [map.metadata.name ?? '', map]));
  for (const [name, told] of configMaps) {
    const map = found.get(name);
    expect(map && { ...acknowledged(map), data: map.data }).toEqual({ ...told, data: { name } });
  }
  const csrs = new Map(
    (await client.resource(CertificateSigningRequests).list()).items.map((csr) => [csr.metadata.name, csr]),
  );
  for (const [name, told] of requests) {
    const csr = csrs.get(name);
    expect(csr?.metadata.uid).toBe(told.uid);
    expect(BigInt(csr?.metadata.resourceVersion ?? 0)).toBeGreaterThanOrEqual(BigInt(told.resourceVersion));
  }
}
