import { beforeEach, describe, expect, test } from 'vitest';
import { defaultDomains } from '../../../src/api/domains.js';
import { Nodes } from '../../../src/api/kinds/node.js';
import { Pods } from '../../../src/api/kinds/pod.js';
import { Secrets } from '../../../src/api/kinds/secret.js';
import { ServiceAccounts } from '../../../src/api/kinds/service-account.js';
import type { ApiObject, Unstructured } from '../../../src/api/object.js';
import { generateServiceAccountKey, readSigningKey } from '../../../src/auth/service-account-keys.js';
import { tokenIssuer } from '../../../src/auth/token-issuer.js';
import type { RequestContext } from '../../../src/registry/resource-definition.js';
import { serviceAccountToken, type TokenOptions } from '../../../src/resources/serviceaccounts/token.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { FixedObjects } from '../../auth/fixed-objects.js';

const key = readSigningKey(await generateServiceAccountKey());
const clock = new FakeClock();
const apiVersion = 'authentication.k8s.io/v1';
let objects: FixedObjects;
let warnings: string[];
beforeEach(() => {
  warnings = [];
  objects = new FixedObjects()
    .put(ServiceAccounts, { metadata: { namespace: 'ns', name: 'x', uid: 'sa-uid' } })
    .put(Secrets, { metadata: { namespace: 'ns', name: 's', uid: 'secret-uid' } })
    .put(Pods, {
      metadata: { namespace: 'ns', name: 'p', uid: 'pod-uid' },
      spec: { serviceAccountName: 'x', nodeName: 'n' },
    })
    .put(Pods, { metadata: { namespace: 'ns', name: 'other', uid: 'o' }, spec: { serviceAccountName: 'y' } })
    .put(Nodes, { metadata: { name: 'n', uid: 'node-uid' } });
});

const issuer = tokenIssuer({ issuer: 'https://i', key: () => key, domains: defaultDomains, clock });
const context = (name: string): RequestContext => ({
  user: { username: 'u', groups: [] },
  key: { namespace: 'ns', name },
  subresource: 'token',
  now: clock.now(),
  warn: (text) => warnings.push(text),
});
const request = async (
  spec: unknown,
  {
    name = 'x',
    metadata = {},
    between,
    ...options
  }: Partial<TokenOptions> & {
    readonly name?: string;
    readonly metadata?: ApiObject['metadata'];
    /** Called while webhooks are called. */
    readonly between?: () => unknown;
  } = {},
) => {
  const action = serviceAccountToken({
    objects,
    issuer,
    apiAudiences: ['api'],
    ...options,
  });
  const at = { namespace: 'ns', name };
  const asked: Unstructured = { apiVersion, kind: 'TokenRequest', metadata, spec };
  const prepared = await action.prepare(at, asked, context(name));
  between?.();
  const answer = await action.answer(at, prepared, context(name));
  return answer as ApiObject & {
    readonly spec: Record<string, unknown>;
    readonly status: { token: string; expirationTimestamp: string };
  };
};
const claimsOf = ({ status }: { status: { token: string } }) =>
  JSON.parse(Buffer.from(status.token.split('.')[1] ?? '', 'base64url').toString());

