import { beforeEach, describe, expect, test } from 'vitest';
import type { WriteAttributes } from '../../../src/admission/admission-step.js';
import { AdmissionChain } from '../../../src/admission/chain.js';
import { podServiceAccount } from '../../../src/admission/steps/pod-service-account.js';
import { defaultDomains } from '../../../src/api/domains.js';
import { type Container, type Pod, type PodSpec, Pods } from '../../../src/api/kinds/pod.js';
import { type ServiceAccount, ServiceAccounts } from '../../../src/api/kinds/service-account.js';
import type { ApiObject, ObjectMeta, ResourceType } from '../../../src/api/object.js';
import { FakeClock, settled } from '../../../src/testing/fake-clock.js';
import { FixedObjects } from '../../auth/fixed-objects.js';

let objects: FixedObjects;
let clock: FakeClock;
const account = (more: Partial<ServiceAccount> & { readonly metadata?: ObjectMeta } = {}): void => {
  const { metadata, ...rest } = more;
  objects.put(ServiceAccounts, { metadata: { namespace: 'ns', name: 'sa', ...metadata }, ...rest });
};
beforeEach(() => {
  clock = new FakeClock();
  objects = new FixedObjects().put(ServiceAccounts, { metadata: { namespace: 'ns', name: 'default' } });
  account();
});

/** `changed` is what webhooks make of the pod. */
async function admit(
  spec: PodSpec,
  metadata: ObjectMeta = {},
  domains = defaultDomains,
  changed: PodSpec = {},
): Promise<PodSpec> {
  const step = podServiceAccount({ objects, clock, domains });
  const object: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', ...metadata }, spec };
  const attributes: WriteAttributes = {
    operation: 'CREATE',
    resource: Pods as object as ResourceType<ApiObject>,
    subresource: undefined,
    key: { namespace: 'ns', name: 'p' },
    object,
    previous: undefined,
    user: { username: 'alice', groups: [] },
    dryRun: false,
    warn: () => {},
  };
  expect(step.handles(attributes)).toBe(true);
  const admitted = (await new AdmissionChain([step]).mutate(attributes)) as Pod;
  await step.validate?.({ ...attributes, object: { ...admitted, spec: { ...admitted.spec, ...changed } } as Pod });
  return admitted.spec ?? {};
}
const refusal = (text: string): string => `pods "p" is forbidden: ${text}`;
const container = (more: object = {}): Container => ({ name: 'c', ...more });

describe('the account', () => {
  test('is default for a pod that names none', async () => {
    expect((await admit({})).serviceAccountName).toBe('default');
    expect((await admit({ serviceAccountName: '' })).serviceAccountName).toBe('default');
  });

  test.each([
    ['none', 'serviceaccount "none" not found'],
    ['a/%', "invalid resource name \"a/%\": [may not contain '/' may not contain '%']"],
    ['..', 'invalid resource name "..": [may not be \'..\']'],
  ])('must exist: %s', async (name, why) => {
    await expect(admit({ serviceAccountName: name })).rejects.toThrow(
      refusal(`error looking up service account ns/${name}: ${why}`),
    );
  });

  test('may not be removed from the pod by an update', async () => {
    await expect(admit({}, {}, defaultDomains, { serviceAccountName: '' })).rejects.toThrow(
      refusal('error looking up service account ns/: resource name may not be empty'),
    );
  });

  test('is waited for if it is the default one', async () => {
    objects.remove(ServiceAccounts, { namespace: 'ns', name: 'default' });
    const admitted = admit({});
    await settled();
    expect(clock.sleeping).toBe(1);
    objects.put(ServiceAccounts, { metadata: { namespace: 'ns', name: 'default' } });
    await clock.advance(100);
    expect((await admitted).serviceAccountName).toBe('default');
  });

  test('is waited for only for a limited time', async () => {
    objects.remove(ServiceAccounts, { namespace: 'ns', name: 'default' });
    const admitted = admit({});
    admitted.catch(() => {});
    await clock.advance(1_000);
    await expect(admitted).rejects.toThrow('serviceaccount "default" not found');
  });
});

