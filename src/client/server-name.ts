import { isIP } from 'node:net';
import type { PeerCertificate } from 'node:tls';

/** Thrown when a certificate is not for the requested host. */
export class NameMismatch extends Error {
  override readonly name = 'NameMismatch';
}

/** Returns the server name to send in the handshake (SNI); empty for an IP address. */
export const sniName = (host: string): string => (isIP(host) === 0 ? host : '');

/**
 * Returns the error for a certificate that does not name this host; undefined if it does. Only subject alternative
 * names count.
 */
export function nameMismatch(host: string, certificate: PeerCertificate): NameMismatch | undefined {
  const names = alternativeNames(certificate.subjectaltname ?? '');
  const commonName = certificate.subject?.CN;
  if (names.length === 0 && typeof commonName === 'string' && namesHost(commonName, host)) {
    return new NameMismatch('certificate relies on legacy Common Name field, use SANs instead');
  }
  if (isIP(host) !== 0) {
    const addresses = names.filter(({ type }) => type === 'IP Address').map(({ value }) => value);
    if (addresses.some((one) => sameAddress(one, host))) return undefined;
    return new NameMismatch(
      addresses.length === 0
        ? `cannot validate certificate for ${host} because it doesn't contain any IP SANs`
        : `certificate is valid for ${addresses.join(', ')}, not ${host}`,
    );
  }
  const domains = names.filter(({ type }) => type === 'DNS').map(({ value }) => value);
  if (domains.some((one) => namesHost(one, host))) return undefined;
  if (domains.length > 0) return new NameMismatch(`certificate is valid for ${domains.join(', ')}, not ${host}`);
  return new NameMismatch(`certificate is not valid for any names, but wanted to match ${host}`);
}

/**
 * Splits alternative names as OpenSSL prints them: `DNS:a, IP Address:1.2.3.4`. Unusual values are quoted as in JSON.
 */
function alternativeNames(text: string): readonly { readonly type: string; readonly value: string }[] {
  return [...text.matchAll(/([A-Za-z0-9 ]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/g)].map(([, type = '', value = '']) => ({
    type,
    value,
  }));
}

/**
 * Whether a pattern matches a host. Only the first label may be `*`. Only a host may end in a dot, unless both texts
 * are exactly equal.
 */
function namesHost(pattern: string, host: string): boolean {
  const [patternName, hostName] = [pattern.toLowerCase(), host.toLowerCase()];
  if (patternName === hostName) return true;
  const [first = '', ...rest] = patternName.split('.');
  const [label = '', ...others] = hostName.replace(/\.$/, '').split('.');
  if (rest.length !== others.length || rest.some((part, at) => part !== others[at])) return false;
  return first === label || (first === '*' && rest.length > 0 && label !== '');
}

/** Whether two addresses are equal. OpenSSL writes IPv6 addresses in full and in upper case. */
function sameAddress(a: string, b: string): boolean {
  const canonical = (text: string): string =>
    text.includes(':') && URL.canParse(`http://[${text}]`) ? new URL(`http://[${text}]`).hostname : text;
  return canonical(a) === canonical(b);
}
