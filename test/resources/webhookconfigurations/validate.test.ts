import { expect, test } from 'vitest';
import { mutatingWebhookConfigurations } from '../../../src/resources/mutatingwebhookconfigurations/definition.js';
import { validatingWebhookConfigurations } from '../../../src/resources/validatingwebhookconfigurations/definition.js';
import { expectShort } from '../../processor-time.js';
import { write } from '../write.js';

const nope = "compilation failed: ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')\n | nope\n | ^";
const mutating = mutatingWebhookConfigurations;
const validating = validatingWebhookConfigurations;

const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['things'] };
const hook = {
  name: 'a.hooks.example.com',
  clientConfig: { url: 'https://hooks.example.com/x' },
  rules: [rule],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
};

test('a webhook gets its defaults, also in place of null', () => {
  const body = {
    webhooks: [{ ...hook, failurePolicy: null, clientConfig: { service: { name: 's', namespace: 'n', port: null } } }],
  };
  const expected = {
    name: hook.name,
    clientConfig: { service: { namespace: 'n', name: 's', port: 443 } },
    rules: [{ ...rule, scope: '*' }],
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    sideEffects: 'None',
    timeoutSeconds: 10,
    admissionReviewVersions: ['v1'],
  };
  expect(write(validating, body).object['webhooks']).toEqual([expected]);
  expect(write(mutating, body).object['webhooks']).toEqual([{ ...expected, reinvocationPolicy: 'Never' }]);
});

test('an empty list of webhooks is left out', () => {
  expect(write(validating, { webhooks: [] }).object).not.toHaveProperty('webhooks');
});

const one1123 =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const longName = `${'A'.repeat(254)}.b.c`;