describe('the token', () => {
  test('is mounted in containers that have nothing at its path', async () => {
    const own = { mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', name: 'own' };
    const spec = await admit({
      initContainers: [container()],
      containers: [container({ volumeMounts: [{ mountPath: '/x', name: 'x' }] }), container({ volumeMounts: [own] })],
      volumes: [{ name: 'own' }],
    } as PodSpec);
    const [, volume] = spec['volumes'] as readonly { readonly name: string; readonly projected: object }[];
    expect(volume?.name).toMatch(/^kube-api-access-[a-z0-9]{5}$/);
    expect(volume?.projected).toEqual({
      defaultMode: 420,
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
        { configMap: { items: [{ key: 'ca.crt', path: 'ca.crt' }], name: 'kube-root-ca.crt' } },
        {
          downwardAPI: {
            items: [{ fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' }, path: 'namespace' }],
          },
        },
      ],
    });
    const mount = { mountPath: own.mountPath, name: volume?.name, readOnly: true };
    expect(spec['initContainers']).toEqual([container({ volumeMounts: [mount] })]);
    expect(spec.containers).toEqual([
      container({ volumeMounts: [{ mountPath: '/x', name: 'x' }, mount] }),
      container({ volumeMounts: [own] }),
    ]);
  });

  test('uses an existing volume of its name', async () => {
    const spec = await admit({ containers: [container()], volumes: [{ name: 'kube-api-access-given' }] } as PodSpec);
    expect(spec['volumes']).toEqual([{ name: 'kube-api-access-given' }]);
    expect(spec.containers).toMatchObject([{ volumeMounts: [{ name: 'kube-api-access-given' }] }]);
  });

  test.each<[string, PodSpec, boolean | undefined, boolean]>([
    ['by default', {}, undefined, true],
    ['unless the account opts out', {}, false, false],
    ['unless the pod opts out', { automountServiceAccountToken: false }, true, false],
    ['if the pod opts in, whatever the account says', { automountServiceAccountToken: true }, false, true],
  ])('is mounted %s', async (_name, given, automount, isThere) => {
    account(automount === undefined ? {} : { automountServiceAccountToken: automount });
    const spec = await admit({ serviceAccountName: 'sa', containers: [container()], ...given } as PodSpec);
    expect(spec['volumes'] !== undefined).toBe(isThere);
  });

  test('is mounted at a path of the signer domain', async () => {
    const domains = { ...defaultDomains, signer: 'example.net' };
    const spec = await admit({ containers: [container()] } as PodSpec, {}, domains);
    expect(spec.containers).toMatchObject([
      { volumeMounts: [{ mountPath: '/var/run/secrets/example.net/serviceaccount' }] },
    ]);
  });
});

test('imagePullSecrets are copied from the account if the pod has none', async () => {
  account({ imagePullSecrets: [{ name: 'a' }, {}] });
  expect((await admit({ serviceAccountName: 'sa' }))['imagePullSecrets']).toEqual([{ name: 'a' }, {}]);
  const own = [{ name: 'own' }];
  expect((await admit({ serviceAccountName: 'sa', imagePullSecrets: own }))['imagePullSecrets']).toEqual(own);
});

describe('mirror pods', () => {
  const mirror = { annotations: { 'kubernetes.io/config.mirror': 'x' } };
  test('are left unchanged', async () => {
    expect(await admit({ containers: [container()] } as PodSpec, mirror)).toEqual({ containers: [container()] });
  });

  test.each<[PodSpec, string]>([
    [{ serviceAccountName: 'sa' }, 'a mirror pod may not reference service accounts'],
    [{ volumes: [{ secret: { secretName: 's' } }] }, 'a mirror pod may not reference secrets'],
    [
      { volumes: [{ projected: { sources: [{ serviceAccountToken: {} }] } }] },
      'a mirror pod may not use ServiceAccountToken volume projections',
    ],
  ])('are refused with %j', async (spec, text) => {
    await expect(admit(spec, mirror)).rejects.toThrow(refusal(text));
  });
});

describe('an account that enforces its secrets', () => {
  const enforcing = { 'kubernetes.io/enforce-mountable-secrets': 'true' };
  beforeEach(() =>
    account({ metadata: { annotations: enforcing }, secrets: [{ name: 'ok' }], imagePullSecrets: [{ name: 'ok' }] }),
  );
  const env = (name: string) => ({ env: [{ name: 'E', valueFrom: { secretKeyRef: { name, key: 'k' } } }] });
  const tail = 'is not allowed because service account sa does not reference that';
  test.each<[PodSpec, string]>([
    [{ volumes: [{ secret: { secretName: 's' } }] }, `volume with secret.secretName="s" ${tail} secret`],
    [
      { initContainers: [container(env('s'))] },
      `init container c with envVar E referencing secret.secretName="s" ${tail} secret`,
    ],
    [
      { containers: [container(env('s'))] } as PodSpec,
      `container c with envVar E referencing secret.secretName="s" ${tail} secret`,
    ],
    [
      { ephemeralContainers: [container({ envFrom: [{ secretRef: { name: 's' } }] })] },
      `ephemeral container c with envFrom referencing secret.secretName="s" ${tail} secret`,
    ],
    [{ imagePullSecrets: [{ name: 'ok' }, { name: 's' }] }, `imagePullSecrets[1].name="s" ${tail} imagePullSecret`],
  ])('refuses a pod with %j', async (spec, text) => {
    await expect(admit({ serviceAccountName: 'sa', ...spec })).rejects.toThrow(refusal(text));
  });

  test('allows the secrets that it lists, and does not check projections', async () => {
    const volumes = [{ secret: { secretName: 'ok' } }, { projected: { sources: [{ secret: { name: 's' } }] } }];
    const envFrom = [{ secretRef: { name: 'ok' } }, { configMapRef: { name: 's' } }];
    await admit({ serviceAccountName: 'sa', volumes, containers: [container({ ...env('ok'), envFrom })] } as PodSpec);
  });

  test.each([
    ['1', true],
    ['T', true],
    ['yes', false],
    ['', false],
  ])('is recognized by the annotation value %j: %j', async (value, enforces) => {
    account({ metadata: { annotations: { 'kubernetes.io/enforce-mountable-secrets': value } } });
    const admitted = admit({ serviceAccountName: 'sa', volumes: [{ secret: { secretName: 's' } }] });
    if (enforces) await expect(admitted).rejects.toThrow(tail);
    else await admitted;
  });
});

test.each<[string, object]>([
  ['lists of the wrong type', { containers: 'x', volumes: 1, imagePullSecrets: {} }],
  ['items that are not objects', { containers: [null, 1], volumes: [null, 'x'], imagePullSecrets: [null] }],
  ['mounts of the wrong type', { containers: [container({ volumeMounts: 'x' })] }],
])('a pod with %s causes no failure', async (_name, spec) => {
  await admit(spec as PodSpec);
});
