import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createAuthorityKeyPair } from '../../src/pki/certificate-authority.js';
import { readCertificateRequest } from '../../src/pki/certificate-request.js';
import { context, tags } from '../../src/pki/der.js';
import { encode, encodeOid, octetString, sequence, setOf } from '../../src/pki/der-writer.js';
import { oids } from '../../src/pki/oids.js';
import { hiddenPart, unusualPart } from '../../src/pki/unusual-request.js';
import { testWithOpenssl } from './openssl.js';
import { requestOf } from './raw-request.js';

const names = sequence(encode(context(2), Buffer.from('hidden.example')));
const extensions = sequence(sequence(encodeOid('2.5.29.17'), octetString(names)));
const attribute = (type: string, ...values: readonly Buffer[]): Buffer =>
  sequence(encodeOid(type), encode(tags.set, ...values));
const microsoft = attribute('1.3.6.1.4.1.311.2.1.14', extensions);
/** The length of the SET is encoded with one byte more than necessary. */
const notShortest = sequence(
  encodeOid(oids.extensionRequest),
  Buffer.from([tags.set, 0x81, extensions.length]),
  extensions,
);
const utf8 = (text: string): Buffer => encode(tags.utf8String, Buffer.from(text));
const subject = (...values: readonly (readonly [string, Buffer])[]): Buffer =>
  sequence(...values.map(([type, value]) => setOf([sequence(encodeOid(type), value)])));
const generalString = (text: string): Buffer => encode(tags.generalString, Buffer.from(text));

test.each<readonly [string, Parameters<typeof requestOf>[0], string | undefined]>([
  ['the usual extensions', { attributes: [attribute(oids.extensionRequest, extensions)] }, undefined],
  ['a challenge password', { attributes: [attribute('1.2.840.113549.1.9.7', utf8('x'))] }, undefined],
  ['the Windows version', { attributes: [attribute('1.3.6.1.4.1.311.13.2.3', utf8('10.0'))] }, undefined],
  [
    'extensions in Microsoft’s attribute',
    { attributes: [microsoft] },
    'the request has an attribute of type 1.3.6.1.4.1.311.2.1.14',
  ],
  [
    'extensions in an attribute that is not DER',
    { attributes: [notShortest] },
    'an attribute of the request cannot be read',
  ],
  [
    'a second extension request',
    { attributes: [attribute(oids.extensionRequest, extensions, extensions)] },
    'the request asks for several lists of extensions',
  ],
  [
    'an organization of an unread string type',
    { subject: subject(['2.5.4.10', generalString('system:masters')], ['2.5.4.3', utf8('alice')]) },
    'the subject has a value of type 2.5.4.10 that is not a string',
  ],
])('%s', async (_, parts, expected) => {
  const request = readCertificateRequest(await requestOf(parts));
  expect(hiddenPart(request)).toBe(expected);
  expect(unusualPart(request)).toBe(expected);
});

testWithOpenssl.each([
  ['in Microsoft’s attribute', microsoft],
  ['in an attribute that is not DER', notShortest],
])('a name %s would get into a certificate of OpenSSL, and is not in the parsed fields', async (_, hidden) => {
  const folder = mkdtempSync(join(tmpdir(), 'kedge-unusual-'));
  const pem = await requestOf({ attributes: [hidden] });
  expect(readCertificateRequest(pem)).toMatchObject({ dnsNames: [], extensions: [] });
  const { certificate, key } = await createAuthorityKeyPair({ commonName: 'program' });
  for (const [name, text] of Object.entries({ 'ca.crt': certificate, 'ca.key': key, 'a.csr': pem })) {
    writeFileSync(join(folder, name), text);
  }
  const files = ['-in', 'a.csr', '-CA', 'ca.crt', '-CAkey', 'ca.key'];
  const { stdout } = spawnSync(
    'openssl',
    ['x509', '-req', ...files, '-copy_extensions', 'copyall', '-text', '-noout'],
    { cwd: folder, encoding: 'utf8' },
  );
  rmSync(folder, { recursive: true });
  expect(stdout).toContain('DNS:hidden.example');
});
