import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect as connectTcp, createServer as listenTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { connect } from 'node:tls';
import { expect, test } from 'vitest';
import { createServer } from '../../src/embed.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { acceptableCas } from '../../src/server/acceptable-cas.js';
import { MemoryStore } from '../../src/store/memory/memory-store.js';
import { eventually } from '../../src/testing/until.js';
import { attributes, forge } from '../auth/forge.js';

const ca = (name: string) => forge({ subject: [[attributes.commonName, name]] });
const [one, other] = [ca('one'), ca('other')];

test.each([
  ['all of them', `# ours\n${one.pem}${other.pem}`, true],
  ['none if there are none', '', false],
  ['none if they are not certificates', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', false],
  ['none if there are too many', Array.from({ length: 17 }, () => ca('x'.repeat(4_000)).pem).join(''), false],
])('the CAs announced to clients: %s', (_, pem, isTold) => {
  expect(acceptableCas(() => pem, silentLogger)()).toBe(isTold ? pem : undefined);
});

test('an unusable file is logged once for each content', () => {
  const warnings: string[] = [];
  let pem = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  const told = acceptableCas(() => pem, { ...silentLogger, warn: (_fields, message) => void warnings.push(message) });
  for (let at = 0; at < 3; at++) expect(told()).toBe(undefined);
  expect(warnings).toHaveLength(1);
  pem = one.pem;
  expect(told()).toBe(pem);
});

test('a server announces in the handshake whose client certificates it accepts, and follows the file', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kedge-cas-'));
  const file = join(directory, 'clients.pem');
  const write = (pem: string): void => {
    writeFileSync(`${file}.new`, pem);
    renameSync(`${file}.new`, file);
  };
  write(one.pem);
  const server = await createServer({
    store: new MemoryStore(),
    clientCa: { file },
    listen: { port: 0 },
    log: silentLogger,
  });
  const names = async (): Promise<readonly boolean[]> => {
    const bytes = await handshake(new URL(server.url ?? ''));
    return [one, other].map(({ name }) => bytes.includes(name));
  };
  expect(await names()).toEqual([true, false]);
  write(other.pem);
  await eventually(names, ([, hasOther]) => hasOther === true);
  expect(await names()).toEqual([false, true]);
  await server.stop();
  rmSync(directory, { recursive: true });
});

/** Returns the first bytes of a server in a handshake, which are not encrypted with TLS 1.2. */
async function handshake({ hostname: host, port }: URL): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const between = listenTcp((client) => {
    const tcp = connectTcp(Number(port), host);
    tcp.on('data', (chunk) => chunks.push(chunk));
    pipeline(client, tcp, client, () => {});
  });
  await new Promise<void>((resolve) => between.listen(0, host, resolve));
  const socket = connect({
    ...{ host, port: (between.address() as AddressInfo).port },
    ...{ maxVersion: 'TLSv1.2', rejectUnauthorized: false },
  });
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
  socket.destroy();
  between.close();
  return Buffer.concat(chunks);
}
