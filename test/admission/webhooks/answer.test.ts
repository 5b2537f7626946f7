import { describe, expect, test } from 'vitest';
import { denial, InvalidResponse, readVerdict } from '../../../src/admission/webhooks/answer.js';
import type { WebhookResponse } from '../../../src/admission/webhooks/exchange.js';
import { readReply } from '../../../src/admission/webhooks/reply.js';
import { CallFailed } from '../../../src/admission/webhooks/webhook-client.js';
import { parseJson } from '../../../src/api/json-text.js';
import type { JsonObject } from '../../../src/api/object.js';

const question = { uid: 'u', group: 'admission.k8s.io', version: 'v1', mutating: true };
const review = (response: unknown, more: object = {}): JsonObject =>
  ({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response, ...more }) as unknown as JsonObject;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const patch = base64('[{"op":"remove","path":"/a"}]');

describe('an invalid answer', () => {
  test.each<[string, JsonObject, Partial<typeof question>, string]>([
    ['without a response', review(undefined), {}, 'webhook response was absent'],
    ['with a null response', review(null), {}, 'webhook response was absent'],
    ['with another uid', review({ uid: 'x', allowed: true }), {}, 'expected response.uid="u", got "x"'],
    ['without a uid', review({ allowed: true }), {}, 'expected response.uid="u", got ""'],
    [
      'without a kind',
      review({ uid: 'u' }, { apiVersion: undefined, kind: undefined }),
      {},
      'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=',
    ],
    [
      'with a patch but no type',
      review({ uid: 'u', patch }),
      {},
      'webhook returned response.patch but not response.patchType',
    ],
    [
      'with a type but no patch',
      review({ uid: 'u', patchType: 'JSONPatch' }),
      {},
      'webhook returned response.patchType but not response.patch',
    ],
    [
      'with an empty patch type',
      review({ uid: 'u', patch, patchType: '' }),
      {},
      'webhook returned invalid response.patchType of ""',
    ],
    [
      'with a patch from a validating webhook',
      review({ uid: 'u', patch, patchType: 'JSONPatch' }),
      { mutating: false },
      'validating webhook may not return response.patch',
    ],
    [
      'with a patch type from a validating webhook',
      review({ uid: 'u', patchType: 'JSONPatch' }),
      { mutating: false },
      'validating webhook may not return response.patchType',
    ],
  ])('%s is refused', (_, given, asked, why) => {
    expect(() => readVerdict(given, { ...question, ...asked })).toThrow(InvalidResponse);
    expect(() => readVerdict(given, { ...question, ...asked })).toThrow(why);
  });

  test.each<[string, JsonObject, string]>([
    [
      'response',
      review('x'),
      'json: cannot unmarshal string into Go struct field AdmissionReview.response of type v1.AdmissionResponse',
    ],
    [
      'request',
      { ...review({ allowed: true }), request: 'x' },
      'json: cannot unmarshal string into Go struct field AdmissionReview.request of type v1.AdmissionRequest',
    ],
    [
      'allowed',
      review({ allowed: 'yes' }),
      'json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool',
    ],
    [
      'uid',
      review({ uid: 5 }),
      'json: cannot unmarshal number into Go struct field AdmissionResponse.response.uid of type types.UID',
    ],
    [
      'code',
      review({ status: { code: 1.5 } }),
      'json: cannot unmarshal number 1.5 into Go struct field Status.response.status.code of type int32',
    ],
    ['reason', review({ status: { reason: 5 } }), 'field Status.response.status.reason of type v1.StatusReason'],
    ['patch type', review({ patchType: 5 }), 'field AdmissionResponse.response.patchType of type v1.PatchType'],
    ['code beyond int32', review({ status: { code: 2 ** 31 } }), 'of type int32'],
    [
      'warnings',
      review({ warnings: [1] }),
      'json: cannot unmarshal number into Go struct field AdmissionResponse.response.warnings of type string',
    ],
    [
      'annotations',
      review({ auditAnnotations: { a: [] } }),
      'json: cannot unmarshal array into Go struct field AdmissionResponse.response.auditAnnotations of type string',
    ],
    ['causes', review({ status: { details: { causes: [3] } } }), 'of type v1.StatusCause'],
    ['patch that is not base64', review({ patch: '***' }), 'illegal base64 data at input byte 0'],
    [
      'patch as a number',
      review({ patch: 5 }),
      'json: cannot unmarshal number into Go struct field AdmissionResponse.response.patch of type []uint8',
    ],
    [
      'patch as a list with a number beyond a byte',
      review({ patch: [91, 256] }),
      'json: cannot unmarshal number 256 into Go struct field AdmissionResponse.response.patch of type uint8',
    ],
    ...[
      [{ uid: 5 }, 'number', 'AdmissionRequest.request.uid of type types.UID'],
      [{ kind: 5 }, 'number', 'AdmissionRequest.request.kind of type v1.GroupVersionKind'],
      [{ requestKind: { kind: true } }, 'bool', 'GroupVersionKind.request.requestKind.kind of type string'],
      [{ resource: 'x' }, 'string', 'AdmissionRequest.request.resource of type v1.GroupVersionResource'],
      [{ resource: { resource: 1 } }, 'number', 'GroupVersionResource.request.resource.resource of type string'],
      [{ operation: 5 }, 'number', 'AdmissionRequest.request.operation of type v1.Operation'],
      [{ subResource: [] }, 'array', 'AdmissionRequest.request.subResource of type string'],
      [{ dryRun: 'x' }, 'string', 'AdmissionRequest.request.dryRun of type bool'],
      [{ userInfo: 5 }, 'number', 'AdmissionRequest.request.userInfo of type v1.UserInfo'],
      [{ userInfo: { uid: 5 } }, 'number', 'UserInfo.request.userInfo.uid of type string'],
      [{ userInfo: { groups: 'x' } }, 'string', 'UserInfo.request.userInfo.groups of type []string'],
      [{ userInfo: { extra: [] } }, 'array', 'UserInfo.request.userInfo.extra of type map[string]v1.ExtraValue'],
      [{ userInfo: { extra: { a: 5 } } }, 'number', 'UserInfo.request.userInfo.extra of type v1.ExtraValue'],
      [{ userInfo: { extra: { a: [5] } } }, 'number', 'UserInfo.request.userInfo.extra of type string'],
    ].map(([request, given, where]): [string, JsonObject, string] => [
      'request',
      { ...review({ uid: 'u', allowed: true }), request } as JsonObject,
      `json: cannot unmarshal ${given} into Go struct field ${where}`,
    ]),
    ...[
      [{ kind: 1 }, 'number', 'Status.response.status.TypeMeta.kind of type string'],
      [{ status: 1 }, 'number', 'Status.response.status.status of type string'],
      [{ metadata: 7 }, 'number', 'Status.response.status.metadata of type v1.ListMeta'],
      [
        { metadata: { resourceVersion: 7 } },
        'number',
        'ListMeta.response.status.metadata.resourceVersion of type string',
      ],
      [
        { metadata: { remainingItemCount: 1.5 } },
        'number 1.5',
        'ListMeta.response.status.metadata.remainingItemCount of type int64',
      ],
      [{ metadata: { shardInfo: 1 } }, 'number', 'ListMeta.response.status.metadata.shardInfo of type v1.ShardInfo'],
      [
        { metadata: { shardInfo: { selector: 1 } } },
        'number',
        'ShardInfo.response.status.metadata.shardInfo.selector of type string',
      ],
    ].map(([status, given, where]): [string, JsonObject, string] => [
      'status',
      review({ uid: 'u', status }),
      `json: cannot unmarshal ${given} into Go struct field ${where}`,
    ]),
  ])('a member of the wrong type is refused: %s', (_, given, why) => {
    expect(() => readVerdict(given, question)).toThrow(CallFailed);
    expect(() => readVerdict(given, question)).toThrow(why);
  });
});

