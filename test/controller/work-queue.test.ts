import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defaultBackoff, exponentialBackoff, tokenBucket } from '../../src/controller/backoff.js';
import { createWorkQueue, Delays, type WorkItem, type WorkQueue } from '../../src/controller/work-queue.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { expectShort } from '../processor-time.js';

const setUp = (): { readonly clock: FakeClock; readonly queue: WorkQueue<string> } => {
  const clock = new FakeClock(0);
  const backoff = exponentialBackoff({ baseMs: 10, capMs: 1_000 });
  return { clock, queue: createWorkQueue<string>({ clock, identity: (key) => key, backoff }) };
};
const takeNow = async (queue: WorkQueue<string>): Promise<WorkItem<string>> => {
  const lease = await queue.take();
  if (lease === undefined) throw new Error('nothing to take');
  return lease;
};

describe('work queue', () => {
  test('keys come out once each, in order', async () => {
    const { queue } = setUp();
    for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
    expect(queue.depth).toBe(3);
    expect([(await takeNow(queue)).key, (await takeNow(queue)).key, (await takeNow(queue)).key]).toEqual([
      'a',
      'b',
      'c',
    ]);
    expect(queue.depth).toBe(0);
  });

  test('a waiting worker gets the next key', async () => {
    const { queue } = setUp();
    const first = queue.take();
    const second = queue.take();
    queue.add('a');
    queue.add('b');
    expect([(await first)?.key, (await second)?.key]).toEqual(['a', 'b']);
  });

  test('a key added during its processing comes back once after it is settled', async () => {
    const { queue } = setUp();
    queue.add('a');
    const lease = await takeNow(queue);
    queue.add('a');
    queue.add('a');
    expect(queue.depth).toBe(0);
    lease.settle('done');
    expect(queue.depth).toBe(1);
    (await takeNow(queue)).settle('done');
    expect(queue.depth).toBe(0);
  });

  test('the earliest of several delays applies', async () => {
    const { clock, queue } = setUp();
    queue.add('a', 50);
    queue.add('a', 20);
    queue.add('a', 90);
    await clock.advance(19);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(queue.depth).toBe(1);
    (await takeNow(queue)).settle('done');
    await clock.advance(1_000);
    expect(queue.depth).toBe(0);
    expect(clock.sleeping).toBe(0);
  });

  test('a delay ends even if the clock is set back', async () => {
    const clock = new FakeClock();
    const queue = createWorkQueue<string>({ clock, identity: (key) => key });
    queue.add('a', 1_000);
    await clock.advance(500);
    clock.set(clock.now() - 3_600_000);
    await clock.advance(1_500);
    expect(queue.depth).toBe(1);
  });

  test('retry delays grow, and a success resets them', async () => {
    const { clock, queue } = setUp();
    queue.add('a');
    for (const [attempt, wait] of [
      [1, 10],
      [2, 20],
      [3, 40],
    ] as const) {
      const lease = await takeNow(queue);
      expect(lease.attempt).toBe(attempt);
      lease.settle('retry');
      lease.settle('done');
      await clock.advance(wait - 1);
      expect(queue.depth).toBe(0);
      await clock.advance(1);
      expect(queue.depth).toBe(1);
    }
    (await takeNow(queue)).settle({ afterMs: 5 });
    await clock.advance(5);
    expect((await takeNow(queue)).attempt).toBe(1);
  });

  test('after shutdown, due keys are drained and nothing is added', async () => {
    const { clock, queue } = setUp();
    queue.add('a');
    queue.add('b', 5);
    queue.shutDown();
    queue.add('c');
    expect((await queue.take())?.key).toBe('a');
    expect(await queue.take()).toBeUndefined();
    await clock.advance(10);
    expect(await queue.take()).toBeUndefined();
  });

  test('shutdown wakes waiting workers', async () => {
    const { queue } = setUp();
    const waiting = queue.take();
    queue.shutDown();
    expect(await waiting).toBeUndefined();
  });

  test('in any sequence, no key is with two workers and no added key is lost', async () => {
    const action = fc.oneof(
      fc.record({
        do: fc.constant('add' as const),
        key: fc.constantFrom('a', 'b', 'c'),
        delay: fc.constantFrom(0, 3, 7),
      }),
      fc.record({ do: fc.constant('take' as const) }),
      fc.record({
        do: fc.constant('settle' as const),
        at: fc.nat(5),
        how: fc.constantFrom('done' as const, 'retry' as const),
      }),
      fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(1, 5) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 30 }), async (actions) => {
        const { clock, queue } = setUp();
        const held: WorkItem<string>[] = [];
        const owed = new Set<string>();
        const takeOne = async (): Promise<void> => {
          if (queue.depth === 0) return;
          const lease = await takeNow(queue);
          expect(held.map(({ key }) => key)).not.toContain(lease.key);
          owed.delete(lease.key);
          held.push(lease);
        };
        for (const step of actions) {
          if (step.do === 'add') {
            queue.add(step.key, step.delay);
            owed.add(step.key);
          } else if (step.do === 'take') await takeOne();
          else if (step.do === 'settle') held.splice(step.at, 1)[0]?.settle(step.how);
          else await clock.advance(step.ms);
        }
        for (const lease of held.splice(0)) lease.settle('done');
        await clock.advance(10_000);
        while (queue.depth > 0) await takeOne();
        expect([...owed]).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  test('a hundred thousand keys, delayed ones too, are handled quickly', async () => {
    await expectShort(10_000, async () => {
      const { clock, queue } = setUp();
      for (let i = 0; i < 100_000; i++) queue.add(`now-${i}`);
      for (let i = 0; i < 20_000; i++) queue.add(`later-${i}`, 1 + ((i * 7_919) % 1_000));
      for (let i = 0; i < 100_000; i++) (await takeNow(queue)).settle('done');
      await clock.advance(1_000);
      expect(queue.depth).toBe(20_000);
    });
    await settled();
  });
});

describe('delays', () => {
  test('superseded times are discarded once they outnumber the others', () => {
    const delays = new Delays<string>();
    let most = 0;
    // Each key is delayed by a day, then by an hour, like a request that is issued after its creation.
    for (let minute = 0; minute < 3_000; minute++) {
      delays.put(`${minute}`, 'key', minute + 1_440);
      delays.put(`${minute}`, 'key', minute + 60);
      delays.due(minute);
      most = Math.max(most, delays.size);
    }
    expect(most).toBeLessThan(200);
  });

  test('each key is due at its earliest time, however often the heap is rebuilt', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(150), fc.nat(1_000)), { minLength: 300, maxLength: 600 }), (puts) => {
        const delays = new Delays<number>();
        const earliest = new Map<number, number>();
        for (const [key, at] of puts) {
          delays.put(`${key}`, key, at);
          earliest.set(key, Math.min(at, earliest.get(key) ?? at));
        }
        const came = Array.from({ length: 1_001 }, (_, now) => delays.due(now).map((key) => [key, now])).flat();
        expect(new Map(came as [number, number][])).toEqual(earliest);
        expect(came.length).toBe(earliest.size);
      }),
      { numRuns: 60 },
    );
  });
});

