import { expect, test } from 'vitest';
import { managerName } from '../../src/apply/manager-name.js';

test.each<[string | undefined, string | undefined, string]>([
  ['given', 'kubectl/v1.30', 'given'],
  ['', 'kubectl/v1.30 (linux)', 'kubectl'],
  [undefined, 'no-slash agent', 'no-slash agent'],
  [undefined, 'tab\there\u200b/1', 'tabhere'],
  [undefined, '/1', 'unknown'],
  [undefined, undefined, 'unknown'],
  [undefined, 'é'.repeat(100), 'é'.repeat(64)],
])('the manager %j with user agent %j is named %s', (given, agent, name) => {
  expect(managerName(given, agent)).toBe(name);
});
