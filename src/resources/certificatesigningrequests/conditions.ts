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

/** Conditions of requests: their times, which of them may come and go, and what they may hold. */

const path = 'status.conditions';

/** Entries that are no object count as empty ones. */
export const conditionsOf = (csr: CertificateSigningRequest | undefined): readonly Partial<Condition>[] =>
  (csr?.status?.conditions ?? []).map((condition) => condition ?? {});

const typeOf = ({ type }: Partial<Condition>): string => type ?? '';
const ofType = (conditions: readonly Partial<Condition>[], type: string): readonly Partial<Condition>[] =>
  conditions.filter((condition) => typeOf(condition) === type);

/** How Go writes the time that is none. */
const zeroTime = '0001-01-01T00:00:00Z';
const isSet = (time: string | null | undefined): time is string => !!time && time !== zeroTime;

/**
 * The status with the times of its conditions filled: an absent lastUpdateTime becomes now, an absent
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
  const conditions = status.conditions.map((given) => {
    const condition: Partial<Condition> = given ?? {};
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

/** The status with Approved and Denied as they were, wherever there are as many of them as before. */
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
    const kept = old.values();
    return list.map((condition) => (condition?.type === type ? (kept.next().value ?? condition) : condition));
  }, status.conditions);
  return { ...status, conditions };
}

/** What a stored request already breaks, and therefore may go on breaking. */
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

/** Rules of each condition by itself, and of types that exclude each other. */
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

/** Decisions stay; only `/approval` may add Approved and Denied. */
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
