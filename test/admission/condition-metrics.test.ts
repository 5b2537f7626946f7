import { expect, test } from 'vitest';
import { conditionMetrics } from '../../src/admission/condition-metrics.js';
import { conditionsVerdict, type EvaluationResult } from '../../src/admission/expression-list.js';
import { openMetrics } from '../../src/runtime/metrics.js';

const holds: EvaluationResult = { value: true, seconds: 0 };
const not: EvaluationResult = { value: false, seconds: 0 };
const failed: EvaluationResult = { error: 'no such key', seconds: 0 };

test.each<[string, readonly EvaluationResult[] | undefined, Record<string, number>]>([
  ['that all hold', [holds, holds], {}],
  ['one of which does not hold', [holds, not], { seconds_count: 1 }],
  ['one of which does not hold, after one that fails', [failed, not, failed], { errors_total: 1, seconds_count: 1 }],
  ['that fail to evaluate', [failed, holds, failed], { errors_total: 2, seconds_count: 1 }],
  ['that exceed the cost limit', undefined, { seconds_count: 1 }],
])('conditions %s are counted as in Kubernetes', async (_, results, counts) => {
  const metrics = openMetrics();
  const of = { name: 'p', kind: 'policy', type: 'validate', operation: 'UPDATE', seconds: 0.1 } as const;
  conditionMetrics(metrics)({ ...of, verdict: conditionsVerdict(results) });
  const { text } = await metrics.expose();
  const found = text.matchAll(
    /^apiserver_admission_match_condition_evaluation_(errors_total|seconds_count)\{name="p",kind="policy",type="validate",operation="UPDATE"\} (\d+)$/gm,
  );
  expect(Object.fromEntries([...found].map(([, name, value]) => [name, Number(value)]))).toEqual(counts);
});
