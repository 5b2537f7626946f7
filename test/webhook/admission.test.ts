import { expect, test } from 'vitest';
import { ApiError } from '../../src/api/errors.js';
import { type ConfigMap, ConfigMaps } from '../../src/api/kinds/config-map.js';
import { type JsonObject, type Resource, resourceType } from '../../src/api/object.js';
import { type AdmissionVerdict, mutatingWebhook, validatingWebhook } from '../../src/webhook/admission.js';
import { UnreadableReview } from '../../src/webhook/webhook.js';
import { configMap, request, reviewContext } from './review.js';

/** Returns the operations of the JSON Patch in a response. */
const patchOf = (response: object): unknown => {
  const { patch } = response as { readonly patch?: string };
  return patch === undefined ? undefined : JSON.parse(Buffer.from(patch, 'base64').toString());
};

test.each<[string, AdmissionVerdict, object]>([
  ['nothing returned allows', undefined, { allowed: true }],
  ['null counts as nothing returned', null as never, { allowed: true }],
  ['an empty list joined to a string counts as nothing returned', [].join(', '), { allowed: true }],
  [
    'a string denies with 403, as Kubernetes does by default',
    'no',
    { allowed: false, status: { code: 403, reason: 'Forbidden', message: 'no' } },
  ],
  [
    'an error denies with its code, reason and causes',
    new ApiError({ reason: 'Invalid', message: 'no', details: { causes: [{ field: 'data.a', message: 'bad' }] } }),
    {
      allowed: false,
      status: {
        code: 422,
        reason: 'Invalid',
        message: 'no',
        details: { causes: [{ field: 'data.a', message: 'bad' }] },
      },
    },
  ],
])('%s', async (_, verdict, expected) => {
  const context = reviewContext();
  expect(await validatingWebhook({ validate: () => verdict }).respond(request(), context)).toMatchObject(expected);
  expect(await mutatingWebhook({ mutate: () => verdict }).respond(request(), context)).toMatchObject(expected);
});

test('a denied request is logged with its user and the reason', async () => {
  const context = reviewContext();
  await validatingWebhook({ validate: () => 'no' }).respond(request({ name: 'a', namespace: 'n' }), context);
  const fields = { kind: 'ConfigMap', namespace: 'n', name: 'a', operation: 'CREATE', user: 'dora', why: 'no' };
  expect(context.lines).toEqual([{ level: 'info', message: 'denied', fields }]);
});

test('the patch is the difference to the returned object', async () => {
  const webhook = mutatingWebhook({
    mutate: ({ object }) => object && { ...object, data: { a: '1', b: '2' }, immutable: undefined },
  });
  const response = await webhook.respond(request(), reviewContext());
  expect(response).toMatchObject({ allowed: true, patchType: 'JSONPatch' });
  expect(patchOf(response)).toEqual([{ op: 'add', path: '/data/b', value: '2' }]);
});

test('an object that is returned unchanged yields no patch', async () => {
  const webhook = mutatingWebhook({ mutate: ({ object }) => object });
  expect(await webhook.respond(request(), reviewContext())).toEqual({ allowed: true });
});

test('an object that is changed in place and returned yields a patch', async () => {
  const webhook = mutatingWebhook<ConfigMap>({
    mutate({ object }) {
      Object.assign(object?.data ?? {}, { b: '2' });
      return object;
    },
  });
  const response = await webhook.respond(request(), reviewContext());
  expect(patchOf(response)).toEqual([{ op: 'add', path: '/data/b', value: '2' }]);
});

test('an object that is being deleted cannot be changed', async () => {
  const deletion = request({ operation: 'DELETE', object: null, oldObject: configMap({}) });
  const webhook = mutatingWebhook({ mutate: ({ oldObject }) => oldObject });
  await expect(webhook.respond(deletion, reviewContext())).rejects.toThrow(
    'an object that is being deleted cannot be changed',
  );
  const lookingOn = mutatingWebhook({ mutate: () => {} });
  expect(await lookingOn.respond(deletion, reviewContext())).toEqual({ allowed: true });
});

test('warnings and audit annotations are part of the response', async () => {
  const webhook = validatingWebhook({
    validate(_, { warn, auditAnnotation }) {
      warn('one');
      warn('two');
      auditAnnotation('rule', '7');
      return 'no';
    },
  });
  expect(await webhook.respond(request(), reviewContext())).toMatchObject({
    allowed: false,
    warnings: ['one', 'two'],
    auditAnnotations: { rule: '7' },
  });
});

test('the request that the handler gets has every member of its type', async () => {
  const seen: object[] = [];
  const webhook = validatingWebhook({ validate: (given) => void seen.push(given) });
  const { dryRun: _, options: __, ...rest } = request({ userInfo: {} }) as { readonly [name: string]: never };
  await webhook.respond(rest, reviewContext());
  expect(seen).toEqual([{ ...rest, oldObject: undefined, dryRun: false, userInfo: { username: '', groups: [] } }]);
});

test('an error that the handler throws is a failure, not a denial', async () => {
  const error = new ApiError({ reason: 'Forbidden', message: 'secrets is forbidden' });
  const validate = () => Promise.reject(error);
  await expect(validatingWebhook({ validate }).respond(request(), reviewContext())).rejects.toBe(error);
});

test.each<[string, JsonObject, string]>([
  [
    'another kind',
    { kind: { group: '', version: 'v1', kind: 'Secret' } },
    'this webhook is for v1 ConfigMap, not v1 Secret',
  ],
  [
    'another version',
    { kind: { group: 'x.example.com', version: 'v2', kind: 'ConfigMap' } },
    'this webhook is for v1 ConfigMap, not x.example.com/v2 ConfigMap',
  ],
  ['an unknown operation', { operation: 'READ' }, 'request.operation is unknown'],
  ['no kind', { kind: null }, 'request.kind is missing'],
  ['no resource', { resource: 'configmaps' }, 'request.resource is missing'],
  ['no user', { userInfo: null }, 'request.userInfo is missing'],
  ['no object', { object: null }, 'request.object is missing'],
  ['no old object', { operation: 'UPDATE' }, 'request.oldObject is missing'],
])('a review with %s is refused', async (_, members, message) => {
  const webhook = validatingWebhook({ for: ConfigMaps, validate: () => {} });
  const refused = webhook.respond(request(members), reviewContext());
  await expect(refused).rejects.toThrow(UnreadableReview);
  await expect(refused).rejects.toThrow(message);
});

test('the object that a handler returns may be written with the literals of its type', () => {
  type Site = Resource<{ readonly plan?: 'free' | 'paid' }>;
  const sites = resourceType<Site>({ group: 'a.b', version: 'v1', plural: 'sites', kind: 'Site', namespaced: true });
  const webhook = mutatingWebhook({
    for: sites,
    mutate: ({ object }) => (object === undefined ? 'no' : { ...object, spec: { ...object.spec, plan: 'free' } }),
  });
  expect(webhook).toBeDefined();
  mutatingWebhook({
    for: sites,
    // @ts-expect-error: this plan does not exist
    mutate: ({ object }) => (object === undefined ? 'no' : { ...object, spec: { ...object.spec, plan: 'dear' } }),
  });
});
