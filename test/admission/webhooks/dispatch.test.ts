import { describe, expect, test } from 'vitest';
import type { AdmissionAttributes, AdmissionStep } from '../../../src/admission/admission-step.js';
import { AdmissionChain } from '../../../src/admission/chain.js';
import type { WebhookParts } from '../../../src/admission/webhooks/call-webhook.js';
import type { WebhookResponse } from '../../../src/admission/webhooks/exchange.js';
import { mutatingWebhooks } from '../../../src/admission/webhooks/mutating.js';
import { validatingWebhooks } from '../../../src/admission/webhooks/validating.js';
import type { ObjectInterfaces } from '../../../src/admission/webhooks/versioned-attributes.js';
import { webhookAccessors } from '../../../src/admission/webhooks/webhook-accessors.js';
import { CallFailed, type WebhookCall } from '../../../src/admission/webhooks/webhook-client.js';
import { ConfigMaps } from '../../../src/api/kinds/config-map.js';
import type { MutatingWebhook } from '../../../src/api/kinds/webhook-configuration.js';
import type { ApiObject, JsonObject } from '../../../src/api/object.js';
import { silentLogger } from '../../../src/runtime/logger.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';

type Labels = Readonly<Record<string, string>>;
const withLabels = (object: ApiObject, labels: Labels): ApiObject => ({
  ...object,
  metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } },
});

/** In these tests, a patch consists of the labels to add. */
const kinds: ObjectInterfaces = {
  equivalents: () => [],
  convert: async (object) => object,
  toJson: (object) => object as unknown as JsonObject,
  readPatch: (text) => {
    const labels = JSON.parse(text.toString()) as Labels;
    return {
      isEmpty: Object.keys(labels).length === 0,
      apply: async (object) => ({ object: withLabels(object, labels), isChanged: true }),
    };
  },
  hasFineTimes: () => false,
  same: (a, b) => JSON.stringify(a) === JSON.stringify(b),
};

interface Request {
  readonly uid: string;
  readonly name?: string;
  readonly operation: string;
  readonly object: ApiObject | null;
  readonly oldObject: ApiObject | null;
}
type Answer = (request: Request, call: WebhookCall) => Promise<object> | object;

