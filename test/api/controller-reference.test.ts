import { expect, test } from 'vitest';
import { controllerReference } from '../../src/api/controller-reference.js';

test('an object is referred to as the one that controls another', () => {
  const owner = {
    apiVersion: 'example.com/v1',
    kind: 'Team',
    metadata: { name: 'red', uid: 'u', labels: {} },
    spec: {},
  };
  expect(controllerReference(owner)).toEqual({
    apiVersion: 'example.com/v1',
    kind: 'Team',
    name: 'red',
    uid: 'u',
    controller: true,
    blockOwnerDeletion: true,
  });
});
