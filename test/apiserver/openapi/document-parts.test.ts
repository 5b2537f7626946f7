import { expect, test } from 'vitest';
import { runSync } from '../../../src/api/steps.js';
import { assembleDocument, bytesInStep } from '../../../src/apiserver/openapi/assemble-document.js';
import { DocumentParts, membersOf } from '../../../src/apiserver/openapi/document-parts.js';
import type { ResourceDefinition } from '../../../src/registry/resource-definition.js';
import { configMaps } from '../../../src/resources/configmaps/definition.js';

function open() {
  const written: string[] = [];
  const parts = new DocumentParts({
    describe: ({ plural }) => ({ paths: { [`/${plural}`]: {} }, schemas: { [plural]: {}, Metadata: {} } }),
    member: (_, name) => {
      written.push(name);
      return Buffer.from(name);
    },
  });
  return { parts, written, all: (of: readonly ResourceDefinition[]) => runSync(parts.of(of, new Map())) };
}
const [a, b, c] = ['a', 'b', 'c'].map((plural): ResourceDefinition => ({ ...configMaps, plural })) as [
  ResourceDefinition,
  ResourceDefinition,
  ResourceDefinition,
];

test('parts of an unchanged definition are not written again', () => {
  const { written, all } = open();
  all([a, b]);
  expect(written).toEqual(['/a', 'a', 'Metadata', '/b', 'b', 'Metadata']);
  written.length = 0;
  all([a, c, b]);
  expect(written).toEqual(['/c', 'c', 'Metadata']);
});

test('shared members are stored once, and members are sorted by name', () => {
  const parts = open().all([b, a]);
  expect(parts[1]?.schemas.get('Metadata')).toBe(parts[0]?.schemas.get('Metadata'));
  expect(runSync(membersOf(parts, 'schemas')).map(String)).toEqual(['Metadata', 'a', 'b']);
});

test('the first of two members of the same name counts, and different values are not shared', () => {
  const parts = new DocumentParts({
    describe: ({ plural }) => ({ paths: {}, schemas: { same: { plural } } }),
    member: (_, __, value) => Buffer.from(JSON.stringify(value)),
  });
  expect(runSync(membersOf(runSync(parts.of([b, a], new Map())), 'schemas')).map(String)).toEqual(['{"plural":"b"}']);
  expect(runSync(membersOf(runSync(parts.of([a], new Map())), 'schemas')).map(String)).toEqual(['{"plural":"a"}']);
});

test('a large document is assembled in steps', () => {
  const pieces = Array.from({ length: 64 }, (_, at) => Buffer.alloc(bytesInStep / 4, 65 + at));
  const steps = assembleDocument(pieces, 0);
  let count = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) count++;
  expect(count).toBe(16);
  expect(step.value.bytes.equals(Buffer.concat(pieces))).toBe(true);
});
