import type { Condition } from '../../api/conditions.js';
import {
  type CertificateSigningRequest,
  type CertificateSigningRequestStatus,
  requestDecisions,
} from '../../api/kinds/certificate-signing-request.js';
import { timestamp } from '../../api/time.js';
import {
  duplicate,
  forbiddenField,
  index,
  invalid,
  notSupportedTypedString,
  required,
  type Violation,
  validateEach,
} from '../../api/violations.js';

/** Conditions of certificate signing requests: their times, their transitions and their contents. */

const path = 'status.conditions';

/** Returns the conditions of a request; entries that are not objects count as empty. */
export const conditionsOf = (csr: CertificateSigningRequest | undefined): readonly Partial<Condition>[] =>
  (csr?.status?.conditions ?? []).map((condition) => condition ?? {});

const typeOf = ({ type }: Partial<Condition>): string => type ?? '';
const ofType = (conditions: readonly Partial<Condition>[], type: string): readonly Partial<Condition>[] =>
  conditions.filter((condition) => typeOf(condition) === type);

/** Go's zero time. */
const zeroTime = '0001-01-01T00:00:00Z';
const isSet = (time: string | null | undefined): time is string => !!time && time !== zeroTime;

/**
 * Returns the status with the times of its conditions set: an absent lastUpdateTime becomes now, an absent
 * lastTransitionTime that of a previous condition of the same type and status, else now.
 */
export function withTimes(
  status: CertificateSigningRequestStatus,
  previous: CertificateSigningRequest,
  now: number,
): CertificateSigningRequestStatus {
  if (!status.conditions?.length) return status;
  const present = timestamp(now);
  const identity = (one: Partial<Condition>): string => `${typeOf(one)}\u0000${one.status ?? ''}`;
  const times = new Map<string, string | undefined>();
  for (const one of conditionsOf(previous)) {
    if (isSet(one.lastTransitionTime) && !times.has(identity(one))) times.set(identity(one), one.lastTransitionTime);
  }
  const conditions = status.conditions.map((sent) => {
    const condition: Partial<Condition> = sent ?? {};
    const since = times.get(identity(condition));
    return {
      ...condition,
      type: typeOf(condition),
      lastUpdateTime: isSet(condition.lastUpdateTime) ? condition.lastUpdateTime : present,
      lastTransitionTime: isSet(condition.lastTransitionTime) ? condition.lastTransitionTime : (since ?? present),
    };
  });
  return { ...status, conditions };
}

/** Returns the status with its Approved and Denied conditions as they were, for each type whose count is unchanged. */
export function withPreviousDecisions(
  status: CertificateSigningRequestStatus,
  previous: CertificateSigningRequest,
): CertificateSigningRequestStatus {
  if (!status.conditions?.length) return status;
  const before = previous.status?.conditions ?? [];
  const conditions = (['Approved', 'Denied'] as const).reduce((list, type) => {
    const old = before.filter((condition) => condition?.type === type);
    const now = list.filter((condition) => condition?.type === type);
    if (old.length !== now.length) return list;
    const earlier = old.values();
    return list.map((condition) => (condition?.type === type ? (earlier.next().value ?? condition) : condition));
  }, status.conditions);
  return { ...status, conditions };
}

/** Rules that the stored request violates already, so that an update may violate them too. */
export interface ToleratedConditions {
  readonly emptyTypes: boolean;
  readonly duplicateTypes: boolean;
  readonly bothDecisions: boolean;
}

export function toleratedConditions(previous: CertificateSigningRequest | undefined): ToleratedConditions {
  const types = conditionsOf(previous).map(typeOf);
  return {
    emptyTypes: types.includes(''),
    duplicateTypes: new Set(types).size < types.length,
    bothDecisions: types.includes('Approved') && types.includes('Denied'),
  };
}

const anyStatus = ['False', 'True', 'Unknown'] as const;

/** Validates each condition, and that Approved and Denied exclude each other. */
export function conditionViolations(
  csr: CertificateSigningRequest,
  tolerated: ToleratedConditions,
): readonly Violation[] {
  const seen = new Set<string>();
  return validateEach(conditionsOf(csr), (condition, at) => {
    const type = typeOf(condition);
    const repeated = seen.has(type);
    const other = type === 'Approved' ? 'Denied' : type === 'Denied' ? 'Approved' : undefined;
    const excluded = other !== undefined && seen.has(other);
    seen.add(type);
    return [
      ...(type === '' && !tolerated.emptyTypes ? [required(`${index(path, at)}.type`)] : []),
      ...statusViolations(condition, `${index(path, at)}.status`),
      ...(excluded && !tolerated.bothDecisions
        ? [invalid(path, type, 'Approved and Denied conditions are mutually exclusive')]
        : []),
      ...(repeated && !tolerated.duplicateTypes ? [duplicate(`${index(path, at)}.type`, type)] : []),
    ];
  });
}

function statusViolations(condition: Partial<Condition>, field: string): readonly Violation[] {
  const status = condition.status ?? '';
  const decides = requestDecisions.some((type) => type === condition.type);
  const allowed: readonly string[] = decides ? ['True'] : anyStatus;
  if (status === '') return [required(field)];
  return allowed.includes(status) ? [] : [notSupportedTypedString(field, status, allowed)];
}

/** Checks that decisions are not removed, and that Approved and Denied are only added through `/approval`. */
export function transitionViolations(
  next: CertificateSigningRequest,
  previous: CertificateSigningRequest,
  { mayDecide }: { readonly mayDecide: boolean },
): readonly Violation[] {
  const [before, after] = [conditionsOf(previous), conditionsOf(next)];
  const change = (type: string): number => ofType(after, type).length - ofType(before, type).length;
  const removed = requestDecisions
    .filter((type) => change(type) < 0)
    .map((type) => forbiddenField(path, `updates may not remove a condition of type "${type}"`));
  const added = (mayDecide ? [] : (['Approved', 'Denied'] as const))
    .filter((type) => change(type) > 0)
    .map((type) => forbiddenField(path, `updates may not add a condition of type "${type}"`));
  return [...removed, ...added];
}
