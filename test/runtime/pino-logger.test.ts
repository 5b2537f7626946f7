import { describe, expect, test } from 'vitest';
import { createLogger, type LoggerOptions } from '../../src/runtime/pino-logger.js';
import { prettyLine } from '../../src/runtime/pretty-line.js';
import { withoutTokens } from '../../src/runtime/redaction.js';
import { expectShort } from '../processor-time.js';

function logging(options: LoggerOptions = {}) {
  const lines: string[] = [];
  const log = createLogger({
    level: 'debug',
    now: () => 0,
    ...options,
    destination: { write: (line) => lines.push(line) },
  });
  return { log, lines, fields: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe('JSON lines', () => {
  test('have the fixed fields, their own and those of the child logger', () => {
    const { log, fields } = logging();
    log.child({ controller: 'c' }).info({ object: 'n/a', attempt: 2 }, 'reconciled');
    expect(fields()).toEqual([
      {
        level: 'info',
        time: '1970-01-01T00:00:00.000Z',
        controller: 'c',
        object: 'n/a',
        attempt: 2,
        msg: 'reconciled',
      },
    ]);
  });

  test('below the level are not written', () => {
    const { log, lines } = logging({ level: 'warn' });
    log.info({}, 'no');
    log.warn({}, 'yes');
    expect(lines.length).toBe(1);
  });

  test('of many loggers share one exit listener', () => {
    const before = process.listenerCount('exit');
    for (let made = 0; made < 20; made++) createLogger();
    expect(process.listenerCount('exit')).toBeLessThanOrEqual(before + 1);
  });

  test('contain an error with its reason and cause', () => {
    const { log, fields } = logging();
    log.error(
      { err: Object.assign(new TypeError('outer', { cause: new Error('inner') }), { reason: 'Conflict' }) },
      'failed',
    );
    expect(fields()[0]?.['err']).toMatchObject({
      type: 'TypeError',
      message: 'outer',
      reason: 'Conflict',
      stack: expect.stringContaining('TypeError: outer'),
      cause: { message: 'inner' },
    });
  });
});

describe('secrets', () => {
  const jwt = `eyJ${'a'.repeat(20)}.${'b'.repeat(20)}.${'c'.repeat(20)}`;
  const pem = '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----';

  test.each<[string, object]>([
    ['by name', { token: 'hunter22' }],
    ['in headers', { headers: { Authorization: 'hunter22' } }],
    ['deeply nested', { a: { b: [{ password: 'hunter22' }] } }],
    ['in whole members', { privateKey: { d: 'hunter22' } }],
    ['in an error', { err: Object.assign(new Error('x'), { config: { clientSecret: 'hunter22' } }) }],
  ])('are redacted %s', (_, given) => {
    const { log, lines } = logging();
    log.info(given, 'x');
    log.child(given).info({}, 'x');
    expect(lines.join()).not.toContain('hunter22');
    expect(lines.every((line) => line.includes('[redacted]'))).toBe(true);
  });

  test.each([
    ['a token', jwt],
    ['a key', pem],
    ['a truncated key', pem.slice(0, 50)],
    ['a header', 'Bearer abcdefghijkl'],
    ['a URL', '/api?a=b&access%5Ftoken=hunter22'],
  ])('are redacted in strings: %s', (_, text) => {
    const { log, lines } = logging();
    log.info({ what: `before ${text} after` }, 'x');
    log.error({ err: new Error(`bad: ${text}`) }, 'x');
    expect(lines.join()).not.toContain(text.slice(8, 40));
  });

  test.each(['?', '&', '?a', '&access%5Ftoken'])('are searched quickly among many %s', async (part) => {
    await expectShort(1_000, () => withoutTokens(part.repeat(200_000 / part.length)));
  });

  test('unreadable values are replaced, and nothing else', () => {
    const { log, fields } = logging();
    const trap = {
      a: 1,
      get b(): never {
        throw new Error('not for you');
      },
    };
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    log.info({ trap, revoked: revoked.proxy, err: Object.assign(new Error('bad'), { stack: 's', trap }) }, 'x');
    class Trapped extends Error {
      override get message(): string {
        throw trap;
      }
    }
    log.error({ err: new Trapped() }, 'y');
    const shown = { a: 1, b: '[unreadable]' };
    expect(fields()).toMatchObject([
      { trap: shown, revoked: '[unreadable]', err: { type: 'Error', message: 'bad', stack: 's', trap: shown } },
      { err: { type: 'Error', message: '[unreadable]' }, msg: 'y' },
    ]);
  });

  test('similar names are not redacted', () => {
    const { log, fields } = logging();
    log.info({ tokenCount: 3, hasToken: true, key: 'n/a', token: true }, 'x');
    expect(fields()[0]).toMatchObject({ tokenCount: 3, hasToken: true, key: 'n/a', token: true });
  });
});

test('unusual values do not break a line', () => {
  const { log, fields } = logging();
  const circle: Record<string, unknown> = {
    big: 2n ** 70n,
    bytes: Buffer.alloc(9),
    run: () => 1,
    when: new Date(Number.NaN),
  };
  circle['self'] = circle;
  let deep: object = {};
  for (let i = 0; i < 10_000; i++) deep = { deep };
  log.info({ circle, deep, long: 'x'.repeat(100_000), proto: JSON.parse('{"__proto__":{"a":1}}') }, 'x');
  expect(fields()[0]?.['circle']).toEqual({
    big: '1180591620717411303424',
    bytes: '[9 bytes]',
    when: 'Invalid Date',
    self: '[circular]',
  });
  expect(JSON.stringify(fields()[0]).length).toBeLessThan(10_000);
});

describe('pretty lines', () => {
  const line = JSON.stringify({
    level: 'warn',
    time: '2026-01-01T10:11:12.345Z',
    object: 'n/a',
    text: 'two words',
    n: 1,
    msg: 'it happened',
    err: { message: 'why', stack: 'long' },
  });

  test('are one line each, coloured only on request', () => {
    expect(prettyLine(line, { colour: false })).toBe(
      '10:11:12.345 WARN  it happened object=n/a text="two words" n=1 err=why\n',
    );
    expect(prettyLine(line, { colour: true })).toContain('\u001b[33mWARN ');
  });

  test('show the cause of an error, and the stack of a program error', () => {
    const lines: string[] = [];
    const log = createLogger({ format: 'pretty', destination: { write: (line) => lines.push(line) } });
    const errOf = (err: unknown): string | undefined => {
      log.warn({ err }, 'x');
      return lines.at(-1)?.match(/err=.*/)?.[0];
    };
    const refused = Object.assign(new Error(''), { code: 'ECONNREFUSED' });
    expect(errOf(new Error('cannot ask', { cause: refused }))).toBe('err="cannot ask: ECONNREFUSED"');
    expect(errOf(new Error('not read: why', { cause: new Error('why') }))).toBe('err="not read: why"');
    expect(errOf('a text')).toBe('err="a text"');
    const fault = new TypeError('x is not a function');
    fault.stack = `TypeError: ${fault.message}
    at node:internal/timers:1:1
    at ask (/app/node_modules/some/index.js:1:2)
    at async Object.reconcile (/app/teams.ts:30:12)`;
    expect(errOf(fault)).toBe('err="x is not a function" at="async Object.reconcile (/app/teams.ts:30:12)"');
  });

  test('contain no control characters', () => {
    const nasty = JSON.stringify({ msg: 'a\u001b[2Jb\nc', [`k\u001b`]: '\u009b31m', time: '', level: 'info' });
    const out = prettyLine(nasty, { colour: false });
    expect(out.slice(0, -1)).not.toMatch(/\p{Cc}/u);
    expect(prettyLine('not json \u001b[31m\n', { colour: false })).toBe('not json \\u001b[31m\n');
  });
});
