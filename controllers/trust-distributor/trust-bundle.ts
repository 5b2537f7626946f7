import {
  anyString,
  boolean,
  type Check,
  type Checks,
  checkThat,
  fields,
  isNonEmptyString,
  listOf,
  mapOf,
  nonEmptyString,
  oneForm,
  oneOf,
  problemText,
} from '../../src/api/checks.js';
import { type LabelSelectorSpec, selectorOperators } from '../../src/api/label-selectors.js';
import { dnsLabel, dnsSubdomain } from '../../src/api/names.js';

/** The bundles to distribute, and the owner of the distributed objects. */
export interface TrustOptions {
  readonly bundles: readonly TrustBundle[];
  /**
   * The owner in the labels of distributed objects, so that several distributors in one cluster do not interfere.
   * Default `kedge`.
   */
  readonly owner?: string;
  /**
   * Whether bundles may be written to Secrets. Requires the right to write every Secret of the selected namespaces.
   * Default: no.
   */
  readonly secretTargets?: boolean;
}

/** Trust anchors from several sources, distributed as one bundle to several targets. */
export interface TrustBundle {
  /** A DNS label. */
  readonly name: string;
  readonly sources: readonly TrustBundleSource[];
  readonly targets: TrustTargets;
}

/** A source of a bundle. Names of namespaced objects are written `namespace/name`. */
export type TrustBundleSource =
  /** A PEM file on this machine. */
  | { readonly file: string }
  /** One key of a ConfigMap, or all keys in order. */
  | { readonly configMap: string; readonly key?: string }
  | { readonly secret: string; readonly key: string }
  | { readonly clusterTrustBundle: string }
  /** Every ClusterTrustBundle of a signer. */
  | { readonly signer: string }
  /** Another bundle of the same configuration. */
  | { readonly bundle: string };

/** The targets of a bundle; there must be at least one. */
export interface TrustTargets {
  /** A ClusterTrustBundle with this name, without a signer. */
  readonly clusterTrustBundle?: string;
  readonly configMaps?: NamespacedTarget;
  readonly secrets?: NamespacedTarget;
}

/** An object with a key in each of the selected namespaces. */
export interface NamespacedTarget {
  /** Name of the object; that of the bundle by default. */
  readonly name?: string;
  /** Key of the entry; `ca.crt` by default. */
  readonly key?: string;
  /** Selects namespaces; an empty selector selects all of them. */
  readonly namespaces: LabelSelectorSpec;
}

/** Splits `namespace/name` into its parts. */
export function namespacedName(text: string): { readonly namespace: string; readonly name: string } | undefined {
  const [namespace = '', name = '', ...more] = text.split('/');
  return more.length > 0 || dnsLabel(namespace).length > 0 || dnsSubdomain(name).length > 0
    ? undefined
    : { namespace, name };
}

/** Checks that an untyped value is `namespace/name`. */
export const objectName: Check = checkThat(
  'namespace/name',
  (value) => isNonEmptyString(value) && namespacedName(value) !== undefined,
);

type Source<K extends string> = Extract<TrustBundleSource, { readonly [name in K]: unknown }>;

const source = oneForm('file, configMap, secret, clusterTrustBundle, signer or bundle', {
  file: fields<Source<'file'>>({ file: nonEmptyString }),
  configMap: fields<Source<'configMap'>>({ configMap: objectName, key: nonEmptyString }),
  secret: fields<Source<'secret'>>({ secret: objectName, key: nonEmptyString }, 'key'),
  clusterTrustBundle: fields<Source<'clusterTrustBundle'>>({ clusterTrustBundle: nonEmptyString }),
  signer: fields<Source<'signer'>>({ signer: nonEmptyString }),
  bundle: fields<Source<'bundle'>>({ bundle: nonEmptyString }),
});

const namespaces = fields<LabelSelectorSpec>({
  matchLabels: mapOf(anyString),
  matchExpressions: listOf(
    fields<NonNullable<LabelSelectorSpec['matchExpressions']>[number]>(
      { key: anyString, operator: oneOf(selectorOperators), values: listOf(anyString) },
      'key',
      'operator',
    ),
  ),
});
const target = fields<NamespacedTarget>({ name: nonEmptyString, key: nonEmptyString, namespaces }, 'namespaces');

export const trustChecks: Checks<TrustOptions> = {
  owner: checkThat('a DNS label', (value) => typeof value === 'string' && dnsLabel(value).length === 0),
  secretTargets: boolean,
  bundles: listOf(
    fields<TrustBundle>(
      {
        name: anyString,
        sources: listOf(source),
        targets: fields<TrustTargets>({ clusterTrustBundle: nonEmptyString, configMaps: target, secrets: target }),
      },
      'name',
      'sources',
      'targets',
    ),
  ),
};
/** Checks the options, which may come from a file or from a program without types. */
export const trustForm = fields(trustChecks, 'bundles');

/**
 * Returns all errors in the options, one sentence each, with the path of the field; only the first error if they do not
 * match their type.
 */
export function trustProblems(trust: TrustOptions): readonly string[] {
  const misshapen = trustForm(trust, '');
  if (misshapen !== undefined) return [problemText(misshapen)];
  const { bundles, secretTargets = false } = trust;
  const names = bundles.map(({ name }) => name);
  return bundles.flatMap(({ name, sources, targets }, at) => {
    const wrong = (text: string): string => `bundles[${at}].${text}`;
    return [
      ...dnsLabel(name).map((text) => wrong(`name: ${text}`)),
      ...(names.indexOf(name) < at ? [wrong(`name: duplicate bundle ${JSON.stringify(name)}`)] : []),
      ...(sources.length === 0 ? [wrong('sources: at least one is required')] : []),
      ...sources.flatMap((source, number) =>
        sourceProblems(source, names).map((text) => wrong(`sources[${number}].${text}`)),
      ),
      ...(Object.values(targets).every((target) => target === undefined)
        ? [wrong('targets: at least one is required')]
        : []),
      ...(targets.secrets !== undefined && !secretTargets
        ? [wrong('targets.secrets: requires secretTargets: true')]
        : []),
      ...(isCircular(name, bundles) ? [wrong('sources: the bundle includes itself')] : []),
    ];
  });
}

const sourceProblems = (source: TrustBundleSource, names: readonly string[]): readonly string[] =>
  'bundle' in source && !names.includes(source.bundle) ? [`bundle: no bundle ${JSON.stringify(source.bundle)}`] : [];

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

/** Returns the signers whose anchors a bundle contains, directly or through other bundles. */
export function signersIn(name: string, bundles: readonly TrustBundle[]): ReadonlySet<string> {
  const sources = bundles.find((one) => one.name === name)?.sources ?? [];
  return new Set(
    sources.flatMap((source) => {
      if ('signer' in source) return [source.signer];
      return 'bundle' in source ? [...signersIn(source.bundle, bundles)] : [];
    }),
  );
}
