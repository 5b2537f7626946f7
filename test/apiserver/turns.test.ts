import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { TurnTaking } from '../../src/runtime/turn-taking.js';
import { type Served, serve } from './served.js';

/** A write continues in steps, and between any two of them other work can get a turn. */

let it: Served;
beforeAll(async () => {
  it = await serve();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await it.stop();
});

const collection = '/api/v1/namespaces/default/configmaps';
const object = (data: object): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data });

test.each([
  ['POST', collection, 'application/json', object({ a: '1' }), 24],
  ['PUT', `${collection}/a`, 'application/json', object({ a: '2' }), 30],
  ['PATCH', `${collection}/a`, 'application/merge-patch+json', { data: { a: '3' } }, 34],
  ['PATCH', `${collection}/a`, 'application/strategic-merge-patch+json', { data: { a: '4' } }, 34],
  ['PATCH', `${collection}/a`, 'application/json-patch+json', [{ op: 'add', path: '/data/a', value: '5' }], 34],
  ['PATCH', `${collection}/a?fieldManager=m&force=true`, 'application/apply-patch+yaml', object({ a: '6' }), 35],
])('%s %s with %s gives turns to other work', async (method, path, type, body, steps) => {
  vi.spyOn(TurnTaking.prototype, 'isDue', 'get').mockReturnValue(true);
  const turns = vi.spyOn(TurnTaking.prototype, 'next');
  turns.mockClear();
  const { code } = await it.ask(method, path, { body, headers: { 'content-type': type } });
  expect(code).toBeLessThan(300);
  expect(turns.mock.calls.length).toBeGreaterThanOrEqual(steps);
});
