/** A program that issues certificates to pods (docs/signers.md). It uses a library, and no code of this package. */

import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import {
  cryptoProvider,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  PublicKey,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

cryptoProvider.set(webcrypto);
const [certificateFile, keyFile] = process.argv.slice(2);
const [ca, pem] = [readFileSync(certificateFile, 'utf8'), readFileSync(keyFile, 'utf8')];
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const signingKey = await webcrypto.subtle.importKey('pkcs8', PemConverter.decode(pem)[0], algorithm, false, ['sign']);
const issue = async ({ serviceAccount, publicKey, annotations, maxSeconds }) => {
  if (serviceAccount.name === 'nobody') return { refused: 'nothing for this account', reason: 'AccountNotServed' };
  const begun = Math.floor(Date.now() / 1000) * 1000;
  const name = annotations['example.test/name'] ?? serviceAccount.name;
  const certificate = await X509CertificateGenerator.create({
    serialNumber: webcrypto.randomUUID().replaceAll('-', ''),
    issuer: new X509Certificate(ca).subject,
    notBefore: new Date(begun),
    notAfter: new Date(begun + maxSeconds * 1000),
    signingAlgorithm: algorithm,
    publicKey: new PublicKey(publicKey),
    signingKey,
    extensions: [
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new SubjectAlternativeNameExtension([{ type: 'dns', value: name }], true),
    ],
  });
  return { issued: certificate.toString('pem'), refreshAt: new Date(begun + maxSeconds * 500).toISOString() };
};
createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, signPod, anchors } = JSON.parse(line);
  if (id === undefined) return;
  const answer = signPod ? await issue(signPod) : anchors ? { anchors: ca } : { refused: 'no', reason: 'PodsOnly' };
  process.stdout.write(`${JSON.stringify({ id, ...answer })}\n`);
});
