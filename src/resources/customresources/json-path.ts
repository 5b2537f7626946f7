import { wholeNumber } from '../../api/json-exact.js';
import { isObject, member } from '../../api/object.js';
import { unprintable } from '../../api/options.js';
import { withoutOuterSpaces } from '../../api/trim.js';

/**
 * JSON paths as in kubectl and printer columns (`.status.conditions[?(@.type=="Ready")].status`): fields, indexes,
 * slices, unions, wildcards, recursive descent and filters of one comparison. Parsing returns undefined for an invalid
 * path, `find` for one that cannot be followed.
 */
export interface JsonPath {
  /** Returns every value that the path leads to, in order; undefined if it cannot be followed. */
  find(root: unknown): readonly unknown[] | undefined;
}

type Step = (values: readonly unknown[], work: WorkBudget) => readonly unknown[];

class PathFailed extends Error {
  /** Values reached before, which a filter without comparison counts as found. */
  readonly reached: readonly unknown[];

  constructor(reached: readonly unknown[] = []) {
    super();
    this.reached = reached;
  }
}
/** Thrown for an invalid path, with the message of Kubernetes' parser. */
class Unreadable extends Error {}

/**
 * Returns the maximum number of values that following a path may touch, at about 50 ns each; a path that touches more
 * cannot be followed. If `shares` paths are followed through the same object, they divide the number among them.
 */
export const mostValues = (shares = 1): number => Math.max(500_000 / shares, 1_000);

class WorkBudget {
  #remaining: number;

  constructor(most: number) {
    this.#remaining = most;
  }

  spend(values: number): void {
    this.#remaining -= values;
    if (this.#remaining < 0) throw new PathFailed();
  }
}

/** Returns why a path is invalid; undefined if it is valid. */
export function jsonPathFault(text: string): string | undefined {
  try {
    parse(text, 0);
    return undefined;
  } catch (error) {
    if (error instanceof Unreadable) return error.message;
    throw error;
  }
}

/** Parses a path; undefined if it is invalid. Following it may touch `most` values. */
export function parseJsonPath(text: string, most = mostValues()): JsonPath | undefined {
  let steps: readonly Step[];
  try {
    steps = parse(text, 0);
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
  return {
    find: (root) => {
      try {
        return follow(steps, [root], new WorkBudget(most)).map((value) =>
          value instanceof FloatLiteral ? value.value : value,
        );
      } catch (error) {
        if (error instanceof PathFailed) return undefined;
        throw error;
      }
    },
  };
}

const follow = (steps: readonly Step[], values: readonly unknown[], work: WorkBudget): readonly unknown[] =>
  steps.reduce((found, step) => {
    work.spend(1 + found.length);
    return step(found, work);
  }, values);

const isNil = (value: unknown): boolean => value === null || value === undefined;

/** How deep paths may be nested in unions and filters. */
const deepest = 20;
const longest = 10_000;
const terminators = /[ \t\r\n.,[\]$@{}]/;

function parse(text: string, depth: number): readonly Step[] {
  if (depth > deepest || text.length > longest) throw new Unreadable('too long or too deep');
  const steps: Step[] = [];
  let at = 0;
  let afterRecursion = false;
  const scanField = (): Step => {
    const start = at;
    let name = '';
    while (at < text.length && !terminators.test(text[at] ?? '')) {
      if (text[at] === '\\' && ++at === text.length) throw new Unreadable(unclosed);
      name += text[at] ?? '';
      at++;
    }
    return text.slice(start, at) === '*' ? wildcard : field(name);
  };
  while (at < text.length) {
    const wasRecursion = afterRecursion;
    afterRecursion = false;
    const character = text[at] ?? '';
    if (text.startsWith('[?(', at)) {
      const end = endOfFilter(text, at + 3);
      steps.push(filter(text.slice(at + 3, end), depth));
      at = end + 2;
    } else if (text.startsWith('..', at)) {
      if (wasRecursion) throw new Unreadable('invalid multiple recursive descent');
      at += 2;
      steps.push(descend);
      afterRecursion = true;
      if (/[\p{L}\p{Nd}_]/u.test(text[at] ?? '')) {
        steps.push(scanField());
        afterRecursion = false;
      }
    } else if (character === ' ' || character === '@' || character === '$') at++;
    else if (character === '[') {
      const end = text.indexOf(']', at);
      if (end < 0 || text.slice(at, end).includes('\n')) throw new Unreadable('unterminated array');
      steps.push(bracket(text.slice(at + 1, end), depth));
      at = end + 1;
    } else if (character === '.') {
      at++;
      steps.push(scanField());
    } else if (character === '"' || character === "'") {
      const [value, end] = quoted(text, at);
      steps.push(() => [value]);
      at = end;
    } else if (character === '}') {
      // The path ends here; what follows is text outside of it.
      break;
    } else {
      const [step, end] = literal(text, at);
      steps.push(step);
      at = end;
    }
  }
  return steps;
}

const unclosed = 'unclosed action';

/** Returns the error for a character that begins no token; a line break counts as the end of the path. */
function unexpected(text: string, at: number): string {
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
  if (character === '\r' || character === '\n') return unclosed;
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  const shown = unprintable.test(character) ? '' : ` '${character}'`;
  return `unrecognized character in action: ${code}${shown}`;
}

function literal(text: string, at: number): readonly [Step, number] {
  const constant =
    (value: number | bigint | boolean | FloatLiteral): Step =>
    (values) =>
      values.map(() => value);
  const [number] = /^[-+]?[0-9.]*/.exec(text.slice(at)) ?? [''];
  if (number !== '') {
    if (!/^[-+]?(?:\d+\.?\d*|\.\d+)$/.test(number)) throw new Unreadable(`cannot parse number ${number}`);
    return [constant(wholeNumber(number.replace(/^\+/, '')) ?? new FloatLiteral(Number(number))), at + number.length];
  }
  const [word] = /^[\p{L}\p{Nd}_][^ \t\r\n.,[\]$@{}]*/u.exec(text.slice(at)) ?? [''];
  if (word === '') throw new Unreadable(unexpected(text, at));
  const end = at + word.length;
  return [word === 'true' || word === 'false' ? constant(word === 'true') : unknownWord, end];
}

/** A number in a path that is not written as an integer, such as `1.0`: it is compared with fractions only. */
class FloatLiteral {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
  valueOf(): number {
    return this.value;
  }
}

/** A word other than true and false: it is valid, but cannot be followed. */
const unknownWord: Step = (values) => {
  throw new PathFailed(values);
};

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '\\': '\\', '"': '"', "'": "'" };

function quoted(text: string, start: number): readonly [string, number] {
  const quote = text[start];
  let value = '';
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at] ?? '';
    if (character === quote) return [value, at + 1];
    if (character === '\n') break;
    if (character === '\\') {
      at++;
      const plain = escapes[text[at] ?? ''];
      if (plain === undefined) throw badQuote(text, start);
      value += plain;
    } else value += character;
  }
  throw new Unreadable('unterminated quoted string');
}

