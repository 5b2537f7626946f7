import { describe, expect, test } from 'vitest';
import type { AdmissionAttributes } from '../../../src/admission/admission-step.js';
import { admissionReview, requestMembers } from '../../../src/admission/webhooks/review.js';
import { originalAttributes } from '../../../src/admission/webhooks/versioned-attributes.js';
import { ConfigMaps } from '../../../src/api/kinds/config-map.js';
import { Namespaces } from '../../../src/api/kinds/namespace.js';
import type { ApiObject, JsonObject } from '../../../src/api/object.js';

const object: ApiObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', namespace: 'ns' } };
const attributes = (given: Partial<AdmissionAttributes> = {}): AdmissionAttributes => ({
  operation: 'CREATE',
  resource: ConfigMaps,
  subresource: undefined,
  key: { namespace: 'ns', name: 'm' },
  object,
  previous: undefined,
  user: { username: 'u', groups: ['g'] },
  dryRun: false,
  warn: () => {},
  ...given,
});
const members = (given?: Partial<AdmissionAttributes>) => {
  const made = attributes(given);
  return requestMembers(made, originalAttributes(made).as);
};

test('a complete review is built from the request', () => {
  const made = attributes({ options: { fieldManager: 'f' } });
  const review = admissionReview({
    attributes: made,
    seen: {
      ...originalAttributes(made),
      as: { resource: { ...ConfigMaps, version: 'v2' }, kind: { ...ConfigMaps, version: 'v2' } },
    },
    uid: 'id',
    apiVersion: 'admission.k8s.io/v1',
    kinds: { toJson: (one) => one as unknown as JsonObject },
  });
  expect(review).toEqual({
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: 'id',
      kind: { group: '', version: 'v2', kind: 'ConfigMap' },
      resource: { group: '', version: 'v2', resource: 'configmaps' },
      requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
      requestResource: { group: '', version: 'v1', resource: 'configmaps' },
      name: 'm',
      namespace: 'ns',
      operation: 'CREATE',
      userInfo: { username: 'u', groups: ['g'] },
      object,
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'f' },
    },
  });
});

describe('a review', () => {
  const scale: ApiObject = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'm' } };
  test.each<[string, Partial<AdmissionAttributes>, object]>([
    [
      'has UpdateOptions for a patch',
      { operation: 'UPDATE', options: { fieldManager: 'f' } },
      { options: { kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'f' } },
    ],
    [
      'has no object and DeleteOptions for a deletion',
      {
        operation: 'DELETE',
        object: undefined,
        previous: object,
        options: { dryRun: ['All'], preconditions: undefined },
      },
      { operation: 'DELETE', kind: { kind: 'ConfigMap' }, options: { kind: 'DeleteOptions', dryRun: ['All'] } },
    ],
    [
      'puts a Namespace into the namespace of its own name',
      { resource: Namespaces, key: { name: 'n' } },
      { name: 'n', namespace: 'n' },
    ],
    [
      'has the kind of a subresource',
      { subresource: 'scale', object: scale },
      {
        kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
        resource: { resource: 'configmaps' },
        subResource: 'scale',
        requestSubResource: 'scale',
      },
    ],
    [
      'has an empty userInfo for a user without attributes',
      { user: { username: '', groups: [], uid: '', extra: {} } },
      { userInfo: {} },
    ],
    [
      'has all attributes of the user',
      { user: { username: 'u', groups: ['g'], uid: 'i', extra: { k: ['v'] } } },
      { userInfo: { username: 'u', uid: 'i', groups: ['g'], extra: { k: ['v'] } } },
    ],
    ['has no options for a connection', { operation: 'CONNECT' }, { options: null }],
  ])('%s', (_, given, expected) => {
    expect(members(given)).toMatchObject(expected);
  });

  test('starts its options with kind and apiVersion', () => {
    const { options } = members({ options: { dryRun: ['All', 'All'], fieldManager: 'f' } });
    const written = '{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1","dryRun":["All","All"],"fieldManager":"f"}';
    expect(JSON.stringify(options)).toBe(written);
  });

  test('has no name for the deletion of a collection', () => {
    const made = members({ operation: 'DELETE', isCollectionDelete: true });
    expect(made).toMatchObject({ namespace: 'ns' });
    expect(made).not.toHaveProperty('name');
  });
});
