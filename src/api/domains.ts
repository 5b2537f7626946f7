/**
 * The names of domains: the only place that spells them. With the defaults every Kubernetes client works
 * unmodified; other values rename groups, well-known signers and annotations as a whole.
 */
export interface Domains {
  /** Suffix of API groups: `certificates.<api>`. */
  readonly api: string;
  /** Prefix of well-known signers, labels and annotations: `<signer>/kube-apiserver-client`. */
  readonly signer: string;
  /** Prefixes of schema extensions, all of the same meaning; the first is the one the server writes itself. */
  readonly extensions: readonly string[];
}

/** The names of Kubernetes. */
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
