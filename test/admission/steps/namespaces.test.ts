import { expect, test } from 'vitest';
import type { AdmissionAttributes, WriteAttributes } from '../../../src/admission/admission-step.js';
import { AdmissionChain } from '../../../src/admission/chain.js';
import { immortalNamespaces } from '../../../src/admission/steps/immortal-namespaces.js';
import { namespaceExists, namespaceStillExists } from '../../../src/admission/steps/namespace-exists.js';
import { LocalSubjectAccessReviews } from '../../../src/api/kinds/access-review.js';
import { ConfigMaps } from '../../../src/api/kinds/config-map.js';
import { Namespaces } from '../../../src/api/kinds/namespace.js';
import type { ApiObject, ResourceType } from '../../../src/api/object.js';
import { FixedObjects } from '../../auth/fixed-objects.js';

const general = (type: object): ResourceType<ApiObject> => type as ResourceType<ApiObject>;
const objects = new FixedObjects()
  .put(Namespaces, { metadata: { name: 'active' }, status: { phase: 'Active' } })
  .put(Namespaces, {
    metadata: { name: 'going', deletionTimestamp: '2026-01-01T00:00:00Z' },
    status: { phase: 'Terminating' },
  });
const step = namespaceExists({ objects });
const attributes = (namespace: string, more: Partial<AdmissionAttributes> = {}): AdmissionAttributes => ({
  operation: 'CREATE',
  resource: general(ConfigMaps),
  subresource: undefined,
  key: { namespace, name: 'a' },
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
  previous: undefined,
  user: { username: 'u', groups: ['system:masters'] },
  dryRun: false,
  warn: () => {},
  ...more,
});
const mutated = (given: AdmissionAttributes) => new AdmissionChain([step]).mutate(given as WriteAttributes);

test('creation in an active namespace is allowed', async () => {
  const given = attributes('active');
  expect(step.handles(given)).toBe(true);
  expect(await mutated(given)).toBe(given.object);
});

test('a kind of another group is not exempt because it has the name of an exempt kind', () => {
  const review = { key: { namespace: 'missing', name: '' } };
  const own = { ...general(LocalSubjectAccessReviews), group: 'example.com' };
  expect(step.handles(attributes('missing', { ...review, resource: general(LocalSubjectAccessReviews) }))).toBe(false);
  expect(step.handles(attributes('missing', { ...review, resource: own }))).toBe(true);
});

test('creation in a missing namespace is answered with not found', async () => {
  await expect(mutated(attributes('missing'))).rejects.toMatchObject({
    reason: 'NotFound',
    message: 'namespaces "missing" not found',
    details: { name: 'missing', kind: 'namespaces' },
  });
});

test.each([
  [{ name: 'a' }, 'a', 'configmaps "a" is forbidden'],
  [{ generateName: 'a-' }, '', 'configmaps "a-" is forbidden'],
])('creation in a terminating namespace is refused (%j)', async (metadata, name, start) => {
  const given = attributes('going', {
    key: { namespace: 'going', name },
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata },
  });
  await expect(mutated(given)).rejects.toMatchObject({
    reason: 'Forbidden',
    message: `${start}: unable to create new content in namespace going because it is being terminated`,
    details: {
      kind: 'configmaps',
      causes: [
        {
          reason: 'NamespaceTerminating',
          message: 'namespace going is being terminated',
          field: 'metadata.namespace',
        },
      ],
    },
  });
});

test('the namespace is checked again only after a step that may have waited', async () => {
  const waiting = { name: 'w', handles: ({ key }: AdmissionAttributes) => key.name === 'a' };
  const last = namespaceStillExists({ objects, after: [waiting] });
  expect(last.handles(attributes('going'))).toBe(true);
  expect(last.handles(attributes('going', { key: { namespace: 'going', name: 'b' } }))).toBe(false);
  expect(last.handles(attributes('going', { key: { namespace: 'going', name: 'b' }, isConverted: true }))).toBe(true);
  expect(last.handles(attributes('going', { operation: 'UPDATE' }))).toBe(false);
  await expect(last.beforeCreation?.(attributes('going'))).rejects.toMatchObject({ reason: 'Forbidden' });
  await expect(last.beforeCreation?.(attributes('missing'))).rejects.toMatchObject({ reason: 'NotFound' });
  await last.beforeCreation?.(attributes('active'));
});

test('updates in a terminating namespace are allowed', async () => {
  const given = attributes('going', { operation: 'UPDATE' });
  expect(await mutated(given)).toBe(given.object);
});

test.each<[string, Partial<AdmissionAttributes>]>([
  ['a cluster-scoped object', { resource: general(Namespaces), key: { name: 'x' } }],
  ['a deletion', { operation: 'DELETE', object: undefined }],
  ['an access review', { resource: general(LocalSubjectAccessReviews) }],
])('the namespace is not checked for %s', (_name, more) => {
  expect(step.handles(attributes('missing', more))).toBe(false);
});

test.each([
  ['default', true],
  ['kube-system', true],
  ['kube-public', true],
  ['kube-node-lease', false],
  ['mine', false],
])('the deletion of namespace %s is refused: %s', async (name, refused) => {
  const given = attributes('', {
    operation: 'DELETE',
    resource: general(Namespaces),
    key: { name },
    object: undefined,
  });
  expect(immortalNamespaces.handles(given)).toBe(refused);
  if (refused) {
    await expect(immortalNamespaces.beforeDeletion?.(given)).rejects.toThrow(
      `namespaces "${name}" is forbidden: this namespace may not be deleted`,
    );
  }
});