test.each<[object, readonly string[]]>([
  [{}, []],
  [{ name: '' }, ['name: Required value']],
  [
    { name: 'one.two' },
    ['name: Invalid value: "one.two": should be a domain with at least three segments separated by dots'],
  ],
  [{ name: 'A.b.c' }, [`name: Invalid value: "A.b.c": ${one1123}`]],
  [{ name: longName }, [`name: Invalid value: "${longName}": must be no more than 253 characters,${one1123}`]],
  [{ failurePolicy: 'fail' }, ['failurePolicy: Unsupported value: "fail": supported values: "Fail", "Ignore"']],
  [{ matchPolicy: '' }, ['matchPolicy: Unsupported value: "": supported values: "Equivalent", "Exact"']],
  [{ sideEffects: null }, ['sideEffects: Required value: must specify one of None, NoneOnDryRun']],
  [{ sideEffects: 'Some' }, ['sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"']],
  [{ timeoutSeconds: 31 }, ['timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds']],
  [{ timeoutSeconds: 0 }, ['timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds']],
  [
    { objectSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    ["objectSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"],
  ],
  [{ admissionReviewVersions: [] }, ['admissionReviewVersions: Required value: must specify one of v1, v1beta1']],
  [{ admissionReviewVersions: ['v2', 'v1'] }, []],
  [
    { admissionReviewVersions: ['v2', 'v2'] },
    [
      'admissionReviewVersions[1]: Invalid value: "v2": duplicate version',
      'admissionReviewVersions: Invalid value: ["v2","v2"]: must include at least one of v1, v1beta1',
    ],
  ],
  [{ clientConfig: null }, ['clientConfig: Required value: exactly one of url or service is required']],
  [
    { clientConfig: { url: 'http://x?y', service: {} } },
    ['clientConfig: Required value: exactly one of url or service is required'],
  ],
  [
    { clientConfig: { service: {} } },
    ['clientConfig.service.name: Required value', 'clientConfig.service.namespace: Required value'],
  ],
  [{ clientConfig: { service: { namespace: 'n' } } }, ['clientConfig.service.namespace: Required value']],
  [
    { clientConfig: { service: { name: 's', namespace: 'n', port: 0, path: 'a/b//c/' } } },
    [
      'clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive',
      'clientConfig.service.path: Invalid value: "a/b//c/": must start with a \'/\'',
      'clientConfig.service.path: Invalid value: "a/b//c/": segment[0] may not be empty',
      'clientConfig.service.path: Invalid value: "a/b//c/": segment[2] may not be empty',
    ],
  ],
  [
    { clientConfig: { service: { name: 's', namespace: 'n', path: '/a/B' } } },
    [`clientConfig.service.path: Invalid value: "/a/B": segment[1]: ${one1123}`],
  ],
  [
    { clientConfig: { service: { name: 's', namespace: 'n', path: 'é' } } },
    [
      'clientConfig.service.path: Invalid value: "é": must start with a \'/\'',
      `clientConfig.service.path: Invalid value: "é": segment[0]: ${one1123}`,
    ],
  ],
  [
    { clientConfig: { url: 'http://user@/x?a=b#c' } },
    [
      'clientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
      'clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]',
      'clientConfig.url: Invalid value: "user": user information is not permitted in the URL',
      'clientConfig.url: Invalid value: "c": fragments are not permitted in the URL',
      'clientConfig.url: Invalid value: "a=b": query parameters are not permitted in the URL',
    ],
  ],
  [
    { clientConfig: { url: ':foo' } },
    [
      'clientConfig.url: Required value: url must be a valid URL: parse ":foo": missing protocol scheme; desired format: https://host[/path]',
    ],
  ],
  [
    {
      matchConditions: [
        {},
        { name: 'a b', expression: 'nope' },
        { name: 'x', expression: '1' },
        { name: 'x', expression: ' ' },
        { name: 'y', expression: 'int("x") == 1' },
        { name: 'z', expression: '\n\tnope ' },
      ],
    },
    [
      'matchConditions[0].expression: Required value',
      'matchConditions[0].name: Required value',
      `matchConditions[1].expression: Invalid value: "nope": ${nope}`,
      "matchConditions[1].name: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      'matchConditions[2].expression: Invalid value: "1": must evaluate to bool but got int',
      'matchConditions[3].expression: Required value',
      'matchConditions[3].name: Duplicate value: "x"',
      "matchConditions[4].expression: Internal error: program instantiation failed: type conversion error from 'string' to 'int'",
      `matchConditions[5].expression: Invalid value: "nope": ${nope}`,
    ],
  ],
  [
    { matchConditions: Array.from({ length: 65 }, (_, at) => ({ name: `c${at}`, expression: 'true' })) },
    ['matchConditions: Too many: 65: must have at most 64 items'],
  ],
])('webhook with %j', (change, texts) => {
  const violations = texts.map((text) => `webhooks[0].${text}`);
  expect(write(validating, { webhooks: [{ ...hook, ...change }] }).violations).toEqual(violations);
  expect(write(mutating, { webhooks: [{ ...hook, ...change }] }).violations).toEqual(violations);
});

test.each<[object, readonly string[]]>([
  [
    {},
    [
      'operations: Required value',
      'apiGroups: Required value',
      'apiVersions: Required value',
      'resources: Required value',
    ],
  ],
  [
    { operations: ['*', 'create'], apiGroups: ['*', 'a'], apiVersions: ['*', ''], resources: ['', 'x'], scope: 'Any' },
    [
      'operations: Invalid value: ["*","create"]: if \'*\' is present, must not specify other operations',
      'operations[1]: Unsupported value: "create": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
      'apiGroups: Invalid value: ["*","a"]: if \'*\' is present, must not specify other API groups',
      'apiVersions: Invalid value: ["*",""]: if \'*\' is present, must not specify other API versions',
      'apiVersions[1]: Required value',
      'resources[0]: Required value',
      'scope: Unsupported value: "Any": supported values: "*", "Cluster", "Namespaced"',
    ],
  ],
  [
    { ...rule, resources: ['*', 'pods', 'pods/*', 'pods/status', '*/status'] },
    [
      'resources[3]: Invalid value: "pods/status": if \'pods/*\' is present, must not specify pods/status',
      'resources: Invalid value: ["*","pods","pods/*","pods/status","*/status"]: if \'*\' is present, must not specify other resources without subresources',
    ],
  ],
  [{ ...rule, resources: ['pods/status', 'pods/*'] }, []],
  [{ ...rule, resources: ['pods', '*'] }, []],
  [{ ...rule, resources: ['*', 'pods/status'] }, []],
  [
    { ...rule, resources: ['*/status', 'pods/status'] },
    ['resources[1]: Invalid value: "pods/status": if \'*/status\' is present, must not specify pods/status'],
  ],
  [
    { ...rule, resources: ['*', '*/*'] },
    ['resources: Invalid value: ["*","*/*"]: if \'*/*\' is present, must not specify other resources'],
  ],
])('rule %j', (wrong, texts) => {
  expect(write(validating, { webhooks: [{ ...hook, rules: [wrong] }] }).violations).toEqual(
    texts.map((text) => `webhooks[0].rules[0].${text}`),
  );
});

test('violations of a webhook are in the order of its rules, with duplicate names last', () => {
  const wrong = {
    ...hook,
    clientConfig: {},
    rules: [{ ...rule, operations: [] }],
    failurePolicy: 'A',
    matchPolicy: 'B',
    sideEffects: 'C',
    timeoutSeconds: 31,
    namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'D' }] },
    objectSelector: { matchExpressions: [{ key: 'a', operator: 'D' }] },
    reinvocationPolicy: 'E',
    matchConditions: [{ name: 'c' }],
    admissionReviewVersions: [],
  };
  const fields = write(mutating, { webhooks: [hook, wrong] }).violations.map((text) => text.split(': ')[0]);
  expect(fields).toEqual(
    [
      'rules[0].operations',
      'failurePolicy',
      'matchPolicy',
      'sideEffects',
      'timeoutSeconds',
      'namespaceSelector.matchExpressions[0].operator',
      'objectSelector.matchExpressions[0].operator',
      'reinvocationPolicy',
      'clientConfig',
      'matchConditions[0].expression',
      'admissionReviewVersions',
      'name',
    ].map((member) => `webhooks[1].${member}`),
  );
});