/** Webhooks by name, each with its response, and a record of those called. */
function world(hooks: readonly (Partial<MutatingWebhook> & { readonly name: string; readonly answer: Answer })[]) {
  const asked: string[] = [];
  const told: [string, string][] = [];
  const warnings: string[] = [];
  const counted: string[] = [];
  const lines: object[] = [];
  const clock = new FakeClock();
  const list = webhookAccessors([
    {
      apiVersion: '',
      kind: '',
      metadata: { name: 'c' },
      webhooks: hooks.map(({ answer: _, ...webhook }) => ({
        clientConfig: { url: `https://${webhook.name}` },
        rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }],
        namespaceSelector: {},
        objectSelector: {},
        sideEffects: 'None',
        failurePolicy: 'Fail',
        admissionReviewVersions: ['v1'],
        timeoutSeconds: 10,
        ...webhook,
      })),
    },
  ]);
  const post = async (call: WebhookCall): Promise<WebhookResponse> => {
    const { authority } = call.target;
    asked.push(authority);
    const review = JSON.parse(call.body) as { request: Request };
    const hook = hooks.find(({ name }) => name === authority);
    const response = { uid: review.request.uid, ...(await hook?.answer(review.request, call)) };
    const body = JSON.stringify({ ...review, response });
    return { status: 200, contentType: 'application/json', body: Buffer.from(body) };
  };
  const parts: WebhookParts = {
    hooks: () => list,
    client: { post, close: () => {} },
    services: new Map(),
    clock,
    log: { ...silentLogger, warn: (fields, message) => void lines.push({ message, ...fields }) },
    metrics: {
      called: ({ webhook, code, rejection }) => counted.push(`${webhook} ${code} ${rejection}`),
      conditionsEvaluated: ({ webhook, verdict, excluded }) => counted.push(`${webhook} ${verdict.errors} ${excluded}`),
      failedOpen: (webhook) => counted.push(`${webhook} open`),
    },
    kinds,
    objects: { get: async () => undefined, list: async () => [] },
    evaluate: async () => ({ holds: true, errors: 0 }),
    api: 'k8s.io',
    uuid: () => 'u',
  };
  const object: ApiObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', namespace: 'ns' } };
  const attributes = (given: Partial<AdmissionAttributes> = {}) => ({
    operation: 'CREATE' as const,
    resource: ConfigMaps,
    subresource: undefined,
    key: { namespace: 'ns', name: 'm' },
    previous: undefined,
    user: { username: 'u', groups: [] },
    dryRun: false,
    warn: (text: string) => void warnings.push(text),
    annotate: (key: string, value: string) => void told.push([key, value]),
    ...given,
    object,
  });
  return {
    asked,
    told,
    warnings,
    counted,
    lines,
    clock,
    mutate: (given?: Partial<AdmissionAttributes>, before: readonly AdmissionStep[] = []) =>
      new AdmissionChain([...before, mutatingWebhooks(parts)]).mutate(attributes(given)),
    validate: (given?: Partial<AdmissionAttributes>) =>
      new AdmissionChain([validatingWebhooks(parts)]).validate(attributes(given)),
    remove: () =>
      new AdmissionChain([mutatingWebhooks(parts), validatingWebhooks(parts)]).admitDeletion({
        ...attributes(),
        operation: 'DELETE',
        object: undefined,
        previous: object,
      }),
  };
}

const allow = () => ({ allowed: true });
const label = (labels: Labels) => () => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(labels)).toString('base64'),
});
/** Returns a webhook that appends its letter to a label. */
const append = (letter: string) => (request: Request) =>
  label({ log: `${request.object?.metadata.labels?.['log'] ?? ''}${letter}` })();
const deny = (message: string) => () => ({ allowed: false, status: { message, code: 403 } });
const fail = (): never => {
  throw new CallFailed('no answer');
};

