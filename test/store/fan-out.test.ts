import { describe, expect, test } from 'vitest';
import type { Clock } from '../../src/runtime/clock.js';
import { StoredEntry } from '../../src/store/document.js';
import { FanOut } from '../../src/store/fan-out.js';
import { History, type HistoryLimits } from '../../src/store/history.js';
import { type Change, HistoryCompacted, type Revision, SubscriberTooSlow } from '../../src/store/store.js';

/** A clock that stands still until it is advanced. */
function manualClock() {
  let now = 0;
  let sleepers: { readonly until: number; readonly wake: () => void }[] = [];
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    sleep: (milliseconds, signal) =>
      new Promise((wake) => {
        sleepers.push({ until: now + milliseconds, wake });
        signal?.addEventListener('abort', () => wake());
      }),
  };
  const advance = async (milliseconds: number): Promise<void> => {
    now += milliseconds;
    const due = sleepers.filter(({ until }) => until <= now);
    sleepers = sleepers.filter(({ until }) => until > now);
    for (const { wake } of due) wake();
    await turn();
  };
  return { clock, advance, sleeping: () => sleepers.length };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function setUp(limits: HistoryLimits = {}) {
  const history = new History(0n, limits);
  const { clock, advance, sleeping } = manualClock();
  const fanOut = new FanOut(history, { clock, progressMs: 5_000 });
  const write = (key: string): Revision => {
    const revision = history.newest + 1n;
    const entry = new StoredEntry(key, revision, Buffer.from('1'), -1);
    history.append({ type: 'put', entry, previous: undefined }, 0);
    fanOut.deliver();
    return revision;
  };
  const follow = (prefix: string, after: Revision) => {
    const told: string[] = [];
    const subscription = fanOut.changes(prefix, after).subscribe({
      next: (change) => told.push(text(change)),
      error: (error: unknown) => told.push(String(error)),
      complete: () => told.push('completed'),
    });
    return { told, stop: () => subscription.unsubscribe() };
  };
  return { history, fanOut, write, follow, advance, sleeping };
}

const text = (change: Change): string =>
  change.type === 'progress' ? `progress ${change.revision}` : `${change.entry.key} ${change.entry.revision}`;

test('thousands of subscribers are served in turns, each change once and in order, whoever comes and goes', async () => {
  const { write, follow } = setUp();
  const first = Array.from({ length: 2_500 }, () => follow('/a/', 0n));
  const toldOf = (): number => first.filter(({ told }) => told.length > 1).length;
  write('/a/1');
  expect(toldOf()).toBe(1_024);
  write('/a/2');
  const late = follow('/a/', 0n);
  first[2_400]?.stop();
  expect(toldOf()).toBe(1_024);
  await turn();
  expect(toldOf()).toBe(2_048);
  write('/b/1');
  for (let turns = 0; turns < 8; turns++) await turn();
  const whole = ['progress 0', '/a/1 1', '/a/2 2'];
  expect(first.filter(({ told }) => told.join() !== whole.join())).toEqual([first[2_400]]);
  expect(late.told).toEqual(['/a/1 1', '/a/2 2', 'progress 2']);
  write('/a/3');
  for (let turns = 0; turns < 4; turns++) await turn();
  expect(late.told.at(-1)).toBe('/a/3 4');
  expect(first[2_499]?.told.at(-1)).toBe('/a/3 4');
});

describe('progress', () => {
  test('is sent after the past, and later only when the store advances without matching changes', async () => {
    const { write, follow, advance } = setUp();
    write('/a/1');
    const { told } = follow('/a/', 0n);
    expect(told).toEqual(['/a/1 1', 'progress 1']);
    await advance(5_000);
    expect(told).toHaveLength(2);
    write('/b/1');
    write('/b/2');
    expect(told).toHaveLength(2);
    await advance(5_000);
    expect(told.slice(2)).toEqual(['progress 3']);
    write('/a/2');
    await advance(5_000);
    expect(told.slice(3)).toEqual(['/a/2 4']);
  });

  test('is held back until a future revision is reached', async () => {
    const { write, follow, history, fanOut, advance } = setUp();
    const { told } = follow('/', 2n);
    write('/a');
    await advance(5_000);
    expect(told).toEqual([]);
    write('/b');
    expect(told).toEqual(['progress 2']);
    write('/c');
    expect(told).toEqual(['progress 2', '/c 3']);
    const later = follow('/', 9n);
    history.advance(9n);
    fanOut.deliver();
    expect(later.told).toEqual(['progress 9']);
  });

  test('is sent to those who stay when others leave', async () => {
    const { write, follow, advance } = setUp();
    const { told } = follow('/a/', 0n);
    for (const prefix of ['/a/', '/b/']) follow(prefix, 0n).stop();
    write('/a/1');
    write('/b/1');
    await advance(5_000);
    expect(told).toEqual(['progress 0', '/a/1 1', 'progress 2']);
  });

  test('needs no timer without subscribers', async () => {
    const { follow, sleeping, advance } = setUp();
    expect(sleeping()).toBe(0);
    const one = follow('/', 0n);
    const two = follow('/', 0n);
    expect(sleeping()).toBe(1);
    one.stop();
    two.stop();
    await advance(5_000);
    expect(sleeping()).toBe(0);
  });
});

