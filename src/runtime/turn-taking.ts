import { monotonicNow, nextTick, queueMicrotask, setImmediate } from './event-loop.js';

/** After steps that took this long together, in milliseconds, other work gets a turn of the event loop. */
const longMs = 8;

const waiting: (() => void)[] = [];

/**
 * Resolves when it is the caller's turn. At each round of the event loop one of the waiting callers goes on, and further
 * ones as long as they have little to do: otherwise many small requests at once would all take long.
 */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(goOn);
  });
}

function goOn(): void {
  const begun = monotonicNow();
  const next = (): void => {
    waiting.shift()?.();
    if (waiting.length > 0) afterPromises(() => (monotonicNow() - begun > longMs ? setImmediate(goOn) : next()));
  };
  next();
}

/** Calls back after all reactions to promises that are settled now. */
const afterPromises = (callback: () => void): void => queueMicrotask(() => nextTick(callback));

/**
 * Keeps a request with a large object from holding up all others. Checked between two steps of its work; as long as
 * they were short, a check costs next to nothing.
 */
export class TurnTaking {
  #since = monotonicNow();

  get isDue(): boolean {
    return monotonicNow() - this.#since > longMs;
  }

  /** Lets all other work have a turn. */
  async next(): Promise<void> {
    await turn();
    this.#since = monotonicNow();
  }
}

/** Runs all steps, giving other work its turn in between, and returns the result. */
export async function runInTurns<R>(steps: Generator<void, R, void>, turns = new TurnTaking()): Promise<R> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (turns.isDue) await turns.next();
  }
}

/** Like `runInTurns`, but lets other work have a turn before the first step. */
export async function runInLaterTurns<R>(steps: Generator<void, R, void>): Promise<R> {
  const turns = new TurnTaking();
  await turns.next();
  return runInTurns(steps, turns);
}

/**
 * Wraps a request handler so that it yields to the event loop now and then. Requests of this process are answered without
 * any I/O, so code that sends the next request at once would otherwise starve timers and sockets.
 */
export function takingTurns<A, R>(answer: (request: A) => Promise<R>): (request: A) => Promise<R> {
  let begun: number | undefined;
  return async (request) => {
    if (begun === undefined) {
      begun = monotonicNow();
      setImmediate(() => {
        begun = undefined;
      });
    } else if (monotonicNow() - begun > longMs) {
      await turn();
    }
    return answer(request);
  };
}
