import { bombs } from './bombs.js';
import { complaints } from './judge.js';
import type { FuzzRequest } from './request.js';
import type { Target } from './target.js';
import { watchTurns } from './turns.js';
import { mend, prepare, tidy } from './world.js';

/** The outcome of one bomb. */
export interface Explosion {
  readonly name: string;
  readonly request: FuzzRequest;
  readonly code: number;
  readonly text: string;
  /** The longest time that the event loop was blocked, the minimum of several attempts. */
  readonly blockedMs: number;
  readonly tookMs: number;
  readonly complaints: readonly string[];
}

/** Sends every bomb (or the given ones) to a server, one at a time. */
export async function* explosions(
  target: Target,
  {
    names = Object.keys(bombs),
    maxBlockedMs = 100,
  }: { readonly names?: readonly string[]; readonly maxBlockedMs?: number } = {},
): AsyncGenerator<Explosion> {
  const turns = watchTurns();
  try {
    await mend(target);
    for (const name of names) {
      const request = bombs[name]?.();
      if (request === undefined) throw new Error(`no bomb ${name}`);
      let blockedMs = Number.POSITIVE_INFINITY;
      let tookMs = Number.POSITIVE_INFINITY;
      const unprepared = await prepare(target, request);
      let answer = await target.ask(request);
      // The first attempt may have had to load and compile code.
      const isWorthwhile = (tries: number): boolean => tries === 0 || (tries < 4 && blockedMs < 10 * maxBlockedMs);
      for (let tries = 0; blockedMs > maxBlockedMs && isWorthwhile(tries); tries++) {
        await new Promise(setImmediate);
        turns.longest();
        const started = performance.now();
        answer = await target.ask(request);
        await new Promise(setImmediate);
        tookMs = Math.min(tookMs, performance.now() - started);
        blockedMs = Math.min(blockedMs, turns.longest());
      }
      const wrong = [...unprepared, ...(await complaints(answer)), ...target.loggedErrors()];
      await tidy(target, request);
      yield { name, request, code: answer.code, text: answer.body.toString(), blockedMs, tookMs, complaints: wrong };
    }
  } finally {
    turns.stop();
  }
}
