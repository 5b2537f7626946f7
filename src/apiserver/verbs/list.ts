import { badRequest, tooManyRequests } from '../../api/errors.js';
import { messageOf } from '../../api/message-of.js';
import { dnsLabel } from '../../api/names.js';
import { groupVersion } from '../../api/object.js';
import { checkListParameters, type ListParameters } from '../../api/options.js';
import { relativeKey, storageKey, storagePrefix } from '../../registry/keys.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { TurnTaking } from '../../runtime/turn-taking.js';
import { type Entry, HistoryCompacted, type Revision, type Scan } from '../../store/store.js';
import { continueExpired, readContinue, writeContinue } from '../continue-token.js';
import { prepareEntries } from '../entry-codec.js';
import type { Parts } from '../parts.js';
import type { ListResult } from '../request.js';
import { readResourceVersion, storeFailure, waitForRevision } from '../revisions.js';
import { isSelected, readForSelection } from '../selected.js';
import { readSelection, type Selection } from '../selection.js';
import type { ShardSelector } from '../shard-selector.js';

/** The collection that a list reads, or the part of it. */
export interface ListTarget {
  readonly definition: ResourceDefinition;
  readonly namespace: string;
  /** The name of the object that the path or a field selector names, if it does. */
  readonly name?: string | undefined;
  /** The shard of the collection that the request selects. */
  readonly shard?: ShardSelector | undefined;
  readonly signal: AbortSignal;
}

/** Lists a collection: one consistent state, in pages if requested. */
export async function listObjects(parts: Parts, target: ListTarget, parameters: ListParameters): Promise<ListResult> {
  checkListParameters(parameters);
  const selection = readSelection(target.definition, parameters, target.shard);
  const plan = await planRead(parts, target, parameters, selection);
  const page = await readPage(parts, target, selection, plan);
  const more = page.remaining > 0 && page.last !== undefined;
  return {
    type: 'list',
    definition: target.definition,
    entries: page.entries,
    resourceVersion: String(page.revision > 0n ? page.revision : 1n),
    continue: more ? writeContinue({ revision: page.revision, after: relativeTo(target, page.last ?? '') }) : undefined,
    remainingItemCount: more && selection.everything ? page.remaining : undefined,
    shard: selection.shard,
  };
}

interface ReadPlan {
  readonly at: Revision | undefined;
  readonly after: string | undefined;
  readonly limit: number | undefined;
  /** The key of the only object that can match, if its name and namespace are known. */
  readonly only: string | undefined;
  readonly continued: boolean;
  /**
   * Whether Kubernetes would read from the store instead of the watch cache, as it does for pages of all objects until
   * the cache is filled.
   */
  readonly pastCache: boolean;
}

async function planRead(
  parts: Parts,
  target: ListTarget,
  parameters: ListParameters,
  selection: Selection,
): Promise<ReadPlan> {
  const { everything } = selection;
  const { resourceVersion: text, resourceVersionMatch: match } = parameters;
  const { uncached = false } = target.definition;
  const limit = parameters.limit !== undefined && parameters.limit > 0 ? parameters.limit : undefined;
  const pastCache = everything && limit !== undefined;
  /** A cache that may be of any age returns everything it has. */
  const anyAge = uncached ? limit : undefined;
  if (parameters.continue !== undefined) {
    const token = readContinue(parameters.continue);
    if (text !== '' && text !== '0') {
      throw badRequest('specifying resource version is not allowed when using continue');
    }
    const atLatest = token.revision < 0n;
    if (!atLatest)
      await waitForRevision(parts.store, token.revision, { clock: parts.clock, signal: target.signal, uncached });
    return {
      at: atLatest ? undefined : token.revision,
      after: storagePrefix(target.definition, target.namespace) + token.after,
      limit: text === '0' ? anyAge : limit,
      only: undefined,
      continued: true,
      pastCache,
    };
  }
  const version = text === '' ? undefined : readResourceVersion(text, 'list');
  const only = onlyKey(target, selection);
  const plain: ReadPlan = {
    at: undefined,
    after: undefined,
    limit,
    only,
    continued: false,
    pastCache,
  };
  if (version === undefined) return plain;
  // Only the text `0` accepts any age, not other spellings of zero.
  if (version === 0n) return text === '0' ? { ...plain, limit: anyAge } : plain;
  // Kubernetes reads a single object from the store where a list could have pages.
  const pastCacheToo = only !== undefined && (match === 'Exact' || (match === undefined && limit !== undefined));
  await waitForRevision(parts.store, version, {
    clock: parts.clock,
    signal: target.signal,
    uncached: uncached || pastCacheToo,
  });
  // A single object has no pages, so that no limit requires a snapshot for them.
  const exact = match === 'Exact' || (match === undefined && limit !== undefined && only === undefined);
  return exact ? { ...plain, at: version } : plain;
}

