import { dnsLabel, dnsSubdomain } from '../../src/api/names.js';
import type { LabelSelectorSpec } from '../../src/api/selectors.js';

/** Trust anchors from several places, as one bundle in many. */
export interface TrustBundle {
  /** A DNS label. */
  readonly name: string;
  readonly sources: readonly TrustBundleSource[];
  readonly targets: TrustTargets;
}

/** Names of objects in namespaces are written `namespace/name`. */
export type TrustBundleSource =
  /** PEM file on this machine. */
  | { readonly file: string }
  /** One key, or all in their order. */
  | { readonly configMap: string; readonly key?: string }
  | { readonly secret: string; readonly key: string }
  | { readonly clusterTrustBundle: string }
  /** Every ClusterTrustBundle of a signer. */
  | { readonly signer: string }
  /** Another bundle of the same configuration. */
  | { readonly bundle: string };

export interface TrustTargets {
  /** A ClusterTrustBundle of this name, without a signer. */
  readonly clusterTrustBundle?: string;
  readonly configMaps?: NamespacedTarget;
  readonly secrets?: NamespacedTarget;
}

export interface NamespacedTarget {
  /** Default: the bundle's name. */
  readonly name?: string;
  /** Default: `ca.crt`. */
  readonly key?: string;
  /** Which namespaces; an empty selector is all of them. */
  readonly namespaces: LabelSelectorSpec;
}

/** `namespace/name` in its parts. */
export function namespacedName(text: string): { readonly namespace: string; readonly name: string } | undefined {
  const [namespace = '', name = '', ...more] = text.split('/');
  return more.length > 0 || dnsLabel(namespace).length > 0 || dnsSubdomain(name).length > 0
    ? undefined
    : { namespace, name };
}

/** Everything that is wrong with bundles, one sentence each. */
export function trustBundleProblems(
  bundles: readonly TrustBundle[],
  { secretTargets }: { readonly secretTargets: boolean },
): readonly string[] {
  const names = bundles.map(({ name }) => name);
  return bundles.flatMap(({ name, sources, targets }, at) => {
    const wrong = (text: string): string => `bundles[${at}].${text}`;
    return [
      ...dnsLabel(name).map((text) => wrong(`name: ${text}`)),
      ...(names.indexOf(name) < at ? [wrong(`name: there are two bundles ${JSON.stringify(name)}`)] : []),
      ...(sources.length === 0 ? [wrong('sources: must name one')] : []),
      ...sources.flatMap((source, number) =>
        sourceProblems(source, names).map((text) => wrong(`sources[${number}].${text}`)),
      ),
      ...(Object.keys(targets).length === 0 ? [wrong('targets: must name one')] : []),
      ...(targets.secrets !== undefined && !secretTargets
        ? [wrong('targets.secrets: bundles go into Secrets only where secretTargets is true')]
        : []),
      ...(isCircular(name, bundles) ? [wrong('sources: the bundle is made from itself')] : []),
    ];
  });
}

function sourceProblems(source: TrustBundleSource, names: readonly string[]): readonly string[] {
  if ('bundle' in source) {
    return names.includes(source.bundle) ? [] : [`bundle: there is no bundle ${JSON.stringify(source.bundle)}`];
  }
  const object = 'configMap' in source ? source.configMap : 'secret' in source ? source.secret : undefined;
  return object === undefined || namespacedName(object) !== undefined
    ? []
    : [`${'configMap' in source ? 'configMap' : 'secret'}: ${JSON.stringify(object)} is no namespace/name`];
}

function isCircular(name: string, bundles: readonly TrustBundle[]): boolean {
  const seen = new Set<string>();
  const waiting = [name];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const source of bundles.find((one) => one.name === next)?.sources ?? []) {
      if (!('bundle' in source)) continue;
      if (source.bundle === name) return true;
      if (seen.has(source.bundle)) continue;
      seen.add(source.bundle);
      waiting.push(source.bundle);
    }
  }
  return false;
}

/** Signers whose anchors a bundle has, its own sources' and those of the bundles it is made from. */
export function signersIn(name: string, bundles: readonly TrustBundle[]): ReadonlySet<string> {
  const sources = bundles.find((one) => one.name === name)?.sources ?? [];
  return new Set(
    sources.flatMap((source) => {
      if ('signer' in source) return [source.signer];
      return 'bundle' in source ? [...signersIn(source.bundle, bundles)] : [];
    }),
  );
}
