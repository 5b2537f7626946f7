import { expect, test } from 'vitest';
import { encodePem } from '../../src/pki/pem.js';
import { PkiError } from '../../src/pki/pki-error.js';
import { readRootCertificates } from '../../src/pki/root-certificates.js';
import { testAuthority } from '../../src/testing/certificates.js';

const { anchors: good } = await testAuthority();
const headed = good.replace('\n', '\nA: b\n\n');
const broken = encodePem('CERTIFICATE', Buffer.alloc(3));
const key = encodePem('PRIVATE KEY', Buffer.alloc(3));

test.each([
  ['one', good, 1],
  ['two', good + good, 2],
  ['one beside a malformed one', broken + good + broken, 1],
  ['one beside text, keys and blocks with headers', `text\n${key}${headed}${good}text`, 1],
])('%s', (_, pem, count) => {
  expect(readRootCertificates(pem).length).toBe(count);
});

const malformed = 'failed to parse certificate: x509: malformed certificate';
// Recorded with kube-apiserver 1.36.3, which reports these errors for the caBundle of a definition.
test.each([
  ['only a key', key, 'no valid certificate authority data seen'],
  ['only blocks with headers', headed, 'no valid certificate authority data seen'],
  ['an empty file', '', 'no valid certificate authority data seen'],
  ['only malformed certificates', broken, malformed],
  ['malformed certificates and a key', key + broken, malformed],
  ['malformed certificates and text', `${broken}text`, malformed],
  ['text', 'text', 'unable to parse bytes as PEM block'],
  ['white space', ' ', 'unable to parse bytes as PEM block'],
  ['a key and text', `${key}text`, 'unable to parse bytes as PEM block'],
])('%s is refused', (_, pem, message) => {
  expect(() => readRootCertificates(pem)).toThrow(new PkiError('parse', message));
});