function badQuote(text: string, start: number): Unreadable {
  let end = start + 1;
  while (end < text.length && text[end] !== '\n' && (text[end] !== text[start] || text[end - 1] === '\\')) end++;
  if (text[end] !== text[start]) return new Unreadable('unterminated quoted string');
  return new Unreadable(`unquote string ${text.slice(start, end + 1)} error invalid syntax`);
}

/** Returns the index of the `)` in the closing `)]`. One quoted string may contain `)`. */
function endOfFilter(text: string, start: number): number {
  let open = '';
  let closed = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at] ?? '';
    if (character === '\n') break;
    if (character === '"' || character === "'") {
      if (open === '') open = character;
      else if (character === open && text[at - 1] !== '\\') closed = true;
    } else if (character === ')' && (open !== '') === closed) {
      if (text[at + 1] !== ']') throw new Unreadable('unclosed array expect ]');
      return at;
    }
  }
  throw new Unreadable('unterminated filter');
}

const field =
  (name: string): Step =>
  (values) =>
    values.flatMap((value) => (isObject(value) && Object.hasOwn(value, name) ? [value[name]] : []));

const children = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : isObject(value) ? Object.keys(value).map((name) => value[name]) : [];
/** The wildcard: all children. Those of a string are its bytes, as in Go. */
const wildcard: Step = (values, work) =>
  values.flatMap((value) => {
    if (typeof value === 'string') work.spend(value.length);
    const inner =
      typeof value === 'string' ? Array.from(Buffer.from(value), (byte) => new TextByte(byte)) : children(value);
    work.spend(inner.length);
    return inner;
  });

/** A byte of a string. It prints as a number, but is no JSON value and has no children. */
export class TextByte {
  readonly #value: number;

  constructor(value: number) {
    this.#value = value;
  }