describe('webhooks that change objects', () => {
  test('each sees what the ones before made of it', async () => {
    const { mutate, asked } = world([
      { name: 'a', answer: append('a') },
      { name: 'b', answer: append('b') },
    ]);
    expect((await mutate()).metadata.labels).toEqual({ log: 'ab' });
    expect(asked).toEqual(['a', 'b']);
  });

  test('labels that one adds make others fit', async () => {
    const { mutate, asked } = world([
      { name: 'early', answer: allow, objectSelector: { matchLabels: { x: 'y' } } },
      { name: 'adds', answer: label({ x: 'y' }) },
      { name: 'late', answer: allow, objectSelector: { matchLabels: { x: 'y' } } },
    ]);
    await mutate();
    expect(asked).toEqual(['adds', 'late']);
  });

  test('nothing changed: the very same object', async () => {
    const { mutate } = world([
      { name: 'a', answer: allow },
      { name: 'b', answer: label({}) },
    ]);
    const given = await mutate();
    expect(given.metadata.labels).toBeUndefined();
  });

  describe('a second time', () => {
    const again = { reinvocationPolicy: 'IfNeeded' } as const;
    test.each([
      [
        'nobody, if only the last changed something',
        [
          ['a', allow, {}],
          ['b', append('b'), again],
        ],
        ['a', 'b'],
      ],
      [
        'who wants to, if one after it changed something',
        [
          ['a', allow, again],
          ['b', append('b'), {}],
        ],
        ['a', 'b', 'a'],
      ],
      [
        'not who does not want to',
        [
          ['a', allow, {}],
          ['b', append('b'), {}],
        ],
        ['a', 'b'],
      ],
      ['not itself for its own change', [['a', append('a'), again]], ['a']],
      [
        'both, where each changes what the other left, and then no more',
        [
          ['a', append('a'), again],
          ['b', append('b'), again],
        ],
        ['a', 'b', 'a', 'b'],
      ],
      [
        'nobody, if a patch came to nothing',
        [
          ['a', allow, again],
          ['b', label({}), {}],
        ],
        ['a', 'b'],
      ],
    ] as const)('%s', async (_, hooks, expected) => {
      const { mutate, asked } = world(hooks.map(([name, answer, more]) => ({ name, answer, ...more })));
      await mutate();
      expect(asked).toEqual(expected);
    });

    test('nobody for the first time', async () => {
      const { mutate, asked } = world([
        { name: 'a', answer: allow, ...again, objectSelector: { matchLabels: { x: 'y' } } },
        { name: 'b', answer: label({ x: 'y' }) },
      ]);
      await mutate();
      expect(asked).toEqual(['b']);
    });

    test('all steps before run again as well, and a change of theirs counts', async () => {
      let runs = 0;
      const step: AdmissionStep = {
        name: 's',
        handles: () => true,
        mutate: async ({ object }) => withLabels(object as ApiObject, { runs: String(++runs) }),
      };
      const { mutate, asked } = world([
        { name: 'a', answer: allow, ...again },
        { name: 'b', answer: append('b'), ...again },
      ]);
      expect((await mutate({}, [step])).metadata.labels).toEqual({ runs: '2', log: 'bb' });
      expect(asked).toEqual(['a', 'b', 'a', 'b']);
    });
  });

  test('a warning without a text is none', async () => {
    const { mutate, warnings } = world([{ name: 'a', answer: () => ({ allowed: true, warnings: ['', 'w', null] }) }]);
    await mutate();
    expect(warnings).toEqual(['w']);
  });

  test('the audit log is told of a patch with the members of its operations by name', async () => {
    const patch = Buffer.from('[{"path":"/b","op":"move","from":"/a"}]').toString('base64');
    const { mutate, told } = world([{ name: 'a', answer: () => ({ allowed: true, patchType: 'JSONPatch', patch }) }]);
    await mutate();
    expect(told.find(([key]) => key.startsWith('patch.'))?.[1]).toContain(
      '"patch":[{"from":"/a","op":"move","path":"/b"}]',
    );
  });

  test('the audit log is told of each', async () => {
    const { mutate, told } = world([
      { name: 'a', answer: label({ x: 'y' }) },
      { name: 'b', answer: fail, failurePolicy: 'Ignore' },
      {
        name: 'c',
        answer: () => ({ allowed: true, auditAnnotations: { k: 'v', 'no key': 'v', 'a/b': 'v', '': 'v' } }),
      },
    ]);
    await mutate();
    const key = (index: number, before = ''): string =>
      `${before}mutation.webhook.admission.k8s.io/round_0_index_${index}`;
    expect(told).toEqual([
      [
        'patch.webhook.admission.k8s.io/round_0_index_0',
        '{"configuration":"c","webhook":"a","patch":{"x":"y"},"patchType":"JSONPatch"}',
      ],
      [key(0), '{"configuration":"c","webhook":"a","mutated":true}'],
      [key(1), '{"configuration":"c","webhook":"b","mutated":false}'],
      [key(1, 'failed-open.'), 'b'],
      ['c/k', 'v'],
      [key(2), '{"configuration":"c","webhook":"c","mutated":false}'],
    ]);
  });

  test('a deletion is seen and cannot be changed', async () => {
    const { remove, asked } = world([{ name: 'a', answer: allow }]);
    await remove();
    expect(asked).toEqual(['a', 'a']);
    await expect(world([{ name: 'a', answer: label({ x: 'y' }) }]).remove()).rejects.toMatchObject({
      code: 500,
      message:
        'Internal error occurred: admission webhook "a" attempted to modify the object, which is not supported for this operation',
    });
  });
});

