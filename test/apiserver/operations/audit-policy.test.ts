import { describe, expect, test } from 'vitest';
import { readAuditPolicy, requirementOf } from '../../../src/apiserver/operations/audit-policy.js';
import { parseQuery, parseRequestInfo } from '../../../src/http/request-info.js';

const head = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy' };
const policyOf = (policy: object) => readAuditPolicy(JSON.stringify({ ...head, ...policy }));
const alice = { username: 'alice', groups: ['staff', 'system:authenticated'] };

/** Whether a rule matches a request of alice. */
async function matches(rule: object, request: string): Promise<boolean> {
  const [method = '', path = ''] = request.split(' ');
  const policy = await policyOf({ rules: [{ level: 'Metadata', ...rule }] });
  return requirementOf(policy, parseRequestInfo(method, path, parseQuery('')), alice) !== undefined;
}

describe('audit rules', () => {
  test.each([
    [{}, 'GET /version', true],
    [{ users: ['alice'] }, 'GET /version', true],
    [{ users: ['bob'] }, 'GET /version', false],
    [{ userGroups: ['admins', 'staff'] }, 'GET /version', true],
    [{ userGroups: ['admins'] }, 'GET /version', false],
    [{ verbs: ['list', 'watch'] }, 'GET /api/v1/secrets', true],
    [{ verbs: ['get'] }, 'GET /api/v1/secrets', false],
    [{ resources: [{ group: '' }] }, 'GET /api/v1/secrets', true],
    [{ resources: [{}] }, 'GET /api/v1/secrets', true],
    [{ resources: [{ group: '*' }] }, 'GET /apis/apps/v1/deployments', true],
    [{ resources: [{ group: '' }] }, 'GET /apis/apps/v1/deployments', false],
    [{ resources: [{ group: '', resources: ['secrets'] }] }, 'GET /api/v1/secrets', true],
    [{ resources: [{ group: '', resources: ['pods'] }] }, 'GET /api/v1/namespaces/a/pods/b/log', false],
    [{ resources: [{ group: '', resources: ['pods/log'] }] }, 'GET /api/v1/namespaces/a/pods/b/log', true],
    [{ resources: [{ group: '', resources: ['pods/log'] }] }, 'GET /api/v1/namespaces/a/pods/b', false],
    [{ resources: [{ group: '', resources: ['pods/*'] }] }, 'GET /api/v1/namespaces/a/pods/b', true],
    [{ resources: [{ group: '', resources: ['pods/*'] }] }, 'GET /api/v1/namespaces/a/pods/b/log', true],
    [{ resources: [{ group: '', resources: ['*/log'] }] }, 'GET /api/v1/namespaces/a/pods/b/log', true],
    [{ resources: [{ group: '', resources: ['*/log'] }] }, 'GET /api/v1/namespaces/a/pods/b', false],
    [{ resources: [{ group: '', resources: ['*'] }] }, 'GET /api/v1/namespaces/a/pods/b/log', true],
    [{ resources: [{ resources: ['pods'], resourceNames: ['b'] }] }, 'GET /api/v1/namespaces/a/pods/b', true],
    [{ resources: [{ resources: ['pods'], resourceNames: ['c'] }] }, 'GET /api/v1/namespaces/a/pods/b', false],
    [{ resources: [{ resources: ['pods'] }] }, 'GET /version', false],
    [{ namespaces: ['a'] }, 'GET /api/v1/namespaces/a/pods', true],
    [{ namespaces: ['b'] }, 'GET /api/v1/namespaces/a/pods', false],
    [{ namespaces: ['a'] }, 'GET /api/v1/pods', false],
    [{ namespaces: [''] }, 'GET /api/v1/pods', true],
    [{ nonResourceURLs: ['/healthz*'] }, 'GET /healthz/ping', true],
    [{ nonResourceURLs: ['*'] }, 'GET /anything', true],
    [{ nonResourceURLs: ['/version'] }, 'GET /version/', false],
    [{ nonResourceURLs: ['*'] }, 'GET /api/v1/pods', false],
  ])('with the rule %j, %s matches: %s', async (rule, request, expected) => {
    expect(await matches(rule, request)).toBe(expected);
  });

  test('are tried in order, and None records nothing', async () => {
    const policy = await policyOf({ rules: [{ level: 'None', users: ['alice'] }, { level: 'Request' }] });
    const info = parseRequestInfo('GET', '/version', parseQuery(''));
    expect(requirementOf(policy, info, alice)).toBeUndefined();
    expect(requirementOf(policy, info, { username: 'bob', groups: [] })?.level).toBe('Request');
    expect(requirementOf(policy, info, undefined)?.level).toBe('Request');
  });
});

