import { ClusterTrustBundles } from '../../src/api/kinds/cluster-trust-bundle.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { member } from '../../src/api/object.js';
import type { Client } from '../../src/client/client.js';
import { readLimitedText } from '../../src/runtime/read-limited.js';
import { type SourcePem, UnfitSource } from './combine.js';
import { namespacedName, type TrustBundle, type TrustBundleSource } from './trust-bundle.js';

/** Returns the texts of a bundle's sources. Throws UnfitSource for a source that does not exist. */
export async function textsOf(
  client: Client,
  bundle: TrustBundle,
  bundles: readonly TrustBundle[],
): Promise<readonly SourcePem[]> {
  const texts = await Promise.all(bundle.sources.map((source) => textOf(client, source, bundles)));
  return texts.flat();
}

async function textOf(
  client: Client,
  source: TrustBundleSource,
  bundles: readonly TrustBundle[],
): Promise<readonly SourcePem[]> {
  if ('bundle' in source) {
    const other = bundles.find(({ name: found }) => found === source.bundle);
    return other === undefined ? [] : textsOf(client, other, bundles);
  }
  if ('file' in source) {
    const pem = await readLimitedText(source.file).catch((cause: NodeJS.ErrnoException) => {
      throw new UnfitSource(`file ${source.file}: ${cause.code ?? cause.message}`);
    });
    return [{ from: `file ${source.file}`, pem }];
  }
  if ('signer' in source) {
    const { items } = await client
      .resource(ClusterTrustBundles)
      .list({ fieldSelector: `spec.signerName=${source.signer}` });
    if (items.length === 0) throw new UnfitSource(`signer ${source.signer}: no ClusterTrustBundle`);
    return items.map(({ metadata, spec }) => ({
      from: `ClusterTrustBundle ${metadata.name}`,
      pem: spec.trustBundle ?? '',
    }));
  }
  if ('clusterTrustBundle' in source) {
    const from = `ClusterTrustBundle ${source.clusterTrustBundle}`;
    const found = await client.resource(ClusterTrustBundles).get({ name: source.clusterTrustBundle });
    if (found === undefined) throw new UnfitSource(`${from}: it does not exist`);
    return [{ from, pem: found.spec.trustBundle ?? '' }];
  }
  if ('configMap' in source) {
    const from = `ConfigMap ${source.configMap}`;
    const found = await client.resource(ConfigMaps).get(namespacedName(source.configMap) ?? { name: '' });
    return [{ from, pem: membersOf(from, found?.data, source.key) }];
  }
  const from = `Secret ${source.secret}`;
  const found = await client.resource(Secrets).get(namespacedName(source.secret) ?? { name: '' });
  return [{ from, pem: Buffer.from(membersOf(from, found?.data, source.key), 'base64').toString('utf8') }];
}

/** Returns the value of a key, or all values. */
function membersOf(from: string, data: Readonly<Record<string, string>> | undefined, key: string | undefined): string {
  if (data === undefined) throw new UnfitSource(`${from}: it does not exist or is empty`);
  if (key === undefined) return Object.values(data).join('\n');
  const value = member(data, key);
  if (value === undefined) throw new UnfitSource(`${from}: no key ${JSON.stringify(key)}`);
  return value;
}
