import type { networkInterfaces } from 'node:os';
import { ipBytes, ipText } from '../api/ip-address.js';
import { dnsSubdomain } from '../api/names.js';
import type { AlternativeNames } from '../pki/alternative-names.js';

/** Determines the names and addresses by which clients reach a server, as its certificate contains them. */

const unspecified: readonly string[] = ['0.0.0.0', '::'];

/** Returns the canonical form of an address, such as `::1`, without a zone, which has no meaning elsewhere. */
function asInCertificates(host: string): string {
  const [name = ''] = host.split('%');
  const bytes = ipBytes(name);
  return bytes === undefined ? name : ipText(bytes);
}

const isAddress = (host: string): boolean => ipBytes(host) !== undefined;

/** Whether others can reach a server by this text: a DNS name, or the address of one machine. */
export const isServingName = (text: string): boolean =>
  isAddress(text)
    ? !unspecified.includes(asInCertificates(text))
    : dnsSubdomain(text).length === 0 && !/(^|\.)\d+$/.test(text);

/** Returns the address by which a server that listens on `host` is reached from its own machine. */
export function reachableHost(host: string): string {
  const written = asInCertificates(host);
  return written === '0.0.0.0' ? '127.0.0.1' : written === '::' ? '::1' : host;
}

/** Returns the names of a server for its certificate, from the configured ones and the addresses of the machine. */
export function servingNames(
  hosts: readonly string[],
  machine: { readonly hostname: string; readonly interfaces: typeof networkInterfaces },
): Pick<AlternativeNames, 'dnsNames' | 'ipAddresses'> {
  const written = hosts.map(asInCertificates);
  const named = written.filter((host) => !unspecified.includes(host));
  const dns = [
    'localhost',
    machine.hostname,
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    ...named.filter((host) => !isAddress(host)),
  ];
  const ip = ['127.0.0.1', '::1', ...named.filter(isAddress), ...addressesBehind(written, machine.interfaces)];
  return { dnsNames: [...new Set(dns)], ipAddresses: [...new Set(ip)] };
}

/** Returns the addresses of a server that listens on all addresses of its machine, or on all IPv4 ones. */
function addressesBehind(hosts: readonly string[], interfaces: typeof networkInterfaces): readonly string[] {
  const families = hosts.includes('::') ? ['IPv4', 'IPv6'] : hosts.includes('0.0.0.0') ? ['IPv4'] : [];
  if (families.length === 0) return [];
  return Object.values(interfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter((one) => families.includes(one.family) && !(one.family === 'IPv6' && one.scopeid !== 0))
    .map(({ address }) => asInCertificates(address));
}