test('omitStages are merged with those of the policy, and a rule may keep managed fields', async () => {
  const { rules } = await policyOf({
    omitStages: ['RequestReceived'],
    omitManagedFields: true,
    rules: [{ level: 'Metadata' }, { level: 'Metadata', omitStages: ['Panic'], omitManagedFields: false }],
  });
  expect(rules.map(({ omitStages, omitManagedFields }) => [[...omitStages], omitManagedFields])).toEqual([
    [['RequestReceived'], true],
    [['RequestReceived', 'Panic'], false],
  ]);
});

test.each<[unknown, string]>([
  [null, 'must be Policy of audit.k8s.io/v1, not nothing of nothing'],
  [{ ...head, kind: 'Polity', rules: [] }, 'must be Policy of audit.k8s.io/v1, not Polity of audit.k8s.io/v1'],
  [head, 'loaded illegal policy with 0 rules'],
  [{ ...head, rules: {} }, 'json: cannot unmarshal object into Go struct field Policy.rules of type []v1.PolicyRule'],
  [{ ...head, rules: [7] }, 'json: cannot unmarshal number into Go struct field Policy.rules of type v1.PolicyRule'],
  [{ ...head, rules: [{}] }, 'rules[0].level: Required value'],
  [{ ...head, rules: [{ level: 'All' }] }, 'rules[0].level: Unsupported value: "All"'],
  [{ ...head, rules: [{ level: 'None', user: ['a'] }] }, 'strict decoding error: unknown field "rules[0].user"'],
  [
    { ...head, rules: [{ level: 'None', users: [1] }] },
    'json: cannot unmarshal number into Go struct field PolicyRule.rules.users of type string',
  ],
  [
    { ...head, omitStages: ['End'], rules: [{ level: 'None' }] },
    'omitStages[0]: Invalid value: "End": allowed stages are',
  ],
  [
    { ...head, rules: [{ level: 'None', nonResourceURLs: ['version', '/a*b'] }] },
    'begin with a \'/\' character; rules[0].nonResourceURLs[1]: Invalid value: "/a*b": non-resource URL wildcards',
  ],
  [
    { ...head, rules: [{ level: 'None', nonResourceURLs: ['/a'], namespaces: ['b'] }] },
    'rules cannot apply to both regular resources and non-resource URLs',
  ],
  [
    { ...head, rules: [{ level: 'None', resources: [{ group: 'a/v1', resourceNames: ['x'] }] }] },
    'using resourceNames requires at least one resource',
  ],
  [JSON.parse(`{"apiVersion":"audit.k8s.io/v1","kind":"Policy","__proto__":1,"rules":[]}`), '__proto__'],
])('%j is refused', async (policy, why) => {
  await expect(readAuditPolicy(JSON.stringify(policy))).rejects.toThrow(why);
});

test('a repeated field and a second document are refused', async () => {
  const policy = 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None}]\n';
  await expect(readAuditPolicy(`${policy}rules: []\n`)).rejects.toThrow('key "rules" already set in map');
  await expect(readAuditPolicy(`${policy}---\na: 1\n`)).rejects.toThrow('must be one document: line 5');
});
