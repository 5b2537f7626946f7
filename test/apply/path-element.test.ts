import { expect, test } from 'vitest';
import { goNumber } from '../../src/api/go-text.js';
import { keyElement, printPath, sortPathElements, valueElement } from '../../src/apply/path-element.js';

test.each<[readonly string[], string]>([
  [['f:data', 'f:k'], '.data.k'],
  [['f:metadata', 'f:labels', 'f:example.com/q'], '.metadata.labels.example.com/q'],
  [['f:spec', keyElement([['name', 'x']]), 'f:v'], '.spec[name="x"].v'],
  [
    [
      keyElement([
        ['proto', 'TCP'],
        ['port', 1],
      ]),
    ],
    '[port=1,proto="TCP"]',
  ],
  [
    [
      keyElement([
        ['a', null],
        ['b', true],
      ]),
    ],
    '[a=null,b=true]',
  ],
  [[valueElement('v')], '[="v"]'],
  [[valueElement(1_000_000)], '[=1e+06]'],
  [['i:0'], '[0]'],
])('%j is printed as %s', (path, printed) => {
  expect(printPath(path)).toBe(printed);
});

test('whole numbers of applied objects are printed as integers', () => {
  expect(printPath([keyElement([['k', 1_000_000]])], goNumber)).toBe('[k=1000000]');
});

test('keys are sorted, and escaped as by Go', () => {
  expect(
    keyElement([
      ['b', '<'],
      ['a', 1],
    ]),
  ).toBe('k:{"a":1,"b":"\\u003c"}');
});

test.each<[string, readonly string[]]>([
  ['without escapes', ['', ' ', '!', 'a', 'a ', 'a!', 'a0', 'ab', '\u{ffff}', '\u{1f600}']],
  ['with escapes', ['', ' ', '"', 'a', 'a"', 'a<', 'a\\', 'ab']],
])('items are sorted by the text of their key, %s', (_, names) => {
  const elements = names.map((name) => keyElement([['name', name]]));
  expect(sortPathElements(elements.toReversed())).toEqual(elements);
  const values = names.map((name) => valueElement(name));
  expect(sortPathElements(values.toReversed())).toEqual(values);
});

test('items with several keys, or with keys that are not strings, are sorted by these', () => {
  const elements = [
    keyElement([['name', 2]]),
    keyElement([['name', 10]]),
    keyElement([['name', '1']]),
    keyElement([
      ['name', '1'],
      ['port', 80],
    ]),
    keyElement([['title', 'a']]),
  ];
  expect(sortPathElements(elements.toReversed())).toEqual(elements);
});