  toString(): string {
    return String(this.#value);
  }
}

/** Recursive descent: every value that has children. A string has its bytes as children. */
const descend: Step = (values, work) => {
  const found: unknown[] = [];
  const waiting = [...values].reverse();
  for (let value = waiting.pop(); value !== undefined || waiting.length > 0; value = waiting.pop()) {
    const inner = children(value);
    if (inner.length === 0 && (typeof value !== 'string' || value === '')) continue;
    found.push(value);
    work.spend(1 + inner.length);
    for (let i = inner.length - 1; i >= 0; i--) waiting.push(inner[i]);
  }
  return found;
};

function bracket(text: string, depth: number): Step {
  const parts = text.split(',');
  if (parts.length > 1) {
    const branches = parts.map((part) => parse(`[${withoutOuterSpaces(part)}]`, depth + 1));
    return (values, work) => branches.flatMap((steps) => follow(steps, values, work));
  }
  const [, key] = /^'([^']*)'$/.exec(text) ?? [];
  if (key !== undefined) {
    const steps = parse(`.${key}`, depth + 1);
    return (values, work) => follow(steps, values, work);
  }
  const slice = /^(-?\d*)(?::(-?\d*))?(?::(-?\d*))?$/.exec(text === '*' ? ':' : text);
  if (slice === null) throw new Unreadable(`invalid array index ${text}`);
  return ofSlice(slice);
}

function ofSlice([, from, to, by]: RegExpExecArray): Step {
  const number = (digits: string | undefined): number | undefined => {
    if (digits === undefined || digits === '') return undefined;
    const value = Number(digits);
    if (!Number.isSafeInteger(value)) throw new Unreadable(`array index ${digits} is not a number`);
    return value;
  };
  const [start, end, step] = [number(from), number(to), number(by)];
  const single = to === undefined;
  return (values, work) =>
    values.flatMap((value) => {
      if (isNil(value)) return [];
      if (!Array.isArray(value)) throw new PathFailed();
      const { length } = value;
      let first = start ?? 0;
      let last = single ? first + 1 : (end ?? length);
      if (last < 0 || (last === 0 && single)) last += length;
      if (first < 0) first += length;
      if (first === last) return [];
      if (first < 0 || first >= length || last < 0 || last > length || first > last) throw new PathFailed();
      if (step !== undefined && step <= 0) throw new PathFailed();
      work.spend(last - first);
      return value.slice(first, last).filter((_, at) => at % (step ?? 1) === 0);
    });
}

type Comparison = (left: unknown, right: unknown) => boolean;
const ordered =
  (test: (order: number) => boolean): Comparison =>
  (left, right) => {
    const kind = kindOf(left);
    if (kind !== kindOf(right) || kind === 'boolean' || kind === 'object') throw new PathFailed();
    const [a, b] = [left as number, right as number];
    return test(a < b ? -1 : a > b ? 1 : 0);
  };
const equal: Comparison = (left, right) => {
  const kind = kindOf(left);
  if (kind !== kindOf(right) || kind === 'object') throw new PathFailed();
  return kind === 'number' ? Number(left) === Number(right) : left === right;
};
/** Returns the type for comparisons: integers are compared with integers only, fractions with fractions. */
const kindOf = (value: unknown): string => {
  if (value instanceof FloatLiteral) return 'number';
  return typeof value === 'bigint' || Number.isInteger(value) ? 'integer' : typeof value;
};
const comparisons: Readonly<Record<string, Comparison>> = {
  '==': equal,
  '!=': (left, right) => !equal(left, right),
  '<': ordered((order) => order < 0),
  '>': ordered((order) => order > 0),
  '<=': ordered((order) => order <= 0),
  '>=': ordered((order) => order >= 0),
};

function filter(text: string, depth: number): Step {
  const [, before, operator, after] = /^([^!<>=]+)([!<>=]+)([\s\S]+)$/.exec(text) ?? [];
  const left = parse(before ?? text, depth + 1);
  const items = (values: readonly unknown[], work: WorkBudget): readonly unknown[] =>
    values.flatMap((value) => {
      if (!Array.isArray(value)) throw new PathFailed();
      work.spend(value.length);
      return value;
    });
  if (operator === undefined) {
    return (values, work) => items(values, work).filter((item) => parsedFind(left, item, work).length > 0);
  }
  const right = parse(after ?? '', depth + 1);
  return (values, work) =>
    items(values, work).filter((item) => {
      const lefts = follow(left, [item], work);
      if (lefts.length === 0) return false;
      const rights = follow(right, [item], work);
      if (rights.length === 0) return false;
      const compare = member(comparisons, operator);
      if (lefts.length > 1 || rights.length > 1 || compare === undefined) throw new PathFailed();
      return compare(lefts[0], rights[0]);
    });
}

function parsedFind(steps: readonly Step[], root: unknown, work: WorkBudget): readonly unknown[] {
  try {
    return follow(steps, [root], work);
  } catch (error) {
    if (error instanceof PathFailed) return error.reached;
    throw error;
  }
}
