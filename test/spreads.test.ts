import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';

const { withPlainSpreads } = (await import(join(import.meta.dirname, '../scripts/spreads.mjs'))) as {
  withPlainSpreads(code: string): string;
};

test.each([
  ['({ ...a, b: 1 })', '({ ...undefined, ...a, b: 1 })'],
  ['({ ...a, ...b })', '({ ...undefined, ...a, ...b })'],
  ['({ ...a, b: { ...c, d } })', '({ ...undefined, ...a, b: { ...undefined, ...c, d } })'],
  ['({ ...{ ...a, b }, c })', '({ ...undefined, ...{ ...undefined, ...a, b }, c })'],
  ['const é = "😀"; f({ ...a, b });', 'const é = "😀"; f({ ...undefined, ...a, b });'],
  ['({ ...a })', '({ ...a })'],
  ['({ b: 1, ...a })', '({ b: 1, ...a })'],
  ['const { a, ...b } = c;', 'const { a, ...b } = c;'],
  ['f(...a, b); [...a, b]', 'f(...a, b); [...a, b]'],
  ['"{ ...a, b }"', '"{ ...a, b }"'],
  [`\`{ ...a, \${{ ...a, b }.c} }\``, `\`{ ...a, \${{ ...undefined, ...a, b }.c} }\``],
])('%s', (code, expected) => {
  expect(withPlainSpreads(code)).toBe(expected);
});

describe('the rewritten code means what the original meant', () => {
  const a = JSON.parse('{"__proto__": {"polluted": true}, "b": 1, "10": 2, "c": 3}') as object;
  test.each([
    '({ ...a, b: 4, d: 5 })',
    '({ ...a, ["__proto__"]: 6 })',
    '({ ...a, get b() { return 7; } })',
    '({ ...undefined, ...a, c: undefined })',
    '({ ...null, d: 8 })',
    '({ ..."text", d: 9 })',
  ])('%s', (code) => {
    const plain = runInNewContext(code, { a }) as object;
    const built = runInNewContext(withPlainSpreads(code), { a }) as object;
    expect(Object.entries(built)).toEqual(Object.entries(plain));
    expect(Object.hasOwn(built, '__proto__')).toBe(Object.hasOwn(plain, '__proto__'));
    expect('polluted' in built).toBe(false);
  });
});
