import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readCertificate, readPemCertificates } from '../../src/pki/certificate.js';
import {
  type CertificateAuthority,
  createAuthorityKeyPair,
  loadCertificateAuthority,
} from '../../src/pki/certificate-authority.js';
import { readCertificateRequest } from '../../src/pki/certificate-request.js';
import { type KeyType, privateKeyPem, spkiOf } from '../../src/pki/key-pair.js';
import { pemBlocks } from '../../src/pki/pem.js';
import { PkiError } from '../../src/pki/pki-error.js';
import { createCertificateRequest } from '../../src/pki/request-writer.js';
import { testAuthority, testKey, testRequest } from '../../src/testing/certificates.js';
import { attributes, extensions, type Forged, forge } from '../auth/forge.js';
import { testWithOpenssl } from './openssl.js';
import { openssl } from './openssl-command.js';

const now = Date.UTC(2026, 5, 1, 12, 0, 0, 700);
const clock = { now: () => now };
const hour = 3_600;
const clientUsages = ['digital signature', 'client auth'];

const only = (pem: string) => {
  const [certificate, ...others] = readPemCertificates(pem);
  if (certificate === undefined || others.length > 0) throw new Error('not one certificate');
  return certificate;
};
const seconds = (from: number, to: number): number => (to - from) / 1_000;

describe('the lifetime', () => {
  test.each([
    [600, 900],
    [8 * hour - 1, 8 * hour - 1 + 300],
    [8 * hour, 8 * hour],
    [365 * 24 * hour, 365 * 24 * hour],
  ])('of %i s is issued as %i s, and began five minutes ago', async (asked, lasts) => {
    const ca = await testAuthority({ clock });
    const { pem } = await testRequest();
    const issued = only(await ca.issue(pem, { seconds: asked, usages: clientUsages }));
    expect(seconds(issued.notBefore, issued.notAfter)).toBe(lasts);
    expect(issued.notBefore).toBe(Math.floor((now - 300_000) / 1_000) * 1_000);
  });

  test('never exceeds that of the CA', async () => {
    const ca = await testAuthority({ clock, seconds: 24 * hour });
    const { pem } = await testRequest();
    const issued = only(await ca.issue(pem, { seconds: 48 * hour, usages: clientUsages }));
    expect(issued.notAfter).toBe(ca.certificate.notAfter);
  });

  test('of an expired CA is over: it issues nothing', async () => {
    const ca = await testAuthority({ clock, seconds: 24 * hour });
    const { pem } = await testRequest();
    const end = ca.certificate.notAfter;
    const issueAt = (at: number) => ca.issue(pem, { seconds: 600, usages: clientUsages, now: at });
    await expect(issueAt(end)).rejects.toThrow(
      'refusing to sign a certificate that expired in the past: NotAfter=2026-06-02 11:55:00 +0000 UTC',
    );
    await expect(issueAt(end + 300_000)).rejects.toThrow(
      'the signer has expired: NotAfter=2026-06-02 11:55:00 +0000 UTC',
    );
    await expect(issueAt(end - 1_000)).resolves.toContain('BEGIN CERTIFICATE');
  });

  test.each([0, -1, Number.NaN])('of %d seconds is refused', async (wrong) => {
    const ca = await testAuthority();
    const { pem } = await testRequest();
    await expect(ca.issue(pem, { seconds: wrong, usages: clientUsages })).rejects.toThrow(PkiError);
  });
});

