import { expect, test } from 'vitest';
import { serviceUnavailable } from '../../src/api/errors.js';
import { FailureLog } from '../../src/client/failure-log.js';
import { type Logger, silentLogger } from '../../src/runtime/logger.js';

test('each kind of failure is reported once, and every ten minutes while it lasts', () => {
  const troubles = new FailureLog();
  expect(troubles.shouldReport(serviceUnavailable('at 1'), 0)).toBe(true);
  expect(troubles.shouldReport(serviceUnavailable('at 2'), 1)).toBe(false);
  expect(troubles.shouldReport(new Error('other'), 2)).toBe(true);
  expect(troubles.shouldReport(new Error('other'), 600_001)).toBe(false);
  expect(troubles.shouldReport(new Error('other'), 600_002)).toBe(true);
  expect(troubles.recovered()).toBe(true);
  expect(troubles.recovered()).toBe(false);
  expect(troubles.shouldReport(new Error('other'), 600_003)).toBe(true);
});

test('an expected failure is reported only if it lasts', () => {
  const troubles = new FailureLog();
  troubles.failureBegan(1_000);
  expect(troubles.shouldReport(new Error('expected'), 600_999, { isKnown: true })).toBe(false);
  expect(troubles.shouldReport(new Error('expected'), 601_000, { isKnown: true })).toBe(true);
});

test('after twenty kinds of failures no new ones are reported', () => {
  const troubles = new FailureLog();
  const told = Array.from({ length: 100 }, (_, at) => troubles.shouldReport(new Error(`kind ${at}`), at));
  expect(told.filter((one) => one).length).toBe(20);
  expect(told.lastIndexOf(true)).toBe(19);
});

test('failures with the same HTTP status are distinguished by their messages', () => {
  const troubles = new FailureLog();
  const failure = (message: string): Error => Object.assign(new Error(message), { code: 500 });
  const told = ['timed out', 'timed out', 'unknown authority'].map((text) => troubles.shouldReport(failure(text), 0));
  expect(told).toEqual([true, false, true]);
});

test('an external error is logged with its cause, and without the local stack', () => {
  const lines: { level: string; err?: unknown; hook?: string; message: string }[] = [];
  const log: Logger = {
    ...silentLogger,
    debug: (fields, message) => void lines.push({ level: 'debug', ...fields, message }),
    warn: (fields, message) => void lines.push({ level: 'warn', ...fields, message }),
  };
  const troubles = new FailureLog();
  const error = new Error('no answer', { cause: new Error('refused') });
  const trouble = { error, now: 0, fields: { hook: 'h' }, message: 'a hook failed' };
  troubles.report(log, trouble);
  troubles.report(log, trouble);
  troubles.report(log, { ...trouble, always: true });
  troubles.report(log, { ...trouble, error: 'text' });
  expect(lines.map(({ level }) => level)).toEqual(['warn', 'debug', 'warn', 'warn']);
  expect(lines[0]).toMatchObject({
    hook: 'h',
    message: 'a hook failed',
    err: { message: 'no answer', stack: undefined, cause: { message: 'refused', stack: undefined } },
  });
  expect(lines[3]?.err).toBe('text');
});
