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
import { FixedObjects } from '../../auth/fixed-objects.js';

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
    objects: new FixedObjects(),
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

describe('mutating webhooks', () => {
  test('see the changes of those before them', async () => {
    const { mutate, asked } = world([
      { name: 'a', answer: append('a') },
      { name: 'b', answer: append('b') },
    ]);
    expect((await mutate()).metadata.labels).toEqual({ log: 'ab' });
    expect(asked).toEqual(['a', 'b']);
  });

  test('match on labels that earlier ones have added', async () => {
    const { mutate, asked } = world([
      { name: 'early', answer: allow, objectSelector: { matchLabels: { x: 'y' } } },
      { name: 'adds', answer: label({ x: 'y' }) },
      { name: 'late', answer: allow, objectSelector: { matchLabels: { x: 'y' } } },
    ]);
    await mutate();
    expect(asked).toEqual(['adds', 'late']);
  });

  test('that change nothing return the same object', async () => {
    const { mutate } = world([
      { name: 'a', answer: allow },
      { name: 'b', answer: label({}) },
    ]);
    const given = await mutate();
    expect(given.metadata.labels).toBeUndefined();
  });

  describe('reinvocation', () => {
    const again = { reinvocationPolicy: 'IfNeeded' } as const;
    test.each([
      [
        'no webhook is called again if only the last one changed something',
        [
          ['a', allow, {}],
          ['b', append('b'), again],
        ],
        ['a', 'b'],
      ],
      [
        'a webhook with IfNeeded is called again if a later one changed something',
        [
          ['a', allow, again],
          ['b', append('b'), {}],
        ],
        ['a', 'b', 'a'],
      ],
      [
        'a webhook without IfNeeded is not called again',
        [
          ['a', allow, {}],
          ['b', append('b'), {}],
        ],
        ['a', 'b'],
      ],
      ['a webhook is not called again for its own change', [['a', append('a'), again]], ['a']],
      [
        'two webhooks that change the work of each other are called twice each',
        [
          ['a', append('a'), again],
          ['b', append('b'), again],
        ],
        ['a', 'b', 'a', 'b'],
      ],
      [
        'no webhook is called again after a patch without effect',
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

    test('a webhook that did not match at first is not called in the second round', async () => {
      const { mutate, asked } = world([
        { name: 'a', answer: allow, ...again, objectSelector: { matchLabels: { x: 'y' } } },
        { name: 'b', answer: label({ x: 'y' }) },
      ]);
      await mutate();
      expect(asked).toEqual(['b']);
    });

    test('earlier steps run again as well, and their changes count', async () => {
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

  test('an empty warning is dropped', async () => {
    const { mutate, warnings } = world([{ name: 'a', answer: () => ({ allowed: true, warnings: ['', 'w', null] }) }]);
    await mutate();
    expect(warnings).toEqual(['w']);
  });

  test('a patch is recorded in the audit log with the members of its operations sorted', async () => {
    const patch = Buffer.from('[{"path":"/b","op":"move","from":"/a"}]').toString('base64');
    const { mutate, told } = world([{ name: 'a', answer: () => ({ allowed: true, patchType: 'JSONPatch', patch }) }]);
    await mutate();
    expect(told.find(([key]) => key.startsWith('patch.'))?.[1]).toContain(
      '"patch":[{"from":"/a","op":"move","path":"/b"}]',
    );
  });

  test('each webhook is recorded in the audit log', async () => {
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

  test('a deletion is sent, and may not be patched', async () => {
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
      'an answer with the wrong uid',
      { answer: () => ({ uid: 'x' }) },
      'received invalid webhook response: expected response.uid="u", got "x"',
    ],
    [
      'no known review version',
      {
        answer: () => ({ allowed: true, patchType: 'JSONPatch', patch: 'e30K', uid: 'u' }),
        admissionReviewVersions: ['v9'],
      },
      'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
    ],
    [
      'a patch of an unknown type',
      { answer: () => ({ ...label({ x: 'y' })(), patchType: 'MergePatch' }) },
      'unsupported patch type "MergePatch"',
    ],
    [
      'no address',
      { answer: allow, clientConfig: {} },
      'could not get REST client: webhook configuration must have either service or URL',
    ],
  ])('%s: refused, or ignored with failurePolicy Ignore', async (_, hook, why) => {
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
    ['the code of its answer', () => Promise.reject(new CallFailed('x', { code: 404 })), 404],
    ['503 without an answer', fail, 503],
    ['400 for an invalid patch', () => ({ ...label({ x: 'y' })(), patchType: 'X' }), 400],
  ])('a failed webhook is counted by %s', async (_, answer, code) => {
    const { mutate, counted } = world([{ name: 'a', answer }]);
    await expect(mutate()).rejects.toMatchObject({ code: 500 });
    expect(counted).toEqual([`a ${code} calling_webhook_error`]);
  });

  test('a denial refuses the request under any failurePolicy', async () => {
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

  test('a webhook with side effects is not called in a dry run, which is refused', async () => {
    const { mutate, asked } = world([{ name: 'a', answer: allow, sideEffects: 'Some', failurePolicy: 'Ignore' }]);
    await expect(mutate({ dryRun: true })).rejects.toMatchObject({
      code: 400,
      message: 'admission webhook "a" does not support dry run',
    });
    expect(asked).toEqual([]);
  });

  test.each(['mutate', 'validate'] as const)('a call ends when the caller disconnects: %s', async (phase) => {
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

  test('the timeout of a call is limited by the time left for the request', async () => {
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

  test.each(['mutate', 'validate'] as const)(
    'the duration of each call is reported to the caller: %s',
    async (phase) => {
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
    },
  );

  test('an ignored failure after the deadline still ends the request', async () => {
    const { mutate, clock, asked } = world([
      { name: 'a', answer: fail, failurePolicy: 'Ignore' },
      { name: 'b', answer: allow },
    ]);
    const late = mutate({ caller: { signal: new AbortController().signal, deadline: clock.monotonic() } });
    await expect(late).rejects.toMatchObject({ code: 504 });
    expect(asked).toEqual(['a']);
  });
});

describe('validating webhooks', () => {
  test('are not called after the deadline, and failurePolicy Ignore does not let the request pass', async () => {
    const { validate, clock, asked } = world([{ name: 'a', answer: fail, failurePolicy: 'Ignore' }]);
    const late = validate({ caller: { signal: new AbortController().signal, deadline: clock.monotonic() } });
    await expect(late).rejects.toMatchObject({ code: 504 });
    expect(asked).toEqual([]);
  });

  test('are called in parallel, and the first refusal to arrive is reported', async () => {
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

  test('may not patch', async () => {
    const { validate } = world([{ name: 'a', answer: label({ x: 'y' }) }]);
    await expect(validate()).rejects.toThrow('validating webhook may not return response.patch');
  });

  test('record an ignored failure in the audit log with the index among the matching webhooks', async () => {
    const { validate, told } = world([
      { name: 'other', answer: allow, objectSelector: { matchLabels: { x: 'y' } } },
      { name: 'a', answer: fail, failurePolicy: 'Ignore' },
    ]);
    await validate();
    expect(told).toEqual([['failed-open.validating.webhook.admission.k8s.io/round_0_index_0', 'a']]);
  });
});
