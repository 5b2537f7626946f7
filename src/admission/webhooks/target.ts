import { quote } from '../../api/go-text.js';
import { parseGoUrl } from '../../api/go-url.js';
import type { WebhookClientConfig } from '../../api/kinds/webhook-configuration.js';
import { PkiError } from '../../pki/pki-error.js';
import { usableRootCertificates } from '../../pki/root-certificates.js';

/** The address of a webhook, and the CA that verifies it. */
export interface WebhookTarget {
  /** `host[:port]` as the URL has it: what the header `Host` and errors say. */
  readonly authority: string;
  /** Escaped; begins with a slash. */
  readonly path: string;
  /** What the server's certificate must name: a DNS name or an IP address, without brackets. */
  readonly serverName: string;
  /** Where the connection goes, or why there is nowhere. */
  readonly address: WebhookAddress | { readonly unreachable: string };
  /** PEM; absent: the default trust anchors of this process. */
  readonly ca: string | undefined;
}

export interface WebhookAddress {
  readonly host: string;
  readonly port: number;
}

/** Addresses of the services that webhooks name, by `namespace/name:port`, or `namespace/name` for all ports. */
export type ServiceAddresses = ReadonlyMap<string, WebhookAddress>;

/** Thrown when the clientConfig of a webhook is unusable. */
export class UnusableTarget extends Error {
  override readonly name = 'UnusableTarget';
}

const usualPort = 443;

/**
 * Resolves a clientConfig to a target. A service is verified by its name in the cluster, `<name>.<namespace>.svc`,
 * wherever it is.
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

/** Splits `host:port` or `[address]:port`, without a check of the port's range; undefined if there is no host. */
function hostAndPort(text: string, otherwise: number): WebhookAddress | undefined {
  const match = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d*))?$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  return host ? { host, port: match?.[3] ? Number(match[3]) : otherwise } : undefined;
}

const serviceName = /^[a-z0-9.-]+\/[a-z0-9.-]+(?::[1-9]\d{0,4})?$/;

/**
 * Reads addresses of services as options have them: `namespace/name` or `namespace/name:port` to `host:port`.
 *
 * @throws Error that names the entry nobody can use.
 */
export function readServiceAddresses(given: Readonly<Record<string, string>>): ServiceAddresses {
  return new Map(
    Object.entries(given).map(([service, text]) => {
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

/** A path as Go's `path.Join("/", text)` makes it, escaped as Go's `net/url` does. */
export function cleanPath(text: string): string {
  const kept: string[] = [];
  for (const segment of text.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  return `/${kept.map(escapeSegment).join('/')}`;
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
