import { monotonicNow, nextTick, queueMicrotask, setImmediate } from './event-loop.js';

/** After steps that took this long together, in milliseconds, other work gets a turn of the event loop. */
const longMs = 8;

const waiting: (() => void)[] = [];

/**
 * Resolves when it is the caller's turn. In each round of the event loop one of the waiting callers continues, and
 * further ones as long as they take little time; otherwise each of many small requests would take long.
 */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(resumeWaiting);
  });
}

function resumeWaiting(): void {
  const start = monotonicNow();
  const next = (): void => {
    waiting.shift()?.();
    if (waiting.length > 0)
      afterPromises(() => (monotonicNow() - start > longMs ? setImmediate(resumeWaiting) : next()));
  };
  next();
}

/** Calls back after all reactions to promises that have settled. */
const afterPromises = (callback: () => void): void => queueMicrotask(() => nextTick(callback));

/**
 * Prevents work on a large object from blocking all other requests. It is checked between two steps of the work; as
 * long as they are short, a check costs almost nothing.
 */
export class TurnTaking {
  #since = monotonicNow();

  get isDue(): boolean {
    return monotonicNow() - this.#since > longMs;
  }

  /** Gives all other work a turn. */
  async next(): Promise<void> {
    await nextTurn();
    this.#since = monotonicNow();
  }
}

/** Runs all steps, giving other work a turn in between, and returns the result. */
export async function runInTurns<R>(steps: Generator<void, R, void>, turns = new TurnTaking()): Promise<R> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (turns.isDue) await turns.next();
  }
}

/** Like `runInTurns`, but gives other work a turn before the first step. */
export async function runInLaterTurns<R>(steps: Generator<void, R, void>): Promise<R> {
  const turns = new TurnTaking();
  await turns.next();
  return runInTurns(steps, turns);
}

/**
 * Wraps a request handler so that it yields to the event loop regularly. Requests of this process are answered without
 * any I/O, so code that sends requests one after the other would otherwise starve timers and sockets.
 */
export function takingTurns<A, R>(answer: (request: A) => Promise<R>): (request: A) => Promise<R> {
  let start: number | undefined;
  return async (request) => {
    if (start === undefined) {
      start = monotonicNow();
      setImmediate(() => {
        start = undefined;
      });
    } else if (monotonicNow() - start > longMs) {
      await nextTurn();
    }
    return answer(request);
  };
}
