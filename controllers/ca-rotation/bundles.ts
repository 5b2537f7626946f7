import { ClusterTrustBundles } from '../../src/api/kinds/cluster-trust-bundle.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { type ApiObject, keyOf, keyText, type ResourceType } from '../../src/api/object.js';
import { ownNames } from '../../src/api/own-names.js';
import type { Client, ListOptions } from '../../src/client/client.js';
import { pemBlocks } from '../../src/pki/pem.js';

/** Where the anchors of a CA are to be found. */
export interface WhereToLook {
  /** Names of signers; each has ClusterTrustBundles. */
  readonly signers: readonly string[];
  /** Names of distributed bundles that have these anchors too. */
  readonly distributed: readonly string[];
  /** Who distributes them, as in their labels: what others have labelled like a bundle tells nothing. */
  readonly owner: string;
  /** Are bundles distributed as Secrets as well? */
  readonly inSecrets: boolean;
}

/** A bundle that lacks an anchor. */
export interface Lacking {
  /** `ConfigMap team-a/corp` */
  readonly text: string;
  /** It is a copy in a namespace, whose owner may write it. */
  readonly isCopy: boolean;
}

/**
 * Which bundle lacks a PEM anchor, those of the whole server first; undefined: it is in all ClusterTrustBundles of each signer, of which there must be one,
 * and in all ConfigMaps and Secrets that the bundles were distributed to. Those that are being deleted do not count: they
 * are no targets any more, or about to be replaced, and whoever may write one may keep it so for ever.
 */
export async function bundleWithout(client: Client, where: WhereToLook, anchor: string): Promise<Lacking | undefined> {
  const wanted = certificatesIn(anchor);
  const has = (text: string): boolean => {
    const found = new Set(certificatesIn(text));
    return wanted.every((certificate) => found.has(certificate));
  };
  const lacking = async <T extends ApiObject>(
    type: ResourceType<T>,
    selector: Pick<ListOptions, 'fieldSelector' | 'labelSelector'>,
    textOf: (object: T) => string,
  ): Promise<{ readonly found: boolean; readonly object: Lacking | undefined }> => {
    const { items } = await client.resource(type).list(selector);
    const staying = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const object = staying.find((one) => !has(textOf(one)));
    return {
      found: staying.length > 0,
      object: object && { text: `${type.kind} ${keyText(keyOf(object))}`, isCopy: type.namespaced },
    };
  };
  for (const signerName of where.signers) {
    const fieldSelector = `spec.signerName=${signerName}`;
    const { found, object } = await lacking(
      ClusterTrustBundles,
      { fieldSelector },
      ({ spec }) => spec.trustBundle ?? '',
    );
    if (!found) return { text: `a ClusterTrustBundle of ${signerName}`, isCopy: false };
    if (object !== undefined) return object;
  }
  if (where.distributed.length === 0) return undefined;
  const labelSelector = `${ownNames.trustOwnerLabel}=${where.owner},${ownNames.trustBundleLabel} in (${where.distributed.join(',')})`;
  const free = await lacking(ClusterTrustBundles, { labelSelector }, ({ spec }) => spec.trustBundle ?? '');
  if (free.object !== undefined) return free.object;
  const inConfigMaps = await lacking(ConfigMaps, { labelSelector }, ({ data }) => Object.values(data ?? {}).join('\n'));
  if (inConfigMaps.object !== undefined || !where.inSecrets) return inConfigMaps.object;
  const decoded = (value: string): string => Buffer.from(value, 'base64').toString('utf8');
  const inSecrets = await lacking(Secrets, { labelSelector }, ({ data }) =>
    Object.values(data ?? {})
      .map(decoded)
      .join('\n'),
  );
  return inSecrets.object;
}

const certificatesIn = (pem: string): readonly string[] =>
  [...pemBlocks(pem)].map(({ bytes }) => bytes.toString('base64'));
