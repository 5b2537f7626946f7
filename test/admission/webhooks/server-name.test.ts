import { expect, test } from 'vitest';
import { nameMismatch } from '../../../src/admission/webhooks/server-name.js';

test.each([
  ['h.example.com', false, 'DNS:h.example.com', undefined],
  ['H.example.com', false, 'DNS:h.EXAMPLE.com', undefined],
  ['a.example.com', false, 'DNS:*.example.com', undefined],
  ['a.b.example.com', false, 'DNS:*.example.com', 'certificate is valid for *.example.com, not a.b.example.com'],
  ['example.com', false, 'DNS:*.example.com', 'certificate is valid for *.example.com, not example.com'],
  ['h.example.com.', false, 'DNS:h.example.com', undefined],
  ['h.example.com', false, 'DNS:h.example.com.', 'certificate is valid for h.example.com., not h.example.com'],
  ['h.example.com.', false, 'DNS:h.example.com.', undefined],
  ['h.example.com.', false, 'DNS:*.example.com', undefined],
  ['h.example.com.', false, 'DNS:*.example.com.', 'certificate is valid for *.example.com., not h.example.com.'],
  ['svc.ns.svc', false, 'DNS:a, DNS:b, IP Address:1.2.3.4', 'certificate is valid for a, b, not svc.ns.svc'],
  ['h', false, 'IP Address:1.2.3.4', 'certificate is not valid for any names, but wanted to match h'],
  ['h', false, undefined, 'certificate relies on legacy Common Name field, use SANs instead'],
  ['other', false, undefined, 'certificate is not valid for any names, but wanted to match other'],
  ['h', false, 'DNS:"x, DNS:h"', 'certificate is valid for "x, DNS:h", not h'],
  ['127.0.0.1', true, 'DNS:localhost, IP Address:127.0.0.1', undefined],
  ['::1', true, 'IP Address:0:0:0:0:0:0:0:1', undefined],
  ['10.0.0.1', true, 'IP Address:127.0.0.1', 'certificate is valid for 127.0.0.1, not 10.0.0.1'],
  [
    '127.0.0.1',
    true,
    'DNS:127.0.0.1',
    "cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs",
  ],
])('%s (an address: %s) against %s: %s', (host, isAddress, subjectaltname, text) => {
  const certificate = { subjectaltname, subject: { CN: 'h' } } as never;
  expect(nameMismatch(host, isAddress, certificate)?.message).toBe(text);
});