describe('the answer', () => {
  test.each([
    [undefined],
    [{}],
    [{ audiences: null, expirationSeconds: null, boundObjectRef: null }],
    [{ audiences: [] }],
  ])('fills in %j', async (spec) => {
    const answer = await request(spec);
    expect(answer).toMatchObject({
      metadata: { name: 'x', namespace: 'ns', uid: 'sa-uid', creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { audiences: ['api'], expirationSeconds: 3_600, boundObjectRef: null },
      status: { expirationTimestamp: '2026-01-01T01:00:00Z' },
    });
    expect(claimsOf(answer)).toMatchObject({ aud: ['api'], sub: 'system:serviceaccount:ns:x' });
  });

  test('keeps audiences as sent, and other metadata', async () => {
    const answer = await request({ audiences: ['z', 'a', 'z', ''] }, { metadata: { labels: { a: 'b' } } });
    expect(answer.spec['audiences']).toEqual(['z', 'a', 'z', '']);
    expect(answer.metadata.labels).toEqual({ a: 'b' });
  });
});

test('webhooks are not shown a status that was sent', async () => {
  const action = serviceAccountToken({ objects, issuer, apiAudiences: ['api'] });
  const asked: Unstructured = { apiVersion, kind: 'TokenRequest', metadata: {}, spec: {}, status: { token: 'mine' } };
  expect(await action.prepare({ namespace: 'ns', name: 'x' }, asked, context('x'))).not.toHaveProperty('status');
});

describe('checks are made in this order', () => {
  const invalid = (name: string, cause: string) => `TokenRequest.authentication.k8s.io "${name}" is invalid: ${cause}`;
  const wrongName = 'metadata.name: Invalid value: "y": must match the service account name if specified';

  test.each<[string, unknown, Parameters<typeof request>[1], object]>([
    [
      'name in the body before the account',
      { expirationSeconds: 1 },
      { name: 'absent', metadata: { name: 'y' } },
      { code: 422, message: invalid('absent', wrongName) },
    ],
    [
      'the name before the uid',
      {},
      { metadata: { name: 'y', uid: 'other' } },
      { code: 422, message: invalid('x', wrongName) },
    ],
    [
      'a namespace that a webhook set is refused',
      {},
      { metadata: { namespace: 'other' } },
      {
        code: 422,
        message: expect.stringContaining(
          'metadata.namespace: Invalid value: "other": must match the service account namespace if specified',
        ),
      },
    ],
    [
      'the account before the spec',
      { expirationSeconds: 1 },
      { name: 'absent' },
      { code: 404, message: 'serviceaccounts "absent" not found' },
    ],
    [
      'the uid before the spec',
      { expirationSeconds: 1 },
      { metadata: { uid: 'other' } },
      {
        code: 409,
        message:
          'Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "x": the UID in the token request (other) does not match the UID of the service account (sa-uid)',
        details: { name: 'x', group: 'authentication.k8s.io', kind: 'TokenRequest' },
      },
    ],
    [
      'the spec before the bound object',
      { expirationSeconds: 1, boundObjectRef: { kind: 'Secret', name: 'none' } },
      {},
      { code: 422 },
    ],
  ])('%s', async (_name, spec, more, error) => {
    await expect(request(spec, more)).rejects.toMatchObject(error);
  });

  test('a matching name and uid are accepted', async () => {
    expect(await request({}, { metadata: { name: 'x', namespace: 'ns', uid: 'sa-uid' } })).toBeDefined();
  });
});

describe('lifetime', () => {
  test.each<[number | bigint, string | undefined]>([
    [600, undefined],
    [4_294_967_296, undefined],
    [599, 'Invalid value: 599: may not specify a duration less than 10 minutes'],
    [0, 'Invalid value: 0: may not specify a duration less than 10 minutes'],
    [-1, 'Invalid value: -1: may not specify a duration less than 10 minutes'],
    [4_294_967_297, 'Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds'],
    [
      9_223_372_036_854_775_807n,
      'Invalid value: 9223372036854775807: may not specify a duration larger than 2^32 seconds',
    ],
  ])('of %s seconds', async (expirationSeconds, body) => {
    const answer = request({ expirationSeconds });
    if (body === undefined) expect((await answer).spec['expirationSeconds']).toBe(expirationSeconds);
    else {
      await expect(answer).rejects.toMatchObject({
        message: `TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: ${body}`,
        details: {
          group: 'authentication.k8s.io',
          kind: 'TokenRequest',
          causes: [{ field: 'spec.expirationSeconds' }],
        },
      });
    }
  });

  test('is shortened to the maximum, with a warning', async () => {
    const answer = await request({ expirationSeconds: 7_200 }, { maxSeconds: 3_600 });
    expect(answer.spec['expirationSeconds']).toBe(3_600);
    expect(answer.status.expirationTimestamp).toBe('2026-01-01T01:00:00Z');
    expect(warnings).toEqual(['requested expiration of 7200 seconds shortened to 3600 seconds']);
  });

  const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'p' };
  test.each<[string, object, Partial<TokenOptions>, boolean]>([
    ['is extended for a pod that asks for the default hour', { boundObjectRef, expirationSeconds: 3_607 }, {}, true],
    ['is not extended for another lifetime', { boundObjectRef, expirationSeconds: 3_600 }, {}, false],
    ['is not extended without a pod', { expirationSeconds: 3_607 }, {}, false],
    [
      'is not extended for another audience',
      { boundObjectRef, expirationSeconds: 3_607, audiences: ['api', 'v'] },
      {},
      false,
    ],
    ['is not extended if switched off', { boundObjectRef, expirationSeconds: 3_607 }, { extend: false }, false],
  ])('%s', async (_name, spec, options, extended) => {
    const answer = await request(spec, options);
    const { exp, iat, 'kubernetes.io': own } = claimsOf(answer);
    const { expirationSeconds } = spec as { expirationSeconds: number };
    expect(exp - iat).toBe(extended ? 31_536_000 : expirationSeconds);
    expect(own.warnafter).toBe(extended ? iat + 3_607 : undefined);
    expect(answer.spec['expirationSeconds']).toBe(expirationSeconds);
    expect(Date.parse(answer.status.expirationTimestamp)).toBe((iat + expirationSeconds) * 1_000);
  });
});

