import { kedgeNames } from '../../src/api/kedge-names.js';
import { type ClusterTrustBundle, ClusterTrustBundles } from '../../src/api/kinds/cluster-trust-bundle.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { type Secret, Secrets } from '../../src/api/kinds/secret.js';
import { type ApiObject, keyOf, keyText, type ResourceType } from '../../src/api/object.js';
import type { Client, ListOptions } from '../../src/client/client.js';
import { bundleName } from '../../src/controller/bundle-name.js';
import { pemBlocks } from '../../src/pki/pem.js';

/** The bundles that should have the anchors of a CA. */
export interface SearchScope {
  /** The names of signers; each has ClusterTrustBundles. */
  readonly signers: readonly string[];
  /** The names of distributed bundles that have these anchors too. */
  readonly distributed: readonly string[];
  /** The owner in the labels of distributed bundles: objects that others labelled like a bundle do not count. */
  readonly owner: string;
  /** Whether bundles are distributed as Secrets as well. */
  readonly inSecrets: boolean;
}

/** A bundle that lacks an anchor. */
export interface LackingBundle {
  /** `ConfigMap team-a/corp`, `a ClusterTrustBundle of example.com/a` */
  readonly text: string;
  /** Whether it is a copy in a namespace, which users of the namespace may modify. */
  readonly isCopy: boolean;
}

/**
 * Returns the bundles that lack a PEM anchor, cluster-scoped ones first. None lacks it if each signer has a
 * ClusterTrustBundle with it, and it is in all others of the signer and all objects that the bundles were distributed
 * to.
 *
 * Bundles that the publisher has replaced, and keeps for a while, do not count: their names change with their contents,
 * so consumers select them by signer. Bundles with other names may be selected by name, and count. Objects that are
 * being deleted do not count either: they are no longer targets, or are about to be replaced, and a user who can modify
 * one could prevent its deletion indefinitely.
 */
export async function bundlesLacking(
  client: Client,
  where: SearchScope,
  anchor: string,
): Promise<readonly LackingBundle[]> {
  const required = certificatesIn(anchor);
  const lacks = (text: string): boolean => {
    const found = new Set(certificatesIn(text));
    return !required.every((certificate) => found.has(certificate));
  };
  const lacking = await signersWithout(client, where.signers, lacks);
  if (where.distributed.length === 0) return lacking;
  const labelSelector = `${kedgeNames.trustOwnerLabel}=${where.owner},${kedgeNames.trustBundleLabel} in (${where.distributed.join(',')})`;
  const copies = async <T extends ApiObject>(type: ResourceType<T>, textOf: (object: T) => string) =>
    (await listNotDeleted(client, type, { labelSelector }))
      .filter((object) => lacks(textOf(object)))
      .map((object): LackingBundle => ({ text: `${type.kind} ${keyText(keyOf(object))}`, isCopy: type.namespaced }));
  return [
    ...lacking,
    ...(await copies(ClusterTrustBundles, ({ spec }) => spec.trustBundle ?? '')),
    ...(await copies(ConfigMaps, ({ data }) => Object.values(data ?? {}).join('\n'))),
    ...(where.inSecrets
      ? await copies(Secrets, ({ data }) =>
          Object.values(data ?? {})
            .map(decoded)
            .join('\n'),
        )
      : []),
  ];
}

/**
 * Returns for each signer the bundles that lack the anchor: any ClusterTrustBundle if none has it, else those that may
 * be selected by name.
 */
async function signersWithout(
  client: Client,
  signers: readonly string[],
  lacks: (text: string) => boolean,
): Promise<readonly LackingBundle[]> {
  const lacking: LackingBundle[] = [];
  for (const signerName of signers) {
    const bundles = await listNotDeleted(client, ClusterTrustBundles, {
      fieldSelector: `spec.signerName=${signerName}`,
    });
    const behind = bundles.filter(({ spec }) => lacks(spec.trustBundle ?? ''));
    if (behind.length === bundles.length)
      lacking.push({ text: `a ClusterTrustBundle of ${signerName}`, isCopy: false });
    else
      for (const bundle of behind) {
        if (!isPublished(bundle)) lacking.push({ text: `ClusterTrustBundle ${bundle.metadata.name}`, isCopy: false });
      }
  }
  return lacking;
}

/** Whether a bundle has the name that the publisher gives it. */
const isPublished = ({ metadata, spec: { signerName = '', trustBundle = '' } }: ClusterTrustBundle): boolean =>
  metadata.name === bundleName(signerName, trustBundle);

async function listNotDeleted<T extends ApiObject>(
  client: Client,
  type: ResourceType<T>,
  selector: Pick<ListOptions, 'fieldSelector' | 'labelSelector'>,
): Promise<readonly T[]> {
  const { items } = await client.resource(type).list(selector);
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

const decoded = (value: string): string => Buffer.from(value, 'base64').toString('utf8');

/** Encodes the scope as the annotation of the Secret of a CA, for others that report on the rotation. */
export const formatSearchScope = ({ distributed, owner, inSecrets }: SearchScope): string =>
  JSON.stringify({ distributed, owner, inSecrets });

/** Reads the scope from the annotation of a Secret; without one, the scope is the signers only. */
export function parseSearchScope({ metadata: { annotations = {} } }: Secret): SearchScope {
  const signers = (annotations[kedgeNames.signersAnnotation] ?? '').split(',').filter((name) => name !== '');
  const nowhere: SearchScope = { signers, distributed: [], owner: kedgeNames.trustOwner, inSecrets: false };
  try {
    const { distributed, owner, inSecrets } = JSON.parse(
      annotations[kedgeNames.bundlesAnnotation] ?? '',
    ) as SearchScope;
    const isWhole = Array.isArray(distributed) && typeof owner === 'string' && typeof inSecrets === 'boolean';
    return isWhole ? { signers, distributed, owner, inSecrets } : nowhere;
  } catch {
    return nowhere;
  }
}

const certificatesIn = (pem: string): readonly string[] =>
  [...pemBlocks(pem)].map(({ bytes }) => bytes.toString('base64'));
