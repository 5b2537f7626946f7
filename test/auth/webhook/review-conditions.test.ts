import { describe, expect, test } from 'vitest';
import { runSync } from '../../../src/api/steps.js';
import type { AccessAttributes } from '../../../src/auth/authorizer.js';
import { reviewConditions } from '../../../src/auth/webhook/review-conditions.js';
import { compileReviewCondition } from '../../../src/cel/environments/authorization.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';

const clock = new FakeClock();
const told: string[] = [];
const judge = (attributes: AccessAttributes, ...texts: readonly string[]): boolean => {
  const conditions = texts.map((text) => {
    const prepared = runSync(compileReviewCondition(text));
    if (prepared.wrong !== undefined) throw new Error(prepared.wrong);
    return { text, program: prepared.program };
  });
  return reviewConditions(conditions, { clock, metrics: (outcome) => told.push(outcome) })(attributes);
};

const user = { username: 'alice', groups: ['dev', 'ops'], extra: { 'example.com/team': ['a'] } };
const list: AccessAttributes = {
  user,
  verb: 'list',
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  namespace: 'ns',
  fieldSelector: 'a=b',
  labelSelector: 'x in (y,z),!w',
};
const path: AccessAttributes = { user, verb: 'get', path: '/healthz', group: '', version: '', resource: '' };

describe('a condition', () => {
  test.each<[AccessAttributes, string, boolean]>([
    [list, "request.user == 'alice' && 'ops' in request.groups && request.uid == ''", true],
    [list, "request.extra['example.com/team'] == ['a']", true],
    [list, 'has(request.resourceAttributes) && !has(request.nonResourceAttributes)', true],
    [path, 'has(request.resourceAttributes)', false],
    [path, "has(request.nonResourceAttributes) && request.nonResourceAttributes.path.startsWith('/health')", true],
    [list, "request.resourceAttributes.namespace == 'ns' && request.resourceAttributes.group == 'apps'", true],
    [list, "request.resourceAttributes.subresource == '' && request.resourceAttributes.name == ''", true],
    [list, "request.resourceAttributes.fieldSelector.requirements.all(r, r.key == 'a' && r.values == ['b'])", true],
    [list, "request.resourceAttributes.labelSelector.requirements.exists(r, r.operator == 'In')", true],
    [list, "request.resourceAttributes.labelSelector.requirements.exists(r, r.key == 'w' && r.values == [])", true],
    [{ ...list, labelSelector: undefined }, 'has(request.resourceAttributes.labelSelector)', false],
    [{ ...list, user: { username: 'bob', groups: [] } }, 'size(request.extra) == 0 && request.groups == []', true],
  ])('for %o: %s gives %j', (attributes, text, holds) => {
    expect(judge(attributes, text)).toBe(holds);
  });

  test.each([
    ['request.user', 'must evaluate to bool but got string'],
    ['request.name == ""', "undefined field 'name'"],
    ['object != null', "undeclared reference to 'object'"],
    ['request.resourceAttributes.verb == 1', 'no matching overload'],
    ['(', 'Syntax error'],
  ])('%s does not compile', (text, why) => {
    expect(runSync(compileReviewCondition(text)).wrong).toContain(why);
  });
});

describe('several conditions', () => {
  const failing = "request.resourceAttributes.verb == 'get'";
  const failure = `cel evaluation error: expression '${failing}' resulted in error: no such key: resourceAttributes`;

  test('must all hold, and one that is false decides despite earlier failures', () => {
    told.length = 0;
    expect(judge(path, 'true', 'request.user == "alice"')).toBe(true);
    expect(judge(path, failing, 'false')).toBe(false);
    expect(() => judge(path, failing, 'true')).toThrow(failure);
    expect(told).toEqual(['met', 'excluded', 'failed']);
  });

  test('that fail are reported together', () => {
    const other = `!(${failing})`;
    expect(() => judge(path, failing, other)).toThrow(
      `[${failure}, cel evaluation error: expression '${other}' resulted in error: no such key: resourceAttributes]`,
    );
  });

  test('share the cost limit of one call', () => {
    const hours = `[${Array.from({ length: 60 }, (_, at) => at).join(',')}]`;
    const costly = `${hours}.all(a, ${hours}.all(b, ${hours}.all(c, ${hours}.all(d, a + b + c + d >= 0))))`;
    expect(() => judge(path, costly)).toThrow('actual cost limit exceeded');
  });
});
