/**
 * Aspect of the state of an object: `status.conditions[]` of meta/v1, and older forms that lack some of its members or
 * name them differently (CertificateSigningRequest adds `lastUpdateTime`). A list has at most one condition of each
 * type, except where a kind says otherwise.
 */
export interface Condition {
  readonly type: string;
  /** Status of the condition: `True`, `False` or `Unknown`. */
  readonly status?: ConditionStatus;
  /** Reason for the status, as one word in CamelCase. */
  readonly reason?: string;
  /** Human-readable details. */
  readonly message?: string;
  /** Time of the last change of the status, in RFC 3339. */
  readonly lastTransitionTime?: string | null;
  /** Time of the last update of the condition, in RFC 3339; only in CertificateSigningRequests. */
  readonly lastUpdateTime?: string | null;
  /** Generation of the object that the condition is based on. */
  readonly observedGeneration?: number;
}

/** Whether a condition holds; `Unknown` if that cannot be determined. */
export type ConditionStatus = 'True' | 'False' | 'Unknown' | (string & {});

/** An object with `status.conditions`. */
export interface Conditioned<C extends Condition = Condition> {
  readonly status?: { readonly conditions?: readonly C[] | null } | null | undefined;
}

/** Returns the first condition of a type; undefined if there is none. */
export const findCondition = <C extends Condition>(
  conditions: readonly C[] | null | undefined,
  type: string,
): C | undefined => conditions?.find((condition) => condition.type === type);

/** Whether there is a condition of this type with status True. One without a status counts as True, because old CSRs had none. */
export const isTrue = (conditions: readonly Condition[] | null | undefined, type: string): boolean => {
  const found = findCondition(conditions, type);
  return found !== undefined && (found.status ?? 'True') === 'True';
};

/** Like `isTrue`, for the conditions of an object; false if there is no object. */
export const hasCondition = (object: Conditioned | undefined, type: string): boolean =>
  isTrue(object?.status?.conditions, type);

/** A condition to be set. `setCondition` adds its transition time. */
export type Undated<C extends Condition> = Condition & Omit<C, 'lastTransitionTime'>;

/**
 * Returns the list with this condition: in the place of the one of the same type, else at the end. `lastTransitionTime` is
 * `now` (RFC 3339) unless the status stays as it was. Returns the same list if nothing changes.
 */
export function setCondition<C extends Condition>(
  conditions: C[] | null | undefined,
  newCondition: Undated<C>,
  now: string,
): C[];
export function setCondition<C extends Condition>(
  conditions: readonly C[] | null | undefined,
  newCondition: Undated<C>,
  now: string,
): readonly C[];
export function setCondition(
  conditions: readonly Condition[] | null | undefined,
  newCondition: Condition,
  now: string,
): readonly Condition[] {
  const list = conditions ?? [];
  const previous = findCondition(list, newCondition.type);
  if (previous === undefined)
    return [...list, { ...newCondition, lastTransitionTime: newCondition.lastTransitionTime ?? now }];
  const lastTransitionTime =
    previous.status === newCondition.status
      ? (previous.lastTransitionTime ?? now)
      : (newCondition.lastTransitionTime ?? now);
  const next = { ...newCondition, lastTransitionTime };
  if (sameCondition(previous, next)) return list;
  return list.map((condition) => (condition === previous ? next : condition));
}

/** Returns the list without conditions of this type; the same list if there are none. */
export function removeCondition<C extends Condition>(conditions: C[], type: string): C[];
export function removeCondition<C extends Condition>(conditions: readonly C[], type: string): readonly C[];
export function removeCondition(conditions: readonly Condition[], type: string): readonly Condition[] {
  return conditions.some((condition) => condition.type === type)
    ? conditions.filter((condition) => condition.type !== type)
    : conditions;
}

const members = [
  'type',
  'status',
  'reason',
  'message',
  'lastTransitionTime',
  'lastUpdateTime',
  'observedGeneration',
] as const satisfies readonly (keyof Condition)[];

/** Whether two conditions are equal. An absent text or time equals an empty one. */
const sameCondition = (a: Condition, b: Condition): boolean =>
  members.every((member) => (a[member] || undefined) === (b[member] || undefined));

/** Whether two lists hold the same conditions in the same order. */
export const sameConditions = (
  a: readonly Condition[] | null | undefined,
  b: readonly Condition[] | null | undefined,
): boolean => {
  const [left, right] = [a ?? [], b ?? []];
  return (
    left.length === right.length &&
    left.every((condition, at) => {
      const other = right[at];
      return other !== undefined && sameCondition(condition, other);
    })
  );
};
