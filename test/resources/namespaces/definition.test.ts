import { expect, test } from 'vitest';
import type { Namespace } from '../../../src/api/kinds/namespace.js';
import { namespaceDefinition } from '../../../src/resources/namespaces/definition.js';
import { cells, context, read, write, writeView } from '../write.js';

const namespaces = namespaceDefinition();

const born = {
  metadata: { name: 'x', labels: { 'kubernetes.io/metadata.name': 'x' } },
  spec: { finalizers: ['kubernetes'] },
  status: { phase: 'Active' },
};

test('a namespace is created as Active, with its finalizer and its name as a label', () => {
  expect(write(namespaces, { status: { phase: 'Terminating' } }).object).toMatchObject(born);
  expect(write(namespaces, { spec: { finalizers: ['example.com/a'] } }).object).toMatchObject({
    spec: { finalizers: ['example.com/a', 'kubernetes'] },
  });
});

test('the name label is set once a name is generated, and cannot be changed or removed', () => {
  expect(read(namespaces, { metadata: { generateName: 'x-' } }).metadata.labels).toBeUndefined();
  const changed = { metadata: { name: 'x', labels: { 'kubernetes.io/metadata.name': 'y', a: 'b' } } };
  expect(write(namespaces, changed, born).object.metadata.labels).toEqual({
    a: 'b',
    'kubernetes.io/metadata.name': 'x',
  });
});

test('an update of the resource itself keeps spec and status', () => {
  expect(write(namespaces, { spec: { finalizers: [] }, status: { phase: 'Terminating' } }, born).object).toMatchObject(
    born,
  );
});

test.each([
  { finalizers: ['kubernetes', 'orphan', 'example.com/a'], violations: [] },
  {
    finalizers: ['hold'],
    violations: [
      'spec.finalizers: Invalid value: "hold": name is neither a standard finalizer name nor is it fully qualified',
    ],
  },
  { finalizers: ['/a'], violations: ['spec.finalizers: Invalid value: "/a": prefix part must be non-empty'] },
])('finalizers $finalizers', ({ finalizers, violations }) => {
  expect(write(namespaces, { spec: { finalizers } }).violations).toEqual(violations);
  const at = finalizers.length - 1;
  expect(writeView(namespaces, 'finalize', { spec: { finalizers } }, born).violations).toEqual(
    violations.map((text) => text.replace('spec.finalizers', `spec.finalizers[${at}]`)),
  );
});

test('finalize accepts finalizers and metadata, and keeps the status', () => {
  const next = { metadata: { name: 'x', labels: {} }, spec: { finalizers: [] }, status: { phase: 'Else' } };
  expect(writeView(namespaces, 'finalize', next, born).object).toMatchObject({
    metadata: { labels: { 'kubernetes.io/metadata.name': 'x' } },
    spec: {},
    status: { phase: 'Active' },
  });
});

test.each([
  [undefined, 'Active', []],
  [undefined, undefined, []],
  [undefined, 'Terminating', ["may only be 'Active' if `deletionTimestamp` is empty"]],
  [undefined, 'x', ["may only be 'Active' if `deletionTimestamp` is empty"]],
  ['2024-01-01T00:00:00Z', 'Terminating', []],
  ['2024-01-01T00:00:00Z', 'Active', ["may only be 'Terminating' if `deletionTimestamp` is not empty"]],
])('status: deleted %s, phase %s', (deletionTimestamp, phase, texts) => {
  const metadata = { name: 'x', ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) };
  const written = writeView(namespaces, 'status', { metadata, spec: {}, status: { phase } }, born);
  expect(written.violations).toEqual(texts.map((text) => `status.Phase: Invalid value: "${phase}": ${text}`));
  expect(written.object['spec']).toEqual(born.spec);
});

test('deletion sets the phase and waits for the finalizers of spec', () => {
  const { deletion } = namespaces;
  const marked = deletion?.mark(read(namespaces, born) as Namespace, context);
  expect(marked?.status?.phase).toBe('Terminating');
  expect(deletion?.held(read(namespaces, born))).toBe(true);
  expect(deletion?.held(read(namespaces, { spec: { finalizers: [] } }))).toBe(false);
});

test('verbs, subresources, names, selectors and columns', () => {
  expect(namespaces.verbs).not.toContain('deletecollection');
  expect(namespaces.subresources?.['finalize']).toMatchObject({ verbs: ['update'], resetFields: [['status']] });
  expect(namespaces.nameRule?.('a.b', { prefix: false })).toEqual(['must not contain dots']);
  expect(namespaces.selectableFields?.['status.phase']?.(read(namespaces, born))).toBe('Active');
  expect(cells(namespaces, { ...born, metadata: { name: 'x', creationTimestamp: '2024-05-06T07:06:09Z' } })).toEqual({
    Status: 'Active',
    Age: '2m',
  });
});
