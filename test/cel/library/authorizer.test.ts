import { expect, test } from 'vitest';
import { runSync } from '../../../src/api/steps.js';
import { environmentOf } from '../../../src/cel/environment.js';
import { estimate } from '../../../src/cel/estimate.js';
import { program } from '../../../src/cel/evaluator.js';
import { kubernetesLibraries } from '../../../src/cel/kubernetes.js';
import {
  authorizerType,
  authorizerValue,
  type CheckedAttributes,
  type Decide,
  DecisionNeeded,
  requestResourceValue,
  resourceCheckType,
} from '../../../src/cel/library/authorizer.js';
import { Failure } from '../../../src/cel/values.js';

const environment = environmentOf({
  variables: new Map([
    ['authorizer', authorizerType],
    ['authorizer.requestResource', resourceCheckType],
  ]),
  libraries: kubernetesLibraries,
});
const subject = { group: 'apps', resource: 'deployments', subresource: 'scale', namespace: 'here', name: 'one' };

function evaluate(expression: string, decide: Decide) {
  const { checked, issues } = runSync(environment.compile(expression));
  if (checked === undefined) throw new Error(issues.map(String).join('\n'));
  const values = new Map([
    ['authorizer', authorizerValue(decide)],
    ['authorizer.requestResource', requestResourceValue(decide, subject)],
  ]);
  const evaluated = runSync(program(checked, environment)).evaluate((name) => values.get(name), { limit: 1_000_000 });
  return { ...evaluated, estimate: runSync(estimate(checked, environment, () => undefined)).max };
}

const unsaid = { subresource: '', namespace: '', name: '', fieldSelector: '', labelSelector: '' };

test.each<[string, CheckedAttributes]>([
  ["authorizer.path('/healthz').check('get')", { path: '/healthz', verb: 'get' }],
  [
    "authorizer.group('').resource('pods').check('list')",
    { resource: { ...unsaid, group: '', resource: 'pods' }, verb: 'list' },
  ],
  [
    "authorizer.group('g').resource('r').subresource('s').namespace('n').name('x').fieldSelector('a=b').labelSelector('c').check('v')",
    {
      resource: {
        group: 'g',
        resource: 'r',
        subresource: 's',
        namespace: 'n',
        name: 'x',
        fieldSelector: 'a=b',
        labelSelector: 'c',
      },
      verb: 'v',
    },
  ],
  [
    "authorizer.serviceAccount('ns', 'sa').path('/x').check('get')",
    { serviceAccount: { namespace: 'ns', name: 'sa' }, path: '/x', verb: 'get' },
  ],
  ["authorizer.requestResource.check('update')", { resource: { ...unsaid, ...subject }, verb: 'update' }],
])('%s passes these attributes to the check', (expression, attributes) => {
  const asked: CheckedAttributes[] = [];
  const { value } = evaluate(`${expression}.allowed()`, (about) => {
    asked.push(about);
    return { allowed: true, reason: '' };
  });
  expect(value).toBe(true);
  expect(asked).toEqual([attributes]);
});

const check = "authorizer.path('/x').check('get')";

test.each([
  ['allowed()', false],
  ['reason()', 'because'],
  ['errored()', true],
  ['error()', 'oh'],
])('the decision of a check answers %s', (question, answer) => {
  const decision = { allowed: false, reason: 'because', error: 'oh' };
  expect(evaluate(`${check}.${question}`, () => decision).value).toBe(answer);
});

test.each([
  ["authorizer.path(' \\u00a0')", 'path must not be empty'],
  ["authorizer.group('').resource('')", 'resource must not be empty'],
  ["authorizer.serviceAccount('ns', 'A')", 'Invalid service account name'],
  ["authorizer.serviceAccount('a.b', 'a')", 'Invalid service account namespace'],
  ['authorizer == authorizer', 'no such overload'],
])('%s fails: %s', (expression, message) => {
  expect(evaluate(expression, () => undefined).value).toEqual(new Failure(message));
});

test('a check without a decision aborts the evaluation, even where a failure would be absorbed', () => {
  const attempt = (): unknown => evaluate(`${check}.allowed() || true`, () => undefined);
  expect(attempt).toThrow(DecisionNeeded);
  expect(attempt).toThrow(expect.objectContaining({ attributes: { path: '/x', verb: 'get' } }));
});

test.each([
  [`${check}.allowed()`, 350_003],
  ["authorizer.group('a').resource('b').name('c') != null", 5],
  ["authorizer.requestResource.fieldSelector('a=b').check('get').allowed()", 350_113],
])('%s costs %i', (expression, cost) => {
  const evaluated = evaluate(expression, () => ({ allowed: true, reason: '' }));
  expect(evaluated.cost).toBe(cost);
});
