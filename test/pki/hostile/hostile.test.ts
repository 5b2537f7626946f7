import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freshAnchors } from '../../../controllers/trust-bundle-publisher/bundle.js';
import { combineAnchors, UnfitSource } from '../../../controllers/trust-distributor/combine.js';
import { type Certificate, readPemCertificates } from '../../../src/pki/certificate.js';
import { type CertificateAuthority, loadCertificateAuthority } from '../../../src/pki/certificate-authority.js';
import {
  type CertificateRequest,
  readCertificateRequest,
  readRequestDer,
} from '../../../src/pki/certificate-request.js';
import { DerCursor, sequence, tags } from '../../../src/pki/der.js';
import type { KeyType } from '../../../src/pki/key-pair.js';
import { encodePem } from '../../../src/pki/pem.js';
import { PkiError } from '../../../src/pki/pki-error.js';
import { verifySignature } from '../../../src/pki/signature.js';
import { unusualPart } from '../../../src/pki/unusual-request.js';
import { anchorViolations } from '../../../src/resources/clustertrustbundles/anchors.js';
import { testAuthority, testKey } from '../../../src/testing/certificates.js';
import { randomFrom } from '../../fuzz/random.js';
import { testWithOpenssl } from '../openssl.js';
import { mutated } from './mutate.js';
import { seedRequests, signed } from './seeds.js';

/**
 * Requests and bundles of people who mean harm. A short run is part of the tests; a long one is
 *
 *     HOSTILE_RUNS=200000 npx vitest run test/pki/hostile
 *
 * and HOSTILE_SEED chooses another one.
 */
const runs = Number(process.env['HOSTILE_RUNS'] ?? 300);
const seed = Number(process.env['HOSTILE_SEED'] ?? 1);
const timeoutMs = 60_000 + runs * 20;
const types = ['P-256', 'P-384', 'P-521', 'Ed25519', 'RSA-2048'] as const satisfies readonly KeyType[];
const day = 86_400_000;

const root = await testAuthority({ commonName: 'root' });
const ca = loadCertificateAuthority(await root.issueAuthority({ commonName: 'issuing', seconds: 30 * 86_400 }));
const usages = ['digital signature', 'client auth'];

/**
 * Runs something that must be quick, whatever it is given. The processor's time counts, since others use this machine
 * too; what was slow gets two more chances, since garbage is collected now and then.
 */
function quickly<T>(what: () => string, run: () => T): T {
  for (let attempt = 1; ; attempt++) {
    const startedAt = process.cpuUsage();
    const result = run();
    const { user, system } = process.cpuUsage(startedAt);
    const ms = (user + system) / 1_000;
    if (ms <= 50) return result;
    if (attempt === 3) throw new Error(`took ${ms} ms: ${what()}`);
  }
}

/** undefined: refused, as it may be. Anything but a PkiError is a fault. */
function orRefused<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof PkiError) return undefined;
    throw error;
  }
}

const sameList = (a: readonly string[], b: readonly string[]): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Everything that is wrong with a certificate for a request. */
function faults(
  certificate: Certificate,
  request: CertificateRequest,
  authority: CertificateAuthority,
): readonly string[] {
  const { subject, alternativeNames, publicKey } = certificate;
  const lists = [
    'countries',
    'organizations',
    'organizationalUnits',
    'localities',
    'provinces',
    'streetAddresses',
    'postalCodes',
  ] as const;
  const names = ['dnsNames', 'emailAddresses', 'ipAddresses', 'uris'] as const;
  const signature = {
    algorithm: certificate.signatureAlgorithm,
    data: certificate.toBeSigned,
    signature: certificate.signature,
  };
  return [
    ...(subject.commonName === request.subject.commonName ? [] : ['another common name']),
    ...(subject.serialNumber === request.subject.serialNumber ? [] : ['another serial number of the subject']),
    ...lists
      .filter((list) => !sameList([...subject[list]].sort(), [...request.subject[list]].sort()))
      .map((list) => `other ${list}`),
    ...names.filter((list) => !sameList(alternativeNames[list], request[list])).map((list) => `other ${list}`),
    ...(publicKey.spki.equals(request.publicKey.spki) ? [] : ['another key']),
    ...(certificate.isCA ? ['a CA'] : []),
    ...(certificate.version === 3 ? [] : ['another version']),
    ...(/^(?!0+$)[0-9a-f]{1,34}$/.test(certificate.serial) ? [] : [`serial ${certificate.serial}`]),
    ...(certificate.notAfter <= authority.certificate.notAfter ? [] : ['it outlives its CA']),
    ...(certificate.notAfter > certificate.notBefore ? [] : ['it ends before it begins']),
    ...(certificate.issuerDer.equals(authority.certificate.subjectDer) ? [] : ['another issuer']),
    ...(orRefused(() => {
      verifySignature(signature, authority.certificate.publicKey);
      return true;
    })
      ? []
      : ['its signature does not verify']),
  ];
}

/** Certificates that openssl is shown besides. */
const shown: string[] = [];
const serials = new Set<string>();

