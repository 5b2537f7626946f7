import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { defaultDomains } from '../../../src/api/domains.js';
import { AuthenticationError } from '../../../src/auth/authenticator.js';
import type { AccessAttributes } from '../../../src/auth/authorizer.js';
import { callReview } from '../../../src/auth/webhook/call-review.js';
import { type WebhookAuthorizerOptions, webhookAuthorizer } from '../../../src/auth/webhook/webhook-authorizer.js';
import { webhookTokens } from '../../../src/auth/webhook/webhook-tokens.js';
import type { HttpRequest } from '../../../src/client/http-transport.js';
import { silentLogger } from '../../../src/runtime/logger.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';

let clock: FakeClock;
let asked: HttpRequest[];
/** The responses of the server in order; the last one is repeated. */
let answers: (object | number | Error)[];
beforeEach(() => {
  clock = new FakeClock();
  asked = [];
  answers = [{}];
});

const transport = {
  async send(request: HttpRequest) {
    asked.push(request);
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer instanceof Error) throw answer;
    const [statusCode, body] = typeof answer === 'number' ? [answer, 'oops'] : [201, JSON.stringify(answer)];
    const response = Object.assign(Readable.from([Buffer.from(body)]), { statusCode, headers: {} }) as IncomingMessage;
    return { answer: response, presented: {} };
  },
};
const refusing = async (request: HttpRequest) => {
  const { answer, presented } = await transport.send(request);
  return { answer: Object.assign(answer, { statusCode: 403 }), presented };
};
const called: string[] = [];
const call = () =>
  callReview({ transport, clock, called: (result, milliseconds) => called.push(`${result} after ${milliseconds} ms`) });
const bodies = (): readonly unknown[] => asked.map(({ body }) => JSON.parse(body ?? ''));
const reset = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

describe('a call', () => {
  test('is posted to the URL of the webhook', async () => {
    answers = [{ status: { a: 1 } }];
    expect(await call()({ kind: 'X' })).toEqual({ a: 1 });
    expect(asked).toMatchObject([{ method: 'POST', path: '', body: '{"kind":"X"}' }]);
  });

  test('that fails temporarily is retried', async () => {
    answers = [503, 500, reset, 429, { status: {} }];
    await expect(call()({})).rejects.toThrow('the server answered 503');
    const answer = call()({});
    await clock.advance(500 + 750 + 1_125);
    expect(await answer).toEqual({});
    expect(asked).toHaveLength(5);
  });

  test('fails if the server answers with another success code than Go accepts', async () => {
    answers = [207];
    await expect(call()({})).rejects.toThrow('the server answered 207');
  });

  test('is counted with each attempt', async () => {
    called.length = 0;
    answers = [500, { status: {} }];
    const answer = call()({});
    await clock.advance(500);
    await answer;
    answers = [Object.assign(new Error('too late'), { name: 'TimeoutError' })];
    await call()({}).catch(() => {});
    expect(called).toEqual(['error after 0 ms', 'success after 0 ms', 'timeout after 0 ms']);
  });

  test('is not retried forever', async () => {
    answers = [500];
    const answer = call()({});
    answer.catch(() => {});
    await clock.advance(10_000);
    await expect(answer).rejects.toThrow('the server answered 500');
    expect(asked).toHaveLength(5);
  });

  test.each<[object]>([[[]], [{ status: 'x' }], [{ kind: 'Login', status: {} }], [{ apiVersion: 'v0', status: {} }]])(
    'with the answer %j fails',
    async (answer) => {
      answers = [answer];
      await expect(call()({ kind: 'X', apiVersion: 'v1' })).rejects.toThrow('the answer is not a review');
    },
  );

  test('that is refused reports the message of the server', async () => {
    answers = [{ kind: 'Status', message: 'not you', code: 403 }];
    await expect(callReview({ transport: { send: refusing }, clock })({})).rejects.toThrow(
      'webhook call failed: not you',
    );
  });
});

