import { expect, onTestFinished, test, vi } from 'vitest';
import { patternSize } from '../../src/api/pattern-size.js';
import { compile } from '../../src/api/regular-expression.js';
import { expectShort } from '../processor-time.js';

test('a pattern matches any part of a text unless it is anchored', () => {
  expect(compile('b+').expression?.test('abbc')).toBe(true);
  expect(compile('^b+$').expression?.test('abbc')).toBe(false);
});

test('a pattern that does not compile is reported with the message of Go', () => {
  expect(compile('(').error).toBe('error parsing regexp: missing closing ): `(`');
  expect(compile('\\').error).toBe('error parsing regexp: trailing backslash at end of expression: ``');
  expect(compile('(?=a)').error).toBe('error parsing regexp: invalid or unsupported Perl syntax: `(?=`');
});

test('a repetition of more than 1000 times is reported as such, not as too large', () => {
  expect(compile('^.{0,65535}$').error).toBe('error parsing regexp: invalid repeat count: `{0,65535}`');
  expect(compile('(a{1000}){1000}').error).toBe('error parsing regexp: expression too large');
});

test('matches of a short text are found even if the process stands still meanwhile', () => {
  const clock = vi
    .spyOn(performance, 'now')
    .mockImplementation(() => performance.timeOrigin + clock.mock.calls.length * 1_000);
  onTestFinished(() => clock.mockRestore());
  expect(compile('a').expression?.findAll('ababa')).toEqual(['a', 'a', 'a']);
  expect(compile('a').expression?.findAll('ab'.repeat(10_000))).toBeUndefined();
});

test('matching takes linear time for any pattern', async () => {
  await expectShort(2_000, () => {
    expect(compile('^(a+)+$').expression?.test(`${'a'.repeat(5_000)}b`)).toBe(false);
  });
});

test('a pattern evicted from the cache is compiled again', () => {
  const first = compile('^first$');
  for (let i = 0; i < 60; i++) compile(`^a{900}${i}$`);
  expect(compile('^first$')).not.toBe(first);
  expect(compile('^first$').expression?.test('first')).toBe(true);
});

test.each([
  ['', 0],
  ['^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', 9],
  ['a{3}', 3],
  ['a{2,5}', 5],
  ['a{2,}', 2],
  ['(ab){10}', 40],
  [String.raw`[]\]{9}]{2}[[:alpha:]{9}]\p{Greek}\x{10FFFF}\{9}`, 8],
  ['a{9', 3],
  ['a{1000}', 1_000],
  ['a{0,65535}', 1],
  ['(a(b', 2],
  ['))', 4],
])('the pattern %s has about %i instructions', (pattern, size) => {
  expect(patternSize(pattern)).toBe(size);
});

test('a pattern that would take too long to compile is refused before it is parsed', async () => {
  // A different one each time, because results are cached.
  let count = 0;
  for (const pattern of [
    '\\p{'.repeat(33_000),
    '(\\p{greek}'.repeat(9_000),
    '(a|b)?'.repeat(150_000),
    `(${'a'.repeat(1_000)}){1000}`,
    '[(\\p{'.repeat(50_000),
  ]) {
    await expectShort(2_500, () => expect(compile(`${pattern}${count++}`).error).toMatch(/^error parsing regexp: /));
  }
});

test.each([
  ['a*', 'baaau', ['', 'aaa', '']],
  ['', 'a\u{1f600}b', ['', '', '', '']],
  ['.', 'a\u{1f600}b', ['a', '\u{1f600}', 'b']],
  ['a|ab', 'abab', ['a', 'a']],
  ['x', 'abc', []],
])('the pattern %s finds all matches in %j', (pattern, text, found) => {
  expect(compile(pattern).expression?.findAll(text)).toEqual(found);
  expect(compile(pattern).expression?.findAll(text, 1)).toEqual(found.slice(0, 1));
  expect(compile(pattern).expression?.find(text)).toBe(found[0]);
});

test('groups may be named, names in literal text are kept, and duplicate names are refused', () => {
  const pattern = String.raw`(?P<n>a)(?<n>b)\Q(?<n>\E[]\](?<n>]+`;
  expect(compile(pattern).expression?.find('ab(?<n>(<n](')).toBe('ab(?<n>(<n](');
  expect(compile('(?<n>a)(?<n>b').error).toBe('error parsing regexp: missing closing ): `(?<n>a)(?<n>b`');
});

test.each([
  [String.raw`^\p{ASCII}+$`, 'aZ~', 'é'],
  [String.raw`^\p{greek}\p{GREEK}$`, 'αβ', 'ab'],
  [String.raw`^\P{greek}$`, 'a', 'α'],
  [String.raw`^\p{^greek}$`, 'a', 'α'],
  [String.raw`^\P{^greek}$`, 'α', 'a'],
  [String.raw`^[\p{Lowercase_Letter}\p{decimal number}-]+$`, 'a1-', 'A'],
  [String.raw`^\pl\Pn$`, 'aa', '11'],
  [String.raw`^\p{lC}\p{Cased-Letter}$`, 'aB', 'ªª'],
  [String.raw`^(?i:\p{uppercaseletter})$`, 'a', '1'],
  [String.raw`^\p{any}\p{assigned}$`, 'aa', 'a\u0378'],
  [String.raw`\Q\p{greek}\E`, '\\p{greek}', 'α'],
  [String.raw`\\p\{greek}`, '\\p{greek}', 'α'],
])('Unicode classes are named as in Go: %s', (pattern, text, other) => {
  expect(compile(pattern).error).toBeUndefined();
  expect(compile(pattern).expression?.test(text)).toBe(true);
  expect(compile(pattern).expression?.test(other)).toBe(false);
});

test.each([
  'Ol_Chiki',
  '\u017f',
  'OlChiki',
  'Garay',
  'SignWriting',
  'Emoji',
  'emoji',
  'Unknown',
  'uppercase',
  'Script=Greek',
  '',
])('%s is not a class, as in Go', (name) => {
  expect(compile(String.raw`a\p{greek}[\P{${name}}]\p{other}`).error).toBe(
    `error parsing regexp: invalid character class range: \`\\P{${name}}\``,
  );
});

test('errors quote classes as they were written', () => {
  expect(compile(String.raw`(\p{greek}\P{Lowercase_Letter}\pl`).error).toBe(
    String.raw`error parsing regexp: missing closing ): ${'`'}(\p{greek}\P{Lowercase_Letter}\pl${'`'}`,
  );
  expect(compile(String.raw`\x\p{greek}`).error).toBe(
    String.raw`error parsing regexp: invalid escape sequence: ${'`'}\x\p${'`'}`,
  );
  expect(compile(String.raw`\p{greek`).error).toBe(
    String.raw`error parsing regexp: invalid character class range: ${'`'}\p{greek${'`'}`,
  );
});

test('findAll gives up if it takes too long', async () => {
  await expectShort(2_000, () => {
    expect(compile('a.*b|a').expression?.findAll('a'.repeat(60_000))).toBeUndefined();
  });
});