describe('a verdict', () => {
  test('contains everything that the webhook answered', () => {
    const given = review({
      uid: 'u',
      allowed: true,
      patch,
      patchType: 'JSONPatch',
      warnings: ['w', null],
      auditAnnotations: { k: 'v', n: null },
    });
    expect(readVerdict(given, question)).toEqual({
      allowed: true,
      status: undefined,
      patch: Buffer.from(patch, 'base64'),
      warnings: ['w', ''],
      auditAnnotations: new Map([
        ['k', 'v'],
        ['n', ''],
      ]),
    });
  });

  test('may include the request with arbitrary objects, and metadata in its status', () => {
    const request = {
      uid: 'u',
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      requestKind: null,
      name: 'n',
      operation: 'CREATE',
      userInfo: { username: 'x', groups: ['g', null], extra: { a: ['b'], c: null } },
      object: 5,
      oldObject: [],
      options: 'x',
      dryRun: false,
      more: 1,
    };
    const status = { metadata: { resourceVersion: '5', remainingItemCount: 2 ** 40, shardInfo: {} }, message: 'no' };
    const given = review({ uid: 'u', allowed: false, status }, { request });
    expect(readVerdict(given, question)).toMatchObject({ allowed: false, status: { message: 'no' } });
  });

  test('may encode its patch as a list of bytes, as some languages do', () => {
    const given = review({ uid: 'u', allowed: true, patch: [...Buffer.from(patch, 'base64')], patchType: 'JSONPatch' });
    expect(readVerdict(given, question).patch).toEqual(Buffer.from(patch, 'base64'));
  });

  test('in v1beta1 is not validated, and a patch from a validating webhook is ignored', () => {
    const beta = { ...question, version: 'v1beta1' };
    expect(readVerdict(review({ allowed: true, patch }), beta).patch.length).toBeGreaterThan(0);
    expect(readVerdict(review({ allowed: true, patch }), { ...beta, mutating: false }).patch.length).toBe(0);
    expect(() => readVerdict(review(undefined), beta)).toThrow('webhook response was absent');
  });

  test('is not affected by members named like prototypes', () => {
    const text =
      '{"__proto__":{"uid":"u"},"response":{"uid":"u","allowed":false,"__proto__":{"allowed":true},"auditAnnotations":{"__proto__":"x"}},"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}';
    const verdict = readVerdict(parseJson(text) as JsonObject, question);
    expect(verdict.allowed).toBe(false);
    expect([...verdict.auditAnnotations]).toEqual([['__proto__', 'x']]);
    expect(Object.hasOwn(Object.prototype, 'allowed')).toBe(false);
  });
});

