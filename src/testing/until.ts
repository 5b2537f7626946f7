import { inspect } from 'node:util';
import { ApiError } from '../api/errors.js';
import { stringify } from '../api/go-text.js';
import type { CustomResourceDefinition } from '../api/kinds/custom-resource-definition.js';
import { type ApiObject, keyText, type ObjectKey } from '../api/object.js';
import type { ResourceClient } from '../client/client.js';
import { systemClock } from '../runtime/clock.js';
import type { Subscription } from '../runtime/observable.js';

export interface UntilOptions {
  /** In milliseconds of real time. Default: `KEDGE_TEST_TIMEOUT_MS` of the environment, else 4,000: test runners wait for 5 s. */
  readonly timeoutMs?: number;
  /** Stands in the failure. */
  readonly what?: string;
}

function patienceMs(): number {
  const given = Number(process.env['KEDGE_TEST_TIMEOUT_MS']);
  return given > 0 ? given : 4_000;
}

/** What was waited for did not come about. The message carries the last state seen. */
export class NeverHeld extends Error {
  override readonly name = 'NeverHeld';
}

/**
 * Waits until something holds of an object, watching it; `undefined` stands for "there is none". Answers the object as
 * it was then, of the type that `holds` proves (`(object) => object !== undefined`). An error that the server answers, as of a
 * kind that it does not serve yet, counts as "not yet". Fails with NeverHeld, the last such error as its cause, and with what
 * else goes wrong: what `holds` throws, or no answer.
 */
export async function until<T extends ApiObject, F extends T | undefined = T | undefined>(
  resource: ResourceClient<T>,
  key: ObjectKey,
  holds: ((object: T | undefined) => object is F) | ((object: T | undefined) => boolean),
  { timeoutMs = patienceMs(), what = keyText(key) }: UntilOptions = {},
): Promise<F> {
  let last: T | undefined;
  let refusal: ApiError | undefined;
  const look = async (): Promise<boolean> => {
    try {
      last = await resource.get(key);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refusal = error;
      return false;
    }
    refusal = undefined;
    return holds(last);
  };
  if (await look()) return last as F;
  let subscription: Subscription | undefined;
  let changed: () => void = () => {};
  let change = new Promise<void>((resolve) => (changed = resolve));
  const watch = (): void => {
    subscription?.unsubscribe();
    subscription = resource
      .watch({ namespace: key.namespace, fieldSelector: `metadata.name=${key.name}` })
      .subscribe({ next: () => changed(), error: () => {}, complete: () => {} });
  };
  const deadline = systemClock.now() + timeoutMs;
  try {
    watch();
    while (systemClock.now() < deadline) {
      // Looks again without a change too, since a watch may have ended.
      const rest = new AbortController();
      await Promise.race([change, systemClock.sleep(Math.min(250, deadline - systemClock.now()), rest.signal)]);
      rest.abort();
      change = new Promise<void>((resolve) => (changed = resolve));
      if (await look()) return last as F;
      if (subscription?.closed) watch();
    }
  } finally {
    subscription?.unsubscribe();
  }
  const answer = refusal === undefined ? '' : `; last answer: ${refusal.message}`;
  const seen = `${shown(withoutManagers(last))}${isOverlooked(last) ? overlooked : ''}`;
  throw new NeverHeld(`${what}: not within ${timeoutMs} ms; last seen: ${seen}${answer}`, { cause: refusal });
}

/** Asks again and again until the answer holds. Answers it. Fails with NeverHeld, and with what `ask` or `holds` throws. */
export async function eventually<R>(
  ask: () => R | Promise<R>,
  holds: (answer: R) => boolean,
  { timeoutMs = patienceMs(), what = 'condition' }: UntilOptions = {},
): Promise<R> {
  const deadline = systemClock.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (holds(answer)) return answer;
    if (systemClock.now() >= deadline) {
      throw new NeverHeld(`${what}: not within ${timeoutMs} ms; last answer: ${shown(answer)}`);
    }
    await systemClock.sleep(5);
  }
}

/** Who wrote which field is mostly half of an object, and seldom what was waited for. */
function withoutManagers(object: ApiObject | undefined): ApiObject | undefined {
  if (object?.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** A definition that no controller has said anything about. */
const isOverlooked = (object: ApiObject | undefined): boolean =>
  object?.kind === 'CustomResourceDefinition' && isMissing((object as CustomResourceDefinition).status?.conditions);
const isMissing = (conditions: readonly unknown[] | null | undefined): boolean => (conditions ?? []).length === 0;
const overlooked = ', which no controller has looked at: crd-names and crd-established have to run';

/** JSON, or what there is of a value that has none, as one that holds itself. */
function shown(value: unknown): string {
  try {
    return stringify(value) ?? 'none';
  } catch {
    return inspect(value);
  }
}
