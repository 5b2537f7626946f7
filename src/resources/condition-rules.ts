import type { Condition } from '../api/conditions.js';
import { conditionReason, qualifiedName } from '../api/names.js';
import type { Steps } from '../api/steps.js';
import {
  child,
  duplicate,
  eachInvalid,
  index,
  invalid,
  notSupportedTypedString,
  required,
  tooLong,
  type Violation,
  validateEachInSteps,
} from '../api/violations.js';

const statuses = ['False', 'True', 'Unknown'];
const maxReason = 1024;
const maxMessage = 32 * 1024;

/** Validates a list of meta/v1 conditions; entries that are not objects count as empty. */
export function* conditionsViolations(
  conditions: readonly (Partial<Condition> | null)[] | null | undefined,
  path: string,
): Steps<readonly Violation[]> {
  const seen = new Set<string>();
  return yield* validateEachInSteps(conditions ?? [], (sent, at) => {
    const condition = sent ?? {};
    const { type = '' } = condition;
    const repeated = seen.has(type);
    seen.add(type);
    return [
      ...(repeated ? [duplicate(child(index(path, at), 'type'), type)] : []),
      ...conditionViolations(condition, index(path, at)),
    ];
  });
}

function conditionViolations(
  { type = '', status = '', observedGeneration = 0, lastTransitionTime, reason = '', message = '' }: Partial<Condition>,
  path: string,
): readonly Violation[] {
  const at = (member: string): string => child(path, member);
  return [
    ...eachInvalid(at('type'), type, qualifiedName(type)),
    ...(statuses.includes(status) ? [] : [notSupportedTypedString(at('status'), status, statuses)]),
    ...(observedGeneration < 0
      ? [invalid(at('observedGeneration'), observedGeneration, 'must be greater than or equal to zero')]
      : []),
    ...(lastTransitionTime ? [] : [required(at('lastTransitionTime'))]),
    ...(reason === '' ? [required(at('reason'))] : eachInvalid(at('reason'), reason, conditionReason(reason))),
    ...(Buffer.byteLength(reason) > maxReason ? [tooLong(at('reason'), maxReason)] : []),
    ...(Buffer.byteLength(message) > maxMessage ? [tooLong(at('message'), maxMessage)] : []),
  ];
}
