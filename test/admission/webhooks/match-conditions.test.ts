import { expect, test } from 'vitest';
import type { AdmissionAttributes } from '../../../src/admission/admission-step.js';
import { conditionEvaluator } from '../../../src/admission/webhooks/match-conditions.js';
import { originalAttributes } from '../../../src/admission/webhooks/versioned-attributes.js';
import { ConfigMaps } from '../../../src/api/kinds/config-map.js';
import { Namespaces } from '../../../src/api/kinds/namespace.js';
import type { ApiObject } from '../../../src/api/object.js';
import type { AccessAttributes, Authorizer } from '../../../src/auth/authorizer.js';
import { TurnTaking } from '../../../src/runtime/turn-taking.js';

const map = (data: Record<string, string>): ApiObject =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'm', namespace: 'ns', labels: { 'a.b/c': 'd' } },
    data,
  }) as ApiObject;
const update: AdmissionAttributes = {
  operation: 'UPDATE',
  resource: ConfigMaps,
  subresource: undefined,
  key: { namespace: 'ns', name: 'm' },
  object: map({ level: '2' }),
  previous: map({ level: '3' }),
  user: { username: 'dora', groups: ['devs'] },
  dryRun: true,
  warn: () => {},
};
const nobody: Authorizer = { authorize: async () => ({ verdict: 'no-opinion', reason: 'nobody may' }) };

const evaluate = (
  expressions: readonly string[],
  { attributes = update, authorizer = nobody, seen = originalAttributes(attributes) } = {},
) =>
  conditionEvaluator({ authorizer, kinds: { toJson: (object) => object as never } })(
    expressions.map((expression, at) => ({ name: `c${at}`, expression })),
    { attributes, seen, turns: new TurnTaking() },
  );
const failed = (expression: string, why: string): string => `expression '${expression}' resulted in error: ${why}`;

test.each<[string, readonly string[], boolean | readonly string[]]>([
  [
    'conditions that all hold',
    ["object.metadata.name == 'm'", 'int(object.data.level) < int(oldObject.data.level)'],
    true,
  ],
  ['a condition that does not hold', ['true', "request.operation == 'CREATE'"], false],
  [
    'a request with names, kinds and a user',
    ["request.name == 'm' && request.namespace == 'ns' && request.kind.kind == 'ConfigMap' && request.dryRun"],
    true,
  ],
  [
    'the user and groups of the request',
    ["request.userInfo.username == 'dora' && 'devs' in request.userInfo.groups"],
    true,
  ],
  ['absent attributes of the user are absent fields', ['has(request.userInfo.uid) || has(request.subResource)'], false],
  ['names in backticks', ["object.metadata.labels.`a.b/c` == 'd'"], true],
  ['a failure', ["object.data.no == 'x'"], [failed("object.data.no == 'x'", 'no such key: no')]],
  ['a failure beside a condition that does not hold', ["object.data.no == 'x'", 'false'], false],
  [
    'two failures',
    ['1 / 0 == 1', 'true', '[1][1] == 1'],
    [failed('1 / 0 == 1', 'division by zero'), failed('[1][1] == 1', 'index out of bounds: 1')],
  ],
  [
    'a stored condition that does not compile',
    ['object +'],
    expect.arrayContaining([expect.stringContaining('compilation error: compilation failed: ERROR')]),
  ],
  [
    'a condition beyond the cost limit',
    ['lists.range(300000).all(x, x >= 0)'],
    [failed('lists.range(300000).all(x, x >= 0)', 'operation cancelled: actual cost limit exceeded')],
  ],
  [
    'conditions that together exceed the cost budget, even if one is false',
    ['false', ...Array.from({ length: 6 }, () => 'lists.range(90000).all(x, x >= 0)')],
    ['validation failed due to running out of cost budget, no further validation rules will be run'],
  ],
])('%s', async (_title, expressions, expected) => {
  expect(await evaluate(expressions)).toMatchObject(
    typeof expected === 'boolean' ? { holds: expected } : { failures: expected },
  );
});

test('request.name is absent while the name is still to be generated', async () => {
  const attributes = { ...update, operation: 'CREATE' as const, key: { namespace: 'ns', name: '' } };
  expect(await evaluate(['!has(request.name)'], { attributes })).toMatchObject({ holds: true });
});

test('oldObject is null for a new object', async () => {
  const attributes = { ...update, operation: 'CREATE' as const, previous: undefined };
  expect(await evaluate(['oldObject == null'], { attributes })).toMatchObject({ holds: true });
});

test('request.kind is the kind sent to the webhook, request.resource the requested resource', async () => {
  const seen = {
    ...originalAttributes(update),
    as: {
      resource: { group: 'g', version: 'v2', plural: 'others' },
      kind: { group: 'g', version: 'v2', kind: 'Other' },
    },
  };
  const conditions = [
    "request.kind.group == 'g' && request.kind.version == 'v2' && request.kind.kind == 'Other'",
    "request.resource.group == '' && request.resource.version == 'v1' && request.resource.resource == 'configmaps'",
    'request.resource == request.requestResource && request.kind != request.requestKind',
  ];
  expect(await evaluate(conditions, { seen })).toMatchObject({ holds: true });
});

test('the authorizer is asked once for each distinct check, however often it is repeated', async () => {
  const asked: Partial<AccessAttributes>[] = [];
  const authorizer: Authorizer = {
    async authorize({ user, verb, group, resource, namespace, name, path }) {
      asked.push({
        verb,
        group,
        resource,
        ...(path === undefined ? { namespace: namespace ?? '', name: name ?? '' } : { path }),
      });
      return user.username === 'dora' ? { verdict: 'no-opinion', reason: 'not she' } : { verdict: 'allow', reason: '' };
    },
  };
  const mine = "authorizer.requestResource.check('get').allowed()";
  const others =
    "authorizer.serviceAccount('ns', 'robot').group('apps').resource('deployments').check('list').allowed()";
  const path = "authorizer.path('/metrics').check('get').reason() == 'not she'";
  expect(await evaluate([`!${mine} && ${others}`, `${path} && !${mine}`], { authorizer })).toMatchObject({
    holds: true,
  });
  expect(asked).toEqual([
    { verb: 'get', group: '', resource: 'configmaps', namespace: 'ns', name: 'm' },
    { verb: 'list', group: 'apps', resource: 'deployments', namespace: '', name: '' },
    { verb: 'get', group: '', resource: '', path: '/metrics' },
  ]);
});

test.each<[string, Partial<AdmissionAttributes>, Pick<AccessAttributes, 'namespace' | 'name'>]>([
  ['an object', {}, { namespace: 'ns', name: 'm' }],
  ['the deletion of a collection', { operation: 'DELETE', isCollectionDelete: true }, { namespace: 'ns' }],
  ['a Namespace', { resource: Namespaces, key: { name: 'n' } }, { namespace: 'n', name: 'n' }],
])('requestResource checks the namespace and name of the request for %s', async (_, given, expected) => {
  const asked: object[] = [];
  const authorizer: Authorizer = {
    async authorize({ namespace, name }) {
      asked.push({ namespace, name });
      return { verdict: 'no-opinion', reason: '' };
    },
  };
  const condition = "!authorizer.requestResource.check('delete').allowed()";
  expect(await evaluate([condition], { attributes: { ...update, ...given }, authorizer })).toMatchObject({
    holds: true,
  });
  expect(asked).toEqual([expected]);
});
