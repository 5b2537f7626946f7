import type { Condition } from '../../api/conditions.js';
import {
  type PodCertificateRequest,
  type PodCertificateRequestStatus,
  podCertificateEnding,
  podCertificateEndings,
  sameOutcome,
} from '../../api/kinds/pod-certificate-request.js';
import type { Steps } from '../../api/steps.js';
import {
  invalid,
  invalidWithoutValue,
  notSupported,
  notSupportedTypedString,
  type Violation,
  validateEachInSteps,
} from '../../api/violations.js';
import { conditionsViolations } from '../condition-rules.js';
import { issuedViolations } from './issued-rules.js';

/** Validation of `status`: a request is issued, denied or failed once, and stays so. */

const path = 'status.conditions';

/** Validates a status update. `now` is in milliseconds. */
export function* statusViolations(
  next: PodCertificateRequest,
  previous: PodCertificateRequest,
  now: number,
): Steps<readonly Violation[]> {
  const { status = {} } = next;
  const wrong = [...(yield* endingViolations(status)), ...(yield* conditionsViolations(status.conditions, path))];
  if (wrong.length > 0) return wrong;
  const unlike = (other: PodCertificateRequestStatus | undefined, message: string): readonly Violation[] =>
    sameOutcome(status, other) ? [] : [invalidWithoutValue('status', message)];
  if (podCertificateEnding(previous) !== undefined) {
    return unlike(previous.status, 'immutable after PodCertificateRequest is issued, denied, or failed');
  }
  const ending = podCertificateEnding(next);
  if (ending === undefined) {
    return unlike(previous.status, 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"');
  }
  if (ending === 'Issued') return yield* issuedViolations(status, previous.spec, now);
  const { conditions = [] } = status;
  return unlike(
    { conditions },
    'non-condition status fields must be empty when denying or failing the PodCertificateRequest',
  );
}

/** Checks that there is at most one condition, that its type is known and that it is true. */
function* endingViolations({ conditions }: PodCertificateRequestStatus): Steps<readonly Violation[]> {
  let known = 0;
  return yield* validateEachInSteps<Partial<Condition> | null>(conditions ?? [], (condition, at) => {
    const { type = '', status = '' } = condition ?? {};
    const place = `${path}.[${at}]`;
    if (!podCertificateEndings.some((ending) => ending === type)) {
      return [notSupported(`${place}.type`, type, podCertificateEndings)];
    }
    known += 1;
    return [
      ...(known > 1
        ? [
            invalid(
              `${place}.type`,
              type,
              'There may be at most one condition with type "Issued", "Denied", or "Failed"',
            ),
          ]
        : []),
      ...(status === 'True' ? [] : [notSupportedTypedString(`${place}.status`, status, ['True'])]),
    ];
  });
}
