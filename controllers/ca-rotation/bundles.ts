import { ClusterTrustBundles } from '../../src/api/kinds/cluster-trust-bundle.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { ownNames } from '../../src/api/own-names.js';
import type { Client } from '../../src/client/client.js';
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

/**
 * Is a PEM anchor in every bundle: in all ClusterTrustBundles of each signer, of which there must be one, and in all
 * ConfigMaps and Secrets that the bundles were distributed to?
 */
export async function everyBundleHas(client: Client, where: WhereToLook, anchor: string): Promise<boolean> {
  const wanted = certificatesIn(anchor);
  const has = (text: string): boolean => {
    const found = new Set(certificatesIn(text));
    return wanted.every((certificate) => found.has(certificate));
  };
  for (const signerName of where.signers) {
    const { items } = await client
      .resource(ClusterTrustBundles)
      .list({ fieldSelector: `spec.signerName=${signerName}` });
    if (items.length === 0 || !items.every(({ spec }) => has(spec.trustBundle ?? ''))) return false;
  }
  if (where.distributed.length === 0) return true;
  const labelSelector = `${ownNames.trustOwnerLabel}=${where.owner},${ownNames.trustBundleLabel} in (${where.distributed.join(',')})`;
  const free = await client.resource(ClusterTrustBundles).list({ labelSelector });
  if (!free.items.every(({ spec }) => has(spec.trustBundle ?? ''))) return false;
  const configMaps = await client.resource(ConfigMaps).list({ labelSelector });
  if (!configMaps.items.every(({ data }) => has(Object.values(data ?? {}).join('\n')))) return false;
  if (!where.inSecrets) return true;
  const secrets = await client.resource(Secrets).list({ labelSelector });
  return secrets.items.every(({ data }) =>
    has(
      Object.values(data ?? {})
        .map((value) => Buffer.from(value, 'base64').toString('utf8'))
        .join('\n'),
    ),
  );
}

const certificatesIn = (pem: string): readonly string[] =>
  [...pemBlocks(pem)].map(({ bytes }) => bytes.toString('base64'));
