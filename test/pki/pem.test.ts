import { expect, test } from 'vitest';
import { certificateBlocks, encodePem, firstPemBlock, pemBlocks } from '../../src/pki/pem.js';
import { expectShort } from '../processor-time.js';

const block = (type: string, body = 'AAEC'): string => `-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`;
const bytes = Buffer.from([0, 1, 2]);

const accepted: Readonly<Record<string, string>> = {
  plain: block('A'),
  'text before and after': `hello\n${block('A')}bye`,
  'line ends of other systems': block('A').replaceAll('\n', '\r\n'),
  'no last line end': block('A').trimEnd(),
  'blanks at the end of lines': block('A').replaceAll('\n', ' \t\n'),
  'blanks inside the data': block('A', 'AA EC'),
  'other line widths': block('A', 'A\nA\nE\nC'),
  'a broken block before': `-----BEGIN A-----\n!!!\n-----END A-----\n${block('A')}`,
  'a block without end before': `-----BEGIN A-----\nAAEC\n${block('A')}`,
  'an end without beginning before': `-----END A-----\n${block('A')}`,
  'an indented one before': ` ${block('B')}${block('A')}`,
  'bytes that are no text before': `\u0000\u00ff\n${block('A')}`,
};
test.each(Object.entries(accepted))('the first intact block is found: %s', (_, text) => {
  expect(firstPemBlock(text)).toEqual({ type: 'A', hasHeaders: false, bytes });
});

const rejected: Readonly<Record<string, string>> = {
  nothing: '',
  'no end': '-----BEGIN A-----\nAAEC\n',
  'labels that differ': '-----BEGIN A-----\nAAEC\n-----END B-----\n',
  'an indented block': ` ${block('A')}`,
  'text after the end line': `${block('A').trimEnd()}x\n`,
  'no padding': block('A', 'AAE'),
  'too much padding': block('A', 'AA==='),
  'data after padding': block('A', 'AA==AA=='),
  'the alphabet of URLs': block('A', 'A_-C'),
};
test.each(Object.entries(rejected))('no block is found: %s', (_, text) => {
  expect(firstPemBlock(text)).toBeUndefined();
});

test('headers are reported and otherwise ignored', () => {
  const text = '-----BEGIN A-----\nProc-Type: 4,ENCRYPTED\n\nAAEC\n-----END A-----\n';
  expect(firstPemBlock(text)).toEqual({ type: 'A', hasHeaders: true, bytes });
});

test('certificates are blocks of that type without headers', () => {
  const withHeaders = block('CERTIFICATE', 'Key: value\n\nAwQF');
  expect(certificateBlocks(`${block('A')}${withHeaders}${block('CERTIFICATE')}`)).toEqual([bytes]);
});

test('an empty block has no bytes', () => {
  expect(firstPemBlock('-----BEGIN A-----\n-----END A-----\n')).toEqual({
    type: 'A',
    hasHeaders: false,
    bytes: Buffer.alloc(0),
  });
});

test('all blocks come in order', () => {
  const types = [...pemBlocks(`${block('A')}text\n${block('B')}${block('A')}`)].map(({ type }) => type);
  expect(types).toEqual(['A', 'B', 'A']);
});

test('written blocks are read back, and have lines of 64 characters', () => {
  const content = Buffer.alloc(100, 7);
  const text = encodePem('CERTIFICATE', content);
  expect(text.split('\n').map((line) => line.length)).toEqual([27, 64, 64, 8, 25, 0]);
  expect(firstPemBlock(text)?.bytes).toEqual(content);
});

const hostile: Readonly<Record<string, string>> = {
  'beginnings only': '-----BEGIN A-----\n'.repeat(50_000),
  'ends only': '\n-----END A-----'.repeat(50_000),
  'broken blocks': '-----BEGIN A-----\n!\n-----END A-----\n'.repeat(25_000),
  'headers only': `-----BEGIN A-----\n${'a: b\n'.repeat(150_000)}-----END A-----\n`,
  'one long line': `-----BEGIN ${'A'.repeat(900_000)}`,
  'a block for every few bytes': block('A', '').repeat(30_000),
};
test.each(Object.entries(hostile))('a megabyte is read in linear time: %s', async (_, text) => {
  await expectShort(5_000, () => [...pemBlocks(text)]);
});
