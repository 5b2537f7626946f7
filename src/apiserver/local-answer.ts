import { deepCopy, deepCopyInSteps } from '../api/deep-copy.js';
import { ApiError, type Status } from '../api/errors.js';
import { type ApiObject, groupVersion, type Json, type List } from '../api/object.js';
import { runSync, type Steps } from '../api/steps.js';
import type { ListOptions, WatchEvent, WatchOptions } from '../client/client.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { Observable } from '../runtime/observable.js';
import { runInTurns, TurnTaking } from '../runtime/turn-taking.js';
import type { Entry } from '../store/store.js';
import { decodeEntryInSteps, decodeEntryMetadata, isLarge } from './entry-codec.js';
import { EventQueue } from './event-queue.js';
import { listMeta } from './list-text.js';
import type { Result, WatchItem } from './request.js';

/** Converts results of the pipeline into the results of a client in the same process. */

/** Throws the ApiError if a result is a failure Status; returns other results unchanged. */
export function failOnStatus(result: Result): Result {
  if (result.type === 'text')
    throw new ApiError({
      message: result.text.trim(),
      code: result.code,
      ...(result.code === 404 ? { reason: 'NotFound' as const } : {}),
    });
  if (result.type !== 'object' || result.definition !== undefined) return result;
  const status = result.object as Status;
  if (status.kind !== 'Status' || status.status !== 'Failure') return result;
  throw new ApiError({
    message: status.message ?? '',
    reason: status.reason as ApiError['reason'],
    code: status.code,
    details: status.details,
    ...(status.metadata.continue === undefined ? {} : { continueToken: status.metadata.continue }),
  });
}

export async function objectOf<T extends ApiObject>(answer: Result): Promise<T> {
  const result = failOnStatus(answer);
  if (result.type === 'object') return deepCopy(result.object as Json) as unknown as T;
  if (result.type !== 'entry') throw new Error(`an object was expected, not a ${result.type}`);
  const { definition, entry } = result;
  return readAs<T>(definition, entry, {});
}

export async function listOf<T extends ApiObject>(answer: Result, options: ListOptions): Promise<List<T>> {
  const result = failOnStatus(answer);
  if (result.type !== 'list') throw new Error(`a list was expected, not a ${result.type}`);
  const { definition, entries } = result;
  const turns = new TurnTaking();
  const items: T[] = [];
  for (const entry of entries) {
    if (turns.isDue) await turns.next();
    const item = readAs<T>(definition, entry, options, turns);
    items.push(item instanceof Promise ? await item : item);
  }
  return { metadata: listMeta(result), items };
}

/**
 * Decodes an entry as the options of a list or watch require. The result is a copy, as over HTTP, because decoded
 * entries are shared.
 */
function* readInSteps<T extends ApiObject>(
  definition: ResourceDefinition,
  entry: Entry,
  options: ReadOptions,
): Steps<T> {
  const read = options.metadataOnly
    ? yield* decodeEntryMetadata(definition, entry)
    : yield* decodeEntryInSteps(definition, entry);
  const own = (isLarge(entry) ? yield* deepCopyInSteps(read as Json) : deepCopy(read as Json)) as unknown;
  return options.metadataOnly ? withMetadata<T>(definition, own as ApiObject['metadata']) : (own as T);
}

/** Decodes at once, or in turns with other work if the entry is large. */
function readAs<T extends ApiObject>(
  definition: ResourceDefinition,
  entry: Entry,
  options: ReadOptions,
  turns?: TurnTaking,
): T | Promise<T> {
  const steps = readInSteps<T>(definition, entry, options);
  return isLarge(entry) ? runInTurns(steps, turns) : runSync(steps);
}

interface ReadOptions {
  readonly metadataOnly?: boolean;
}
const withMetadata = <T extends ApiObject>(definition: ResourceDefinition, metadata: ApiObject['metadata']): T =>
  ({ apiVersion: groupVersion(definition), kind: definition.kind, metadata }) as T;

type EntryItem = Extract<WatchItem, { readonly entry: Entry }>;

/** Returns the events of a watch, in order. The watch is requested when the result is subscribed to. */
export function watchOf<T extends ApiObject>(
  ask: () => Promise<Result>,
  options: WatchOptions,
): Observable<WatchEvent<T>> {
  return new Observable((subscriber) => {
    ask()
      .then((answer) => {
        if (subscriber.closed) return;
        const result = failOnStatus(answer);
        if (result.type !== 'watch') throw new Error(`a watch was expected, not a ${result.type}`);
        options.onOpen?.();
        const { definition, events, backpressure } = result;
        const fail = (error: unknown): void => subscriber.error(error);
        const reader = new EventQueue(backpressure, fail);
        function* deliver({ type, entry }: EntryItem): Steps<void> {
          if (!subscriber.closed) subscriber.next({ type, object: yield* readInSteps<T>(definition, entry, options) });
        }
        subscriber.add(
          events.subscribe({
            next: (item) => {
              if ('entry' in item) reader.push(() => deliver(item), isLarge(item.entry));
              else reader.push(() => (item.type === 'ERROR' ? fail(item.error) : subscriber.next(item)));
            },
            error: (error: unknown) => reader.push(() => fail(error)),
            complete: () => reader.push(() => subscriber.complete()),
          }),
        );
      })
      .catch((error: unknown) => subscriber.error(error));
  });
}
