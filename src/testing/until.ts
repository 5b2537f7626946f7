import { inspect } from 'node:util';
import { ApiError } from '../api/errors.js';
import { stringify } from '../api/go-text.js';
import type { CustomResourceDefinition } from '../api/kinds/custom-resource-definition.js';
import { type ApiObject, hasMetadata, keyOf, keyText, type ObjectKey } from '../api/object.js';
import type { ListOptions, ResourceClient } from '../client/client.js';
import { systemClock } from '../runtime/clock.js';
import type { Subscription } from '../runtime/observable.js';
import { failuresReportedTo } from './reported-failures.js';

/** The timeout of a wait, and its name in the error. */
export interface UntilOptions {
  /**
   * The timeout in milliseconds of real time. Default: `KEDGE_TEST_TIMEOUT_MS` of the environment, else 4,000, because
   * test runners wait for 5 s.
   */
  readonly timeoutMs?: number;
  /** A description of the condition, for the error. */
  readonly what?: string;
}

function patienceMs(): number {
  const milliseconds = Number(process.env['KEDGE_TEST_TIMEOUT_MS']);
  return milliseconds > 0 ? milliseconds : 4_000;
}

/**
 * Thrown when a condition did not become true in time. The message contains the last state seen, and failures of the
 * test's runnables.
 */
export class NeverHeld extends Error {
  override readonly name = 'NeverHeld';
}

/**
 * Waits until a condition holds for an object, watching it; `holds` receives `undefined` if there is no object. Returns
 * the object at that time, with the type that `holds` proves (`(object) => object !== undefined`). An error response,
 * for example for a kind that is not served yet, counts as "not yet". Fails with NeverHeld, with the last such error as
 * its cause, and with any other error: what `holds` throws, or a request without a response.
 */
export async function until<T extends ApiObject, F extends T | undefined = T | undefined>(
  resource: ResourceClient<T>,
  key: ObjectKey,
  holds: ((object: T | undefined) => object is F) | ((object: T | undefined) => boolean),
  { timeoutMs = patienceMs(), what = keyText(key) }: UntilOptions = {},
): Promise<F> {
  const found = await watching(resource, {
    selection: { namespace: key.namespace, fieldSelector: `metadata.name=${key.name}` },
    look: () => resource.get(key),
    holds: (object) => holds(object),
    told: (last) => `${valueText(last)}${isOverlooked(last) ? overlooked : ''}`,
    timeoutMs,
    what,
  });
  return found as F;
}

/** Selects objects: all, those in a namespace, or those with certain labels or fields. */
export type Selection = Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>;

/** Like `until`, for the list of all selected objects: waits until a condition holds for the list, and returns it. */
export async function untilList<T extends ApiObject>(
  resource: ResourceClient<T>,
  selection: Selection,
  holds: (objects: readonly T[]) => boolean,
  { timeoutMs = patienceMs(), what = selectionText(selection) }: UntilOptions = {},
): Promise<readonly T[]> {
  const found = await watching(resource, {
    selection,
    look: async () => (await resource.list(selection)).items,
    holds,
    told: (last = []) => listText(last),
    timeoutMs,
    what,
  });
  return found;
}

/**
 * Like `until`, for an object whose name is unknown, such as an Event or one with a `generateName`: waits until a
 * condition holds for one of the selected objects, and returns the first.
 */
export async function untilAny<T extends ApiObject, F extends T = T>(
  resource: ResourceClient<T>,
  selection: Selection,
  holds: ((object: T) => object is F) | ((object: T) => boolean),
  options?: UntilOptions,
): Promise<F> {
  let first: T | undefined;
  const some = (objects: readonly T[]): boolean => {
    first = objects.find((object) => holds(object));
    return first !== undefined;
  };
  await untilList(resource, selection, some, options);
  return first as F;
}

interface WatchOptions<S> extends Required<UntilOptions> {
  /** The objects whose changes may make the condition hold. */
  readonly selection: Selection;
  look(): Promise<S>;
  holds(state: S): boolean;
  /** Formats the state for the error. */
  told(last: S | undefined): string;
}

