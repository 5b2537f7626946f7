import type { Document } from 'yaml';
import { type ApiObject, groupVersion, keyOf } from '../../src/api/object.js';
import type { Client } from '../../src/client/client.js';

/** Applies the objects of a YAML file, in its order. */
export async function applyAll(client: Client, documents: readonly Document[]): Promise<void> {
  const types = await client.discover();
  for (const document of documents) {
    const object = document.toJS() as ApiObject;
    const type = types.find((one) => groupVersion(one) === object.apiVersion && one.kind === object.kind);
    if (type === undefined) throw new Error(`${object.kind} is not served`);
    await client.resource(type).patch(keyOf(object), { type: 'apply', body: object, fieldManager: 'test' });
  }
}
