import { describe, expect, test } from 'vitest';
import { defaultDomains } from '../../../src/api/domains.js';
import { podDefinition } from '../../../src/resources/pods/definition.js';
import { write, writeView } from '../write.js';

const pods = podDefinition(defaultDomains);

const spec = {
  nodeName: 'n',
  serviceAccountName: 'sa',
  containers: [{ name: 'c', image: 'a' }],
  volumes: [{ name: 'v', secret: { secretName: 's' } }],
};

test('the status of a pod is ignored on create and update', () => {
  expect(write(pods, { spec, status: { phase: 'Running' } }).object).toMatchObject({ status: { phase: 'Pending' } });
  const updated = write(pods, { spec, status: { phase: 'Running' } }, { spec });
  expect(updated).toMatchObject({ object: { status: { phase: 'Pending' } }, violations: [] });
});

test('the status subresource writes the status and nothing else', () => {
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }];
  const metadata = { name: 'x', ownerReferences, deletionTimestamp: '2020-01-01T00:00:00Z' };
  const told = { metadata, spec: { nodeName: 'm' }, status: { phase: 'Running' } };
  const { object, violations } = writeView(pods, 'status', told, { spec });
  expect(object).toMatchObject({ spec, status: { phase: 'Running' } });
  expect(object.metadata.ownerReferences ?? []).toEqual([]);
  expect(object.metadata.deletionTimestamp).toBeUndefined();
  expect(violations).toEqual([]);
});

test('of an image pull secret only the name is kept', () => {
  const secrets = { ...spec, imagePullSecrets: [{ name: 's', other: 1 }] };
  expect(write(pods, { spec: secrets }).object).toMatchObject({ spec: { imagePullSecrets: [{ name: 's' }] } });
  expect(JSON.stringify(write(pods, { spec: secrets }).object)).not.toContain('other');
});

describe('an update', () => {
  test.each<[string, object]>([
    ['the image', { containers: [{ name: 'c', image: 'b' }] }],
    ['tolerations', { tolerations: [{ key: 'k', operator: 'Exists' }] }],
    ['the deadline', { activeDeadlineSeconds: 5 }],
  ])('may change %s', (_what, more) => {
    expect(write(pods, { spec: { ...spec, ...more } }, { spec }).violations).toEqual([]);
  });

  const tolerations = [{ key: 'k', operator: 'Exists', tolerationSeconds: 5 }];
  const deadline = 'spec.activeDeadlineSeconds: Invalid value:';
  const kept = 'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds';
  const gates = [{ name: 'a' }, { name: 'b' }];
  test.each<[object, object, readonly (string | RegExp)[]]>([
    [{ activeDeadlineSeconds: 9 }, { activeDeadlineSeconds: 5 }, []],
    [
      { activeDeadlineSeconds: 5 },
      { activeDeadlineSeconds: 9 },
      [`${deadline} 9: must be less than or equal to previous value`],
    ],
    [{ activeDeadlineSeconds: 5 }, {}, [`${deadline} null: must not update from a positive integer to nil value`]],
    [
      { tolerations },
      {
        tolerations: [
          { key: 'l', operator: 'Exists' },
          { ...tolerations[0], tolerationSeconds: 7 },
        ],
      },
      [],
    ],
    [{ tolerations }, { tolerations: [] }, [kept]],
    [{ tolerations }, { tolerations: [{ ...tolerations[0], effect: 'NoExecute' }] }, [kept]],
    [
      { terminationGracePeriodSeconds: 30 },
      { terminationGracePeriodSeconds: 60 },
      [/^spec: Forbidden: pod updates may not/],
    ],
    [{ terminationGracePeriodSeconds: -1 }, { terminationGracePeriodSeconds: 1 }, []],
    [{ schedulingGates: gates }, { schedulingGates: gates.slice(1) }, []],
    [
      { schedulingGates: gates },
      { schedulingGates: [...gates, { name: 'c' }] },
      ["spec.schedulingGates[2].name: Forbidden: only deletion is allowed, but found new scheduling gate 'c'"],
    ],
  ])('from %j to %j', (before, after, expected) => {
    const { violations } = write(pods, { spec: { ...spec, ...after } }, { spec: { ...spec, ...before } });
    expect(violations).toEqual(expected.map((one) => (typeof one === 'string' ? one : expect.stringMatching(one))));
  });

  const mirror = (annotation?: string, more: object = {}): object => ({
    metadata: {
      name: 'x',
      ...(annotation === undefined ? {} : { annotations: { 'kubernetes.io/config.mirror': annotation } }),
    },
    spec: { ...spec, ...more },
  });
  const path = 'metadata.annotations[kubernetes.io/config.mirror]';
  test.each<[string, object | undefined, object, readonly string[]]>([
    ['creates a mirror pod', undefined, mirror('a'), []],
    [
      'creates a mirror pod without a node',
      undefined,
      mirror('a', { nodeName: '' }),
      [`${path}: Invalid value: "a": must set spec.nodeName if mirror pod annotation is set`],
    ],
    ['keeps a mirror annotation', mirror('a'), mirror('a'), []],
    [
      'removes a mirror annotation',
      mirror('a'),
      mirror(),
      [`${path}: Forbidden: may not remove or update mirror pod annotation`],
    ],
    [
      'changes a mirror annotation',
      mirror('a'),
      mirror('b'),
      [`${path}: Forbidden: may not remove or update mirror pod annotation`],
    ],
    ['adds a mirror annotation', mirror(), mirror('a'), [`${path}: Forbidden: may not add mirror pod annotation`]],
  ])('%s', (_what, before, after, expected) => {
    expect(write(pods, after, before).violations).toEqual(expected);
    if (before !== undefined) expect(writeView(pods, 'status', after, before).violations).toEqual(expected);
  });

  test.each<[string, object]>([
    ['the account', { serviceAccountName: 'other' }],
    ['the node', { nodeName: 'other' }],
    ['Secrets named by volumes', { volumes: [{ name: 'v', secret: { secretName: 'prize' } }] }],
    [
      'Secrets named by variables',
      { containers: [{ name: 'c', image: 'a', envFrom: [{ secretRef: { name: 'prize' } }] }] },
    ],
    ['ephemeral containers', { ephemeralContainers: [{ name: 'e', image: 'a' }] }],
  ])('may not change %s', (_what, more) => {
    expect(write(pods, { spec: { ...spec, ...more } }, { spec }).violations).toEqual([
      'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
    ]);
  });
});

test.each<[string, object, string]>([
  ['spec.host', { spec }, 'n'],
  ['spec.restartPolicy', { spec: { restartPolicy: 'Never' } }, 'Never'],
  ['spec.schedulerName', { spec: { schedulerName: 's' } }, 's'],
  ['spec.hostNetwork', { spec: { hostNetwork: true } }, 'true'],
  ['status.phase', { status: { phase: 'Failed' } }, 'Failed'],
  ['status.podIP', { status: {} }, ''],
])('pods can be selected by %s', (field, body, value) => {
  expect(pods.selectableFields?.[field]?.({ apiVersion: 'v1', kind: 'Pod', metadata: {}, ...body })).toBe(value);
});
