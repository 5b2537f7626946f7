/**
 * Domain names of API groups and well-known names. With the defaults, every Kubernetes client works unmodified; other
 * values rename groups, well-known signers and annotations consistently.
 */
export interface Domains {
  /** Suffix of API groups, as in `certificates.<api>`. */
  readonly api: string;
  /** Prefix of well-known signers, labels and annotations, as in `<signer>/kube-apiserver-client`. */
  readonly signer: string;
  /** Prefixes of schema extensions, which all have the same meaning; the server itself writes the first one. */
  readonly extensions: readonly string[];
}

/** The domain names of Kubernetes. */
export const defaultDomains: Domains = {
  api: 'k8s.io',
  signer: 'kubernetes.io',
  extensions: ['x-kubernetes-', 'x-api-'],
};

/** Whether a domain is the domain `of` or below it. */
export const isWithinDomain = (domain: string, of: string): boolean => domain === of || domain.endsWith(`.${of}`);

/** Moves a group of the default API domain to another domain: `rbac.authorization.<api>`. Returns other groups as they are. */
export const groupIn = ({ api }: Pick<Domains, 'api'>, group: string): string =>
  group.endsWith(`.${defaultDomains.api}`) ? `${group.slice(0, -defaultDomains.api.length)}${api}` : group;

/** Moves a label, annotation or type of the default signer domain to another domain. Returns others as they are. */
export const signerKeyIn = ({ signer }: Pick<Domains, 'signer'>, key: string): string =>
  key.startsWith(`${defaultDomains.signer}/`) ? `${signer}${key.slice(defaultDomains.signer.length)}` : key;
