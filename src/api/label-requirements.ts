import { firstNotBefore } from './binary-search.js';
import { badRequest } from './errors.js';
import { maxInt64, minInt64 } from './go-integers.js';
import { aggregate } from './go-text.js';
import { labelValue, qualifiedName } from './names.js';
import { member } from './object.js';
import { sortTexts } from './text-order.js';
import { invalid, type Violation } from './violations.js';

/** The requirements that label selectors are made of. Texts are those of kube-apiserver. */

/** Label values by key, as in `metadata.labels`. */
export type Labels = Readonly<Record<string, string>>;

/**
 * Operator of a requirement in the text form of a selector. `!` requires that the label is absent; `exists` (a bare
 * key) that it is present.
 */
export type LabelOperator = 'in' | 'notin' | '=' | '==' | '!=' | '>' | '<' | 'exists' | '!';

/** Requirement on the value of a label. The values are sorted and without duplicates. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

/** Returns the values sorted and without duplicates. */
export const sortedSet = (values: Iterable<string>): readonly string[] => sortTexts([...new Set(values)]);

/** Returns the index of the first of the sorted texts that is not before `text`. */
const firstAtLeast = (texts: readonly string[], text: string): number =>
  firstNotBefore(0, texts.length, (at) => (texts[at] ?? '') < text);

/** For each operator, whether the value of a label meets it with these values, which are sorted. */
export const operatorTests: Readonly<
  Record<LabelOperator, (value: string | undefined, values: readonly string[]) => boolean>
> = {
  in: (value, values) => value !== undefined && values[firstAtLeast(values, value)] === value,
  notin: (value, values) => value === undefined || values[firstAtLeast(values, value)] !== value,
  '=': (value, [only = '']) => value === only,
  '==': (value, [only = '']) => value === only,
  '!=': (value, [only = '']) => value !== only,
  '>': (value, [only]) => {
    const [number, bound] = [toInt64(value), toInt64(only)];
    return number !== undefined && bound !== undefined && number > bound;
  },
  '<': (value, [only]) => {
    const [number, bound] = [toInt64(value), toInt64(only)];
    return number !== undefined && bound !== undefined && number < bound;
  },
  exists: (value) => value !== undefined,
  '!': (value) => value === undefined,
};

/** Whether an object with these labels meets a requirement. */
export const isMet = ({ key, operator, values }: LabelRequirement, labels: Labels): boolean =>
  operatorTests[operator](member(labels, key), values);

/** Parses a 64-bit integer as Go does; undefined for any other text. */
export function toInt64(text: string | undefined): bigint | undefined {
  const [, sign, digits] = /^([+-]?)0*(\d{1,19})$/.exec(text ?? '') ?? [];
  if (digits === undefined) return undefined;
  const number = BigInt(`${sign === '-' ? '-' : ''}${digits}`);
  return number >= minInt64 && number <= maxInt64 ? number : undefined;
}

/** Formats a requirement as in the text of a selector. */
export function printRequirement({ key, operator, values }: LabelRequirement): string {
  if (operator === 'exists') return key;
  if (operator === '!') return `!${key}`;
  if (operator === 'in' || operator === 'notin') return `${key} ${operator} (${values.join(',')})`;
  return `${key}${operator}${values.join(',')}`;
}

/** Validates a requirement and returns it. Throws BadRequest with all errors, joined as in Kubernetes. */
export function checkedRequirement(
  key: string,
  operator: LabelOperator,
  values: readonly string[],
  refuse: (message: string) => Error = badRequest,
): LabelRequirement {
  const wrongKey = keyComplaints(key, 'key');
  const wrongCount = countComplaints(operator, values);
  if (wrongKey.length + wrongCount.length > 0 || values.some((value) => labelValue(value).length > 0)) {
    throw refuse(aggregate([...wrongKey, ...wrongCount, ...values.flatMap(valueComplaints(key))]));
  }
  return { key, operator, values: values.length < 2 ? values : sortedSet(values) };
}

const valueComplaints =
  (key: string) =>
  (value: string, at: number): readonly string[] => {
    const wrong = labelValue(value);
    return wrong.length === 0 ? none : [line(invalid(`values[${at}][${key}]`, value, wrong.join('; ')))];
  };

const none: readonly string[] = [];

const line = ({ field, body }: Violation): string => `${field}: ${body}`;

/** Returns Kubernetes' errors for a key. */
export const keyComplaints = (key: string, field: string): readonly string[] => {
  const wrong = qualifiedName(key);
  return wrong.length === 0 ? none : [line(invalid(field, key, wrong.join('; ')))];
};

function countComplaints(operator: LabelOperator, values: readonly string[]): readonly string[] {
  const shown = values.length === 0 ? null : values;
  if (operator === 'in' || operator === 'notin') {
    return values.length === 0
      ? [line(invalid('values', shown, "for 'in', 'notin' operators, values set can't be empty"))]
      : none;
  }
  if (operator === 'exists' || operator === '!') {
    return values.length > 0
      ? [line(invalid('values', shown, 'values set must be empty for exists and does not exist'))]
      : none;
  }
  if (operator !== '>' && operator !== '<') return none;
  return values.flatMap((value, at) =>
    toInt64(value) === undefined
      ? [line(invalid(`values[${at}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer"))]
      : [],
  );
}