describe('a certificate of a pod', () => {
  const publicKey = async () => readCertificateRequest((await testRequest()).pem).publicKey;
  const uris = ['spiffe://a.test/ns/b/sa/c'];

  test.each([hour, 8 * hour, 91 * 24 * hour])('for %i s lasts that long, and began two minutes ago', async (asked) => {
    const ca = await testAuthority({ clock });
    const pod = { publicKey: await publicKey(), uris };
    const issued = only(await ca.issueForPod(pod, { seconds: asked, usages: clientUsages }));
    expect(seconds(issued.notBefore, issued.notAfter)).toBe(asked);
    expect(issued.notBefore).toBe(Math.floor((now - 120_000) / 1_000) * 1_000);
    expect(issued.publicKey.spki.equals(pod.publicKey.spki)).toBe(true);
    expect(issued.alternativeNames.uris).toEqual(uris);
    expect(issued.subject.attributes).toEqual([]);
  });

  test('ends with the CA, unless that is in less than an hour', async () => {
    const ca = await testAuthority({ clock, seconds: 2 * hour });
    const pod = { publicKey: await publicKey(), subject: { commonName: 'web' } };
    const issue = (at: number) => ca.issueForPod(pod, { seconds: 24 * hour, usages: clientUsages, now: at });
    expect(only(await issue(now)).notAfter).toBe(ca.certificate.notAfter);
    await expect(issue(now + hour * 1_000 + 240_000)).rejects.toThrow('the signer ends in less than an hour');
  });
});

describe('the contents', () => {
  test('extensions are in order, and there are no others', async () => {
    const ca = await testAuthority();
    const asked = { oid: '2.5.29.19', critical: true, value: Buffer.from('30030101ff', 'hex') };
    const { pem } = await testRequest({
      dnsNames: ['a.b'],
      extensions: [asked, { oid: '1.2.3', critical: true, value: Buffer.of(5, 0) }],
    });
    const der = only(await ca.issue(pem, { seconds: hour, usages: ['any', 'crl sign', ...clientUsages] })).der;
    const places = ['551d0f', '551d25', '551d13', '551d23', '551d11'].map((id) =>
      der.indexOf(Buffer.from(`0603${id}`, 'hex')),
    );
    expect(places.every((place) => place > 0)).toBe(true);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(der.includes(Buffer.from('0603551d0e', 'hex'))).toBe(false);
    expect(der.includes(Buffer.from('06022a03', 'hex'))).toBe(false);
    expect(readCertificate(der)).toMatchObject({ isCA: false, version: 3 });
  });

  test('a subject is re-encoded: known attributes in order, others dropped', async () => {
    const ca = await testAuthority();
    const subject = {
      serialNumber: '7',
      commonName: 'ü*',
      organizationalUnits: ['unit'],
      organizations: ['b', 'a'],
      postalCodes: ['1010'],
      streetAddresses: ['Ring 1'],
      localities: ['Wien'],
      provinces: ['W'],
      countries: ['AT'],
    };
    const pem = await createCertificateRequest({ subject, key: await testKey('P-256') });
    const issued = only(await ca.issue(pem, { seconds: hour, usages: clientUsages }));
    expect(issued.subject.attributes).toEqual([
      { type: '2.5.4.6', value: 'AT' },
      { type: '2.5.4.8', value: 'W' },
      { type: '2.5.4.7', value: 'Wien' },
      { type: '2.5.4.9', value: 'Ring 1' },
      { type: '2.5.4.17', value: '1010' },
      { type: '2.5.4.10', value: 'a' },
      { type: '2.5.4.10', value: 'b' },
      { type: '2.5.4.11', value: 'unit' },
      { type: '2.5.4.3', value: 'ü*' },
      { type: '2.5.4.5', value: '7' },
    ]);
  });

  test('alternative names are critical if the subject is empty', async () => {
    const ca = await testAuthority();
    const critical = Buffer.from('0603551d110101ff', 'hex');
    const der = async (commonName: string) =>
      only(
        await ca.issue((await testRequest({ commonName, dnsNames: ['a.b'] })).pem, {
          seconds: hour,
          usages: clientUsages,
        }),
      ).der;
    expect((await der('')).includes(critical)).toBe(true);
    expect((await der('x')).includes(critical)).toBe(false);
  });

  test('a subject equal to that of the CA gets no authority key identifier', async () => {
    const ca = await testAuthority({ commonName: 'same' });
    const issue = async (commonName: string) =>
      only(await ca.issue((await testRequest({ commonName })).pem, { seconds: hour, usages: clientUsages }));
    expect((await issue('same')).authorityKeyId).toBeUndefined();
    expect((await issue('other')).authorityKeyId?.toString('hex')).toBe(ca.keyId);
  });

  test('serial numbers differ and are positive', async () => {
    const ca = await testAuthority();
    const { pem } = await testRequest();
    const serials = await Promise.all(
      Array.from({ length: 20 }, async () => only(await ca.issue(pem, { seconds: hour, usages: clientUsages })).serial),
    );
    expect(new Set(serials).size).toBe(20);
  });

  test('the maximum number of values and names is issued', async () => {
    const ca = await testAuthority();
    const many = Array.from({ length: 10_000 }, () => 'a');
    const { pem } = await testRequest({ commonName: '', organizations: many, dnsNames: many });
    const issued = only(await ca.issue(pem, { seconds: hour, usages: clientUsages }));
    expect(issued.subject.organizations).toHaveLength(10_000);
    expect(issued.alternativeNames.dnsNames).toHaveLength(10_000);
  });

  test.each(['organizations', 'dnsNames'])('more than the maximum of %s is refused', async (member) => {
    const { pem } = await testRequest({ commonName: '', [member]: Array.from({ length: 10_001 }, () => 'a') });
    expect(() => readCertificateRequest(pem)).toThrow(PkiError);
  });

  test('unknown usages are refused', async () => {
    const ca = await testAuthority();
    const { pem } = await testRequest();
    await expect(ca.issue(pem, { seconds: hour, usages: ['x', 'client auth', 'y'] })).rejects.toThrow(
      'unrecognized usage values: ["x" "y"]',
    );
  });

  test('a certificate has the contents of the verified request', async () => {
    const ca = await testAuthority();
    const word = fc.stringMatching(/^[a-z0-9.-]{1,12}$/);
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          commonName: fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }),
          organizations: fc.array(fc.string({ minLength: 1, maxLength: 10 }), { maxLength: 3 }),
          dnsNames: fc.array(word, { maxLength: 5 }),
          ipAddresses: fc.array(fc.oneof(fc.ipV4(), fc.ipV6()), { maxLength: 3 }),
          emailAddresses: fc.array(word, { maxLength: 2 }),
        }),
        async (asked) => {
          const { pem } = await testRequest(asked);
          const read = readCertificateRequest(pem);
          const issued = only(await ca.issue(pem, { seconds: hour, usages: clientUsages }));
          expect(issued.subject.commonName).toBe(read.subject.commonName);
          expect([...issued.subject.organizations].sort()).toEqual([...asked.organizations].sort());
          const { dnsNames, ipAddresses, emailAddresses, uris } = read;
          expect(issued.alternativeNames).toEqual({ dnsNames, ipAddresses, emailAddresses, uris });
          expect(issued.publicKey.spki).toEqual(spkiOf(await testKey()));
        },
      ),
      { numRuns: 60 },
    );
  });
});