describe('backoff', () => {
  test('doubles up to its cap', () => {
    const backoff = exponentialBackoff({ baseMs: 5, capMs: 100 });
    expect([1, 2, 3, 6, 2_000].map(backoff)).toEqual([5, 10, 20, 100, 100]);
  });

  test('a bucket allows a burst and then a steady rate', async () => {
    const clock = new FakeClock(0);
    const bucket = tokenBucket({ clock, perSecond: 10, burst: 2 });
    expect(Array.from({ length: 4 }, () => bucket.reserve())).toEqual([0, 0, 100, 200]);
    await clock.advance(1_000);
    expect(bucket.reserve()).toBe(0);
  });

  test('an empty bucket reserves no future slot unless asked to', async () => {
    const clock = new FakeClock(0);
    const bucket = tokenBucket({ clock, perSecond: 10, burst: 2 });
    expect(Array.from({ length: 100 }, () => bucket.tryTake()).filter(Boolean).length).toBe(2);
    await clock.advance(100);
    expect([bucket.tryTake(), bucket.tryTake()]).toEqual([true, false]);
  });

  test('the default is the longer of both', () => {
    const backoff = defaultBackoff(new FakeClock(0), { baseMs: 1, capMs: 10 });
    const waits = Array.from({ length: 102 }, () => backoff(1));
    expect(waits.slice(0, 100).every((ms) => ms === 1)).toBe(true);
    expect(waits.slice(100)).toEqual([100, 200]);
  });
});