describe('tokens', () => {
  const ask = (audiences: readonly string[] = ['api'], token = 't') => {
    const options = {
      call: call(),
      apiAudiences: ['api'],
      domains: defaultDomains,
      clock,
      log: silentLogger,
      keepMs: 120_000,
    };
    return webhookTokens(options).authenticateToken(token, audiences);
  };

  test('authenticate the user that the server returns', async () => {
    const user = { username: 'alice', uid: 'u', groups: ['dev', null], extra: { k: ['v'] } };
    answers = [{ status: { authenticated: true, user } }];
    expect(await ask()).toEqual({
      user: { username: 'alice', uid: 'u', groups: ['dev', ''], extra: { k: ['v'] } },
      audiences: ['api'],
    });
    expect(bodies()).toMatchObject([{ kind: 'TokenReview', spec: { token: 't', audiences: ['api'] } }]);
  });

  test.each<[string, object, readonly string[], unknown]>([
    ['for the audiences in the answer', { audiences: ['x', 'y'] }, ['y', 'z'], ['y']],
    ['for no audience if the answer names none of the requested ones', { audiences: ['x'] }, ['y'], undefined],
    ['for the API server if the answer names none', {}, ['api', 'x'], ['api']],
    ['not for other audiences if the answer names none', {}, ['x'], undefined],
  ])('are accepted %s', async (_name, status, wanted, audiences) => {
    answers = [{ status: { authenticated: true, user: { username: 'a' }, ...status } }];
    expect((await ask(wanted))?.audiences).toEqual(audiences);
  });

  test.each<[string, object, string | undefined]>([
    ['unknown', {}, undefined],
    ['unknown, with a reason', { error: 'expired' }, 'expired'],
    ['without a username', { authenticated: true, user: {} }, 'the token webhook answered without a user'],
  ])('that are %s are not accepted', async (_name, status, message) => {
    answers = [{ status }];
    if (message === undefined) expect(await ask()).toBeUndefined();
    else await expect(ask()).rejects.toThrow(new AuthenticationError(message));
  });

  test.each<[object, string, string]>([
    [{ authenticated: 'true' }, 'string', 'TokenReviewStatus.status.authenticated of type bool'],
    [{ audiences: 'api' }, 'string', 'TokenReviewStatus.status.audiences of type []string'],
    [{ audiences: ['api', 1] }, 'number', 'TokenReviewStatus.status.audiences of type string'],
    [{ error: 1 }, 'number', 'TokenReviewStatus.status.error of type string'],
    [{ user: 'a' }, 'string', 'TokenReviewStatus.status.user of type v1.UserInfo'],
    [{ user: { username: 1 } }, 'number', 'UserInfo.status.user.username of type string'],
    [{ user: { username: 'a', uid: 1 } }, 'number', 'UserInfo.status.user.uid of type string'],
    [{ user: { username: 'a', groups: 'g' } }, 'string', 'UserInfo.status.user.groups of type []string'],
    [{ user: { username: 'a', groups: [1] } }, 'number', 'UserInfo.status.user.groups of type string'],
    [{ user: { username: 'a', extra: { k: 'v' } } }, 'string', 'UserInfo.status.user.extra of type v1.ExtraValue'],
    [{ user: { username: 'a', extra: [] } }, 'array', 'UserInfo.status.user.extra of type map[string]v1.ExtraValue'],
  ])('are refused if the answer has members of other types: %j', async (status, given, field) => {
    answers = [{ status: { authenticated: true, user: { username: 'a' }, ...status } }];
    await expect(ask()).rejects.toThrow(
      new AuthenticationError(`json: cannot unmarshal ${given} into Go struct field ${field}`),
    );
  });

  test('are refused while the server is down, which is logged once', async () => {
    const error = new Error('connect ECONNREFUSED');
    answers = [error];
    const warn = vi.fn();
    const log = { ...silentLogger, warn };
    const options = { call: call(), apiAudiences: ['api'], domains: defaultDomains, clock, log, keepMs: 120_000 };
    const tokens = webhookTokens(options);
    for (const token of ['a', 'b'])
      await expect(tokens.authenticateToken(token, ['api'])).rejects.toThrow(new AuthenticationError(error.message));
    const err = expect.objectContaining({ message: error.message, stack: undefined });
    expect(warn.mock.calls).toEqual([[{ err }, 'the token webhook does not answer']]);
  });

  test('are cached for two minutes', async () => {
    answers = [{ status: { authenticated: true, user: { username: 'a' } } }];
    const options = {
      call: call(),
      apiAudiences: ['api'],
      domains: defaultDomains,
      clock,
      log: silentLogger,
      keepMs: 120_000,
    };
    const tokens = webhookTokens(options);
    for (const advance of [0, 119_000, 1_000]) {
      await clock.advance(advance);
      await tokens.authenticateToken('t', ['api']);
    }
    expect(asked).toHaveLength(2);
  });
});

