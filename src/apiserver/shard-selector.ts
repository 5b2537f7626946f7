import { quote } from '../api/go-text.js';
import type { ApiObject } from '../api/object.js';

/**
 * The `shardSelector` of lists, watches and deletecollection (KEP-5866): which part of a collection a client looks
 * after, told by ranges of a hash of one field. Its text is CEL, of which nothing but calls of `shardRange` joined by
 * `||` is allowed.
 */
export interface ShardSelector {
  /** As written anew; lists repeat it. */
  readonly text: string;
  matches(object: ApiObject): boolean;
}

interface Range {
  readonly field: Field;
  /** `0x` and 16 digits; the end, exclusive, may be 2^64. */
  readonly start: string;
  readonly end: string;
}

const fields = {
  'object.metadata.uid': (object: ApiObject): string => object.metadata.uid ?? '',
  'object.metadata.namespace': (object: ApiObject): string => object.metadata.namespace ?? '',
};
type Field = keyof typeof fields;
const isField = (text: string): text is Field => Object.hasOwn(fields, text);

/** Throws Error with Kubernetes' text. */
export function parseShardSelector(given: string): ShardSelector {
  const source = given.trim();
  if (source === '') throw new Error('empty shard selector is not allowed; omit the parameter for unfiltered lists');
  const ranges = rangesOf(new Parser(source).parse());
  const [{ field }] = ranges as readonly [Range, ...Range[]];
  const other = ranges.find((range) => range.field !== field);
  if (other !== undefined) {
    throw new Error(`all shard ranges must use the same field, got ${quote(field)} and ${quote(other.field)}`);
  }
  return {
    text: ranges.map((range) => `shardRange(${range.field}, '${range.start}', '${range.end}')`).join(' || '),
    matches: (object) => {
      const hash = `0x${fnv1a64(fields[field](object))}`;
      return ranges.some(({ start, end }) => hash >= start && isLess(hash, end));
    },
  };
}

/** FNV-1a of 64 bits of the UTF-8 text, as 16 hexadecimal digits. */
export function fnv1a64(text: string): string {
  // Two halves of 32 bits; the prime is 2^40 + 0x1b3.
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  for (const byte of Buffer.from(text)) {
    low = (low ^ byte) >>> 0;
    const product = low * 0x1b3;
    high = (Math.imul(high, 0x1b3) + Math.floor(product / 2 ** 32) + (low << 8)) >>> 0;
    low = product >>> 0;
  }
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');
}

/** Of bounds with as many digits as they need. */
const isLess = (left: string, right: string): boolean =>
  left.length === right.length ? left < right : left.length < right.length;

/** In their order, however many there are: each `||` has all before it on its left. */
function rangesOf(expression: Expression): readonly Range[] {
  const ranges: Range[] = [];
  const waiting = [expression];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { kind, name, parts } = next;
    if (kind !== kinds.call)
      throw new Error(`unexpected expression kind ${kind}; expected shardRange() call or || operator`);
    if (name === '_||_') waiting.push(...parts.toReversed());
    else if (name === 'shardRange') ranges.push(rangeOf(parts));
    else throw new Error(`unsupported function ${quote(name)}; only shardRange() and || are allowed`);
  }
  return ranges;
}

function rangeOf(parts: readonly Expression[]): Range {
  const [path, from, to] = parts;
  if (path === undefined || from === undefined || to === undefined || parts.length > 3) {
    throw new Error(`shardRange() requires exactly 3 arguments, got ${parts.length}`);
  }
  const field = pathOf(path);
  if (!isField(field)) {
    throw new Error(`unsupported field path ${quote(field)}; supported: ${Object.keys(fields).join(', ')}`);
  }
  const start = boundOf(from, 'hexStart');
  const end = boundOf(to, 'hexEnd');
  if (!isLess(start, end)) throw new Error(`shard range start ${start} must be less than end ${end}`);
  return { field, start, end };
}

function pathOf({ kind, name, parts }: Expression): string {
  if (kind === kinds.identifier) return name;
  const [of] = parts;
  if (kind === kinds.select && of !== undefined) return `${pathOf(of)}.${name}`;
  throw new Error(
    `shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind ${kind}`,
  );
}

const digits = 16;
const whole = '0x10000000000000000';

function boundOf({ kind, name: type, text = '' }: Expression, name: string): string {
  if (kind !== kinds.literal)
    throw new Error(`${name} must be a string literal (e.g. '0xff'), got expression kind ${kind}`);
  if (type !== 'string') throw new Error(`${name} must be a string literal, got ${type}`);
  if (!text.startsWith('0x')) throw new Error(`${name} must have '0x' prefix, got ${quote(text)}`);
  const hex = text.slice(2);
  if (hex === '') throw new Error(`${name}: hex value is required after '0x'`);
  const length = Buffer.byteLength(hex);
  if (length > digits + 1) {
    throw new Error(`${name}: hex value too long (${length} chars, max ${digits + 1}): ${quote(hex)}`);
  }
  const wrong = [...hex].find((character) => !/[0-9a-f]/.test(character));
  if (wrong !== undefined) throw new Error(`${name}: invalid hex character ${quote(wrong)} in ${quote(text)}`);
  if (length > digits && text !== whole) {
    throw new Error(`${name}: ${length}-digit hex value must be '${whole}' (2^64), got ${quote(text)}`);
  }
  if (length < digits) {
    throw new Error(
      `${name} must be a 0x-prefixed ${digits}-digit hex value, got ${quote(text)} (did you mean ${quote(`0x${hex.padStart(digits, '0')}`)}?)`,
    );
  }
  return text;
}