interface Page {
  readonly entries: readonly Entry[];
  readonly revision: Revision;
  readonly remaining: number;
  /** The last key that was examined. */
  readonly last: string | undefined;
}

const chunk = 1_000;
/**
 * The maximum number of objects that are read at once. If few of them match, more and more are read at once: the cost
 * of reading a past state depends on the number of changes since, not on how much is read.
 */
const largestChunk = 64_000;

async function readPage(parts: Parts, target: ListTarget, selection: Selection, plan: ReadPlan): Promise<Page> {
  const prefix = storagePrefix(target.definition, target.namespace);
  if (selection.everything) {
    const scan = await scanAt(parts, target, plan, { ...plan, prefix });
    return { ...scan, last: scan.entries.at(-1)?.key };
  }
  const { only } = plan;
  if (only !== undefined) {
    // A key sorts before all longer keys that begin with it.
    const { entries, revision } = await scanAt(parts, target, plan, { ...plan, limit: 1, prefix: only });
    const exact = entries.filter(({ key }) => key === only);
    await readForSelection(selection, target.definition, exact);
    const found = exact.filter((entry) => isSelected(selection, target.definition, entry));
    return { entries: found, revision, remaining: 0, last: undefined };
  }
  const found: Entry[] = [];
  const turns = new TurnTaking();
  let { at, after } = plan;
  for (let size = chunk; ; size = Math.min(2 * size, largestChunk)) {
    const limit = plan.limit === undefined ? undefined : Math.max(size, plan.limit);
    const scan = await scanAt(parts, target, plan, { at, after, limit, prefix });
    at ??= scan.revision;
    for (const [position, entry] of scan.entries.entries()) {
      if (turns.isDue) {
        await turns.next();
        target.signal.throwIfAborted();
      }
      const reading = readForSelection(selection, target.definition, [entry]);
      if (reading !== undefined) await reading;
      if (!isSelected(selection, target.definition, entry)) continue;
      found.push(entry);
      if (found.length === plan.limit) {
        return {
          entries: found,
          revision: scan.revision,
          remaining: scan.remaining + scan.entries.length - position - 1,
          last: entry.key,
        };
      }
    }
    const last = scan.entries.at(-1)?.key;
    if (scan.remaining === 0 || last === undefined)
      return { entries: found, revision: scan.revision, remaining: 0, last };
    after = last;
  }
}

function onlyKey({ definition, namespace: of }: ListTarget, selection: Selection): string | undefined {
  const { name } = selection;
  const namespace = of || (isNamespace(selection.namespace) ? selection.namespace : '');
  if (!name || name.includes('/') || (definition.namespaced && namespace === '')) return undefined;
  return storageKey(definition, { namespace, name });
}

const isNamespace = (text: string | undefined): text is string =>
  text !== undefined && text !== '' && dnsLabel(text).length === 0;

async function scanAt(
  { store }: Parts,
  target: ListTarget,
  plan: ReadPlan,
  { at, after, limit, prefix }: Pick<ReadPlan, 'at' | 'after' | 'limit'> & { readonly prefix: string },
): Promise<Scan> {
  let scan: Scan;
  try {
    scan = await store.scan(prefix, {
      ...(at === undefined ? {} : { at }),
      ...(after === undefined ? {} : { after }),
      ...(limit === undefined ? {} : { limit }),
    });
  } catch (error) {
    if (error instanceof HistoryCompacted && plan.continued)
      throw continueExpired(relativeTo(target, plan.after ?? ''));
    throw storeFailure(error);
  }
  await convertedForList(target, scan.entries, plan.pastCache);
  return scan;
}

/**
 * Converts the entries of a list. In Kubernetes, lists and watches are served from a cache for each version, which
 * cannot be filled while objects cannot be converted; reads `pastCache` fail like those of a single object.
 */
export async function convertedForList(
  { definition, signal }: Pick<ListTarget, 'definition' | 'signal'>,
  entries: readonly Entry[],
  pastCache = false,
): Promise<void> {
  if (definition.codec?.remote === undefined) return;
  try {
    for (let begin = 0; begin < entries.length; begin += chunk) {
      signal.throwIfAborted();
      await prepareEntries(definition, entries.slice(begin, begin + chunk));
    }
  } catch (error) {
    if (signal.aborted || pastCache) throw error;
    const list = `${groupVersion(definition)}, Kind=${definition.kind}`;
    const message = messageOf(error);
    throw tooManyRequests(`storage is (re)initializing: failed to list ${list}: ${message}`, 1);
  }
}

const relativeTo = ({ definition, namespace }: ListTarget, key: string): string => {
  const relative = relativeKey(definition, key);
  return definition.namespaced && namespace ? relative.slice(namespace.length + 1) : relative;
};
