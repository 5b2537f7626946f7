import { Writable } from 'node:stream';
import { expect, test } from 'vitest';

import { eventEncoder } from '../../src/apiserver/represent-event.js';
import type { WatchItem } from '../../src/apiserver/request.js';
import { writeWatch } from '../../src/http/watch-writer.js';
import { MemoryStore } from '../../src/store/memory/memory-store.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { collection, definition, type Query } from '../apiserver/verbs/collection.js';

/** A socket that writes nothing until `take` is called. */
class Socket extends Writable {
  taken = '';
  #next: (() => void) | undefined;
  #open = false;

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.taken += chunk.toString();
    if (this.#open) done();
    else this.#next = done;
  }

  /** Completes one write, or all from now on. */
  take(all = false): void {
    this.#open ||= all;
    const next = this.#next;
    this.#next = undefined;
    next?.();
  }
}

async function watching(query: Query) {
  const clock = new FakeClock();
  const store = new MemoryStore({ clock });
  const api = collection(store, clock);
  const encode = await eventEncoder(definition, { mediaType: 'json', pretty: false }, () => clock.now());
  const start = () => {
    const out = new Socket();
    const over = writeWatch(api.watch({ ...query }), encode, out, { abort: () => out.destroy(), clock });
    return { out, over };
  };
  return { clock, store, api, start };
}
const large = 'x'.repeat(100_000);
const revisions = (text: string): readonly number[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Number(JSON.parse(line).object.metadata.resourceVersion));
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at + 1);

test('the initial state, however large, waits for its reader', async () => {
  const { api, store, start } = await watching({});
  for (let at = 0; at < 40; at++) await api.put('n', `m${String(at).padStart(3, '0')}`, {}, large);
  const { out } = start();
  await settled();
  expect(out.writableLength).toBeLessThan(1_500_000);
  // Other clients write meanwhile.
  await api.put('n', 'm000', {}, 'new');
  out.take(true);
  await expect.poll(() => revisions(out.taken)).toEqual(upTo(41));
  await store.close();
});

test('changes wait in the history only', async () => {
  const { api, store, start } = await watching({ resourceVersion: '0' });
  const slow = start();
  const quick = start();
  quick.out.take(true);
  await settled();
  for (let at = 0; at < 60; at++) await api.put('n', 'a', {}, large);
  await settled();
  expect(revisions(quick.out.taken)).toEqual(upTo(60));
  expect(slow.out.writableLength).toBeLessThan(1_500_000);
  slow.out.take(true);
  await expect.poll(() => revisions(slow.out.taken)).toEqual(upTo(60));
  await store.close();
  await slow.over;
  await quick.over;
  expect(slow.out.writableEnded).toBe(true);
});

test('a reader that takes nothing for half a minute is cut off, one that takes a little is not', async () => {
  const { clock, api, store, start } = await watching({ resourceVersion: '0' });
  const dead = start();
  const slow = start();
  await settled();
  for (let at = 0; at < 20; at++) await api.put('n', 'a', {}, large);
  await settled();
  for (let at = 0; at < 3; at++) {
    expect(dead.out.destroyed).toBe(at > 0);
    await clock.advance(20_000);
    slow.out.take();
    await clock.advance(10_000);
  }
  await dead.over;
  expect(slow.out.destroyed).toBe(false);
  slow.out.take(true);
  await expect.poll(() => revisions(slow.out.taken)).toEqual(upTo(20));
  await store.close();
});

test('a reader that leaves ends its watch, idle or not', async () => {
  const { clock, api, store, start } = await watching({ resourceVersion: '0' });
  const gone = [start(), start()];
  await settled();
  gone[0]?.out.destroy();
  for (let at = 0; at < 20; at++) await api.put('n', 'a', {}, large);
  await settled();
  gone[1]?.out.destroy();
  await Promise.all(gone.map(({ over }) => over));
  await settled();
  expect(clock.sleeping).toBe(0);
  await store.close();
});

test('a finished watch waits for its reader no longer than before', async () => {
  const { clock, api, store, start } = await watching({ resourceVersion: '0' });
  const { out, over } = start();
  await settled();
  await api.put('n', 'a', {}, large);
  await store.close();
  await over;
  expect(out.destroyed).toBe(false);
  await clock.advance(30_000);
  expect(out.destroyed).toBe(true);
  await settled();
  expect(clock.sleeping).toBe(0);
});

test('no event overtakes one that takes long to encode', async () => {
  const { clock, api, store } = await watching({});
  const slow: ((bytes: Buffer) => void)[] = [];
  const out = new Socket();
  out.take(true);
  const encode = (item: WatchItem): Buffer | Promise<Buffer> => {
    const name = 'entry' in item ? item.entry.key.split('/').at(-1) : item.type;
    const bytes = Buffer.from(`${name};`);
    return name === 'slow' ? new Promise((resolve) => slow.push(() => resolve(bytes))) : bytes;
  };
  await api.put('n', 'first');
  const events = api.watch({ resourceVersion: '1', allowWatchBookmarks: 'true' });
  const over = writeWatch(events, encode, out, { abort: () => out.destroy(), clock });
  await settled();
  for (const name of ['a', 'slow', 'b']) await api.put('n', name);
  // A bookmark becomes due meanwhile.
  await clock.advance(61_000);
  expect(out.taken).toBe('a;');
  slow[0]?.(Buffer.alloc(0));
  await expect.poll(() => out.taken).toBe('a;slow;BOOKMARK;b;');
  await api.put('n', 'slow');
  await settled();
  await store.close();
  await settled();
  expect(out.writableEnded).toBe(false);
  slow[1]?.(Buffer.alloc(0));
  await over;
  expect([out.taken, out.writableEnded]).toEqual(['a;slow;BOOKMARK;b;slow;', true]);
});

test('nothing is sent after an event that took long and could not be encoded', async () => {
  const { clock, api, store } = await watching({});
  let fail = (_: Error): void => {};
  const out = new Socket();
  out.take(true);
  const encode = (item: WatchItem): Buffer | Promise<Buffer> => {
    if ('entry' in item) return new Promise((_, reject) => (fail = reject));
    return Buffer.from(item.type);
  };
  await api.put('n', 'first');
  const events = api.watch({ resourceVersion: '1', allowWatchBookmarks: 'true' });
  const over = writeWatch(events, encode, out, { abort: () => out.destroy(), clock });
  await settled();
  await api.put('n', 'a');
  await clock.advance(61_000);
  fail(new Error('broken'));
  await expect(over).rejects.toThrow('broken');
  await settled();
  expect(out.taken).toBe('');
  await store.close();
});

test('an event that cannot be encoded ends the watch', async () => {
  const { clock, api, store } = await watching({});
  const events = api.watch({ resourceVersion: '0' });
  const broken = (): never => {
    throw new Error('broken');
  };
  const over = writeWatch(events, broken, new Socket(), { abort: () => {}, clock });
  await settled();
  await api.put('n', 'a');
  await expect(over).rejects.toThrow('broken');
  await settled();
  expect(clock.sleeping).toBe(0);
  await store.close();
});