describe('bound objects', () => {
  test.each<[object, object]>([
    [{ kind: 'Secret', apiVersion: 'v1', name: 's' }, { secret: { name: 's', uid: 'secret-uid' } }],
    [
      { kind: 'Secret', apiVersion: 'a/b/c', name: 's', uid: 'secret-uid' },
      { secret: { name: 's', uid: 'secret-uid' } },
    ],
    [{ kind: 'Node', apiVersion: 'v7', name: 'n' }, { node: { name: 'n', uid: 'node-uid' } }],
    [
      { kind: 'Pod', name: 'p' },
      { pod: { name: 'p', uid: 'pod-uid' }, node: { name: 'n', uid: 'node-uid' } },
    ],
  ])('%j is in the token', async (boundObjectRef, claims) => {
    const answer = await request({ boundObjectRef });
    expect(answer.spec['boundObjectRef']).toEqual(boundObjectRef);
    expect(claimsOf(answer)['kubernetes.io']).toEqual({
      namespace: 'ns',
      serviceaccount: { name: 'x', uid: 'sa-uid' },
      ...claims,
    });
  });

  test('include the name of a deleted node', async () => {
    objects.remove(Nodes, { name: 'n' });
    const answer = await request({ boundObjectRef: { kind: 'Pod', name: 'p' } });
    expect(claimsOf(answer)['kubernetes.io'].node).toEqual({ name: 'n' });
  });

  test.each<[object, number, string]>([
    [
      { kind: 'ConfigMap', apiVersion: 'v1', name: 'c' },
      400,
      'cannot bind token to object of type /v1, Kind=ConfigMap',
    ],
    [
      { kind: 'Deployment', apiVersion: 'apps/v1' },
      400,
      'cannot bind token to object of type apps/v1, Kind=Deployment',
    ],
    [
      { kind: 'Secret', apiVersion: 'example.com/v1' },
      400,
      'cannot bind token to object of type example.com/v1, Kind=Secret',
    ],
    [{ kind: 'secret', apiVersion: 'v1' }, 400, 'cannot bind token to object of type /v1, Kind=secret'],
    [{ name: 's' }, 400, 'cannot bind token to object of type /, Kind='],
    [{}, 400, 'cannot bind token to object of type /, Kind='],
    [{ kind: 'Secret', apiVersion: 'v1' }, 400, 'Name parameter required.'],
    [{ kind: 'Secret', apiVersion: 'v1', name: '../s' }, 400, 'Name parameter invalid: "../s": may not contain \'/\''],
    [{ kind: 'Secret', apiVersion: 'v1', name: 'none' }, 404, 'secrets "none" not found'],
    [{ kind: 'Pod', apiVersion: 'v1', name: 'none' }, 404, 'pods "none" not found'],
    [{ kind: 'Node', apiVersion: 'v1', name: 'none' }, 404, 'nodes "none" not found'],
    [
      { kind: 'Pod', apiVersion: 'v1', name: 'other' },
      400,
      'cannot bind token for serviceaccount "x" to pod running with different serviceaccount name.',
    ],
    [
      { kind: 'Secret', apiVersion: 'v1', name: 's', uid: 'u' },
      409,
      'Operation cannot be fulfilled on Secret "s": the UID in the bound object reference (u) does not match the UID in record. The object might have been deleted and then recreated',
    ],
  ])('%j is refused with %i', async (boundObjectRef, code, message) => {
    await expect(request({ boundObjectRef })).rejects.toMatchObject({ code, message });
  });
});

test('an account recreated during admission gets no token', async () => {
  const between = () => objects.put(ServiceAccounts, { metadata: { namespace: 'ns', name: 'x', uid: 'new' } });
  await expect(request({}, { between })).rejects.toMatchObject({ code: 409 });
});
