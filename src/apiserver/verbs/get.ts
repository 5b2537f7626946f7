import { notFound } from '../../api/errors.js';
import { storageKey } from '../../registry/keys.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import type { Entry } from '../../store/store.js';
import { stored } from '../forms.js';
import type { Parts } from '../parts.js';
import type { ApiRequest, Result } from '../request.js';
import { readVersion, waitForRevision } from '../revisions.js';

/** GET of one object, also through a subresource. */
export async function getObject(parts: Parts, request: ApiRequest, definition: ResourceDefinition): Promise<Result> {
  const version = request.query.get('resourceVersion');
  if (version)
    await waitForRevision(parts.store, readVersion(version, 'get'), { clock: parts.clock, signal: request.signal });
  const entry = await existing(parts, definition, request.info);
  const subresource = request.info.subresource === '' ? undefined : definition.subresources?.[request.info.subresource];
  if (subresource?.type !== 'projection') return { type: 'entry', code: 200, definition, entry };
  return { type: 'object', code: 200, object: subresource.read(stored(definition, entry)) };
}

/** The live entry of a name, or NotFound. */
export async function existing(
  { store }: Parts,
  definition: ResourceDefinition,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<Entry> {
  const entry = await store.get(storageKey(definition, { namespace, name }));
  if (entry === undefined) throw notFound({ ...definition, name });
  return entry;
}
