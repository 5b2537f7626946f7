import { firstNotBefore } from './binary-search.js';
import { badRequest } from './errors.js';
import { quote } from './go-text.js';
import {
  checkedRequirement,
  isMet,
  type LabelOperator,
  type LabelRequirement,
  type Labels,
  operatorTests,
  printRequirement,
  toInt64,
} from './label-requirements.js';
import { parseRequirements } from './label-selector-text.js';
import { labelValue, qualifiedName } from './names.js';
import { member } from './object.js';
import { once } from './once.js';
import { checkLength } from './selector-length.js';
import { runSync, type Steps } from './steps.js';
import { sortedNames } from './text-order.js';
import {
  child,
  eachInvalid,
  forbiddenField,
  index,
  invalidTypedString,
  required,
  type Violation,
  validateEachInSteps,
} from './violations.js';

/** Parses, compiles and validates label selectors. Error texts are those of kube-apiserver. */

/** A selector whose requirements must all be met. The requirements are sorted by key. */
export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[];
  /** Whether the selector selects everything. */
  readonly empty: boolean;
  /** The selector in its canonical text form; empty for a selector of everything or nothing. */
  readonly text: string;
  matches(labels: Labels | undefined): boolean;
}

/** Selects objects by their labels (LabelSelector of meta/v1, as in objects); all of its requirements must be met. */
export interface LabelSelectorSpec {
  /** Labels that must have exactly these values. */
  readonly matchLabels?: Labels;
  /** Requirements that must all be met. */
  readonly matchExpressions?: readonly LabelExpression[];
}
/** Requirement on the value of a label (LabelSelectorRequirement of meta/v1). */
export interface LabelExpression {
  /** Label key that the requirement applies to. */
  readonly key?: string;
  /** Operator: `In`, `NotIn`, `Exists` or `DoesNotExist`. */
  readonly operator?: string;
  /** Values for `In` and `NotIn`; empty for `Exists` and `DoesNotExist`. */
  readonly values?: readonly string[];
}

/** Parses a label selector as it is written in a query parameter. Throws BadRequest. */
export function parseLabelSelector(text: string): LabelSelector {
  checkLength(text);
  return selectorOf(parseRequirements(text));
}

/**
 * Compiles the label selector of an object; an absent selector selects nothing, an empty one everything. Throws
 * BadRequest.
 */
export const labelSelectorFrom = (spec: LabelSelectorSpec | undefined): LabelSelector =>
  runSync(labelSelectorInSteps(spec));

/** Like `labelSelectorFrom`, in steps for selectors of any size. */
export function* labelSelectorInSteps(spec: LabelSelectorSpec | undefined): Steps<LabelSelector> {
  if (spec === undefined) return nothing;
  const requirements: LabelRequirement[] = [];
  const { matchLabels = {} } = spec;
  const keys = sortedNames(matchLabels);
  yield;
  for (const key of keys) {
    requirements.push(checkedRequirement(key, '=', [matchLabels[key] ?? '']));
    yield;
  }
  for (const { key = '', operator = '', values = [] } of spec.matchExpressions ?? []) {
    const known = member(objectOperators, operator);
    if (known === undefined) throw badRequest(`${quote(operator)} is not a valid label selector operator`);
    requirements.push(checkedRequirement(key, known, values));
    yield;
  }
  return selectorOf(requirements);
}

/** Returns the violations in keys and values of labels, of an object or a selector. */
export function* validateLabels(labels: Labels | undefined, path: string): Steps<readonly Violation[]> {
  if (labels === undefined) return [];
  return yield* validateEachInSteps(Object.keys(labels), (key) => {
    const value = labels[key] ?? '';
    return [...eachInvalid(path, key, qualifiedName(key)), ...eachInvalid(path, value, labelValue(value))];
  });
}

/** Returns the violations in the label selector in a field of an object. */
export function* validateLabelSelector(
  spec: LabelSelectorSpec | null | undefined,
  path: string,
  options: { readonly allowInvalidValues?: boolean } = {},
): Steps<readonly Violation[]> {
  if (spec === undefined || spec === null) return [];
  const labels = yield* validateLabels(spec.matchLabels, child(path, 'matchLabels'));
  const expressionsAt = child(path, 'matchExpressions');
  const check = function* (
    { key = '', operator = '', values = [] }: LabelExpression,
    at: number,
  ): Steps<readonly Violation[]> {
    const base = index(expressionsAt, at);
    const valuesAt = child(base, 'values');
    return [
      ...validateOperator(operator, values, base),
      ...eachInvalid(child(base, 'key'), key, qualifiedName(key)),
      ...(options.allowInvalidValues
        ? []
        : yield* validateEachInSteps(values, (value, i) => eachInvalid(index(valuesAt, i), value, labelValue(value)))),
    ];
  };
  return [...labels, ...(yield* validateEachInSteps(spec.matchExpressions ?? [], check))];
}

