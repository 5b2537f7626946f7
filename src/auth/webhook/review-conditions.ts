import { aggregate } from '../../api/go-text.js';
import { membersValue } from '../../cel/environments/authentication.js';
import type { Program } from '../../cel/evaluator.js';
import { Failure } from '../../cel/values.js';
import type { Clock } from '../../runtime/clock.js';
import type { ReviewConditionMetrics } from '../authorization-metrics.js';
import type { AccessAttributes } from '../authorizer.js';
import { expressionSpec } from './access-review.js';

/** An expression over the spec of a SubjectAccessReview. */
export interface ReviewCondition {
  readonly text: string;
  readonly program: Program;
}

/**
 * Returns a function that says whether a request meets all match conditions (KEP-3221). If one condition is false, the
 * result is false, even if others fail. Otherwise it throws all evaluation errors, in the words of kube-apiserver.
 */
export function reviewConditions(
  conditions: readonly ReviewCondition[],
  { clock, metrics }: { readonly clock: Clock; readonly metrics?: ReviewConditionMetrics | undefined },
): (attributes: AccessAttributes) => boolean {
  return (attributes) => {
    const start = clock.monotonic();
    const ended = (outcome: Parameters<ReviewConditionMetrics>[0]): void =>
      metrics?.(outcome, clock.monotonic() - start);
    const request = membersValue(expressionSpec(attributes));
    const failures: string[] = [];
    for (const { text, program } of conditions) {
      const { value } = program.evaluate((name) => (name === 'request' ? request : undefined));
      if (value instanceof Failure)
        failures.push(`cel evaluation error: expression '${text}' resulted in error: ${value.message}`);
      else if (value !== true) {
        ended('excluded');
        return false;
      }
    }
    ended(failures.length > 0 ? 'failed' : 'met');
    if (failures.length > 0) throw new Error(aggregate(failures));
    return true;
  };
}
