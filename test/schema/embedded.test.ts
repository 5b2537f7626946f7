import { expect, test } from 'vitest';
import { coerceEmbedded } from '../../src/schema/embedded.js';
import type { Schema } from '../../src/schema/schema.js';

test.each([true, false])('metadata of an embedded resource is sorted by name (drop: %s)', (drop) => {
  const schema: Schema = {
    type: 'object',
    properties: new Map([['inner', { type: 'object', embeddedResource: true, preserveUnknownFields: true }]]),
  };
  const metadata = { name: 'n', labels: { a: '1' }, ownerReferences: [{ uid: 'u', apiVersion: 'v1' }] };
  const { value } = coerceEmbedded({ inner: { metadata } }, schema, { drop });
  expect(JSON.stringify(value)).toBe(
    '{"inner":{"metadata":{"labels":{"a":"1"},"name":"n","ownerReferences":[{"apiVersion":"v1","kind":"","name":"","uid":"u"}]}}}',
  );
});
