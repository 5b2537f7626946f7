import { expect, test } from 'vitest';
import { nodes } from '../../../src/resources/nodes/definition.js';
import { write, writeView } from '../write.js';

test('a node reports its status at registration and through the status subresource', () => {
  const before = { spec: { podCIDR: 'a' }, status: { phase: 'one' } };
  const after = { spec: { podCIDR: 'b' }, status: { phase: 'two' } };
  expect(write(nodes, before).object).toMatchObject(before);
  expect(write(nodes, after, before).object).toMatchObject({ spec: after.spec, status: before.status });
  expect(writeView(nodes, 'status', after, before).object).toMatchObject({ spec: before.spec, status: after.status });
});

test('the removed dynamic kubelet configuration is dropped', () => {
  const configured = { spec: { podCIDR: 'a', configSource: {} }, status: { phase: 'one', config: { error: 'x' } } };
  const before = { spec: { podCIDR: 'a' }, status: { phase: 'one' } };
  const written = [
    write(nodes, configured),
    write(nodes, configured, before),
    writeView(nodes, 'status', configured, before),
  ];
  for (const { object } of written) {
    expect(Object.keys(object['spec'] ?? {})).not.toContain('configSource');
    expect(Object.keys(object['status'] ?? {})).not.toContain('config');
  }
});

test('nodes can be selected by spec.unschedulable', () => {
  const select = nodes.selectableFields?.['spec.unschedulable'];
  expect(select?.({ apiVersion: 'v1', kind: 'Node', metadata: {}, spec: { unschedulable: true } })).toBe('true');
});
