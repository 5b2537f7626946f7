import { expect, test } from 'vitest';
import { InFlight, isLongRunning, kindOf } from '../../../src/apiserver/operations/in-flight.js';
import { parseQuery, parseRequestInfo } from '../../../src/http/request-info.js';

const alice = { username: 'alice', groups: [] };
const bob = { username: 'bob', groups: [] };
const limits = { readOnly: 0, mutating: 0, watches: 0 };
const root = { username: 'root', groups: ['system:masters'] };

test('each kind of request is limited, and a finished request makes room for another', () => {
  const inFlight = new InFlight({ ...limits, readOnly: 2, mutating: 1 });
  const [first, second] = [inFlight.enter('readOnly', alice, 0), inFlight.enter('readOnly', bob, 0)];
  expect([first, second]).toEqual([expect.any(Function), expect.any(Function)]);
  expect(inFlight.enter('readOnly', alice, 0)).toBeUndefined();
  expect(inFlight.enter('mutating', alice, 0)).toBeDefined();
  expect(inFlight.enter('mutating', alice, 0)).toBeUndefined();
  first?.();
  // A request is counted as ended only once, however often it is reported.
  first?.();
  expect(inFlight.enter('readOnly', alice, 0)).toBeDefined();
  expect(inFlight.enter('readOnly', alice, 0)).toBeUndefined();
});

test('administrators are always admitted', () => {
  const inFlight = new InFlight({ ...limits, readOnly: 1, mutating: 1 });
  inFlight.enter('readOnly', root, 0);
  const beyond = inFlight.enter('readOnly', root, 0);
  expect(beyond).toBeDefined();
  beyond?.();
  expect(inFlight.enter('readOnly', alice, 0)).toBeUndefined();
});

test.each([
  ['one user', () => 'mallory', [100, 50, 25, 62]],
  ['the accounts of one namespace', (at: number) => `system:serviceaccount:team-b:a${at}`, [100, 50, 25, 62]],
])('%s may have half of what the others leave', (_, mallory, [most = 0, half = 0, quarter = 0, again = 0]) => {
  const inFlight = new InFlight({ ...limits, mutating: 2 * most });
  const fill = (usernameOf: (at: number) => string): readonly (() => void)[] => {
    const inside: (() => void)[] = [];
    for (;;) {
      const leave = inFlight.enter('mutating', { username: usernameOf(inside.length), groups: [] }, 0);
      if (leave === undefined) return inside;
      inside.push(leave);
    }
  };
  const inside = fill(mallory);
  expect(inside).toHaveLength(most);
  expect(fill(() => 'system:serviceaccount:team-c:a')).toHaveLength(half);
  expect(fill(() => 'alice')).toHaveLength(quarter);
  expect(inFlight.enter('mutating', { username: mallory(0), groups: ['system:masters'] }, 0)).toBeDefined();
  for (const leave of inside) leave();
  expect(fill(mallory)).toHaveLength(again);
});

test('watches are limited per caller except for administrators, and do not count as requests', () => {
  const inFlight = new InFlight({ readOnly: 1, mutating: 1, watches: 2 });
  const account = (name: string) => ({ username: `system:serviceaccount:team-b:${name}`, groups: [] });
  for (const callers of [[alice, alice, alice], ['a', 'b', 'c'].map(account)]) {
    const [first, second, third] = callers.map((caller) => inFlight.enterWatch(caller, '/api'));
    expect([first, second, third]).toEqual([expect.any(Function), expect.any(Function), undefined]);
    first?.();
    first?.();
    expect(callers.map((caller) => inFlight.enterWatch(caller, '/api') !== undefined)).toEqual([true, false, false]);
  }
  expect([root, root, root].map((caller) => inFlight.enterWatch(caller, '/api') !== undefined)).toEqual([
    true,
    true,
    true,
  ]);
  expect(inFlight.highest('readOnly', 0)).toBe(0);
  expect(inFlight.enter('readOnly', alice, 0)).toBeDefined();
});

test('a watch with a long selector counts as several, and a single one is always admitted', () => {
  const inFlight = new InFlight({ readOnly: 1, mutating: 1, watches: 5 });
  const long = `/api?labelSelector=${'a'.repeat(4_000)}`;
  expect(inFlight.enterWatch(alice, '/api')).toBeDefined();
  const leave = inFlight.enterWatch(alice, long);
  expect(leave).toBeDefined();
  expect(inFlight.enterWatch(alice, '/api')).toBeUndefined();
  leave?.();
  expect(inFlight.enterWatch(alice, '/api')).toBeDefined();
  expect(inFlight.enterWatch(root, long.repeat(10))).toBeDefined();
});

test('0 means no limit', () => {
  const inFlight = new InFlight(limits);
  for (let count = 0; count < 1_000; count++) {
    expect(inFlight.enter('mutating', alice, 0)).toBeDefined();
    expect(inFlight.enterWatch(alice, '/api')).toBeDefined();
  }
});

test('the highest number is remembered for a second or two', () => {
  const inFlight = new InFlight();
  const leave = [1, 2, 3].map(() => inFlight.enter('readOnly', alice, 500));
  for (const one of leave) one?.();
  expect(inFlight.highest('readOnly', 900)).toBe(3);
  expect(inFlight.highest('readOnly', 1_900)).toBe(3);
  expect(inFlight.highest('readOnly', 2_900)).toBe(0);
  expect(inFlight.highest('mutating', 900)).toBe(0);
});

test.each([
  ['GET', '/api/v1/pods', 'readOnly', false],
  ['GET', '/api/v1/watch/pods', 'readOnly', true],
  ['POST', '/api/v1/namespaces', 'mutating', false],
  ['POST', '/api/v1/namespaces/default/pods/p/exec', 'mutating', true],
  ['GET', '/api/v1/namespaces/default/pods/p/log', 'readOnly', true],
  ['GET', '/api/v1/namespaces/default/pods/log', 'readOnly', false],
  ['GET', '/api/v1/namespaces/default/pods/p/status', 'readOnly', false],
  ['GET', '/api/v1/proxy/nodes/n', 'mutating', true],
  ['GET', '/logs/log', 'readOnly', false],
  ['GET', '/version', 'readOnly', false],
  ['POST', '/version', 'mutating', false],
])('%s %s is classified by kind and duration', (method, path, kind, long) => {
  const info = parseRequestInfo(method, path, parseQuery(''));
  expect([kindOf(info.verb), isLongRunning(info)]).toEqual([kind, long]);
});
