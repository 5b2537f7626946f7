import { afterAll, beforeAll, expect, test } from 'vitest';
import { maxRequestBytes } from '../../../src/api/request-size.js';
import { tooLargeToStore } from '../../../src/apiserver/write/document-size.js';
import { define, type Served, serve, widgets } from '../served.js';

/** No object grows without limit, and one at its limit can still be deleted. */

const limit = maxRequestBytes;

test.each([
  ['new', limit, undefined, true],
  ['new', limit + 1, undefined, false],
  ['grown', limit + 1, { bytes: limit, isTerminating: false }, false],
  ['smaller than before, but still too large', 2 * limit, { bytes: 2 * limit + 1, isTerminating: false }, true],
  ['grown from a size that was too large', 2 * limit + 1, { bytes: 2 * limit, isTerminating: false }, false],
  ['terminating', 2 * limit, { bytes: limit, isTerminating: true }, true],
  ['terminating', 2 * limit + 1, { bytes: limit, isTerminating: true }, false],
])('a document that is %s, of %i bytes, is stored or refused', (_, bytes, before, isStored) => {
  expect(tooLargeToStore(bytes, before)?.code).toBe(isStored ? undefined : 413);
});

let it: Served;
const path = '/apis/example.com/v1/widgets';
const patch = (name: string, change: object, manager = 'm'): ReturnType<Served['ask']> =>
  it.ask('PATCH', `${path}/${name}?fieldManager=${manager}`, {
    body: change,
    headers: { 'content-type': 'application/merge-patch+json' },
  });
const widget = (name: string, more: object): object => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name },
  ...more,
});

beforeAll(async () => {
  it = await serve({ controllers: 'all' });
  await define(it, widgets({ 'x-kubernetes-preserve-unknown-fields': true }), path);
});
afterAll(() => it.stop());

test('patches may grow an object up to the size limit of a body', async () => {
  const third = 'x'.repeat(limit / 3);
  expect((await it.ask('POST', path, { body: widget('grows', { spec: { a: third, b: third } }) })).code).toBe(201);
  const refused = await patch('grows', { spec: { c: third } });
  expect(refused.json()).toMatchObject({
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: expect.stringMatching(
      /^Request entity too large: the object .* managedFields included; limit is 3145728$/,
    ),
  });
  expect((await patch('grows', { spec: { b: null } })).code).toBe(200);
  expect((await patch('grows', { spec: { c: 'x' } })).code).toBe(200);
});

test('an object that exceeds the limit only once it is encoded is refused', async () => {
  // Go's JSON encodes each of these characters in six bytes.
  const { code } = await it.ask('POST', path, { body: widget('escaped', { spec: { a: '<'.repeat(limit / 4) } }) });
  expect(code).toBe(413);
});

test('finalizers of an object at the limit can be removed one by one', async () => {
  const body = widget('held', { metadata: { name: 'held', finalizers: ['example.com/a', 'example.com/b'] } });
  const empty = (await it.ask('POST', path, { body })).bytes.length;
  expect((await patch('held', { spec: { a: 'x'.repeat(limit - empty - 1_000) } })).code).toBe(200);
  expect((await patch('held', { spec: { b: 'x'.repeat(1_000) } })).code).toBe(413);
  expect((await it.ask('DELETE', `${path}/held`)).code).toBe(200);
  expect((await patch('held', { metadata: { finalizers: ['example.com/b'] } }, 'another'.repeat(10))).code).toBe(200);
  expect((await patch('held', { metadata: { finalizers: null } })).code).toBe(200);
  expect((await it.ask('GET', `${path}/held`)).code).toBe(404);
});
