import { expect, test } from 'vitest';
import { readMediaType } from '../../src/api/media-type.js';

test.each([
  ['a/b', { type: 'a/b' }],
  [' A/B ; X = 1;y="2"', { type: 'a/b' }],
  ['a', { type: 'a' }],
  ['a/b;', { type: 'a/b' }],
  ['a/b; ', { type: 'a/b' }],
  ['a/b;x=1;', { type: 'a/b' }],
  ['a/b;x=1;X="1"', { type: 'a/b' }],
  ['a/b;x="";y="\\"\\z;"', { type: 'a/b' }],
  ['a/b;x=""', { type: 'a/b' }],
  ['', { wrong: 'mime: no media type' }],
  [';;;', { wrong: 'mime: no media type' }],
  ['/b', { wrong: 'mime: no media type' }],
  ['ä/b', { wrong: 'mime: no media type' }],
  ['a b/c', { wrong: 'mime: expected slash after first token' }],
  ['a/', { wrong: 'mime: expected token after slash' }],
  ['a/b c', { wrong: 'mime: unexpected content after media subtype' }],
  ['a/b/c', { wrong: 'mime: unexpected content after media subtype' }],
  ['a/b;;', { wrong: 'mime: invalid media parameter' }],
  ['a/b;x', { wrong: 'mime: invalid media parameter' }],
  ['a/b;x=', { wrong: 'mime: invalid media parameter' }],
  ['a/b;x="', { wrong: 'mime: invalid media parameter' }],
  ['a/b;x="a\\"', { wrong: 'mime: invalid media parameter' }],
  ['a/b;x="\n"', { wrong: 'mime: invalid media parameter' }],
  ['a/b;x="1"y', { wrong: 'mime: invalid media parameter' }],
  ['a/b;x=1;x=2', { wrong: 'mime: duplicate parameter name' }],
])('%j is parsed', (text, read) => {
  expect(readMediaType(text)).toEqual(read);
});

test('a long media type is parsed in linear time', () => {
  expect(readMediaType(`a/b;x="${'\\"'.repeat(1_000_000)}"`)).toEqual({ type: 'a/b' });
  expect(readMediaType(`a/b${' '.repeat(1_000_000)}c`)).toEqual({
    wrong: 'mime: unexpected content after media subtype',
  });
  expect(readMediaType(`a/b;${' '.repeat(100_000)}`)).toEqual({ type: 'a/b' });
  const wrong = { wrong: 'mime: invalid media parameter' };
  expect(readMediaType(`a/b;x=1${' '.repeat(1_000_000)}y`)).toEqual(wrong);
  expect(readMediaType(`a/b;${'x'.repeat(1_000_000)}`)).toEqual(wrong);
});
