import { expect, test } from 'vitest';
import { hookMetrics } from '../../../src/admission/webhooks/metrics.js';
import { openMetrics } from '../../../src/runtime/metrics.js';

test.each<[string, 'admit' | 'validating', { failures: number; excluded: boolean }, Record<string, number>]>([
  ['that all hold', 'validating', { failures: 0, excluded: false }, {}],
  [
    'one of which does not hold',
    'validating',
    { failures: 0, excluded: true },
    { 'exclusions_total of validate': 1, 'evaluation_seconds_count of validating': 1 },
  ],
  [
    'one of which does not hold, before a change',
    'admit',
    { failures: 0, excluded: true },
    { 'exclusions_total of admit': 1, 'evaluation_seconds_count of admit': 1 },
  ],
  [
    'that cannot be evaluated',
    'validating',
    { failures: 2, excluded: false },
    { 'evaluation_errors_total of validating': 2, 'evaluation_seconds_count of validating': 1 },
  ],
])('conditions %s are counted as in Kubernetes', async (_, sort, judgement, counts) => {
  const metrics = openMetrics();
  hookMetrics(metrics).judged({ webhook: 'w', sort, operation: 'CREATE', seconds: 0.1, ...judgement });
  const { text } = await metrics.expose();
  const found = text.matchAll(
    /^apiserver_admission_match_condition_(\w+(?:_total|_count))\{name="w",kind="webhook",type="(\w+)",operation="CREATE"\} (\d+)$/gm,
  );
  expect(Object.fromEntries([...found].map(([, name, type, value]) => [`${name} of ${type}`, Number(value)]))).toEqual(
    counts,
  );
});
