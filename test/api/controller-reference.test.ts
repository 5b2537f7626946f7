import { expect, test } from 'vitest';
import { controllerReference } from '../../src/api/controller-reference.js';

test('a controller reference names its owner and blocks the deletion of the owner', () => {
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
