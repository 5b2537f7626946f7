import { isReason } from '../api/errors.js';
import { type ConfigMap, ConfigMaps } from '../api/kinds/config-map.js';
import { groupVersion } from '../api/object.js';
import type { Client } from '../client/client.js';

type Data = NonNullable<ConfigMap['data']>;

/** The number of conflicts in a row after which the ConfigMap is left as others wrote it. */
const tries = 10;

/** Creates or updates a ConfigMap of the server. `desired` returns the new data, or undefined if the data is right already. */
export async function ensureConfigMap(
  client: Client,
  key: { readonly namespace: string; readonly name: string },
  desired: (found: Data) => Data | undefined,
): Promise<void> {
  const configMaps = client.resource(ConfigMaps);
  const options = { fieldManager: 'kube-apiserver' };
  for (let attempt = 1; attempt <= tries; attempt++) {
    const found = await configMaps.get(key);
    const data = desired(found?.data ?? {});
    if (data === undefined) return;
    try {
      if (found !== undefined) await configMaps.update({ ...found, data }, options);
      else {
        const { kind } = ConfigMaps;
        await configMaps.create({ apiVersion: groupVersion(ConfigMaps), kind, metadata: { ...key }, data }, options);
      }
      return;
    } catch (error) {
      // Another server wrote it first.
      if (!isReason(error, 'AlreadyExists') && !isReason(error, 'Conflict')) throw error;
    }
  }
}