test('the key of a CA is for digital signatures, certificates and CRLs', async () => {
  const [ca] = readPemCertificates((await createAuthorityKeyPair({ commonName: 'ca' })).certificate);
  // keyUsage, critical: bits 0, 5 and 6.
  expect(ca?.der.toString('hex')).toContain('0603551d0f0101ff040403020186');
});

describe('loading', () => {
  test('certificate and key must match', async () => {
    const [one, other] = [
      await createAuthorityKeyPair({ commonName: 'a' }),
      await createAuthorityKeyPair({ commonName: 'a' }),
    ];
    expect(() => loadCertificateAuthority({ certificate: one.certificate, key: other.key })).toThrow(
      'certificate and private key of the CA do not match',
    );
  });

  test.each([
    ['no certificate', async () => ({ certificate: '', key: (await createAuthorityKeyPair({ commonName: 'a' })).key })],
    ['no key', async () => ({ ...(await createAuthorityKeyPair({ commonName: 'a' })), key: 'x' })],
    ['a leaf certificate', async () => (await testAuthority()).issueClient({ commonName: 'a', seconds: hour })],
  ])('%s is refused', async (_, make) => {
    const pair = await make();
    expect(() => loadCertificateAuthority(pair)).toThrow(expect.objectContaining({ problem: 'authority' }));
  });

  test('a key that may not sign certificates is refused', () => {
    const given = forge({
      subject: [[attributes.commonName, 'a']],
      extensions: [extensions.authority(), extensions.signatureOnly()],
    });
    expect(() => loadCertificateAuthority({ certificate: given.pem, key: privateKeyPem(given.key) })).toThrow(
      'the key of the CA may not sign certificates, as its certificate says (keyUsage)',
    );
  });

  test.each(['pkcs8', 'sec1'] as const)('an encrypted key (%s) is reported as such', async (type) => {
    const { certificate, key } = await createAuthorityKeyPair({ commonName: 'a' });
    const encrypted = createPrivateKey(key).export({ type, format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' });
    expect(() => loadCertificateAuthority({ certificate, key: encrypted.toString() })).toThrow(
      'the private key is encrypted',
    );
  });

  test('a chain in the wrong order is refused', async () => {
    const root = await testAuthority({ commonName: 'root' });
    const pair = await root.issueAuthority({ commonName: 'middle' });
    const [first, second] =
      [...pemBlocks(pair.certificate)].length === 2 ? pair.certificate.split(/(?<=END CERTIFICATE-----\n)/) : [];
    const stranger = (await createAuthorityKeyPair({ commonName: 'root' })).certificate;
    expect(() => loadCertificateAuthority({ certificate: `${first}${first}${second}`, key: pair.key })).toThrow(
      PkiError,
    );
    expect(() => loadCertificateAuthority({ certificate: `${first}${stranger}`, key: pair.key })).toThrow(PkiError);
  });

  test('an intermediate CA hands out its chain without the root', async () => {
    const root = await testAuthority({ commonName: 'root' });
    const middle = loadCertificateAuthority(await root.issueAuthority({ commonName: 'middle' }));
    const low = loadCertificateAuthority(await middle.issueAuthority({ commonName: 'low' }));
    const { certificate } = await low.issueClient({ commonName: 'x', seconds: hour });
    expect(readPemCertificates(certificate).map(({ subject }) => subject.commonName)).toEqual(['x', 'low', 'middle']);
    expect(low.anchors).toBe(root.anchors);
  });

  test('a CA includes the certificate that its predecessor of the same name issued for the new key', async () => {
    const old = await testAuthority({ commonName: 'root' });
    const renewed = loadCertificateAuthority(await old.issueAuthority({ commonName: 'root' }));
    const { certificate } = await renewed.issueClient({ commonName: 'x', seconds: hour });
    const [, link, ...others] = readPemCertificates(certificate);
    expect(link).toEqual(renewed.certificate);
    expect(others).toEqual([]);
    expect(link?.authorityKeyId?.toString('hex')).toBe(old.keyId);
    expect(renewed.anchors).toBe(old.anchors);
  });

  test.each([
    ['a root', 'own', 1],
    ['an intermediate', 'other', 2],
  ])('%s is recognized by its key identifiers, whoever can verify its signature', async (_, issuers, count) => {
    const { pem, key } = forge({
      subject: [[attributes.commonName, 'ca']],
      extensions: [extensions.authority(), ...extensions.keyIds('own', issuers)],
      notAfter: Date.UTC(2050, 0, 1),
      // Signed by an unknown key.
      signedBy: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
    });
    const ca = loadCertificateAuthority({
      certificate: pem,
      key: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    });
    const { certificate } = await ca.issueClient({ commonName: 'x', seconds: hour });
    expect(readPemCertificates(certificate)).toHaveLength(count);
  });

  test.each([
    [1, 2, 'root'],
    [2, 1, 'middle'],
    [1, 1, 'middle'],
  ])('of a root with %i days and an intermediate CA with %i, the %s ends first', (ofRoot, ofMiddle, first) => {
    const made = (commonName: string, days: number, issuer?: Forged) =>
      forge({
        subject: [[attributes.commonName, commonName]],
        notAfter: now + days * 24 * hour * 1_000,
        extensions: [extensions.authority()],
        ...(issuer === undefined ? {} : { issuer }),
      });
    const root = made('root', ofRoot);
    const middle = made('middle', ofMiddle, root);
    const ca = loadCertificateAuthority({ certificate: middle.pem + root.pem, key: privateKeyPem(middle.key) });
    expect(ca.firstToEnd.subject.commonName).toBe(first);
  });

  test('different keys have different identifiers', async () => {
    expect((await testAuthority()).keyId).not.toBe((await testAuthority()).keyId);
  });
});

const issueFor = async (ca: CertificateAuthority, keyType: KeyType): Promise<{ issued: string; request: string }> => {
  const { pem } = await testRequest({
    keyType,
    commonName: 'system:node:a',
    organizations: ['system:nodes'],
    ipAddresses: ['10.0.0.1'],
  });
  return { issued: await ca.issue(pem, { seconds: hour, usages: ['digital signature', 'client auth'] }), request: pem };
};

describe('every kind of key', () => {
  const types: readonly KeyType[] = ['P-256', 'P-384', 'P-521', 'Ed25519', 'RSA-2048'];
  test.each(types)('a CA with %s issues certificates that its anchor verifies', async (keyType) => {
    const ca = await testAuthority({ keyType });
    const { issued } = await issueFor(ca, 'P-256');
    expect(new X509Certificate(issued).verify(new X509Certificate(ca.anchors).publicKey)).toBe(true);
  });

  testWithOpenssl.each(types)('openssl verifies chain, purpose, subject and key for %s', async (keyType) => {
    const ca = await testAuthority({ keyType });
    const { issued, request } = await issueFor(ca, keyType);
    const files = { 'ca.pem': ca.anchors, 'leaf.pem': issued, 'request.pem': request };
    expect(
      openssl(files, 'verify', '-x509_strict', '-CAfile', 'ca.pem', '-purpose', 'sslclient', 'leaf.pem'),
    ).toContain('OK');
    expect(() => openssl(files, 'verify', '-CAfile', 'ca.pem', '-purpose', 'sslserver', 'leaf.pem')).toThrow(
      /error 26/,
    );
    expect(openssl(files, 'req', '-in', 'request.pem', '-verify', '-noout', '-pubkey')).toBe(
      openssl(files, 'x509', '-in', 'leaf.pem', '-noout', '-pubkey'),
    );
    const text = openssl(
      files,
      'x509',
      '-in',
      'leaf.pem',
      '-noout',
      '-subject',
      '-nameopt',
      'RFC2253',
      '-ext',
      'basicConstraints,keyUsage,extendedKeyUsage,subjectAltName',
    );
    expect(text).toContain('subject=CN=system:node:a,O=system:nodes');
    expect(text).toMatch(/X509v3 Key Usage: critical\s+Digital Signature\n/);
    expect(text).toMatch(/X509v3 Basic Constraints: critical\s+CA:FALSE/);
    expect(text).toContain('TLS Web Client Authentication');
    expect(text).toContain('IP Address:10.0.0.1');
  });

  test.each(['issueServing', 'issueClient'] as const)('%s refuses a subject equal to that of its CA', async (issue) => {
    const ca = await testAuthority({ commonName: 'x' });
    await expect(ca[issue]({ commonName: 'x', seconds: hour })).rejects.toThrow('would look self-signed');
  });

  testWithOpenssl.each(['middle', 'root'])(
    'openssl verifies a chain with an intermediate CA named %s',
    async (commonName) => {
      const root = await testAuthority({ commonName: 'root' });
      const middle = loadCertificateAuthority(await root.issueAuthority({ commonName }));
      const { certificate } = await middle.issueServing({
        commonName: 'x',
        seconds: hour,
        dnsNames: ['localhost'],
        ipAddresses: ['::1'],
      });
      const files = { 'ca.pem': root.anchors, 'leaf.pem': certificate };
      expect(
        openssl(
          files,
          'verify',
          '-x509_strict',
          '-CAfile',
          'ca.pem',
          '-untrusted',
          'leaf.pem',
          '-purpose',
          'sslserver',
          '-verify_hostname',
          'localhost',
          'leaf.pem',
        ),
      ).toContain('OK');
    },
  );
});

test('another X.509 library writes the same certificates, byte for byte', async () => {
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  // Ed25519, because its signatures are deterministic.
  const pair = await createAuthorityKeyPair({ commonName: 'root', keyType: 'Ed25519' });
  const ca = loadCertificateAuthority({ ...pair, clock });
  const algorithm = { name: 'Ed25519' };
  const pkcs8 = createPrivateKey(pair.key).export({ type: 'pkcs8', format: 'der' });
  const signingKey = await crypto.subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign']);
  const text = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' });
  const name = fc.stringMatching(/^[a-z0-9.-]{1,12}$/);
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        keyType: fc.constantFrom<KeyType>('P-256', 'P-384', 'P-521', 'Ed25519', 'RSA-2048'),
        commonName: fc.oneof(fc.constant(''), text),
        organizations: fc.uniqueArray(text, { maxLength: 4 }),
        dnsNames: fc.array(name, { maxLength: 3 }),
        emailAddresses: fc.array(name, { maxLength: 2 }),
        ipAddresses: fc.array(fc.oneof(fc.ipV4(), fc.constantFrom('fd00::1', '::')), { maxLength: 2 }),
        seconds: fc.integer({ min: 600, max: 9 * 365 * 24 * hour }),
        client: fc.boolean(),
      }),
      async ({ seconds: lifetime, client, ...asked }) => {
        const { pem } = await testRequest(asked);
        const usages = client ? ['digital signature', 'client auth'] : ['key encipherment', 'crl sign', 'server auth'];
        const issued = only(await ca.issue(pem, { seconds: lifetime, usages }));
        const { commonName, dnsNames, emailAddresses, ipAddresses } = asked;
        // Sorted, as DER requires for sets; the other library writes them in the given order.
        const { organizations } = issued.subject;
        const shown = (value: string) =>
          /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(value) ? { printableString: value } : { utf8String: value };
        const names = [
          ...dnsNames.map((value) => ({ type: 'dns' as const, value })),
          ...emailAddresses.map((value) => ({ type: 'email' as const, value })),
          ...ipAddresses.map((value) => ({ type: 'ip' as const, value })),
        ];
        const subject = [
          ...(organizations.length > 0 ? [{ O: organizations.map(shown) }] : []),
          ...(commonName === '' ? [] : [{ CN: [shown(commonName)] }]),
        ];
        const { KeyUsageFlags: flag, ExtendedKeyUsage: extended } = x509;
        const other = await x509.X509CertificateGenerator.create({
          serialNumber: issued.serial,
          issuer: new x509.Name([{ CN: [{ printableString: 'root' }] }]),
          subject: new x509.Name(subject),
          notBefore: new Date(issued.notBefore),
          notAfter: new Date(issued.notAfter),
          publicKey: new x509.PublicKey(issued.publicKey.spki),
          signingAlgorithm: algorithm,
          signingKey,
          extensions: [
            new x509.KeyUsagesExtension(client ? flag.digitalSignature : flag.keyEncipherment | flag.cRLSign, true),
            new x509.ExtendedKeyUsageExtension([client ? extended.clientAuth : extended.serverAuth]),
            new x509.BasicConstraintsExtension(false, undefined, true),
            new x509.AuthorityKeyIdentifierExtension(ca.keyId),
            ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names, subject.length === 0)] : []),
          ],
        });
        expect(Buffer.from(other.rawData).toString('hex')).toBe(issued.der.toString('hex'));
      },
    ),
    { numRuns: 50 },
  );
});
