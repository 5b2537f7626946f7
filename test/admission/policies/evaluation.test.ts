import { expect, test } from 'vitest';
import { compileValidations } from '../../../src/admission/policies/compiled.js';
import { evaluatePolicy } from '../../../src/admission/policies/evaluation.js';
import { AuthorizerDecisions } from '../../../src/admission/request-variables.js';
import type { ValidatingAdmissionPolicySpec } from '../../../src/api/kinds/validating-admission-policy.js';
import type { Json } from '../../../src/api/object.js';
import { runSync } from '../../../src/api/steps.js';
import { jsonValue } from '../../../src/cel/json-values.js';
import { authorizerValue } from '../../../src/cel/library/authorizer.js';
import { TurnTaking } from '../../../src/runtime/turn-taking.js';

const object = { data: { a: '1', long: 'x'.repeat(6_000), list: Array.from({ length: 300 }, (_, at) => at) } };

/**
 * Returns the decisions of a policy about the object, with denials as their messages; `asked` counts the calls of the
 * authorizer.
 */
async function judge(spec: ValidatingAdmissionPolicySpec) {
  let asked = 0;
  const authorizer = {
    authorize: async () => {
      asked++;
      return { verdict: 'allow', reason: 'because' } as const;
    },
  };
  const decisions = new AuthorizerDecisions(authorizer, { username: 'alice', groups: [] });
  const { decisions: told, annotations } = await evaluatePolicy(runSync(compileValidations(spec)), {
    decisions,
    turns: new TurnTaking(),
    ignoresFailures: spec.failurePolicy === 'Ignore',
    variables:
      ({ hasAuthorizer, hasNamespace }) =>
      (name) => {
        if (name === 'authorizer') return hasAuthorizer ? authorizerValue(decisions.decide) : undefined;
        const values: Record<string, Json> = {
          object,
          oldObject: null,
          params: null,
          namespaceObject: hasNamespace ? { metadata: { name: 'n' } } : null,
        };
        return Object.hasOwn(values, name) ? jsonValue(values[name] ?? null) : undefined;
      },
  });
  return { denials: told.map(({ denial }) => denial?.message), annotations, asked };
}

const validation = (expression: string, more: object = {}): ValidatingAdmissionPolicySpec => ({
  validations: [{ expression, ...more }],
});
const variables = (...named: readonly (readonly [string, string])[]) => ({
  variables: named.map(([name, expression]) => ({ name, expression })),
});
const conditions = (...expressions: readonly string[]) => ({
  matchConditions: expressions.map((expression, at) => ({ name: `c${at}`, expression })),
});
const overBudget = 'validation failed due to running out of cost budget, no further validation rules will be run';
/** An expression that costs about 900,000 units. */
const dear = 'object.data.list.all(x, object.data.list.all(y, x + y >= 0 && x - y <= 300))';