describe('failures', () => {
  test.each([
    ['no answer', { answer: fail }, 'failed to call webhook: no answer'],
    [
      'an answer to another question',
      { answer: () => ({ uid: 'x' }) },
      'received invalid webhook response: expected response.uid="u", got "x"',
    ],
    [
      'a patch that is none',
      {
        answer: () => ({ allowed: true, patchType: 'JSONPatch', patch: 'e30K', uid: 'u' }),
        admissionReviewVersions: ['v9'],
      },
      'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
    ],
    [
      'a patch of another sort',
      { answer: () => ({ ...label({ x: 'y' })(), patchType: 'MergePatch' }) },
      'unsupported patch type "MergePatch"',
    ],
    [
      'no place',
      { answer: allow, clientConfig: {} },
      'could not get REST client: webhook configuration must have either service or URL',
    ],
  ])('%s: refused, or passed over if the webhook wants that', async (_, hook, why) => {
    const refusing = world([{ name: 'a', ...hook }]);
    await expect(refusing.mutate()).rejects.toMatchObject({
      code: 500,
      reason: 'InternalError',
      message: `Internal error occurred: failed calling webhook "a": ${why}`,
    });
    const ignoring = world([
      { name: 'a', ...hook, failurePolicy: 'Ignore' },
      { name: 'b', answer: append('b') },
    ]);
    expect((await ignoring.mutate()).metadata.labels).toEqual({ log: 'b' });
    expect(ignoring.counted).toEqual([expect.stringMatching(/^a \d+ undefined$/), 'a open', 'b 200 undefined']);
    const err = expect.objectContaining({ message: `failed calling webhook "a": ${why}`, stack: undefined });
    const line = { message: 'an admission webhook failed', webhook: 'a', configuration: 'c', ignores: true, err };
    expect(ignoring.lines).toEqual([line]);
    await refusing.mutate().catch(() => {});
    await ignoring.mutate();
    expect([refusing.lines.length, ignoring.lines.length], 'a line for each that fails').toEqual([2, 1]);
    await ignoring.clock.advance(600_000);
    await ignoring.mutate();
    expect(ignoring.lines).toEqual([line, line]);
  });

  test.each<[string, Answer, number]>([
    ['the code it answers', () => Promise.reject(new CallFailed('x', { code: 404 })), 404],
    ['not available if it answers none', fail, 503],
    ['a bad request of its own if its patch is no JSON Patch', () => ({ ...label({ x: 'y' })(), patchType: 'X' }), 400],
  ])('one that fails is counted by %s', async (_, answer, code) => {
    const { mutate, counted } = world([{ name: 'a', answer }]);
    await expect(mutate()).rejects.toMatchObject({ code: 500 });
    expect(counted).toEqual([`a ${code} calling_webhook_error`]);
  });

  test('a denial counts whatever the policy', async () => {
    const { mutate, asked, counted } = world([
      { name: 'a', answer: deny('no'), failurePolicy: 'Ignore' },
      { name: 'b', answer: allow },
    ]);
    await expect(mutate()).rejects.toMatchObject({
      code: 403,
      message: 'admission webhook "a" denied the request: no',
    });
    expect(asked).toEqual(['a']);
    expect(counted).toEqual(['a 403 no_error']);
  });

  test('one that has side effects is not asked in a dry run', async () => {
    const { mutate, asked } = world([{ name: 'a', answer: allow, sideEffects: 'Some', failurePolicy: 'Ignore' }]);
    await expect(mutate({ dryRun: true })).rejects.toMatchObject({
      code: 400,
      message: 'admission webhook "a" does not support dry run',
    });
    expect(asked).toEqual([]);
  });

  test.each(['mutate', 'validate'] as const)('a caller who has gone is not waited for: %s', async (phase) => {
    const gone = new AbortController();
    const reason = new Error('gone');
    const made = world([
      {
        name: 'a',
        failurePolicy: 'Ignore',
        answer: (_, { signal }) => {
          gone.abort(reason);
          throw signal?.reason;
        },
      },
    ]);
    await expect(made[phase]({ caller: { signal: gone.signal } })).rejects.toBe(reason);
    expect(made.counted).toEqual([]);
  });

  test('a call gets the time that is left', async () => {
    const times: number[] = [];
    const answer: Answer = (_, { milliseconds }) => {
      times.push(milliseconds);
      return allow();
    };
    const { mutate, clock } = world([
      { name: 'a', timeoutSeconds: 10, answer },
      { name: 'b', timeoutSeconds: 2, answer },
    ]);
    await mutate({ caller: { signal: new AbortController().signal, deadline: clock.monotonic() + 3_000 } });
    expect(times).toEqual([3_000, 2_000]);
  });

  test.each(['mutate', 'validate'] as const)('the caller is told how long each one took: %s', async (phase) => {
    const waits: [string, number][] = [];
    const takes =
      (milliseconds: number, answer: Answer): Answer =>
      async (...given) => {
        await made.clock.sleep(milliseconds);
        return answer(...given);
      };
    const made = world([
      { name: 'a', answer: takes(200, allow) },
      { name: 'b', answer: takes(300, fail), failurePolicy: 'Ignore' },
    ]);
    const signal = new AbortController().signal;
    const answered = made[phase]({ caller: { signal, onWebhookLatency: (...wait) => waits.push(wait) } });
    await made.clock.advance(500);
    await answered;
    const what = phase === 'mutate' ? 'mutating-webhook' : 'validating-webhook';
    expect(waits).toEqual([
      [what, 200],
      [what, 300],
    ]);
  });

  test('a failure that is ignored after the time is over ends the request', async () => {
    const { mutate, clock, asked } = world([
      { name: 'a', answer: fail, failurePolicy: 'Ignore' },
      { name: 'b', answer: allow },
    ]);
    const late = mutate({ caller: { signal: new AbortController().signal, deadline: clock.monotonic() } });
    await expect(late).rejects.toMatchObject({ code: 504 });
    expect(asked).toEqual(['a']);
  });
});

