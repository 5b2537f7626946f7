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

test('a whole review', () => {
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

describe('what is said of a request', () => {
  const scale: ApiObject = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'm' } };
  test.each<[string, Partial<AdmissionAttributes>, object]>([
    [
      'a patch has the options of an update',
      { operation: 'UPDATE', options: { fieldManager: 'f' } },
      { options: { kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'f' } },
    ],
    [
      'a deletion',
      {
        operation: 'DELETE',
        object: undefined,
        previous: object,
        options: { dryRun: ['All'], preconditions: undefined },
      },
      { operation: 'DELETE', kind: { kind: 'ConfigMap' }, options: { kind: 'DeleteOptions', dryRun: ['All'] } },
    ],
    ['a namespace is in itself', { resource: Namespaces, key: { name: 'n' } }, { name: 'n', namespace: 'n' }],
    [
      'a subresource has a kind of its own',
      { subresource: 'scale', object: scale },
      {
        kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
        resource: { resource: 'configmaps' },
        subResource: 'scale',
        requestSubResource: 'scale',
      },
    ],
    ['a user without anything', { user: { username: '', groups: [], uid: '', extra: {} } }, { userInfo: {} }],
    [
      'a user with everything',
      { user: { username: 'u', groups: ['g'], uid: 'i', extra: { k: ['v'] } } },
      { userInfo: { username: 'u', uid: 'i', groups: ['g'], extra: { k: ['v'] } } },
    ],
    ['a connection has no options', { operation: 'CONNECT' }, { options: null }],
  ])('%s', (_, given, expected) => {
    expect(members(given)).toMatchObject(expected);
  });

  test('options begin with what they are', () => {
    const { options } = members({ options: { dryRun: ['All', 'All'], fieldManager: 'f' } });
    const written = '{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1","dryRun":["All","All"],"fieldManager":"f"}';
    expect(JSON.stringify(options)).toBe(written);
  });

  test('one deletion of many names nobody', () => {
    const made = members({ operation: 'DELETE', isCollectionDelete: true });
    expect(made).toMatchObject({ namespace: 'ns' });
    expect(made).not.toHaveProperty('name');
  });
});
