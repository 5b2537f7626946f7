import { expect, test } from 'vitest';
import { clusterRoles } from '../../../src/resources/clusterroles/definition.js';
import { write } from '../write.js';

const path = 'aggregationRule.clusterRoleSelectors';
const none = [`${path}: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil`];

test.each([
  [undefined, []],
  [null, []],
  [{}, none],
  [{ clusterRoleSelectors: [] }, none],
  [{ clusterRoleSelectors: [{}, { matchLabels: { a: 'b' } }] }, []],
  [
    { clusterRoleSelectors: [{}, { matchExpressions: [{ key: 'a', operator: 'Near', values: ['b'] }] }] },
    [
      `${path}[1].matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator`,
      `${path}[1]: Invalid value: null: invalid label selector.`,
    ],
  ],
])('aggregationRule %j', (aggregationRule, violations) => {
  expect(write(clusterRoles, { aggregationRule }).violations).toEqual(violations);
});