describe('webhooks that judge', () => {
  test('are not asked once the time is over, and a failure that would be ignored lets nothing through', async () => {
    const { validate, clock, asked } = world([{ name: 'a', answer: fail, failurePolicy: 'Ignore' }]);
    const late = validate({ caller: { signal: new AbortController().signal, deadline: clock.monotonic() } });
    await expect(late).rejects.toMatchObject({ code: 504 });
    expect(asked).toEqual([]);
  });

  test('all are asked at once; the refusal that comes first counts', async () => {
    let release = (): void => {};
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { validate, asked } = world([
      {
        name: 'slow',
        answer: async () => {
          await slow;
          return deny('late')();
        },
      },
      {
        name: 'fast',
        answer: async () => {
          setImmediate(release);
          return deny('early')();
        },
      },
      { name: 'fine', answer: allow },
    ]);
    await expect(validate()).rejects.toThrow('admission webhook "fast" denied the request: early');
    expect(asked.toSorted()).toEqual(['fast', 'fine', 'slow']);
  });

  test('none may change anything', async () => {
    const { validate } = world([{ name: 'a', answer: label({ x: 'y' }) }]);
    await expect(validate()).rejects.toThrow('validating webhook may not return response.patch');
  });

  test('a failure that is ignored is told to the audit log by its place among those asked', async () => {
    const { validate, told } = world([
      { name: 'other', answer: allow, objectSelector: { matchLabels: { x: 'y' } } },
      { name: 'a', answer: fail, failurePolicy: 'Ignore' },
    ]);
    await validate();
    expect(told).toEqual([['failed-open.validating.webhook.admission.k8s.io/round_0_index_0', 'a']]);
  });
});
