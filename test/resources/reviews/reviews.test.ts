import { describe, expect, test } from 'vitest';
import { invalidObject } from '../../../src/api/errors.js';
import { type Unstructured, unstructured } from '../../../src/api/object.js';
import { resultOf, runSync } from '../../../src/api/steps.js';
import type { UserInfo } from '../../../src/api/user.js';
import { alwaysAllow } from '../../../src/auth/always.js';
import { AuthenticationError, type Authenticator } from '../../../src/auth/authenticator.js';
import type { AccessAttributes, Authorizer } from '../../../src/auth/authorizer.js';
import type { RequestContext } from '../../../src/registry/resource-definition.js';
import { authenticationReviews, authorizationReviews } from '../../../src/resources/reviews/index.js';

const user: UserInfo = { username: 'me', groups: ['dev'] };
const context: RequestContext = {
  user,
  key: {},
  subresource: undefined,
  now: Date.UTC(2026, 0, 1),
  warn: () => {},
};
const asked: AccessAttributes[] = [];
const reading: Authorizer = {
  async authorize(attributes) {
    asked.push(attributes);
    if (attributes.verb === 'forbidden') return { verdict: 'deny', reason: 'never' };
    if (attributes.verb === 'broken') return { verdict: 'no-opinion', reason: 'r', error: 'e' };
    return {
      verdict: attributes.verb === 'get' ? 'allow' : 'no-opinion',
      reason: attributes.verb === 'get' ? 'because' : '',
    };
  },
  rulesFor: async (_user, namespace) => ({
    resourceRules: [{ verbs: ['get'], resources: [namespace] }],
    nonResourceRules: [],
    incomplete: false,
    errors: namespace === 'broken' ? ['a', 'b'] : [],
  }),
};
const onlyGood: Authenticator = {
  async authenticate(credentials) {
    const [header = ''] = credentials.header('authorization');
    if (header === 'Bearer bad') throw new AuthenticationError('invalid bearer token');
    if (header === 'Bearer nobody') return undefined;
    return { user, audiences: header === 'Bearer elsewhere' ? ['elsewhere'] : (credentials.audiences ?? []) };
  },
};
const definitions = [
  ...authenticationReviews({ authenticator: onlyGood, apiAudiences: ['api'] }),
  ...authorizationReviews({ authorizer: reading }),
];
const ask = async (kind: string, object: object = {}): Promise<Unstructured> => {
  const definition = definitions.find((one) => one.kind === kind);
  const given = { apiVersion: 'x/v1', kind, metadata: {}, ...object };
  const violations = runSync(resultOf(definition?.validate?.(given, undefined, context) ?? []));
  if (violations.length > 0) throw invalidObject({ group: definition?.group ?? '', kind: '' }, violations);
  const answer = await definition?.answer?.(given, context);
  if (answer === undefined) throw new Error(`${kind} is not answered`);
  return unstructured(answer);
};

test('reviews support create only', () => {
  expect(definitions.map(({ plural, verbs }) => [plural, verbs])).toEqual(
    [
      'selfsubjectreviews',
      'tokenreviews',
      'localsubjectaccessreviews',
      'selfsubjectaccessreviews',
      'selfsubjectrulesreviews',
      'subjectaccessreviews',
    ].map((plural) => [plural, ['create']]),
  );
});

describe('TokenReview', () => {
  test.each([
    [{ token: 't' }, { authenticated: true, user, audiences: ['api'] }],
    [
      { token: 't', audiences: ['b', 'a'] },
      { authenticated: true, user, audiences: ['b', 'a'] },
    ],
    [
      { token: 't', audiences: [] },
      { authenticated: true, user, audiences: ['api'] },
    ],
    [{ token: 'bad' }, { error: 'invalid bearer token' }],
    [{ token: 'nobody' }, {}],
  ])('%j', async (spec, status) => {
    expect(await ask('TokenReview', { spec, metadata: { labels: { a: 'b' } } })).toEqual({
      apiVersion: 'x/v1',
      kind: 'TokenReview',
      metadata: { labels: { a: 'b' } },
      spec,
      status,
    });
  });

  test('keeps the status that was sent only where the server sets nothing', async () => {
    const claimed = { authenticated: true, user: { username: 'root' }, audiences: ['x'], error: 'e' };
    expect((await ask('TokenReview', { spec: { token: 'nobody' }, status: claimed }))['status']).toEqual({
      user: { username: 'root' },
      audiences: ['x'],
      error: 'e',
    });
    expect((await ask('TokenReview', { spec: { token: 't' }, status: claimed }))['status']).toMatchObject({ user });
  });

  test.each([[undefined], [{}], [{ token: '' }], [{ audiences: ['a'] }]])(
    'is refused for %j without a token',
    async (spec) => {
      await expect(ask('TokenReview', { spec })).rejects.toMatchObject({
        code: 400,
        message: 'token is required for TokenReview in authentication',
      });
    },
  );

  test('fails if the authenticator answers for other audiences', async () => {
    await expect(ask('TokenReview', { spec: { token: 'elsewhere' } })).rejects.toMatchObject({ code: 500 });
  });
});

