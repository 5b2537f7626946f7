import { expect, test } from 'vitest';
import { keyUsages } from '../../src/api/kinds/certificate-signing-request.js';
import { encodeOid } from '../../src/pki/der-writer.js';
import { certificateUsages } from '../../src/pki/usages.js';

test('every valid usage is translated', () => {
  for (const usage of keyUsages) {
    const { keyUsage, extendedKeyUsage } = certificateUsages([usage]);
    expect(keyUsage.size + extendedKeyUsage.length).toBe(1);
  }
});

test('synonyms of a usage are merged, and the order is fixed', () => {
  const { keyUsage, extendedKeyUsage } = certificateUsages([
    's/mime',
    'client auth',
    'email protection',
    'server auth',
    'signing',
    'digital signature',
    'decipher only',
  ]);
  expect([...keyUsage]).toEqual([0, 8]);
  expect(extendedKeyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2', '1.3.6.1.5.5.7.3.4'].map(encodeOid));
});

test('an unknown usage is refused', () => {
  expect(() => certificateUsages(['Client Auth'])).toThrow('unrecognized usage values: ["Client Auth"]');
});