/** Kinds of expressions by the numbers that error texts print. */
const kinds = { call: 1, identifier: 3, list: 4, literal: 5, select: 7 } as const;

interface Expression {
  readonly kind: number;
  /** Of a function, identifier or member; of a literal, its type. */
  readonly name: string;
  readonly parts: readonly Expression[];
  /** Of a string literal. */
  readonly text?: string;
}

interface Token {
  readonly sort: 'name' | 'number' | 'string' | 'sign' | 'end';
  readonly text: string;
}

/** Operators of two operands, weakest first. */
const levels: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['==', '!=', '<=', '>=', '<', '>', 'in'],
  ['+', '-'],
  ['*', '/', '%'],
];
const token =
  /\s*(?:([_a-zA-Z]\w*)|(0x[0-9a-fA-F]+u?|\d+\.\d+|\d+u?)|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(\|\||&&|[=!<>]=|[-+*/%<>!?:.,()[\]]))/y;
const deepest = 250;

/** Enough of CEL's grammar to tell what stands in the place of a range. */
class Parser {
  readonly #source: string;
  #at = 0;
  #depth = 0;
  #next: Token;

  constructor(source: string) {
    this.#source = source;
    this.#next = this.#read();
  }

  /** Throws Error. */
  parse(): Expression {
    const expression = this.#binary(0);
    if (this.#next.sort !== 'end') throw this.#unexpected();
    return expression;
  }

  #read(): Token {
    token.lastIndex = this.#at;
    const found = token.exec(this.#source);
    if (found === null) {
      const rest = this.#source.slice(this.#at).trimStart();
      if (rest === '') return { sort: 'end', text: '<EOF>' };
      throw new Error(`CEL parse error: Syntax error: token recognition error at: '${[...rest][0]}'`);
    }
    this.#at = token.lastIndex;
    const [, name, number, string, sign] = found;
    if (name !== undefined) return { sort: name === 'in' ? 'sign' : 'name', text: name };
    if (number !== undefined) return { sort: 'number', text: number };
    return string !== undefined ? { sort: 'string', text: string } : { sort: 'sign', text: sign ?? '' };
  }

  #unexpected(): Error {
    return new Error(`CEL parse error: Syntax error: extraneous input '${this.#next.text}'`);
  }

  #takes(sign: string): boolean {
    if (this.#next.sort !== 'sign' || this.#next.text !== sign) return false;
    this.#next = this.#read();
    return true;
  }

  #expect(sign: string): void {
    if (!this.#takes(sign)) throw this.#unexpected();
  }

  #binary(level: number): Expression {
    const signs = levels[level];
    if (signs === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const sign = signs.find((one) => this.#takes(one));
      if (sign === undefined) return left;
      const right = this.#binary(level + 1);
      left = { kind: kinds.call, name: sign === 'in' ? '@in' : `_${sign}_`, parts: [left, right] };
    }
  }

  #unary(): Expression {
    const sign = ['!', '-'].find((one) => this.#takes(one));
    if (sign === undefined) return this.#member();
    const part = this.#nested(() => this.#unary());
    if (sign === '-' && part.kind === kinds.literal) return part;
    return { kind: kinds.call, name: `${sign}_`, parts: [part] };
  }

  #member(): Expression {
    let of = this.#primary();
    for (;;) {
      if (this.#takes('.')) {
        const name = this.#name();
        of = this.#takes('(')
          ? { kind: kinds.call, name, parts: this.#list(')') }
          : { kind: kinds.select, name, parts: [of] };
      } else if (this.#takes('[')) of = { kind: kinds.call, name: '_[_]', parts: [of, ...this.#list(']')] };
      else return of;
    }
  }

  #primary(): Expression {
    const { sort, text } = this.#next;
    if (this.#takes('(')) {
      const inner = this.#nested(() => this.#binary(0));
      this.#expect(')');
      return inner;
    }
    if (this.#takes('[')) return { kind: kinds.list, name: '', parts: this.#list(']') };
    if (sort === 'name') {
      const name = this.#name();
      const type = literalTypes[name];
      if (type !== undefined) return { kind: kinds.literal, name: type, parts: [] };
      return this.#takes('(')
        ? { kind: kinds.call, name, parts: this.#list(')') }
        : { kind: kinds.identifier, name, parts: [] };
    }
    if (sort !== 'number' && sort !== 'string') throw this.#unexpected();
    this.#next = this.#read();
    if (sort === 'string') return { kind: kinds.literal, name: 'string', parts: [], text: textOf(text) };
    const type = text.includes('.') ? 'float64' : text.endsWith('u') ? 'uint64' : 'int64';
    return { kind: kinds.literal, name: type, parts: [] };
  }

  #list(close: string): readonly Expression[] {
    const items: Expression[] = [];
    if (this.#takes(close)) return items;
    do items.push(this.#nested(() => this.#binary(0)));
    while (this.#takes(','));
    this.#expect(close);
    return items;
  }

  #name(): string {
    const { sort, text } = this.#next;
    if (sort !== 'name') throw this.#unexpected();
    this.#next = this.#read();
    return text;
  }

  #nested<T>(parse: () => T): T {
    if (++this.#depth > deepest) {
      throw new Error(`CEL parse error: expression recursion limit exceeded: ${deepest}`);
    }
    const parsed = parse();
    this.#depth--;
    return parsed;
  }
}

const literalTypes: Readonly<Record<string, string | undefined>> = Object.assign(Object.create(null), {
  true: 'bool',
  false: 'bool',
  null: 'structpb.NullValue',
});

/** What a string literal says. Only escapes of quotes and backslashes can be part of a bound's error. */
const textOf = (literal: string): string => literal.slice(1, -1).replace(/\\(.)/g, '$1');
