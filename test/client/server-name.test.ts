import { expect, test } from 'vitest';
import { nameMismatch } from '../../src/client/server-name.js';

test.each([
  ['h.example.com', 'DNS:h.example.com', undefined],
  ['H.example.com', 'DNS:h.EXAMPLE.com', undefined],
  ['a.example.com', 'DNS:*.example.com', undefined],
  ['a.b.example.com', 'DNS:*.example.com', 'certificate is valid for *.example.com, not a.b.example.com'],
  ['example.com', 'DNS:*.example.com', 'certificate is valid for *.example.com, not example.com'],
  ['h.example.com.', 'DNS:h.example.com', undefined],
  ['h.example.com', 'DNS:h.example.com.', 'certificate is valid for h.example.com., not h.example.com'],
  ['h.example.com.', 'DNS:h.example.com.', undefined],
  ['h.example.com.', 'DNS:*.example.com', undefined],
  ['h.example.com.', 'DNS:*.example.com.', 'certificate is valid for *.example.com., not h.example.com.'],
  ['svc.ns.svc', 'DNS:a, DNS:b, IP Address:1.2.3.4', 'certificate is valid for a, b, not svc.ns.svc'],
  ['h', 'IP Address:1.2.3.4', 'certificate is not valid for any names, but wanted to match h'],
  ['h', undefined, 'certificate relies on legacy Common Name field, use SANs instead'],
  ['other', undefined, 'certificate is not valid for any names, but wanted to match other'],
  ['h', 'DNS:"x, DNS:h"', 'certificate is valid for "x, DNS:h", not h'],
  ['127.0.0.1', 'DNS:localhost, IP Address:127.0.0.1', undefined],
  ['::1', 'IP Address:0:0:0:0:0:0:0:1', undefined],
  ['10.0.0.1', 'IP Address:127.0.0.1', 'certificate is valid for 127.0.0.1, not 10.0.0.1'],
  ['127.0.0.1', 'DNS:127.0.0.1', "cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs"],
])('the name %s is compared with %s: %s', (host, subjectaltname, text) => {
  const certificate = { subjectaltname, subject: { CN: 'h' } } as never;
  expect(nameMismatch(host, certificate)?.message).toBe(text);
});