function validateOperator(operator: string, values: readonly string[], path: string): readonly Violation[] {
  if (operator === 'In' || operator === 'NotIn') {
    return values.length > 0
      ? []
      : [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
  }
  if (operator === 'Exists' || operator === 'DoesNotExist') {
    return values.length === 0
      ? []
      : [forbiddenField(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
  }
  return [invalidTypedString(`${path}.operator`, operator, 'not a valid selector operator')];
}

/** Selects every object. */
const everything: LabelSelector = { requirements: [], empty: true, text: '', matches: () => true };
/** Selects no object. */
const nothing: LabelSelector = { requirements: [], empty: false, text: '', matches: () => false };

const objectOperators: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
};
export const selectorOperators: readonly string[] = Object.keys(objectOperators);

function selectorOf(unsorted: readonly LabelRequirement[]): LabelSelector {
  if (unsorted.length === 0) return everything;
  const requirements = [...unsorted].sort(byKey);
  // Made when first needed: a watch keeps its selector, and most selectors never need it.
  const lookedUp = once(() => matchesAll(requirements));
  return {
    requirements,
    empty: false,
    get text() {
      return requirements.map(printRequirement).join(',');
    },
    matches:
      requirements.length > few
        ? (labels) => lookedUp()(labels)
        : (labels = {}) => requirements.every((one) => isMet(one, labels)),
  };
}

/** Valid keys have no surrogates, so UTF-16 order is the order of code points. */
const byKey = (a: LabelRequirement, b: LabelRequirement): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

/** The number of requirements beyond which they are looked up by the labels of an object. */
const few = 16;

/**
 * Returns a function that matches labels, in a time that depends on the number of keys and labels but not on the number
 * of requirements for a key. A watch keeps its matcher and can have thousands of requirements, so the matcher keeps as
 * little as possible of each.
 */
function matchesAll(requirements: readonly LabelRequirement[]): LabelSelector['matches'] {
  const requiredKeys = new Set<string>();
  /** The combined requirements by key, for keys with several requirements. */
  const demands = new Map<string, Demand>();
  for (const [at, one] of requirements.entries()) {
    const { key } = one;
    if (requiresLabel(one)) requiredKeys.add(key);
    if (key !== requirements[at - 1]?.key && key !== requirements[at + 1]?.key) continue;
    const demand = demands.get(key) ?? new Demand();
    demands.set(key, demand);
    demand.add(one);
  }
  const required = [...requiredKeys];
  const allows = (key: string, value: string): boolean => {
    const demand = demands.get(key);
    if (demand !== undefined) return demand.allows(value);
    const only = requirements[firstNotBefore(0, requirements.length, (at) => (requirements[at]?.key ?? '') < key)];
    return only?.key !== key || operatorTests[only.operator](value, only.values);
  };
  return (labels = {}) =>
    required.every((key) => Object.hasOwn(labels, key)) &&
    Object.keys(labels).every((key) => allows(key, labels[key] ?? ''));
}

/** Whether the requirement can only be met by an object that has the label. */
const requiresLabel = ({ operator }: LabelRequirement): boolean => !operatorTests[operator](undefined, []);

/** The combined requirements on one key. */
class Demand {
  /** Whether the label must be absent. */
  #refusesAny = false;
  /** The values of which the label must have one. */
  #accepted: ReadonlySet<string> | undefined;
  #refused: Set<string> | undefined;
  #above: bigint | undefined;
  #below: bigint | undefined;

  add({ operator, values }: LabelRequirement): void {
    if (operator === '!') this.#refusesAny = true;
    else if (operator === '>') this.#above = furthest(this.#above, values, (a, b) => a > b);
    else if (operator === '<') this.#below = furthest(this.#below, values, (a, b) => a < b);
    else if (operator === 'notin' || operator === '!=') {
      this.#refused ??= new Set();
      for (const value of values) this.#refused.add(value);
    } else if (operator !== 'exists') {
      this.#accepted = new Set(values.filter((value) => this.#accepted?.has(value) !== false));
    }
  }

  /** Whether the label may have this value. */
  allows(value: string): boolean {
    if (this.#refusesAny || this.#refused?.has(value) || this.#accepted?.has(value) === false) return false;
    if (this.#above === undefined && this.#below === undefined) return true;
    const number = toInt64(value);
    return (
      number !== undefined &&
      (this.#above === undefined || number > this.#above) &&
      (this.#below === undefined || number < this.#below)
    );
  }
}

/** Returns the tighter one of two bounds. A requirement with a bound has a number for it. */
function furthest(
  bound: bigint | undefined,
  [text]: readonly string[],
  isFurther: (a: bigint, b: bigint) => boolean,
): bigint {
  const number = toInt64(text) ?? 0n;
  return bound === undefined || isFurther(number, bound) ? number : bound;
}