describe('access', () => {
  const attributes: AccessAttributes = {
    user: { username: 'alice', uid: 'u', groups: ['g'], extra: { k: ['v'] } },
    verb: 'list',
    group: 'apps',
    version: 'v1',
    resource: 'deployments',
    namespace: 'ns',
    fieldSelector: 'a=b,c!=d',
    labelSelector: 'x in (y,z),!w,v',
  };
  const settings = { version: 'v1', allowedMs: 300_000, refusedMs: 30_000, onFailure: 'no-opinion' } as const;
  const open = (more: Partial<WebhookAuthorizerOptions> = {}) =>
    webhookAuthorizer({ call: call(), domains: defaultDomains, clock, log: silentLogger, ...settings, ...more });

  test('is requested with all attributes', async () => {
    await open().authorize(attributes);
    expect(bodies()).toMatchObject([
      {
        apiVersion: 'authorization.k8s.io/v1',
        spec: {
          user: 'alice',
          uid: 'u',
          groups: ['g'],
          extra: { k: ['v'] },
          resourceAttributes: {
            namespace: 'ns',
            verb: 'list',
            group: 'apps',
            version: 'v1',
            resource: 'deployments',
            fieldSelector: {
              requirements: [
                { key: 'a', operator: 'In', values: ['b'] },
                { key: 'c', operator: 'NotIn', values: ['d'] },
              ],
            },
            labelSelector: {
              requirements: [
                { key: 'v', operator: 'Exists' },
                { key: 'w', operator: 'DoesNotExist' },
                { key: 'x', operator: 'In', values: ['y', 'z'] },
              ],
            },
          },
        },
      },
    ]);
  });

  test('to paths is requested without resource attributes', async () => {
    const user = { username: 'bob', groups: [] };
    await open().authorize({ user, verb: 'get', path: '/x', group: '', version: '', resource: '' });
    const [{ spec }] = bodies() as [{ spec: object }];
    expect(spec).toEqual({ nonResourceAttributes: { path: '/x', verb: 'get' }, user: 'bob' });
  });

  test('with an empty path and verb is requested without them', async () => {
    const user = { username: 'bob', groups: [] };
    await open().authorize({ user, verb: '', path: '', group: '', version: '', resource: '' });
    expect(bodies()).toMatchObject([{ spec: { nonResourceAttributes: {}, user: 'bob' } }]);
    expect(asked[0]?.body).toContain('"nonResourceAttributes":{}');
  });

  test('with unreadable selectors is requested without them', async () => {
    await open().authorize({ ...attributes, fieldSelector: '===', labelSelector: '((' });
    const [{ spec }] = bodies() as [{ spec: { resourceAttributes: object } }];
    expect(Object.keys(spec.resourceAttributes)).not.toContain('fieldSelector');
  });

  test.each([
    [
      { allowed: true, reason: 'yes' },
      { verdict: 'allow', reason: 'yes' },
    ],
    [
      { allowed: false, reason: 'no' },
      { verdict: 'no-opinion', reason: 'no' },
    ],
    [
      { denied: true, reason: 'never' },
      { verdict: 'deny', reason: 'never' },
    ],
    [
      { allowed: true, denied: true },
      { verdict: 'deny', reason: '', error: 'webhook subject access review returned both allow and deny response' },
    ],
  ])('follows the answer %j', async (status, decision) => {
    answers = [{ status }];
    expect(await open().authorize(attributes)).toEqual(decision);
  });

  test.each<[object, string, string]>([
    [{ allowed: 'true' }, 'string', 'allowed of type bool'],
    [{ allowed: true, denied: 'true' }, 'string', 'denied of type bool'],
    [{ allowed: true, reason: {} }, 'object', 'reason of type string'],
    [{ allowed: true, evaluationError: 1 }, 'number', 'evaluationError of type string'],
  ])('is denied by failurePolicy Deny if the answer has members of other types: %j', async (status, given, field) => {
    answers = [{ status }];
    const error = `json: cannot unmarshal ${given} into Go struct field SubjectAccessReviewStatus.status.${field}`;
    expect(await open({ onFailure: 'deny' }).authorize(attributes)).toEqual({ verdict: 'deny', reason: '', error });
  });

  test('is undecided while the server is down', async () => {
    answers = [new Error('connect ECONNREFUSED')];
    expect(await open().authorize(attributes)).toEqual({
      verdict: 'no-opinion',
      reason: '',
      error: 'connect ECONNREFUSED',
    });
  });

  test.each([
    ['once if other authorizers decide', 'no-opinion', 1],
    ['every time if none is asked afterwards', 'deny', 2],
  ] as const)('logs that the server is down %s', async (_, onFailure, lines) => {
    answers = [new Error('connect ECONNREFUSED')];
    const warn = vi.fn();
    const authorizer = open({ onFailure, log: { ...silentLogger, warn } });
    for (let i = 0; i < 2; i++) await authorizer.authorize(attributes);
    expect(warn).toHaveBeenCalledTimes(lines);
  });

  test('is requested in the configured version', async () => {
    await open({ version: 'v1beta1' }).authorize(attributes);
    const [{ apiVersion, spec }] = bodies() as [{ apiVersion: string; spec: object }];
    expect([apiVersion, spec]).toMatchObject(['authorization.k8s.io/v1beta1', { user: 'alice', group: ['g'] }]);
    expect(Object.keys(spec)).not.toContain('groups');
  });

  test('is denied while the server is down if onFailure is deny', async () => {
    answers = [new Error('connect ECONNREFUSED')];
    const opened: string[] = [];
    const metrics = { failedOpen: (result: string) => opened.push(result) };
    const error = 'connect ECONNREFUSED';
    expect(await open({ onFailure: 'deny', metrics }).authorize(attributes)).toEqual({
      verdict: 'deny',
      reason: '',
      error,
    });
    expect(opened).toEqual([]);
    await open({ metrics }).authorize(attributes);
    expect(opened).toEqual(['error']);
  });

  test('that the conditions exclude is left to other authorizers', async () => {
    expect(await open({ asks: () => false }).authorize(attributes)).toEqual({ verdict: 'no-opinion', reason: '' });
    const asks = () => {
      throw new Error('who knows');
    };
    expect(await open({ asks }).authorize(attributes)).toEqual({
      verdict: 'no-opinion',
      reason: '',
      error: 'who knows',
    });
    expect(await open({ asks, onFailure: 'deny' }).authorize(attributes)).toMatchObject({ verdict: 'deny' });
    expect(asked).toHaveLength(0);
    await open({ asks: () => true }).authorize(attributes);
    expect(asked).toHaveLength(1);
  });

  test('is requested every time if answers are not cached', async () => {
    answers = [{ status: { allowed: true } }];
    const authorizer = open({ allowedMs: 0 });
    await authorizer.authorize(attributes);
    await authorizer.authorize(attributes);
    expect(asked).toHaveLength(2);
  });

  test.each([
    [true, 300_000],
    [false, 30_000],
  ])('with allowed %j is cached for %j ms', async (allowed, keepMs) => {
    answers = [{ status: { allowed } }];
    const authorizer = open();
    for (const advance of [0, keepMs - 1, 1]) {
      await clock.advance(advance);
      await authorizer.authorize(attributes);
    }
    expect(asked).toHaveLength(2);
    await authorizer.authorize({ ...attributes, verb: 'watch' });
    expect(asked).toHaveLength(3);
  });

  test('is cached no longer if the clock is set back', async () => {
    const back = new FakeClock();
    const authorizer = open({ clock: back });
    await authorizer.authorize(attributes);
    back.set(back.now() - 3_600_000);
    await authorizer.authorize(attributes);
    expect(asked).toHaveLength(1);
    await back.advance(30_000);
    await authorizer.authorize(attributes);
    expect(asked).toHaveLength(2);
  });
});
