import { type Domains, defaultDomains } from './domains.js';

/** The names of one signer, at least one. */
export type SignerSpellings = readonly [string, ...string[]];

/** The names after `<signer domain>/`, by the purpose of the signer: Kubernetes' own first, then the neutral one. */
const paths = {
  client: ['kube-apiserver-client', 'apiserver-client'],
  'node-client': ['kube-apiserver-client-kubelet', 'apiserver-client-nodeagent'],
  'node-serving': ['kubelet-serving', 'nodeagent-serving'],
  'legacy-unknown': ['legacy-unknown'],
} satisfies Readonly<Record<string, SignerSpellings>>;

/** The purpose of a well-known signer of certificates. */
export type WellKnownSigner = keyof typeof paths;
const kinds = Object.keys(paths) as readonly WellKnownSigner[];

/** Returns all served names of every well-known signer; the first of each is Kubernetes' own. */
export function wellKnownSigners(
  domains: Domains = defaultDomains,
): Readonly<Record<WellKnownSigner, SignerSpellings>> {
  const named = ([first, ...others]: SignerSpellings): SignerSpellings => [
    `${domains.signer}/${first}`,
    ...others.map((path) => `${domains.signer}/${path}`),
  ];
  return {
    client: named(paths.client),
    'node-client': named(paths['node-client']),
    'node-serving': named(paths['node-serving']),
    'legacy-unknown': named(paths['legacy-unknown']),
  };
}

/** Returns the well-known signer that has this name; undefined for other signers. */
export function wellKnownSigner(signerName: string, domains: Domains = defaultDomains): WellKnownSigner | undefined {
  const slash = signerName.indexOf('/');
  if (slash < 0 || signerName.slice(0, slash) !== domains.signer) return undefined;
  const path = signerName.slice(slash + 1);
  return kinds.find((kind) => paths[kind].includes(path));
}

/** Returns all names of a signer: a well-known one has several, others only this one. */
export function signerSpellings(signerName: string, domains: Domains = defaultDomains): readonly string[] {
  const known = wellKnownSigner(signerName, domains);
  return known === undefined ? [signerName] : wellKnownSigners(domains)[known];
}
