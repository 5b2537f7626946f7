import { describe, expect, test } from 'vitest';
import { Deadlines, requestTimeout } from '../../../src/apiserver/operations/deadlines.js';
import { parseQuery } from '../../../src/http/request-info.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';

describe('the timeout of a request', () => {
  test.each([
    ['', 60_000],
    ['timeout=', 60_000],
    ['timeout=0', 60_000],
    ['timeout=5s', 5_000],
    ['timeout=-5s', 60_000],
    ['timeout=2m', 60_000],
    ['timeout=1.5s&timeout=7s', 1_500],
  ])('is read from the query "%s"', (query, milliseconds) => {
    expect(requestTimeout(parseQuery(query), 60_000)).toBe(milliseconds);
  });

  test('that is not a duration is refused', () => {
    const text = 'invalid timeout specified in the request URL - time: missing unit in duration "5"';
    expect(() => requestTimeout(parseQuery('timeout=5'), 60_000)).toThrow(
      expect.objectContaining({ code: 400, message: text }),
    );
  });
});

describe('a deadline', () => {
  const open = () => {
    const clock = new FakeClock();
    const over = new AbortController();
    return { clock, over, deadlines: new Deadlines(clock, 60_000, over.signal) };
  };
  const never = (): Promise<unknown> => new Promise(() => {});
  const late = (): unknown => 'late';
  const outcome = (work: Promise<unknown>): { value: unknown } => {
    const seen: { value: unknown } = { value: 'waits' };
    work.then(
      (value) => (seen.value = value),
      (error: unknown) => (seen.value = error),
    );
    return seen;
  };

  test('passes on the result of work that ends in time', async () => {
    const { deadlines } = open();
    await expect(deadlines.within(60_000, Promise.resolve(7), late)).resolves.toBe(7);
    await expect(deadlines.within(1_000, Promise.resolve(8), late)).resolves.toBe(8);
    await expect(deadlines.within(60_000, Promise.reject(new Error('no')), late)).rejects.toThrow('no');
  });

  test('ends each wait at its own time', async () => {
    const { clock, deadlines } = open();
    const first = outcome(deadlines.within(60_000, never(), late));
    await clock.advance(30_000);
    const second = outcome(deadlines.within(60_000, never(), late));
    const short = outcome(deadlines.within(5_000, never(), late));
    await clock.advance(4_999);
    expect([first.value, second.value, short.value]).toEqual(['waits', 'waits', 'waits']);
    await clock.advance(1);
    expect([first.value, second.value, short.value]).toEqual(['waits', 'waits', 'late']);
    await clock.advance(25_000);
    expect([first.value, second.value]).toEqual(['late', 'waits']);
    await clock.advance(30_000);
    expect(second.value).toEqual('late');
    expect(clock.sleeping).toBe(0);
  });

  test('ends a wait even if the clock is set back', async () => {
    const clock = new FakeClock();
    const waiting = outcome(new Deadlines(clock, 60_000, new AbortController().signal).within(60_000, never(), late));
    await clock.advance(30_000);
    clock.set(clock.now() - 3_600_000);
    await clock.advance(90_000);
    expect(waiting.value).toBe('late');
  });

  test('with a timeout of its own leaves no timer behind once the work is done', async () => {
    const { clock, deadlines } = open();
    await deadlines.within(1_000, Promise.resolve(), late);
    expect(clock.sleeping).toBe(0);
  });

  test('leaves no timer behind once the server is stopped', async () => {
    const { clock, over, deadlines } = open();
    void deadlines.within(60_000, never(), late);
    expect(clock.sleeping).toBe(1);
    over.abort();
    expect(clock.sleeping).toBe(0);
  });
});
