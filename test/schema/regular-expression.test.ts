import { expect, test } from 'vitest';
import { compile } from '../../src/schema/regular-expression.js';

test('a pattern matches any part of a text', () => {
  expect(compile('b+').expression?.test('abbc')).toBe(true);
  expect(compile('^b+$').expression?.test('abbc')).toBe(false);
});

test('what cannot be compiled says why, as Go does', () => {
  expect(compile('(').error).toBe('error parsing regexp: missing closing ): `(`');
  expect(compile('(?=a)').error).toBe('error parsing regexp: invalid or unsupported Perl syntax: `(?=`');
});

test('no pattern takes more than linear time', () => {
  const start = performance.now();
  expect(compile('^(a+)+$').expression?.test(`${'a'.repeat(5_000)}b`)).toBe(false);
  expect(performance.now() - start).toBeLessThan(10_000);
});

test('forgotten patterns are compiled again', () => {
  const first = compile('^first$');
  for (let i = 0; i < 1_000; i++) compile(`^${i}$`);
  expect(compile('^first$')).not.toBe(first);
  expect(compile('^first$').expression?.test('first')).toBe(true);
});
