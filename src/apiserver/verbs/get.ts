import { badRequest, notFound } from '../../api/errors.js';
import { type Query, readBoolean } from '../../api/options.js';
import { checkLookupKey, storageKey } from '../../registry/keys.js';
import { subresourceDefinition } from '../../registry/subresource.js';
import { decodeEntryInTurns, prepareEntries } from '../entry-codec.js';
import type { Parts } from '../parts.js';
import type { ApiRequest, Result } from '../request.js';
import type { Target } from '../resolve-target.js';
import { readResourceVersion, waitForRevision } from '../revisions.js';

/** Responds to a GET of one object, also through a subresource. */
export async function getObject(
  parts: Parts,
  request: ApiRequest,
  { definition, subresource }: Target,
): Promise<Result> {
  const { info } = request;
  refuseExport(request.query);
  checkLookupKey(definition, info);
  const version = request.query.get('resourceVersion');
  if (version) {
    const { uncached = false } = definition;
    const requested = readResourceVersion(version, uncached ? 'list' : 'get');
    await waitForRevision(parts.store, requested, { clock: parts.clock, signal: request.signal, uncached });
  }
  const entry = await parts.store.get(storageKey(definition, info));
  if (entry === undefined) throw notFound({ ...definition, name: info.name });
  if (subresource?.type === 'projection') {
    const object = subresource.read(await decodeEntryInTurns(definition, entry));
    return { type: 'object', code: 200, definition: subresourceDefinition(definition, subresource.of), object };
  }
  await prepareEntries(definition, [entry]);
  return { type: 'entry', code: 200, definition, entry };
}

/**
 * Refuses the parameter `export` as Kubernetes does, where it omitted, up to version 1.20, what only the server sets.
 */
function refuseExport(query: Query): void {
  const value = query.get('export');
  if (value === undefined || !readBoolean(value)) return;
  throw badRequest('the export parameter, deprecated since v1.14, is no longer supported');
}
