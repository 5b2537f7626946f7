import { EventEmitter } from 'node:events';
import type { Http2Session } from 'node:http2';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { endBetweenReads } from '../../src/http/session-ends.js';

/** Records the calls of a session. */
function session(destroyed = false) {
  const done: string[] = [];
  const it = Object.assign(new EventEmitter(), {
    destroyed,
    close: () => void done.push('close'),
    destroy: (error?: Error, code?: number) => void done.push(`destroy ${error?.message} ${code}`),
    goaway: () => void done.push('goaway'),
  });
  endBetweenReads(it as unknown as Http2Session);
  return { it: it as unknown as Http2Session, done };
}

test('closing sends GOAWAY once, a turn later, and closes the session after that', async () => {
  const { it, done } = session();
  it.close();
  it.close();
  expect(done).toEqual([]);
  await turn();
  expect(done).toEqual(['goaway']);
  await turn();
  expect(done).toEqual(['goaway', 'close']);
});

test('a callback for the end of the session is called', () => {
  const { it } = session();
  let ended = 0;
  it.close(() => ended++);
  it.emit('close');
  expect(ended).toBe(1);
});

test('a session is destroyed once, a turn later, with the first reason', async () => {
  const { it, done } = session();
  it.destroy(new Error('first'), 11);
  it.destroy();
  expect(done).toEqual([]);
  await turn();
  expect(done).toEqual(['destroy first 11']);
});

test('a destroyed session sends no GOAWAY', async () => {
  const { it, done } = session(true);
  it.close();
  await turn();
  await turn();
  expect(done).toEqual([]);
});
