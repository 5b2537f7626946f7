import { member } from '../../api/object.js';
import { maxResponseHeaders } from '../../client/http-transport.js';
import { NameMismatch } from '../../client/server-name.js';

/** Returns the text of Go for a connection error, which users of Kubernetes know. */
export function connectionError(failure: unknown): string {
  const error = firstOf(failure);
  if (!(error instanceof Error)) return String(error);
  const { code = '', address, port, hostname } = error as Failure;
  const refusal = member(refusals, code);
  if (refusal !== undefined) return `dial tcp ${hostPort(address ?? '', port ?? 0)}: connect: ${refusal}`;
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${hostname ?? ''}: no such host`;
  if (code === 'EAI_AGAIN') return `dial tcp: lookup ${hostname ?? ''}: server misbehaving`;
  const distrust = distrustOf(error, code);
  if (distrust !== undefined) return `tls: failed to verify certificate: x509: ${distrust}`;
  if (code === 'ECONNRESET') return error.message === 'socket hang up' ? 'EOF' : 'read: connection reset by peer';
  if (code === 'EPIPE') return 'write: broken pipe';
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return protocolText(error.message);
  if (code.startsWith('HPE_')) {
    const problem =
      code === 'HPE_HEADER_OVERFLOW'
        ? `net/http: server response headers exceeded ${maxResponseHeaders} bytes; aborted`
        : error.message;
    return `net/http: HTTP/1.x transport connection broken: ${problem}`;
  }
  return error.message;
}

interface Failure extends Error {
  readonly code?: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}

/** Returns the error of the first address, if several addresses were tried. */
const firstOf = (error: unknown): unknown =>
  error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error;

const refusals: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
  EADDRNOTAVAIL: 'cannot assign requested address',
};

const unknownAuthority = 'certificate signed by unknown authority';
const untrusted: Readonly<Record<string, string>> = {
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  CERT_UNTRUSTED: unknownAuthority,
  CERT_SIGNATURE_FAILURE: unknownAuthority,
  CERT_HAS_EXPIRED: 'certificate has expired or is not yet valid',
  CERT_NOT_YET_VALID: 'certificate has expired or is not yet valid',
  INVALID_PURPOSE: 'certificate specifies an incompatible key usage',
  PATH_LENGTH_EXCEEDED: 'too many intermediates for path length constraint',
};

/** Returns why a certificate was rejected; undefined for other errors. Node.js has no code for most reasons. */
function distrustOf(error: Error, code: string): string | undefined {
  if (Object.hasOwn(untrusted, code)) return untrusted[code];
  return code === 'UNSPECIFIED' || error instanceof NameMismatch ? error.message : undefined;
}

/** Returns the message of OpenSSL without the position in its source. */
function protocolText(message: string): string {
  if (/wrong version number|http request/i.test(message)) {
    return 'tls: first record does not look like a TLS handshake';
  }
  const [, alert] = /SSL alert number (\d+)/.exec(message) ?? [];
  if (alert !== undefined) return `remote error: tls: ${alerts[Number(alert)] ?? `alert(${alert})`}`;
  const [, reason = message] = /:error:[^:]*:[^:]*:[^:]*:([^:]+)/.exec(message) ?? [];
  return `tls: ${reason.trim()}`;
}

/** The texts of TLS alerts by number (RFC 8446, section 6). */
const alerts: Readonly<Record<number, string>> = {
  0: 'close notify',
  10: 'unexpected message',
  20: 'bad record MAC',
  22: 'record overflow',
  40: 'handshake failure',
  42: 'bad certificate',
  43: 'unsupported certificate',
  44: 'revoked certificate',
  45: 'expired certificate',
  46: 'unknown certificate',
  47: 'illegal parameter',
  48: 'unknown certificate authority',
  49: 'access denied',
  50: 'error decoding message',
  51: 'error decrypting message',
  70: 'protocol version not supported',
  71: 'insufficient security level',
  80: 'internal error',
  86: 'inappropriate fallback',
  90: 'user canceled',
  109: 'missing extension',
  110: 'unsupported extension',
  112: 'unrecognized name',
  116: 'certificate required',
  120: 'no application protocol',
};

const hostPort = (host: string, port: number): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`);
