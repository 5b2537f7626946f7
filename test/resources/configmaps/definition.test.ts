import { expect, test } from 'vitest';
import { configMaps } from '../../../src/resources/configmaps/definition.js';
import { cells, write } from '../write.js';

const keyRule =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

test.each([
  [{ data: { 'A_b-c.D': '1' }, binaryData: { k: 'AA==' } }, []],
  [{ data: JSON.parse('{"__proto__":"1","constructor":"2"}') }, []],
  [
    { data: { k: '1' }, binaryData: { k: 'AA==' } },
    ['data[k]: Invalid value: "k": duplicate of key present in binaryData'],
  ],
  [{ data: { '': '1' } }, [`data[]: Invalid value: "": ${keyRule}`]],
  [{ data: { '.': '1' } }, ['data[.]: Invalid value: ".": must not be \'.\'']],
  [{ data: { '..a': '1' } }, ['data[..a]: Invalid value: "..a": must not start with \'..\'']],
  [
    { data: { 'c d': '2', 'a b': '1' }, binaryData: { 'e f': 'AA==' } },
    [
      `data[a b]: Invalid value: "a b": ${keyRule}`,
      `data[c d]: Invalid value: "c d": ${keyRule}`,
      `binaryData[e f]: Invalid value: "e f": ${keyRule}`,
    ],
  ],
])('contents %j', (body, violations) => {
  expect(write(configMaps, body).violations).toEqual(violations);
});

test('all values together have at most 1 MiB, bytes counted as bytes', () => {
  const tooLong = ['[]: Too long: may not be more than 1048576 bytes'];
  const binaryData = { b: Buffer.alloc(524_288).toString('base64') };
  expect(write(configMaps, { data: { a: 'x'.repeat(524_288) }, binaryData }).violations).toEqual([]);
  expect(write(configMaps, { data: { a: 'x'.repeat(524_289) }, binaryData }).violations).toEqual(tooLong);
  expect(write(configMaps, { data: { a: '\u00e4'.repeat(262_145) }, binaryData }).violations).toEqual(tooLong);
});

const stored = { data: { k: '1' }, binaryData: { b: 'AA==' }, immutable: true };
const because = 'Forbidden: field is immutable when `immutable` is set';

test.each([
  [stored, []],
  [{ ...stored, metadata: { name: 'x', labels: { a: 'b' } } }, []],
  [{ ...stored, data: { k: '2' } }, [`data: ${because}`]],
  [{ ...stored, binaryData: {} }, [`binaryData: ${because}`]],
  [{ ...stored, immutable: false }, [`immutable: ${because}`]],
  [{ data: {}, binaryData: { b: 'AQ==' } }, [`immutable: ${because}`, `data: ${because}`, `binaryData: ${because}`]],
])('an immutable ConfigMap changed to %j', (next, violations) => {
  expect(write(configMaps, next, stored).violations).toEqual(violations);
});

test('a ConfigMap may be changed and made immutable in one update', () => {
  expect(write(configMaps, { ...stored, data: { k: '2' } }, { ...stored, immutable: false }).violations).toEqual([]);
});

test('a null in binaryData becomes an empty value', () => {
  expect(write(configMaps, { binaryData: { b: null } }).object['binaryData']).toEqual({ b: '' });
});

test('the table counts both maps', () => {
  expect(cells(configMaps, { data: { a: '', b: '' }, binaryData: { c: '' } })).toEqual({ Data: 3, Age: '<unknown>' });
});