describe.each(types)('requests with a key %s', (keyType) => {
  test(`${runs} broken ones are refused, or issued for what they say`, { timeout: timeoutMs }, async () => {
    const key = await testKey(keyType);
    const seeds = await seedRequests(key);
    const bodies = seeds.map((der) => new DerCursor(der).enter(tags.sequence)?.element(tags.sequence)?.whole ?? der);
    const random = randomFrom(seed * 1_000 + types.indexOf(keyType));
    let [read, issued] = [0, 0];
    for (let run = 0; run < runs; run++) {
      // Most are broken inside and signed anew, since a signature that does not verify ends everything.
      const at = random.below(seeds.length);
      const der = random.oneIn(4)
        ? mutated(seeds[at] ?? Buffer.alloc(0), random, seeds)
        : await signed(mutated(bodies[at] ?? Buffer.alloc(0), random, bodies), key);
      const what = (): string => `${keyType} ${der.toString('base64')}`;
      const request = quickly(what, () => orRefused(() => readRequestDer(der)));
      if (request === undefined) continue;
      read++;
      quickly(what, () => unusualPart(request));
      const pem = encodePem('CERTIFICATE REQUEST', der);
      expect(orRefused(() => readCertificateRequest(pem)) === undefined, what()).toBe(false);
      const seconds = random.pick([600, 86_400, 365 * 86_400, 10 * 365 * 86_400]);
      const made = await ca.issue(request, { seconds, usages }).catch((error: unknown) => {
        if (error instanceof PkiError && error.problem === 'unissuable') return undefined;
        throw error;
      });
      if (made === undefined) continue;
      issued++;
      const [certificate] = readPemCertificates(made);
      if (certificate === undefined) throw new Error(`nothing came: ${what()}`);
      const wrong = faults(certificate, request, ca);
      if (wrong.length > 0) throw new Error(`${wrong.join(', ')}: ${what()}`);
      expect(serials.has(certificate.serial)).toBe(false);
      serials.add(certificate.serial);
      if (shown.length < 400 && random.oneIn(Math.ceil(runs / 400))) shown.push(made);
    }
    expect(read).toBeGreaterThan(runs / 50);
    expect(issued).toBeGreaterThan(runs / 100);
  });
});

testWithOpenssl('what was issued verifies with openssl against the published anchors', () => {
  expect(shown.length).toBeGreaterThan(0);
  const folder = mkdtempSync(join(tmpdir(), 'kedge-hostile-'));
  try {
    writeFileSync(join(folder, 'anchors.pem'), ca.anchors);
    writeFileSync(
      join(folder, 'between.pem'),
      shown[0]?.slice(shown[0].indexOf('-----END CERTIFICATE-----') + 26) ?? '',
    );
    const files = shown.map((pem, at) => {
      writeFileSync(join(folder, `${at}.pem`), pem);
      return `${at}.pem`;
    });
    const args = ['verify', '-CAfile', 'anchors.pem', '-untrusted', 'between.pem', '-purpose', 'sslclient'];
    const said = execFileSync('openssl', [...args, ...files], { cwd: folder, encoding: 'utf8' });
    expect(
      said
        .trim()
        .split('\n')
        .filter((line) => !line.endsWith(': OK')),
    ).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test(`${runs} broken bundles are refused, or have only what can be read`, { timeout: timeoutMs }, async () => {
  const authorities = await Promise.all(
    types.map((keyType) => testAuthority({ commonName: `ca ${keyType}`, keyType })),
  );
  const anchors = [
    ...authorities.map((one) => one.anchors),
    root.anchors + ca.anchors,
    `# text\n${root.anchors}\r\n${ca.anchors}`,
  ];
  const texts = anchors.map((text) => Buffer.from(text));
  const ders = anchors.flatMap((text) => readPemCertificates(text).map(({ der }) => der));
  const random = randomFrom(seed * 1_000 + 99);
  const now = Date.now();
  let [whole, accepted] = [0, 0];
  for (let run = 0; run < runs; run++) {
    const text = random.oneIn(2)
      ? mutated(random.pick(texts), random, texts).toString('latin1')
      : `${random.pick(anchors)}${encodePem('CERTIFICATE', random.oneIn(2) ? mutated(random.pick(ders), random, ders) : sequence(mutated(random.pick(ders), random, ders).subarray(4)))}`;
    const what = (): string => Buffer.from(text).toString('base64');
    const violations = quickly(what, () => anchorViolations(text));
    if (violations.length === 0) accepted++;
    quickly(what, () => freshAnchors([text], now + random.below(2) * 20_000 * day));
    const combined = quickly(what, () => {
      try {
        return combineAnchors([{ from: 'here', pem: text }], now);
      } catch (error) {
        if (error instanceof UnfitSource) return undefined;
        throw error;
      }
    });
    if (combined === undefined || combined.bundle === '') continue;
    whole++;
    // What is passed on is accepted by the server, and changes no more.
    expect(anchorViolations(combined.bundle), what()).toEqual([]);
    expect(combineAnchors([{ from: 'here', pem: combined.bundle }], now).bundle).toBe(combined.bundle);
  }
  expect(whole).toBeGreaterThan(runs / 100);
  expect(accepted).toBeGreaterThan(runs / 100);
});