test.each<[string, object, object, readonly string[]]>([
  ['side effects', { sideEffects: 'Some' }, { sideEffects: 'Unknown' }, []],
  [
    'side effects, but not an unknown value',
    { sideEffects: 'Some' },
    { sideEffects: 'X' },
    ['webhooks[0].sideEffects: Unsupported value: "X": supported values: "None", "NoneOnDryRun", "Some", "Unknown"'],
  ],
  ['versions', { admissionReviewVersions: ['v9'] }, { admissionReviewVersions: ['v8'] }, []],
  [
    'values of labels',
    { objectSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b c'] }] } },
    { objectSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['d e'] }] } },
    [],
  ],
  [
    'unchanged match conditions',
    { matchConditions: [{ name: 'c', expression: 'nope' }] },
    { matchConditions: [{ name: 'c', expression: 'nope' }], timeoutSeconds: 5 },
    [],
  ],
  [
    'but not changed match conditions',
    { matchConditions: [{ name: 'c', expression: 'nope' }] },
    { matchConditions: [{ name: 'd', expression: 'nope' }] },
    [`webhooks[0].matchConditions[0].expression: Invalid value: "nope": ${nope}`],
  ],
])('an update may keep existing violations: %s', (_what, stored, next, violations) => {
  expect(
    write(validating, { webhooks: [{ ...hook, ...next }] }, { webhooks: [{ ...hook, ...stored }] }).violations,
  ).toEqual(violations);
});

test('unknown review versions may be added if a stored webhook had only such', () => {
  const [known, unknown] = [hook, { ...hook, name: 'b.hooks.example.com', admissionReviewVersions: ['v9'] }];
  const next = { ...known, admissionReviewVersions: ['v8'] };
  expect(write(validating, { webhooks: [next, unknown] }, { webhooks: [known, unknown] }).violations).toEqual([]);
  expect(write(validating, { webhooks: [next] }, { webhooks: [known] }).violations).toEqual([
    'webhooks[0].admissionReviewVersions: Invalid value: ["v8"]: must include at least one of v1, v1beta1',
  ]);
});

test('existing duplicate names may stay, new ones are refused', () => {
  expect(write(validating, { webhooks: [hook, hook] }, { webhooks: [hook, hook, hook] }).violations).toEqual([]);
  expect(write(validating, { webhooks: [hook, hook] }, { webhooks: [hook] }).violations).toEqual([
    'webhooks[1].name: Duplicate value: "a.hooks.example.com"',
  ]);
});

test('names reserved for static manifests draw a warning', () => {
  expect(write(validating, { metadata: { name: 'a.static.k8s.io' } }).warnings).toEqual([
    'metadata.name: names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API',
  ]);
  expect(write(validating, { metadata: { name: 'static.k8s.io' } }).warnings).toEqual([]);
});

test('the generation grows when the webhooks change', () => {
  const generation = (next: object, previous: object): boolean | undefined =>
    mutating.newGeneration?.(
      write(mutating, next).object as Parameters<NonNullable<typeof mutating.newGeneration>>[0],
      write(mutating, previous).object as Parameters<NonNullable<typeof mutating.newGeneration>>[1],
    );
  expect(generation({ webhooks: [{ ...hook, timeoutSeconds: 10 }] }, { webhooks: [hook] })).toBe(false);
  expect(generation({ webhooks: [{ ...hook, timeoutSeconds: 9 }] }, { webhooks: [hook] })).toBe(true);
  expect(generation({ webhooks: [] }, {})).toBe(false);
});

test('a rule with many resources is validated in linear time', async () => {
  const resources = Array.from({ length: 40_000 }, (_, at) => `r${at}/*`);
  await expectShort(5_000, () =>
    expect(write(validating, { webhooks: [{ ...hook, rules: [{ ...rule, resources }] }] }).violations).toEqual([]),
  );
});
