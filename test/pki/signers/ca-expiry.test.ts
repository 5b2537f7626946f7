import { expect, test } from 'vitest';
import { loadCertificateAuthority } from '../../../src/pki/certificate-authority.js';
import { warnCaExpiry } from '../../../src/pki/signers/ca-expiry.js';
import { silentLogger } from '../../../src/runtime/logger.js';
import { testAuthority } from '../../../src/testing/certificates.js';

const day = 86_400_000;
const start = Date.UTC(2026, 0, 1);
const clock = { now: () => start };
const seconds = (days: number): number => (days * day) / 1_000;
const root = await testAuthority({ commonName: 'root', seconds: seconds(1_000), clock });
const below = loadCertificateAuthority({
  ...(await root.issueAuthority({ commonName: 'below', seconds: seconds(100) })),
  clock,
});
const soon = 'a CA is about to expire';
const early = 'a CA is not valid yet, and neither are certificates that it signs';
const ended = 'a CA has expired: certificates that it signs are not valid';

test.each([
  ['with a tenth of its life left', below, below.certificate.notAfter - 10 * day, undefined, undefined],
  ['with less than that', below, below.certificate.notAfter - 10 * day + 1, undefined, soon],
  ['with exactly the requested lifetime left', below, below.certificate.notAfter - day, day, undefined],
  ['with less than the requested lifetime left', below, below.certificate.notAfter - day + 1, day, soon],
  ['at its end', below, below.certificate.notAfter, undefined, ended],
  ['before it is valid', below, below.certificate.notBefore - 1, undefined, early],
  ['from when it is valid', below, below.certificate.notBefore, undefined, undefined],
  ['above it, at the same time', root, below.certificate.notAfter, undefined, undefined],
] as const)('a CA %s is warned of or not', (_, ca, now, littleMs, expected) => {
  const told: unknown[] = [];
  const log = { ...silentLogger, warn: (fields: object, message: string) => void told.push(fields, message) };
  warnCaExpiry(ca, { clock: { now: () => now }, log, about: { object: 'pki/ca' }, littleMs });
  const fields = { object: 'pki/ca', ends: 'below', notAfter: '2026-04-10T23:55:00Z' };
  expect(told).toEqual(expected === undefined ? [] : [fields, expected]);
});
