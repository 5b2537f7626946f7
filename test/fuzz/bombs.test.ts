import { afterAll, beforeAll, expect, test } from 'vitest';
import { explosions } from './each-bomb.js';
import { openTarget, type Target } from './target.js';

/**
 * Requests that once ended the process, exhausted its memory or blocked it for seconds. All bombs can be sent with `npm
 * run fuzz -- --bombs ''`.
 */
const once: readonly (readonly [name: string, code: number])[] = [
  ['deep YAML in flow style', 400],
  ['deep YAML in block style', 400],
  ['more values than are read', 400],
  ['more protobuf fields than are read', 400],
  ['8,000 owners', 422],
  ['49,000 bad finalizers', 422],
  ['a bad name of 1 MB', 422],
  ['a name of signs of two units', 422],
  ['a signing request of 3 MB', 422],
  ['a trust bundle of 10,000 empty blocks', 422],
  ['a selector in a body, 3 MB', 201],
  ['JSON patch that doubles', 422],
  ['20,000 items that lack 1,000 defaults', 400],
  ['a text that takes many states', 422],
  ['40,000 unknown fields under a name of 1 MB', 201],
  ['40,000 unknown fields under a name of 1 MB, strictly', 400],
  ['40,000 repeated fields under a name of 900 kB', 201],
  ['40,000 wrong items under a name of 1 MB', 422],
  ['20,000 faults of a schema under a name of 1 MB', 422],
  ['an apply under a name of 1 MB', 400],
  ['an apply under a name of 1,000 characters', 200],
  ['20,000 conflicts under a name of 1,000 characters', 409],
  ['5,000 items that lack 1,000 keys', 422],
  ['40,000 keys that items have not', 422],
  ['a path of a webhook with 500,000 segments', 422],
  ['49,000 items that columns multiply', 201],
  ['managed fields with a deep value in a name', 200],
  ['managed fields with a deep key in a name', 200],
  ['a deep last applied configuration', 200],
  ['a deep last applied configuration, used', 200],
  ['object: a map of 20,000', 201],
];

let target: Target;
beforeAll(async () => {
  target = await openTarget({ store: 'memory:' });
});
afterAll(() => target.stop());

test.each(once)('%s', async (name, expected) => {
  for await (const { code, complaints, blockedMs } of explosions(target, { names: [name], maxBlockedMs: 1_500 })) {
    expect(complaints).toEqual([]);
    expect(code).toBe(expected);
    expect(blockedMs).toBeLessThan(1_500);
  }
});