async function watching<T extends ApiObject, S>(
  resource: ResourceClient<T>,
  { selection, look, holds, told, timeoutMs, what }: WatchOptions<S>,
): Promise<S> {
  let last: S | undefined;
  let refusal: ApiError | undefined;
  const isSo = async (): Promise<boolean> => {
    try {
      last = await look();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refusal = error;
      return false;
    }
    refusal = undefined;
    return holds(last);
  };
  if (await isSo()) return last as S;
  let subscription: Subscription | undefined;
  let changed: () => void = () => {};
  let change = new Promise<void>((resolve) => (changed = resolve));
  const watch = (): void => {
    subscription?.unsubscribe();
    subscription = resource.watch(selection).subscribe({ next: () => changed(), error: () => {}, complete: () => {} });
  };
  const deadline = systemClock.now() + timeoutMs;
  try {
    watch();
    while (systemClock.now() < deadline) {
      // Checks again even without a change, because a watch may have ended.
      const timeout = new AbortController();
      await Promise.race([change, systemClock.sleep(Math.min(250, deadline - systemClock.now()), timeout.signal)]);
      timeout.abort();
      change = new Promise<void>((resolve) => (changed = resolve));
      if (await isSo()) return last as S;
      if (subscription?.closed) watch();
    }
  } finally {
    subscription?.unsubscribe();
  }
  const answer = refusal === undefined ? '' : `; last answer: ${refusal.message}`;
  const failures = failuresReportedTo(resource);
  const meanwhile = failures === '' ? '' : `; meanwhile: ${failures}`;
  const detail = `last seen: ${told(last)}${answer}${meanwhile}`;
  throw new NeverHeld(`${what}: not within ${timeoutMs} ms; ${detail}`, { cause: refusal });
}

/**
 * Polls until the condition holds for the result. Returns the result with the type that `holds` proves. Fails with
 * NeverHeld, and with what `ask` or `holds` throws.
 */
export async function eventually<R, F extends R = R>(
  ask: () => R | Promise<R>,
  holds: ((answer: R) => answer is F) | ((answer: R) => boolean),
  { timeoutMs = patienceMs(), what = 'condition' }: UntilOptions = {},
): Promise<F> {
  const deadline = systemClock.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (holds(answer)) return answer as F;
    if (systemClock.now() >= deadline) {
      throw new NeverHeld(`${what}: not within ${timeoutMs} ms; last answer: ${valueText(answer)}`);
    }
    await systemClock.sleep(5);
  }
}

/** Formats a selection: `objects in default with app=web`. */
function selectionText({ namespace, labelSelector, fieldSelector }: Selection): string {
  const selectors = [labelSelector, fieldSelector].filter(Boolean).join(', ');
  return `objects${namespace ? ` in ${namespace}` : ''}${selectors && ` with ${selectors}`}`;
}

/** The number of objects of a list shown in full, and the number shown by name; the others are counted. */
const toldWhole = 5;
const toldNames = 50;

function listText(objects: readonly ApiObject[]): string {
  if (objects.length === 0) return 'none';
  const full = objects.slice(0, toldWhole).map(valueText);
  const named = objects.slice(toldWhole, toldWhole + toldNames).map((object) => keyText(keyOf(object)));
  const more = objects.length - full.length - named.length;
  return `${objects.length}: ${[...full, ...named, ...(more > 0 ? [`and ${more} more`] : [])].join(', ')}`;
}

/** Removes managed fields, which are about half of an object and rarely of interest. */
function withoutManagers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutManagers);
  if (!hasMetadata(value) || value.metadata.managedFields === undefined) return value;
  const { managedFields: _, ...metadata } = value.metadata;
  return { ...value, metadata };
}

/** Whether the object is a definition that no controller has updated. */
const isOverlooked = (object: ApiObject | undefined): boolean =>
  object?.kind === 'CustomResourceDefinition' && isMissing((object as CustomResourceDefinition).status?.conditions);
const isMissing = (conditions: readonly unknown[] | null | undefined): boolean => (conditions ?? []).length === 0;
const overlooked = ', which no controller has looked at: crd-names and crd-established have to run';

/** Formats a value as JSON, or partially if it has no JSON form, such as one that contains itself. */
function valueText(value: unknown): string {
  try {
    return stringify(withoutManagers(value)) ?? 'none';
  } catch {
    return inspect(value);
  }
}