describe('a denial', () => {
  const status = { message: '', reason: '', code: 0, details: undefined };
  test.each([
    [
      'without a status has a default message and code 400',
      undefined,
      400,
      'admission webhook "h" denied the request without explanation',
      undefined,
    ],
    [
      'with a message reports it',
      { ...status, message: 'no' },
      400,
      'admission webhook "h" denied the request: no',
      undefined,
    ],
    [
      'with a reason uses it as message and reason',
      { ...status, reason: 'Because' },
      400,
      'admission webhook "h" denied the request: Because',
      'Because',
    ],
    [
      'with a message, a reason and a code keeps all three',
      { ...status, message: 'no', reason: 'Because', code: 403 },
      403,
      'admission webhook "h" denied the request: no',
      'Because',
    ],
    [
      'with a code below 400 is answered with 400',
      { ...status, code: 399 },
      400,
      'admission webhook "h" denied the request without explanation',
      undefined,
    ],
    [
      'with a negative code is answered with 400',
      { ...status, code: -5 },
      400,
      'admission webhook "h" denied the request without explanation',
      undefined,
    ],
    [
      'with an error code of its own keeps it',
      { ...status, code: 599 },
      599,
      'admission webhook "h" denied the request without explanation',
      undefined,
    ],
    [
      'with a code that HTTP does not have is answered with 500',
      { ...status, code: 1_000 },
      500,
      'admission webhook "h" denied the request without explanation',
      undefined,
    ],
  ])('%s', (_, given, code, message, reason) => {
    const error = denial('h', given);
    expect([error.code, error.message, error.reason]).toEqual([code, message, reason]);
  });

  test('keeps its details, without empty members', () => {
    const details = { name: 'n', kind: '', causes: [{ field: 'f', message: 'm' }], retryAfterSeconds: 7 };
    const given = review({ uid: 'u', allowed: false, status: { status: 'Success', details } });
    expect(denial('h', readVerdict(given, question).status).toStatus()).toMatchObject({
      status: 'Failure',
      details: { name: 'n', causes: [{ field: 'f', message: 'm' }], retryAfterSeconds: 7 },
    });
  });
});

test.each([
  ['"code": 200.0', 'number 200.0 into Go struct field Status.response.status.code of type int32'],
  ['"code": 1e2', 'number 1e2 into Go struct field Status.response.status.code of type int32'],
  ['"code": -2147483648', undefined],
  ['"code": 2147483648', 'number 2147483648 into'],
  ['"metadata": {"remainingItemCount": 9223372036854775807}', undefined],
  ['"metadata": {"remainingItemCount": 9223372036854775808}', 'number 9223372036854775808 into'],
  ['"metadata": {"remainingItemCount": 1E400}', 'number 1E400 into'],
  ['"metadata": 7.0', 'number into Go struct field Status.response.status.metadata of type v1.ListMeta'],
  ['"details": {"causes": [{"reason": 1}]}', 'causes.reason of type v1.CauseType'],
  ['"details": {"causes": [7.0]}', 'number into Go struct field StatusDetails.response.status.details.causes of type'],
])('numbers in an answer are judged as they are written: %s', async (member, why) => {
  const text = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u","allowed":true,"status":{${member}}}}`;
  const reply = { status: 200, contentType: 'application/json', body: Buffer.from(text) } as WebhookResponse;
  const review = { group: 'admission.k8s.io', version: 'v1' };
  const expected = { ...review, kind: 'AdmissionReview', maxValues: 1_000, exact: true };
  const read = readReply(reply, expected).then((answer) =>
    readVerdict(answer, { uid: 'u', ...review, mutating: false }),
  );
  await (why === undefined
    ? expect(read).resolves.toMatchObject({ allowed: true })
    : expect(read).rejects.toThrow(why));
});
