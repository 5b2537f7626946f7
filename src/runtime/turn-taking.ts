import { monotonicNow, nextTick, queueMicrotask, setImmediate } from './event-loop.js';

/** Steps of work that took this long together, in milliseconds, are followed by a turn for everybody else. */
const longMs = 8;

const waiting: (() => void)[] = [];

/**
 * Resolves when it is one's turn. Of all who wait for theirs one goes on each time the event loop comes round, and more
 * as long as they have little to do: where many requests are under way, all took long although each does little.
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

/** Calls back once all that follows from promises that are settled by now was done. */
const afterPromises = (callback: () => void): void => queueMicrotask(() => nextTick(callback));

/**
 * Keeps a request whose object is large from holding up all others. Asked between two steps of its work; as long as
 * they were short, asking costs next to nothing.
 */
export class TurnTaking {
  #since = monotonicNow();

  get isDue(): boolean {
    return monotonicNow() - this.#since > longMs;
  }

  /** Lets everybody else have a turn. */
  async next(): Promise<void> {
    await turn();
    this.#since = monotonicNow();
  }
}

/** Goes through the steps of some work with turns for others in between. */
export async function runInTurns<R>(steps: Generator<void, R, void>, turns = new TurnTaking()): Promise<R> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (turns.isDue) await turns.next();
  }
}

/** The same, of which nothing is done before everybody else had a turn. */
export async function runInLaterTurns<R>(steps: Generator<void, R, void>): Promise<R> {
  const turns = new TurnTaking();
  await turns.next();
  return runInTurns(steps, turns);
}

/**
 * Requests of this process are answered without waiting for anything, so code that asks again as soon as it has an
 * answer would keep timers and sockets waiting for as long as it goes on. Once that took long, the next has to wait.
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
