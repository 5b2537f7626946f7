import { firstNotBefore } from './binary-search.js';
import { badRequest } from './errors.js';
import { aggregate, quote } from './go-text.js';
import { labelValue, qualifiedName } from './names.js';
import { checkLength } from './selector-length.js';
import { atOnce, type Steps } from './steps.js';
import { compareText, sortedNames, sortTexts } from './text-order.js';
import {
  child,
  eachInvalid,
  forbiddenField,
  index,
  invalid,
  invalidWord,
  ofEachInSteps,
  required,
  type Violation,
} from './violations.js';

/**
 * Label selectors: parse, match, print. Grammar and error texts are those of kube-apiserver;
 * texts of any length and content are parsed in linear time.
 */

/** Values by keys, as in `metadata.labels`. */
export type Labels = Readonly<Record<string, string>>;

/**
 * How a requirement is written in the text of a selector; `!` stands for the absence of the label, `exists` for nothing but its
 * name.
 */
export type LabelOperator = 'in' | 'notin' | '=' | '==' | '!=' | '>' | '<' | 'exists' | '!';

/** One condition on one label. `values` are sorted and without repeats. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

/** All requirements must hold. Sorted by key. */
export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[];
  /** True if it selects everything. */
  readonly empty: boolean;
  /** In canonical form; empty for one that selects everything or nothing. */
  readonly text: string;
  matches(labels: Labels | undefined): boolean;
}

/** The `LabelSelector` message of meta/v1, as it stands in objects. */
export interface LabelSelectorSpec {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly LabelExpression[];
}
/** One requirement of a selector in an object. `operator` is In, NotIn, Exists or DoesNotExist; the latter two take no values. */
export interface LabelExpression {
  readonly key?: string;
  readonly operator?: string;
  readonly values?: readonly string[];
}

const sortedSet = (values: Iterable<string>): readonly string[] => sortTexts([...new Set(values)]);

/** Reads the `labelSelector` query text. Throws BadRequest. */
export function parseLabelSelector(text: string): LabelSelector {
  checkLength(text);
  return selectorOf(parseRequirements(scan(text)));
}

/** Turns a selector object into a selector; an absent one selects nothing, an empty one everything. Throws BadRequest. */
export const labelSelectorFrom = (spec: LabelSelectorSpec | undefined): LabelSelector =>
  atOnce(labelSelectorInSteps(spec));

/** The same for selectors of any size. */
export function* labelSelectorInSteps(spec: LabelSelectorSpec | undefined): Steps<LabelSelector> {
  if (spec === undefined) return nothing;
  const requirements: LabelRequirement[] = [];
  const { matchLabels = {} } = spec;
  const keys = sortedNames(matchLabels);
  yield;
  for (const key of keys) {
    requirements.push(requirement(key, '=', [matchLabels[key] ?? '']));
    yield;
  }
  for (const { key = '', operator = '', values = [] } of spec.matchExpressions ?? []) {
    const known = Object.hasOwn(objectOperators, operator) ? objectOperators[operator] : undefined;
    if (known === undefined) throw badRequest(`${quote(operator)} is not a valid label selector operator`);
    requirements.push(requirement(key, known, values));
    yield;
  }
  return selectorOf(requirements);
}

/** What is wrong with keys and values of labels, an object's or a selector's. */
export function* validateLabels(labels: Labels | undefined, path: string): Steps<readonly Violation[]> {
  if (labels === undefined) return [];
  return yield* ofEachInSteps(Object.keys(labels), (key) => {
    const value = labels[key] ?? '';
    return [...eachInvalid(path, key, qualifiedName(key)), ...eachInvalid(path, value, labelValue(value))];
  });
}

/** What is wrong with a selector object in an object's field. */
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
        : yield* ofEachInSteps(values, (value, i) => eachInvalid(index(valuesAt, i), value, labelValue(value)))),
    ];
  };
  return [...labels, ...(yield* ofEachInSteps(spec.matchExpressions ?? [], check))];
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
  return [invalidWord(`${path}.operator`, operator, 'not a valid selector operator')];
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

function selectorOf(given: readonly LabelRequirement[]): LabelSelector {
  if (given.length === 0) return everything;
  const requirements = [...given].sort((a, b) => compareText(a.key, b.key));
  return {
    requirements,
    empty: false,
    text: requirements.map(printRequirement).join(','),
    matches:
      requirements.length > few
        ? matchesAll(requirements)
        : (labels = {}) => requirements.every((one) => holds(one, labels)),
  };
}

/** More requirements than this are put together by key, and looked up by the labels that an object has. */
const few = 16;

/** Takes time by the keys and by the labels, however many requirements there are of a key. */
function matchesAll(requirements: readonly LabelRequirement[]): LabelSelector['matches'] {
  const demands = new Map<string, Demand>();
  for (const one of requirements) {
    const demand = demands.get(one.key) ?? new Demand();
    demands.set(one.key, demand);
    demand.add(one);
  }
  const asking = [...demands].filter(([, demand]) => demand.asks);
  return (labels = {}) =>
    asking.every(([key]) => Object.hasOwn(labels, key)) &&
    Object.keys(labels).every((key) => demands.get(key)?.allows(labels[key] ?? '') !== false);
}

