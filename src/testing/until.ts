import { inspect } from 'node:util';
import { stringify } from '../api/go-text.js';
import { type ApiObject, keyText, type ObjectKey } from '../api/object.js';
import type { ResourceClient } from '../client/client.js';
import { systemClock } from '../runtime/clock.js';
import type { Subscription } from '../runtime/observable.js';

export interface UntilOptions {
  /** Default 10 s of real time. */
  readonly timeoutMs?: number;
  /** Stands in the failure. */
  readonly what?: string;
}

/** What was waited for did not come about. The message carries the last state seen. */
export class NeverHeld extends Error {
  override readonly name = 'NeverHeld';
}

/**
 * Waits until something holds of an object, watching it; `undefined` stands for "there is none". Answers the object as
 * it was then, of the type that `holds` proves (`(object) => object !== undefined`). Fails with NeverHeld.
 */
export async function until<T extends ApiObject, F extends T | undefined = T | undefined>(
  resource: ResourceClient<T>,
  key: ObjectKey,
  holds: ((object: T | undefined) => object is F) | ((object: T | undefined) => boolean),
  { timeoutMs = 10_000, what = keyText(key) }: UntilOptions = {},
): Promise<F> {
  let last: T | undefined;
  const look = async (): Promise<boolean> => {
    last = await resource.get(key);
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
  throw new NeverHeld(`${what}: not within ${timeoutMs} ms; last seen: ${shown(last)}`);
}

/** Asks again and again until the answer holds. Answers it. Fails with NeverHeld. */
export async function eventually<R>(
  ask: () => R | Promise<R>,
  holds: (answer: R) => boolean,
  { timeoutMs = 10_000, what = 'condition' }: UntilOptions = {},
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

/** JSON, or what there is of a value that has none, as one that holds itself. */
function shown(value: unknown): string {
  try {
    return stringify(value) ?? 'none';
  } catch {
    return inspect(value);
  }
}
