import { quote } from '../../api/go-text.js';
import { parseGoUrl } from '../../api/go-url.js';
import type { WebhookClientConfig } from '../../api/kinds/webhook-configuration.js';
import { PkiError } from '../../pki/pki-error.js';
import { usableRootCertificates } from '../../pki/root-certificates.js';

/** The target of requests to a webhook: its address, and the CA that verifies it. */
export interface WebhookTarget {
  /** The authority of the URL, `host[:port]`, as in the `Host` header and in errors. */
  readonly authority: string;
  /** The escaped path, which begins with a slash. */
  readonly path: string;
  /** The DNS name or IP address (without brackets) that the certificate of the server must name. */
  readonly serverName: string;
  /** The address to connect to, or the reason why there is none. */
  readonly address: WebhookAddress | { readonly unreachable: string };
  /** The CAs in PEM; if undefined, the default trust anchors of this process are used. */
  readonly ca: string | undefined;
}

export interface WebhookAddress {
  readonly host: string;
  readonly port: number;
}

/** The addresses of Services that webhooks name, by `namespace/name:port`, or by `namespace/name` for all ports. */
export type ServiceAddresses = ReadonlyMap<string, WebhookAddress>;

/** Thrown when the clientConfig of a webhook is unusable. */
export class UnusableTarget extends Error {
  override readonly name = 'UnusableTarget';
}

const usualPort = 443;

/**
 * Resolves a clientConfig to a target. A Service is always verified by its name in the cluster,
 * `<name>.<namespace>.svc`.
 *
 * @throws UnusableTarget
 */
export function webhookTarget(
  { url, service, caBundle }: WebhookClientConfig,
  services: ServiceAddresses,
  { blankMeansNone = false }: { readonly blankMeansNone?: boolean } = {},
): WebhookTarget {
  const ca = anchorsOf(caBundle, blankMeansNone);
  if (service) {
    const { name, namespace, path = '', port = usualPort } = service;
    const serverName = `${name}.${namespace}.svc`;
    const found = services.get(`${namespace}/${name}:${port}`) ?? services.get(`${namespace}/${name}`);
    return {
      authority: `${serverName}:${port}`,
      path: cleanPath(path),
      serverName,
      address: found ?? { unreachable: `service ${quote(name)} not found` },
      ca,
    };
  }
  if (!url) throw new UnusableTarget('webhook configuration must have either service or URL');
  const parsed = parseGoUrl(url);
  if ('wrong' in parsed) throw new UnusableTarget(`Unparsable URL: ${parsed.wrong}`);
  const authority = parsed.host;
  const named = hostAndPort(authority, usualPort);
  if (named === undefined) throw new UnusableTarget(`${quote(url)} has no host`);
  const { host: serverName, port } = named;
  const address =
    port > mostPort
      ? { unreachable: `dial tcp: address ${port}: invalid port` }
      : port === 0
        ? { unreachable: `dial tcp ${authority}: connect: connection refused` }
        : named;
  return { authority, path: cleanPath(parsed.path), serverName, address, ca };
}

const mostPort = 65_535;

/** Splits `host:port` or `[address]:port` without checking the range of the port; undefined if there is no host. */
function hostAndPort(text: string, otherwise: number): WebhookAddress | undefined {
  const match = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d*))?$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  return host ? { host, port: match?.[3] ? Number(match[3]) : otherwise } : undefined;
}

const serviceName = /^[a-z0-9.-]+\/[a-z0-9.-]+(?::[1-9]\d{0,4})?$/;

/**
 * Parses the addresses of Services as options contain them: `namespace/name` or `namespace/name:port` to `host:port`.
 *
 * @throws Error that names the invalid entry
 */
export function readServiceAddresses(addresses: Readonly<Record<string, string>>): ServiceAddresses {
  return new Map(
    Object.entries(addresses).map(([service, text]) => {
      if (!serviceName.test(service)) {
        throw new Error(`${quote(service)} is not a service: expected namespace/name or namespace/name:port`);
      }
      const address = hostAndPort(text, 0);
      if (address === undefined || /\s/.test(address.host) || address.port < 1 || address.port > mostPort)
        throw new Error(`${quote(text)} is not the address of a service: expected host:port`);
      return [service, address];
    }),
  );
}

/** Returns a path as `path.Join("/", text)` of Go does, escaped as in `net/url` of Go. */
export function cleanPath(text: string): string {
  const segments: string[] = [];
  for (const segment of text.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return `/${segments.map(escapeSegment).join('/')}`;
}

const plain = /[A-Za-z0-9\-_.~$&+,:;=@]/;

function escapeSegment(segment: string): string {
  if (/^[A-Za-z0-9\-_.~$&+,:;=@]*$/.test(segment)) return segment;
  return Array.from(Buffer.from(segment), (byte) => {
    const character = String.fromCharCode(byte);
    return byte < 0x80 && plain.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
}

function anchorsOf(caBundle: string | undefined, blankMeansNone: boolean): string | undefined {
  if (!caBundle) return undefined;
  const text = Buffer.from(caBundle, 'base64');
  if (blankMeansNone && text.toString('latin1').trim() === '') return undefined;
  try {
    return usableRootCertificates(text);
  } catch (error) {
    if (!(error instanceof PkiError)) throw error;
    throw new UnusableTarget(`unable to load root certificates: ${error.message}`);
  }
}
