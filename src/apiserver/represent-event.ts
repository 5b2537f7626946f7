import { ApiError, untyped } from '../api/errors.js';
import { goJson } from '../api/go-text.js';
import { type ApiObject, groupVersion, type ObjectMeta } from '../api/object.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { inOrder } from '../schema/encode.js';
import type { Entry } from '../store/store.js';
import { entryBytes, stored, storedMetadata } from './forms.js';
import { Recent } from './recent.js';
import { tableMeta } from './represent.js';
import type { Representation, WatchItem } from './request.js';
import { partialObject, tableOf } from './tables.js';

/**
 * Watch events in the form the caller accepts; plain JSON is made once for all watchers. Undefined for what has no such
 * form, where the watch ends.
 */
export type EventEncoder = (item: WatchItem) => Buffer | undefined;

/** Bytes of events that are kept for the next who watch the same. */
const keptBytes = 16 * 1_048_576;

/** An event as a line, by what it is told as and of which kind. */
type Line = readonly [definition: ResourceDefinition, type: string, bytes: Buffer];

const plainEvents = new Recent<Entry, readonly Line[]>(keptBytes);

export async function eventEncoder(
  definition: ResourceDefinition,
  form: Representation,
  now: () => number,
): Promise<EventEncoder> {
  const encode = await encoderOf(definition, form, now);
  // No object is a list, but what went wrong is told in any form.
  if (form.as?.kind !== 'PartialObjectMetadataList') return encode;
  return (item) => (item.type === 'ERROR' ? encode(item) : undefined);
}

async function encoderOf(
  definition: ResourceDefinition,
  form: Representation,
  now: () => number,
): Promise<EventEncoder> {
  if (form.mediaType === 'protobuf') {
    const [{ encodeEvent }, { partialMetadataSchema }] = await Promise.all([
      import('./protobuf-answer.js'),
      import('../resources/partial-metadata-schema.js'),
    ]);
    const { as } = form;
    return (item) => {
      if (item.type === 'ERROR') return encodeEvent('ERROR', undefined, statusOf(item.error));
      return as === undefined
        ? encodeEvent(item.type, definition.schema, objectIn(definition, item))
        : encodeEvent(item.type, partialMetadataSchema, partialObject(metadataIn(definition, item), as.version));
    };
  }
  if (form.as === undefined) {
    return (item) =>
      'entry' in item
        ? plainEvent(definition, item.type, item.entry)
        : line(item.type, specialObject(definition, item));
  }
  let first = true;
  const { as } = form;
  return (item) => {
    if (item.type === 'ERROR') return line('ERROR', statusOf(item.error));
    if (as.kind !== 'Table') return line(item.type, partialObject(metadataIn(definition, item), as.version));
    const object = objectIn(definition, item);
    const table = tableOf(definition, [object], {
      version: as.version,
      includeObject: form.includeObject ?? 'Metadata',
      metadata: tableMeta(object),
      now: now(),
      columns: first,
      ...(item.type === 'BOOKMARK' ? { bookmark: true } : {}),
    });
    first = false;
    return line(item.type, table);
  };
}

type Told = Exclude<WatchItem, { readonly type: 'ERROR' }>;

const objectIn = (definition: ResourceDefinition, item: Told): ApiObject =>
  'entry' in item ? stored(definition, item.entry) : (specialObject(definition, item) as ApiObject);

const metadataIn = (definition: ResourceDefinition, item: Told): ObjectMeta =>
  'entry' in item ? storedMetadata(definition, item.entry) : objectIn(definition, item).metadata;

function plainEvent(definition: ResourceDefinition, type: string, entry: Entry): Buffer {
  const lines = plainEvents.get(entry) ?? [];
  for (const [of, as, bytes] of lines) if (of === definition && as === type) return bytes;
  const made = Buffer.concat([Buffer.from(`{"type":"${type}","object":`), entryBytes(definition, entry), eventEnd]);
  plainEvents.set(entry, [...lines, [definition, type, made]], made.length);
  return made;
}
const eventEnd = Buffer.from('}\n');
const line = (type: string, object: unknown): Buffer => Buffer.from(`{"type":"${type}","object":${goJson(object)}}\n`);

/** What stands in a bookmark or an error event. */
function specialObject(
  definition: ResourceDefinition,
  item: Extract<WatchItem, { type: 'BOOKMARK' | 'ERROR' }>,
): object {
  if (item.type === 'ERROR') return statusOf(item.error);
  const bare = {
    kind: definition.kind,
    apiVersion: groupVersion(definition),
    metadata: {
      resourceVersion: item.resourceVersion,
      ...(item.initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
    },
  };
  return inOrder(definition, bare);
}

/** An error as an event carries it: untyped ones become internal errors. */
function statusOf(error: unknown): object {
  const known = error instanceof ApiError ? error : untyped(error instanceof Error ? error.message : String(error));
  const status = known.toStatus();
  return status.reason === undefined ? { ...status, reason: 'InternalError' } : status;
}