test('SelfSubjectReview is about the caller, whatever was sent', async () => {
  const sent = { metadata: { name: 'n' }, status: { userInfo: { username: 'root' } } };
  expect(await ask('SelfSubjectReview', sent)).toEqual({
    apiVersion: 'x/v1',
    kind: 'SelfSubjectReview',
    metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
    status: { userInfo: user },
  });
});

describe('access reviews', () => {
  const pods = (more: object = {}) => ({ verb: 'get', resource: 'pods', ...more });

  test('the attributes are passed to the authorizer unchanged', async () => {
    asked.length = 0;
    const resourceAttributes = pods({ namespace: 'ns', group: '*', resource: 'pods/log', name: 'p' });
    const review = { spec: { user: 'u', groups: ['g'], extra: { k: ['v'] }, uid: 'i', resourceAttributes } };
    expect((await ask('SubjectAccessReview', { ...review, status: { allowed: false } }))['status']).toEqual({
      allowed: true,
      reason: 'because',
    });
    expect(asked).toEqual([
      {
        user: { username: 'u', groups: ['g'], extra: { k: ['v'] }, uid: 'i' },
        verb: 'get',
        group: '*',
        version: '*',
        resource: 'pods/log',
        namespace: 'ns',
        name: 'p',
      },
    ]);
  });

  test.each([
    ['forbidden', { allowed: false, denied: true, reason: 'never' }],
    ['broken', { allowed: false, reason: 'r', evaluationError: 'e' }],
    ['list', { allowed: false }],
  ])('the verb %s is answered with %j', async (verb, status) => {
    expect((await ask('SelfSubjectAccessReview', { spec: { resourceAttributes: pods({ verb }) } }))['status']).toEqual(
      status,
    );
  });

  test('a path is passed as a path, even if empty', async () => {
    asked.length = 0;
    await ask('SelfSubjectAccessReview', { spec: { nonResourceAttributes: { verb: 'get' } } });
    expect(asked).toEqual([{ user, verb: 'get', path: '', group: '', version: '', resource: '' }]);
  });

  const combined = {
    field: 'spec.nonResourceAttributes',
    message: 'Invalid value: {"Path":"/x","Verb":"get"}: cannot be specified in combination with resourceAttributes',
  };
  const neither = {
    field: 'spec.resourceAttributes',
    message: 'Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
  };
  const noUser = { field: 'spec.user', message: 'Invalid value: "": at least one of user or group must be specified' };
  const selector = 'spec.resourceAttributes';
  const inNotEmpty = "Required value: must be specified when `operator` is 'In' or 'NotIn'";
  const path = { path: '/x', verb: 'get' };

  test.each<[string, object, readonly object[]]>([
    [
      'SubjectAccessReview',
      { spec: { user: 'u', resourceAttributes: pods(), nonResourceAttributes: path } },
      [combined],
    ],
    ['SubjectAccessReview', {}, [neither, noUser]],
    ['SubjectAccessReview', { spec: { groups: [], resourceAttributes: pods() } }, [noUser]],
    ['SelfSubjectAccessReview', {}, [neither]],
    [
      'SelfSubjectAccessReview',
      { metadata: { managedFields: [{ manager: 'm' }], name: 'n' }, spec: { resourceAttributes: pods() } },
      [{ field: 'metadata', message: 'Invalid value: {"name":"n","managedFields":[{"manager":"m"}]}: must be empty' }],
    ],
    [
      'LocalSubjectAccessReview',
      { metadata: { namespace: 'ns', labels: { a: 'b' } }, spec: { user: 'u', resourceAttributes: pods() } },
      [
        {
          field: 'metadata',
          message: 'Invalid value: {"namespace":"ns","labels":{"a":"b"}}: must be empty except for namespace',
        },
        { field: 'spec.resourceAttributes.namespace', message: 'Invalid value: "": must match metadata.namespace' },
      ],
    ],
    [
      'LocalSubjectAccessReview',
      { metadata: { namespace: 'ns' }, spec: { user: 'u', nonResourceAttributes: path } },
      [
        {
          field: 'spec.nonResourceAttributes',
          message: 'Invalid value: {"Path":"/x","Verb":"get"}: disallowed on this kind of request',
        },
      ],
    ],
    [
      'SelfSubjectAccessReview',
      {
        spec: {
          resourceAttributes: pods({
            fieldSelector: { rawSelector: 'a=b', requirements: [{ key: 'a', operator: 'In', values: ['b'] }] },
          }),
        },
      },
      [
        {
          field: `${selector}.fieldSelector.rawSelector`,
          message: 'Invalid value: "a=b": may not specified at the same time as requirements',
        },
      ],
    ],
    [
      'SelfSubjectAccessReview',
      { spec: { resourceAttributes: pods({ labelSelector: {} }) } },
      [
        {
          field: `${selector}.labelSelector.requirements`,
          message:
            'Required value: when spec.resourceAttributes.labelSelector is specified, requirements or rawSelector is required',
        },
      ],
    ],
    [
      'SelfSubjectAccessReview',
      {
        spec: {
          resourceAttributes: pods({ labelSelector: { requirements: [{ key: 'a', operator: 'In', values: [] }] } }),
        },
      },
      [{ field: `${selector}.labelSelector.requirements[0].values`, message: inNotEmpty }],
    ],
    [
      'SelfSubjectAccessReview',
      {
        spec: {
          resourceAttributes: pods({
            fieldSelector: { requirements: [{ key: '', operator: 'Exists', values: ['b'] }] },
          }),
        },
      },
      [
        { field: `${selector}.fieldSelector.requirements[0].key`, message: 'Required value: must be specified' },
        {
          field: `${selector}.fieldSelector.requirements[0].values`,
          message: "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        },
      ],
    ],
  ])('%s %j is refused with an error that omits the kind', async (kind, object, causes) => {
    await expect(ask(kind, object)).rejects.toMatchObject({
      code: 422,
      message: expect.stringMatching(/^\.authorization\.k8s\.io "" is invalid: /),
      details: { group: 'authorization.k8s.io', causes },
    });
    const refused: unknown = await ask(kind, object).catch((error: unknown) => error);
    expect(refused).not.toHaveProperty('details.kind');
  });

  test.each<[object, string | undefined]>([
    [{ fieldSelector: { rawSelector: 'metadata.name=x' }, labelSelector: { rawSelector: 'a in (b,c)' } }, undefined],
    [{ labelSelector: { rawSelector: 'a===b' } }, 'spec.resourceAttributes.labelSelector ignored due to parse error'],
    [
      { labelSelector: { requirements: [{ key: 'a', operator: 'Near', values: ['b'] }] } },
      'spec.resourceAttributes.labelSelector ignored due to parse error',
    ],
    [
      {
        labelSelector: {
          requirements: [
            { key: 'a', operator: 'Near' },
            { key: 'a', operator: 'Exists' },
          ],
        },
      },
      'spec.resourceAttributes.labelSelector partially ignored due to parse error',
    ],
    [
      { fieldSelector: { requirements: [{ key: 'a', operator: 'Exists' }] }, labelSelector: { rawSelector: '(' } },
      'spec.resourceAttributes.fieldSelector ignored due to parse error; spec.resourceAttributes.labelSelector ignored due to parse error',
    ],
  ])('the selectors %j', async (selectors, evaluationError) => {
    const { status } = await ask('SelfSubjectAccessReview', { spec: { resourceAttributes: pods(selectors) } });
    expect(status).toEqual({
      allowed: true,
      reason: 'because',
      ...(evaluationError === undefined ? {} : { evaluationError }),
    });
  });

  test('LocalSubjectAccessReview is namespaced', async () => {
    const [review] = authorizationReviews({ authorizer: alwaysAllow });
    expect(review?.namespaced).toBe(true);
  });
});

describe('SelfSubjectRulesReview', () => {
  test('lists the rules of the authorizer', async () => {
    expect(await ask('SelfSubjectRulesReview', { metadata: { name: 'n' }, spec: { namespace: 'any text' } })).toEqual({
      apiVersion: 'x/v1',
      kind: 'SelfSubjectRulesReview',
      metadata: {},
      spec: {},
      status: {
        resourceRules: [{ verbs: ['get'], resources: ['any text'] }],
        nonResourceRules: [],
        incomplete: false,
      },
    });
    expect((await ask('SelfSubjectRulesReview', { spec: { namespace: 'broken' } }))['status']).toMatchObject({
      evaluationError: '[a, b]',
    });
  });

  test('requires a namespace', async () => {
    await expect(ask('SelfSubjectRulesReview', {})).rejects.toMatchObject({
      code: 400,
      message: 'no namespace on request',
    });
  });
});
