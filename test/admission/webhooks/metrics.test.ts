import { expect, test } from 'vitest';
import { conditionMetrics } from '../../../src/admission/condition-metrics.js';
import { webhookMetrics } from '../../../src/admission/webhooks/metrics.js';
import { openMetrics } from '../../../src/runtime/metrics.js';

test.each([
  ['validating', 'validate'],
  ['admit', 'admit'],
] as const)('a webhook of type %s that conditions exclude is counted as %s', async (type, exclusionType) => {
  const metrics = openMetrics();
  const { conditionsEvaluated } = webhookMetrics(metrics, conditionMetrics(metrics));
  const judgement = { webhook: 'w', type, operation: 'CREATE', seconds: 0.1 } as const;
  conditionsEvaluated({ ...judgement, verdict: { holds: false, errors: 1 }, excluded: true });
  conditionsEvaluated({ ...judgement, verdict: { holds: true, errors: 0 }, excluded: false });
  const { text } = await metrics.expose();
  const labels = (of: string): string => `{name="w",kind="webhook",type="${of}",operation="CREATE"} 1\n`;
  expect(text).toContain(`apiserver_admission_match_condition_exclusions_total${labels(exclusionType)}`);
  expect(text).toContain(`apiserver_admission_match_condition_evaluation_seconds_count${labels(type)}`);
  expect(text).toContain(`apiserver_admission_match_condition_evaluation_errors_total${labels(type)}`);
});

test('a call is counted by its code, and a rejected call as rejected', async () => {
  const metrics = openMetrics();
  const { called } = webhookMetrics(metrics, conditionMetrics(metrics));
  const call = { webhook: 'w', type: 'validating', operation: 'CREATE', seconds: 0.1 } as const;
  called({ ...call, code: 200, rejection: undefined });
  called({ ...call, code: 700, rejection: 'calling_webhook_error' });
  const { text } = await metrics.expose();
  const labels = 'name="w",type="validating",operation="CREATE"';
  for (const [code, rejected] of [
    ['200', 'false'],
    ['600', 'true'],
  ]) {
    expect(text).toContain(
      `apiserver_admission_webhook_request_total{${labels},code="${code}",rejected="${rejected}"} 1\n`,
    );
    expect(text).toContain(
      `apiserver_admission_webhook_admission_duration_seconds_count{${labels},rejected="${rejected}"} 1\n`,
    );
  }
  expect(text).toContain(
    `apiserver_admission_webhook_rejection_count{${labels},error_type="calling_webhook_error",rejection_code="600"} 1\n`,
  );
});