describe('a long past', () => {
  test('is delivered in slices, with others served in between, followed by later changes', async () => {
    const { write, follow } = setUp();
    for (let count = 0; count < 1_000; count++) write('/a');
    const late = follow('/', 0n);
    const live = follow('/', 1_000n);
    expect(late.told.length).toBeLessThan(1_000);
    write('/b');
    expect(live.told).toEqual(['progress 1000', '/b 1001']);
    while (late.told.length < 1_002) await turn();
    expect(late.told.slice(0, 1_001)).toEqual([
      ...Array.from({ length: 1_000 }, (_, index) => `/a ${index + 1}`),
      '/b 1001',
    ]);
    expect(late.told.at(-1)).toBe('progress 1001');
    write('/c');
    expect(late.told.at(-1)).toBe('/c 1002');
  });

  test('cuts off a subscriber that is overtaken by compaction', async () => {
    const { write, follow, history } = setUp();
    for (let count = 0; count < 1_000; count++) write('/a');
    const late = follow('/', 0n);
    history.compact(900n);
    await turn();
    expect(late.told.at(-1)).toMatch(/^SubscriberTooSlow: /);
    expect(follow('/', 899n).told).toEqual([`${new HistoryCompacted(899n, 900n)}`]);
    expect(follow('/', 999n).told).toEqual(['/a 1000', 'progress 1000']);
  });

  test('of other keys is skipped, however long it is', async () => {
    const { write, follow } = setUp();
    for (let count = 0; count < 9_000; count++) write('/a');
    const other = follow('/b', 0n);
    while (other.told.length === 0) await turn();
    expect(other.told).toEqual(['progress 9000']);
  });
});

describe('a subscriber that writes', () => {
  test('keeps the order for everybody', () => {
    const { write, fanOut, follow } = setUp();
    const first = follow('/', 0n);
    fanOut.changes('/', 0n).subscribe((change) => {
      if (change.type !== 'progress' && change.entry.revision < 5n) write('/reaction');
    });
    const last = follow('/', 0n);
    write('/a');
    const expected = ['progress 0', '/a 1', '/reaction 2', '/reaction 3', '/reaction 4', '/reaction 5'];
    expect(first.told).toEqual(expected);
    expect(last.told).toEqual(expected);
  });

  test('or that subscribes again within a call gets everything once', () => {
    const { write, fanOut, follow } = setUp();
    const inner: { readonly told: readonly string[] }[] = [];
    fanOut.changes('/', 0n).subscribe((change) => {
      if (change.type === 'progress') return;
      if (inner.length < 2) inner.push(follow('/', 0n));
      if (change.entry.key === '/a') write('/b');
    });
    write('/a');
    write('/c');
    expect(inner[0]?.told).toEqual(['/a 1', 'progress 1', '/b 2', '/c 3']);
    expect(inner[1]?.told).toEqual(['/a 1', '/b 2', 'progress 2', '/c 3']);
  });

  test('again and again does not starve others, and every write is delivered', async () => {
    const { write, fanOut, follow } = setUp();
    fanOut.changes('/', 0n).subscribe((change) => {
      if (change.type !== 'progress' && change.entry.revision < 1_000n) write('/again');
    });
    const { told } = follow('/', 0n);
    write('/a');
    expect(told.length).toBeLessThan(1_000);
    for (let turns = 0; turns < 5; turns++) await turn();
    expect(told.at(-1)).toBe('/again 1000');
  });

  test('faster than changes can be delivered is cut off, and later writes reach later subscribers', async () => {
    const { write, fanOut, follow } = setUp({ historyLimit: 100 });
    const errors: unknown[] = [];
    fanOut.changes('/', 0n).subscribe({
      next: (change) => {
        if (change.type === 'progress') return;
        for (let count = 0; count < 200; count++) write('/flood');
      },
      error: (error: unknown) => errors.push(error),
    });
    write('/a');
    await turn();
    expect(errors).toEqual([expect.any(SubscriberTooSlow)]);
    const later = follow('/', write('/b'));
    write('/c');
    expect(later.told.at(-1)).toMatch(/^\/c /);
  });
});

describe('the end', () => {
  test('completes present and later subscribers', () => {
    const { fanOut, follow } = setUp();
    const before = follow('/', 0n);
    fanOut.close();
    fanOut.close();
    expect(before.told).toEqual(['progress 0', 'completed']);
    expect(follow('/', 0n).told).toEqual(['completed']);
  });

  test('of a failed store is an error', () => {
    const { fanOut, follow } = setUp();
    const before = follow('/', 0n);
    fanOut.close(new Error('broken'));
    expect(before.told).toEqual(['progress 0', 'Error: broken']);
    expect(follow('/', 0n).told).toEqual(['Error: broken']);
  });

  test('of a subscription takes effect at once, also within a call', () => {
    const { write, fanOut } = setUp();
    const told: string[] = [];
    const subscription = fanOut.changes('/', 0n).subscribe((change) => {
      told.push(text(change));
      if (told.length === 2) subscription.unsubscribe();
    });
    write('/a');
    write('/b');
    expect(told).toEqual(['progress 0', '/a 1']);
  });
});

test('where the past is lost, those are cut off that stand on it, and not who begins after it', () => {
  const { history, fanOut, write, follow } = setUp();
  write('/a');
  const [live, early] = [follow('/', 1n), follow('/', 5n)];
  history.restart(4n);
  fanOut.cutOff(new HistoryCompacted(1n, 4n));
  for (const key of ['/b', '/c']) write(key);
  expect([live.told, early.told]).toEqual([
    ['progress 1', 'HistoryCompacted: history before revision 4 is compacted, asked for 1'],
    ['progress 5', '/c 6'],
  ]);
  early.stop();
});
