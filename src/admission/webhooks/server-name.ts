import { isIP } from 'node:net';
import type { PeerCertificate } from 'node:tls';

/** Thrown when a certificate is for another host. */
export class NameMismatch extends Error {
  override readonly name = 'NameMismatch';
}

/** Returns the server name to send in the handshake (SNI); empty for an address. */
export const sniName = (host: string): string => (isIP(host) === 0 ? host : '');

/** Checks that a certificate names this host; only subject alternative names count. Returns the error. */
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

/** `DNS:a, IP Address:1.2.3.4` as OpenSSL prints it; odd values are quoted as in JSON. */
function alternativeNames(text: string): readonly { readonly type: string; readonly value: string }[] {
  return [...text.matchAll(/([A-Za-z0-9 ]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/g)].map(([, type = '', value = '']) => ({
    type,
    value,
  }));
}

/** One label, the first, may be a star. Only a host may end in a dot, unless both are the same to the letter. */
function namesHost(pattern: string, host: string): boolean {
  const [given, wanted] = [pattern.toLowerCase(), host.toLowerCase()];
  if (given === wanted) return true;
  const [first = '', ...rest] = given.split('.');
  const [label = '', ...others] = wanted.replace(/\.$/, '').split('.');
  if (rest.length !== others.length || rest.some((part, at) => part !== others[at])) return false;
  return first === label || (first === '*' && rest.length > 0 && label !== '');
}

/** OpenSSL writes addresses of IPv6 in full and in upper case. */
function sameAddress(a: string, b: string): boolean {
  const canonical = (text: string): string =>
    text.includes(':') && URL.canParse(`http://[${text}]`) ? new URL(`http://[${text}]`).hostname : text;
  return canonical(a) === canonical(b);
}
