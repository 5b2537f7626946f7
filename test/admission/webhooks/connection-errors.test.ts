import { expect, test } from 'vitest';
import { connectionError } from '../../../src/admission/webhooks/connection-errors.js';

const failure = (code: string, more: object = {}, message = code): Error =>
  Object.assign(new Error(message), { code, ...more });

test.each([
  [failure('ECONNREFUSED', { address: '127.0.0.1', port: 1 }), 'dial tcp 127.0.0.1:1: connect: connection refused'],
  [failure('ECONNREFUSED', { address: '::1', port: 1 }), 'dial tcp [::1]:1: connect: connection refused'],
  [new AggregateError([failure('EHOSTUNREACH', { address: 'a', port: 2 })]), 'dial tcp a:2: connect: no route to host'],
  [failure('ENOTFOUND', { hostname: 'h' }), 'dial tcp: lookup h: no such host'],
  [failure('ECONNRESET', {}, 'socket hang up'), 'EOF'],
  [failure('ECONNRESET', {}, 'read ECONNRESET'), 'read: connection reset by peer'],
  [
    failure('DEPTH_ZERO_SELF_SIGNED_CERT'),
    'tls: failed to verify certificate: x509: certificate signed by unknown authority',
  ],
  [failure('CERT_HAS_EXPIRED'), 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid'],
  [
    failure('PATH_LENGTH_EXCEEDED', {}, 'path length constraint exceeded'),
    'tls: failed to verify certificate: x509: too many intermediates for path length constraint',
  ],
  [
    failure('UNSPECIFIED', {}, 'permitted subtree violation'),
    'tls: failed to verify certificate: x509: permitted subtree violation',
  ],
  [
    failure('EPROTO', {}, 'ssl3_get_record:wrong version number'),
    'tls: first record does not look like a TLS handshake',
  ],
  [
    failure(
      'EPROTO',
      {},
      'write EPROTO 801C:error:0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version:a/b.c:1601:SSL alert number 70\n',
    ),
    'remote error: tls: protocol version not supported',
  ],
  [
    failure(
      'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
      {},
      '801C:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:a/b.c:1601:SSL alert number 116\n',
    ),
    'remote error: tls: certificate required',
  ],
  [failure('EPROTO', {}, 'SSL alert number 99'), 'remote error: tls: alert(99)'],
  [
    failure('EPROTO', {}, 'write EPROTO 801C:error:0A000102:SSL routines:f:unsupported protocol:a/b.c:1:\n'),
    'tls: unsupported protocol',
  ],
  [failure('constructor', {}, 'odd'), 'odd'],
  ['a text', 'a text'],
])('%s is reported as %s', (error, text) => {
  expect(connectionError(error)).toBe(text);
});
