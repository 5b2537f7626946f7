import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { PacedWriter } from '../../src/http/paced-writer.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';

/** Writes everything queued as one chunk, as sockets do, and this many bytes at a time. */
class Socket extends Writable {
  readonly taken: Buffer[] = [];
  #pending: { left: number; readonly done: () => void } | undefined;

  constructor() {
    // As in Node.js 20; later versions buffer more.
    super({ highWaterMark: 16_384 });
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    const bytes = Buffer.concat(chunks.map(({ chunk }) => chunk));
    this.taken.push(bytes);
    this.#pending = { left: bytes.length, done };
  }

  take(count: number): void {
    for (let left = count; this.#pending !== undefined && left > 0; ) {
      const pending = this.#pending;
      const some = Math.min(left, pending.left);
      pending.left -= some;
      left -= some;
      if (pending.left > 0) return;
      this.#pending = undefined;
      pending.done();
    }
  }
}

function writing(givenMs = Number.POSITIVE_INFINITY) {
  const clock = new FakeClock();
  const out = new Socket();
  const writer = new PacedWriter(out, { clock, deadline: clock.monotonic() + givenMs, abort: () => out.destroy() });
  return { clock, out, writer };
}
const megabyte = Buffer.from(Array.from({ length: 1_048_576 }, (_, at) => at % 251));

test('a slow reader gets everything in order, and one that takes nothing is cut off', async () => {
  const slow = writing();
  const dead = writing();
  for (const { writer } of [slow, dead]) {
    writer.write(Buffer.from('a'));
    for (let at = 0; at < 3; at++) writer.write(megabyte);
    writer.write(Buffer.from('z'));
  }
  let isTaken = false;
  void slow.writer.drained().then(() => {
    isTaken = true;
  });
  void dead.writer.drained();
  for (let at = 0; at < 24; at++) {
    slow.out.take(150_000);
    await slow.clock.advance(29_000);
    await settled();
  }
  expect([slow.out.destroyed, slow.writer.waiting, isTaken]).toEqual([false, 0, true]);
  expect(
    Buffer.concat(slow.out.taken).equals(
      Buffer.concat([Buffer.from('a'), ...Array(3).fill(megabyte), Buffer.from('z')]),
    ),
  ).toBe(true);
  expect(slow.clock.sleeping).toBe(0);
  await dead.clock.advance(30_000);
  expect(dead.out.destroyed).toBe(true);
});

test('a reader that has not taken everything in time is cut off', async () => {
  const { writer, out, clock } = writing(70_000);
  writer.write(megabyte);
  void writer.drained();
  for (let at = 0; at < 69; at++) {
    out.take(5_000);
    await clock.advance(1_000);
  }
  expect(out.destroyed).toBe(false);
  await clock.advance(1_000);
  expect(out.destroyed).toBe(true);
});

test('waiting bytes are written before the end, which nothing follows', async () => {
  const { out, writer, clock } = writing();
  writer.write(megabyte);
  writer.end();
  expect([writer.isOver, out.writableEnded]).toEqual([true, false]);
  for (let at = 0; at < 20; at++) {
    out.take(65_536);
    await settled();
  }
  expect([out.writableFinished, Buffer.concat(out.taken).length]).toEqual([true, megabyte.length]);
  expect(clock.sleeping).toBe(0);
});

test('a caller that is told of free space may write even if earlier bytes are still on their way', async () => {
  const { out, writer } = writing();
  expect(writer.write(megabyte.subarray(0, 20_000))).toBe(false);
  const taken = writer.drained();
  // As for responses over HTTP/1.1 that were written before they got the connection.
  out.emit('drain');
  await taken;
  expect(writer.waiting).toBe(20_000);
});

test('small writes are passed through', async () => {
  const { out, writer } = writing();
  for (let at = 0; at < 1_000; at++) {
    writer.write(Buffer.from(`${at};`));
    out.take(10);
  }
  expect(writer.waiting).toBe(0);
  expect(Buffer.concat(out.taken).toString()).toBe(Array.from({ length: 1_000 }, (_, at) => `${at};`).join(''));
});

test('frequent waiting leaves one listener and no timer', async () => {
  const { out, writer, clock } = writing();
  for (let at = 0; at < 20; at++) {
    writer.write(megabyte);
    const taken = writer.drained();
    while (writer.waiting > 0) {
      out.take(65_536);
      await settled();
    }
    await taken;
  }
  expect([out.listenerCount('finish'), out.listenerCount('close'), out.listenerCount('drain')]).toEqual([1, 1, 1]);
  expect(clock.sleeping).toBe(1);
  await clock.advance(30_000);
  expect(clock.sleeping).toBe(0);
});