test.each<[string, ValidatingAdmissionPolicySpec, readonly (string | undefined)[]]>([
  ['an expression that is true allows', validation('object.data.a == "1"'), [undefined]],
  [
    'the default message is the expression',
    validation(' object.data.a == "2" '),
    ['failed expression: object.data.a == "2"'],
  ],
  ['a message is reported trimmed', validation('false', { message: ' no ' }), ['no']],
  [
    'messageExpression takes precedence over message',
    validation('false', { message: 'no', messageExpression: '"a is 1 "' }),
    ['a is 1'],
  ],
  [
    'a blank result of messageExpression falls back to message',
    validation('false', { message: 'no', messageExpression: '" "' }),
    ['no'],
  ],
  [
    'a result of messageExpression with a line break falls back to message',
    validation('false', { message: 'no', messageExpression: '"a\\nb"' }),
    ['no'],
  ],
  [
    'a result of messageExpression that is too long falls back to message',
    validation('false', { message: 'no', messageExpression: 'object.data.long + ""' }),
    ['no'],
  ],
  [
    'a messageExpression that fails falls back to message',
    validation('false', { message: 'no', messageExpression: '"a" + object.x' }),
    ['no'],
  ],
  [
    'an expression that fails denies',
    validation('object.x == 1'),
    ["expression 'object.x == 1' resulted in error: no such key: x"],
  ],
  [
    'an expression that fails allows with failurePolicy Ignore',
    { ...validation('object.x == 1'), failurePolicy: 'Ignore' },
    [undefined],
  ],
  [
    'a variable may use earlier variables',
    { ...variables(['a', 'object.data.a'], ['b', 'variables.a + "2"']), ...validation('variables.b == "12"') },
    [undefined],
  ],
  [
    'a variable that fails reports its failure where it is used',
    { ...variables(['a', 'object.x']), validations: [{ expression: 'true' }, { expression: 'variables.a == 1' }] },
    [
      undefined,
      `expression 'variables.a == 1' resulted in error: composited variable "a" fails to evaluate: no such key: x`,
    ],
  ],
  [
    'the later of two variables of the same name fails if it refers to itself',
    { ...variables(['a', '1'], ['a', 'variables.a + 1']), ...validation('variables.a == 2') },
    [
      `expression 'variables.a == 2' resulted in error: composited variable "a" fails to evaluate: variable "a" refers to itself`,
    ],
  ],
  [
    'a match condition that is false excludes the request even if another one fails',
    { ...validation('false'), ...conditions('object.x == 1', 'false') },
    [],
  ],
  [
    'match conditions that fail deny',
    { ...validation('true'), ...conditions('object.x == 1', 'object.y == 1') },
    [
      "[expression 'object.x == 1' resulted in error: no such key: x, expression 'object.y == 1' resulted in error: no such key: y]",
    ],
  ],
  [
    'match conditions that fail exclude the request with failurePolicy Ignore',
    { ...validation('false'), ...conditions('object.x == 1'), failurePolicy: 'Ignore' },
    [],
  ],
  ['match conditions see no namespaceObject', { ...validation('false'), ...conditions('namespaceObject != null') }, []],
  [
    'validations that together exceed the cost budget deny',
    { validations: Array(14).fill({ expression: dear }) },
    [overBudget],
  ],
  [
    'match conditions have a smaller cost budget',
    { ...validation('true'), ...conditions(...Array(4).fill(dear)) },
    [overBudget],
  ],
  [
    'the cost of variables counts toward the budget',
    {
      ...variables(...Array.from({ length: 14 }, (_, at) => [`v${at}`, dear] as const)),
      validations: Array.from({ length: 14 }, (_, at) => ({ expression: `variables.v${at}` })),
    },
    [overBudget],
  ],
])('%s', async (_, spec, denials) => {
  expect((await judge(spec)).denials).toEqual(denials);
});

test('a variable is evaluated once, however often it is used', async () => {
  const { denials } = await judge({
    ...variables(['v', dear]),
    validations: Array.from({ length: 30 }, () => ({ expression: 'variables.v' })),
  });
  expect(denials).toEqual(Array(30).fill(undefined));
});

test('the authorizer is asked once for each distinct check', async () => {
  const expression = 'authorizer.group("").resource("pods").check("get").allowed()';
  const { denials, asked } = await judge({
    ...variables(['may', expression]),
    validations: [{ expression }, { expression: 'variables.may' }],
  });
  expect([denials, asked]).toEqual([[undefined, undefined], 1]);
});

test('a variable may be the first to ask the authorizer, directly or through another variable', async () => {
  const check = (verb: string): string => `authorizer.group("").resource("pods").check("${verb}").allowed()`;
  const { denials, asked } = await judge({
    ...variables(['may', check('get')], ['mayAll', `variables.may && ${check('list')}`]),
    validations: [{ expression: 'variables.mayAll' }, { expression: '!variables.may' }],
  });
  expect([denials, asked]).toEqual([[undefined, 'failed expression: !variables.may'], 2]);
});

test.each<[string, 'Fail' | 'Ignore', readonly object[]]>([
  ['"a is " + object.data.a', 'Fail', [{ key: 'k', value: 'a is 1' }]],
  ['" "', 'Fail', []],
  ['null', 'Fail', []],
  ['"a" + object.x', 'Ignore', []],
  ['"a" + object.x', 'Fail', [{ key: 'k', error: `expression '"a" + object.x' resulted in error: no such key: x` }]],
])(
  'the auditAnnotation %s with failurePolicy %s is recorded as %j',
  async (valueExpression, failurePolicy, annotations) => {
    const spec = { failurePolicy, auditAnnotations: [{ key: 'k', valueExpression }] };
    expect((await judge(spec)).annotations).toEqual(annotations);
  },
);