/** What all requirements of one key demand together. */
class Demand {
  /** There has to be a label. */
  asks = false;
  /** There has to be none. */
  #refusesAny = false;
  /** It has to be one of these. */
  #wanted: ReadonlySet<string> | undefined;
  readonly #refused = new Set<string>();
  #above: bigint | undefined;
  #below: bigint | undefined;

  add({ operator, values }: LabelRequirement): void {
    this.asks ||= !tests[operator](undefined, []);
    if (operator === '!') this.#refusesAny = true;
    else if (operator === '>') this.#above = furthest(this.#above, values, (a, b) => a > b);
    else if (operator === '<') this.#below = furthest(this.#below, values, (a, b) => a < b);
    else if (operator === 'notin' || operator === '!=') for (const value of values) this.#refused.add(value);
    else if (operator !== 'exists') {
      this.#wanted = new Set(values.filter((value) => this.#wanted?.has(value) !== false));
    }
  }

  /** May a label have this value? */
  allows(value: string): boolean {
    if (this.#refusesAny || this.#refused.has(value) || this.#wanted?.has(value) === false) return false;
    if (this.#above === undefined && this.#below === undefined) return true;
    const number = toInt64(value);
    return (
      number !== undefined &&
      (this.#above === undefined || number > this.#above) &&
      (this.#below === undefined || number < this.#below)
    );
  }
}

/** The bound that is further than the one so far. A requirement with a bound has a number for it. */
function furthest(
  bound: bigint | undefined,
  [text]: readonly string[],
  isFurther: (a: bigint, b: bigint) => boolean,
): bigint {
  const number = toInt64(text) ?? 0n;
  return bound === undefined || isFurther(number, bound) ? number : bound;
}

/** Index of the first of sorted texts that is not before this one. */
const firstAtLeast = (texts: readonly string[], text: string): number =>
  firstNotBefore(0, texts.length, (at) => (texts[at] ?? '') < text);

/** Does a label meet what a requirement's operator says of these values, which are sorted? */
const tests: Readonly<Record<LabelOperator, (value: string | undefined, wanted: readonly string[]) => boolean>> = {
  in: (value, wanted) => value !== undefined && wanted[firstAtLeast(wanted, value)] === value,
  notin: (value, wanted) => value === undefined || wanted[firstAtLeast(wanted, value)] !== value,
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

const holds = ({ key, operator, values }: LabelRequirement, labels: Labels): boolean =>
  tests[operator](Object.hasOwn(labels, key) ? labels[key] : undefined, values);

const int64 = { least: -(2n ** 63n), greatest: 2n ** 63n - 1n };

function toInt64(text: string | undefined): bigint | undefined {
  const [, sign, digits] = /^([+-]?)0*(\d{1,19})$/.exec(text ?? '') ?? [];
  if (digits === undefined) return undefined;
  const number = BigInt(`${sign === '-' ? '-' : ''}${digits}`);
  return number >= int64.least && number <= int64.greatest ? number : undefined;
}

function printRequirement({ key, operator, values }: LabelRequirement): string {
  if (operator === 'exists') return key;
  if (operator === '!') return `!${key}`;
  if (operator === 'in' || operator === 'notin') return `${key} ${operator} (${values.join(',')})`;
  return `${key}${operator}${values.join(',')}`;
}

/** A checked requirement. Throws BadRequest with every complaint, as Kubernetes joins them. */
function requirement(
  key: string,
  operator: LabelOperator,
  given: readonly string[],
  refuse: (why: string) => Error = badRequest,
): LabelRequirement {
  const complaints = [
    ...keyComplaints(key, 'key'),
    ...countComplaints(operator, given),
    ...given.flatMap((value, at) => {
      const wrong = labelValue(value);
      return wrong.length === 0 ? [] : [line(invalid(`values[${at}][${key}]`, value, wrong.join('; ')))];
    }),
  ];
  if (complaints.length > 0) throw refuse(aggregate(complaints));
  return { key, operator, values: sortedSet(given) };
}

const line = ({ field, body }: Violation): string => `${field}: ${body}`;

const keyComplaints = (key: string, field: string): readonly string[] => {
  const wrong = qualifiedName(key);
  return wrong.length === 0 ? [] : [line(invalid(field, key, wrong.join('; ')))];
};

function countComplaints(operator: LabelOperator, values: readonly string[]): readonly string[] {
  const shown = values.length === 0 ? null : values;
  if (operator === 'in' || operator === 'notin') {
    return values.length === 0
      ? [line(invalid('values', shown, "for 'in', 'notin' operators, values set can't be empty"))]
      : [];
  }
  if (operator === 'exists' || operator === '!') {
    return values.length > 0
      ? [line(invalid('values', shown, 'values set must be empty for exists and does not exist'))]
      : [];
  }
  if (operator !== '>' && operator !== '<') return [];
  return values.flatMap((value, at) =>
    toInt64(value) === undefined
      ? [line(invalid(`values[${at}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer"))]
      : [],
  );
}

interface Token {
  readonly type: 'identifier' | 'symbol' | 'end';
  readonly text: string;
}

const endToken: Token = { type: 'end', text: '' };
const symbols = new Set(['=', '!', '(', ')', ',', '>', '<']);
const longSymbols = new Set(['==', '!=']);
const blanks = new Set([' ', '\t', '\r', '\n']);

/** Splits into tokens. As in Go's lexer a NUL ends the text where a token could begin, and else the token. */
function scan(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    if (blanks.has(character)) at++;
    else if (character === '\0') break;
    else if (symbols.has(character)) {
      const long = text.slice(at, at + 2);
      const symbol = longSymbols.has(long) ? long : character;
      tokens.push({ type: 'symbol', text: symbol });
      at += symbol.length;
    } else {
      const start = at;
      while (at < text.length && !isBoundary(text.charAt(at))) at++;
      tokens.push({ type: 'identifier', text: text.slice(start, at) });
      if (text.charAt(at) === '\0') at++;
    }
  }
  return tokens;
}

const isBoundary = (character: string): boolean =>
  symbols.has(character) || blanks.has(character) || character === '\0';

const isSymbol = (token: Token, text: string): boolean => token.type === 'symbol' && token.text === text;
const startsRequirement = (token: Token): boolean => token.type === 'identifier' || isSymbol(token, '!');

const unparsable = (why: string): Error => badRequest(`unable to parse requirement: ${why}`);

const operators: ReadonlyMap<string, LabelOperator> = new Map(
  (['in', 'notin', '=', '==', '!=', '>', '<'] as const).map((operator) => [operator, operator]),
);

function parseRequirements(tokens: readonly Token[]): readonly LabelRequirement[] {
  const requirements: LabelRequirement[] = [];
  let at = 0;
  const peek = (): Token => tokens[at] ?? endToken;
  const next = (): Token => tokens[at++] ?? endToken;

  const parseOne = (): LabelRequirement => {
    let token = next();
    const negated = isSymbol(token, '!');
    if (negated) token = next();
    if (token.type !== 'identifier') throw unparsable(`found '${token.text}', expected: identifier`);
    const key = token.text;
    const [complaint] = keyComplaints(key, '<nil>');
    if (complaint !== undefined) throw unparsable(complaint);
    if (negated) return requirement(key, '!', []);
    if (peek().type === 'end' || isSymbol(peek(), ',')) return requirement(key, 'exists', []);
    const { text } = next();
    const operator = operators.get(text);
    if (operator === undefined) throw unparsable(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`);
    const values = operator === 'in' || operator === 'notin' ? parseValues() : [parseExactValue()];
    return requirement(key, operator, values, unparsable);
  };

  const parseExactValue = (): string => {
    if (peek().type === 'end' || isSymbol(peek(), ',')) return '';
    const token = next();
    if (token.type !== 'identifier') throw unparsable(`found '${token.text}', expected: identifier`);
    return token.text;
  };

  const parseValues = (): readonly string[] => {
    const open = next();
    if (!isSymbol(open, '(')) throw unparsable(`found '${open.text}' expected: '('`);
    if (isSymbol(peek(), ')')) {
      at++;
      return [''];
    }
    if (peek().type !== 'identifier' && !isSymbol(peek(), ',')) {
      throw unparsable(`found '${peek().text}', expected: ',', ')' or identifier`);
    }
    const values = new Set<string>();
    while (!isSymbol(peek(), ')')) {
      const token = next();
      if (token.type === 'identifier') {
        values.add(token.text);
        if (!isSymbol(peek(), ',') && !isSymbol(peek(), ')')) {
          throw unparsable(`found '${peek().text}', expected: ',' or ')'`);
        }
        continue;
      }
      if (!isSymbol(token, ',')) throw unparsable(`found '${token.text}', expected: ',', or identifier`);
      if (values.size === 0 || isSymbol(peek(), ')')) values.add('');
      if (isSymbol(peek(), ',')) {
        at++;
        values.add('');
        if (isSymbol(peek(), ')')) throw unparsable(`found ')', expected: ',', or identifier`);
      }
    }
    at++;
    return sortedSet(values);
  };

  while (startsRequirement(peek())) {
    requirements.push(parseOne());
    const separator = next();
    if (separator.type === 'end') return requirements;
    if (!isSymbol(separator, ',')) throw badRequest(`found '${separator.text}', expected: ',' or 'end of string'`);
    if (!startsRequirement(peek())) throw badRequest(`found '${peek().text}', expected: identifier after ','`);
  }
  if (peek().type !== 'end') {
    throw badRequest(`found '${peek().text}', expected: !, identifier, or 'end of string'`);
  }
  return requirements;
}
