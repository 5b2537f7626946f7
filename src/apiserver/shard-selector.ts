import { quote } from '../api/go-text.js';
import type { ApiObject } from '../api/object.js';
import type { Steps } from '../api/steps.js';
import type { Expr, Literal } from '../cel/ast.js';
import { parse } from '../cel/parser.js';
import { Uint } from '../cel/values.js';

/**
 * The `shardSelector` of lists, watches and deletecollection (KEP-5866): the part of a collection that a client is
 * responsible for, as ranges of a hash of one field. The text is CEL, restricted to calls of `shardRange` that are
 * joined by `||`.
 */
export interface ShardSelector {
  /** The normal form, which lists contain. */
  readonly text: string;
  matches(object: ApiObject): boolean;
}

interface Range {
  readonly field: Field;
  /** The start: `0x` and 16 digits. The end is exclusive and may be 2^64. */
  readonly start: string;
  readonly end: string;
}

const fields = {
  'object.metadata.uid': (object: ApiObject): string => object.metadata.uid ?? '',
  'object.metadata.namespace': (object: ApiObject): string => object.metadata.namespace ?? '',
};
type Field = keyof typeof fields;
const isField = (text: string): text is Field => Object.hasOwn(fields, text);

/** Parses a selector. Throws Error with the text of Kubernetes. */
export function* parseShardSelector(text: string): Steps<ShardSelector> {
  const source = text.trim();
  if (source === '') throw new Error('empty shard selector is not allowed; omit the parameter for unfiltered lists');
  const ranges = rangesOf(yield* expressionOf(source));
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

/** Returns the 64-bit FNV-1a hash of the UTF-8 text, as 16 hexadecimal digits. */
export function fnv1a64(text: string): string {
  // Computed in two halves of 32 bits; the prime is 2^40 + 0x1b3.
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

/** Compares bounds without leading zeros. */
const isLess = (left: string, right: string): boolean =>
  left.length === right.length ? left < right : left.length < right.length;

function* expressionOf(source: string): Steps<Expr> {
  const { expr, issues = [] } = yield* parse(source, []);
  if (expr === undefined) throw new Error(`CEL parse error: ${issues[0]?.message ?? ''}`);
  return expr;
}

/** Returns the ranges in their order. Iterative, so that any number of them and any shape of the tree is safe. */
function rangesOf(expression: Expr): readonly Range[] {
  const ranges: Range[] = [];
  const waiting = [expression];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next.kind !== 'call')
      throw new Error(`unexpected expression kind ${kinds[next.kind]}; expected shardRange() call or || operator`);
    const { name, args } = next;
    if (name === '_||_') waiting.push(...args.toReversed());
    else if (name === 'shardRange') ranges.push(rangeOf(args));
    else throw new Error(`unsupported function ${quote(name)}; only shardRange() and || are allowed`);
  }
  return ranges;
}

function rangeOf(args: readonly Expr[]): Range {
  const [path, from, to] = args;
  if (path === undefined || from === undefined || to === undefined || args.length > 3) {
    throw new Error(`shardRange() requires exactly 3 arguments, got ${args.length}`);
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

function pathOf(expr: Expr): string {
  if (expr.kind === 'ident') return expr.name;
  if (expr.kind === 'select') return `${pathOf(expr.operand)}.${expr.field}`;
  throw new Error(
    `shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind ${kinds[expr.kind]}`,
  );
}

const digits = 16;
const rangeEnd = '0x10000000000000000';

function boundOf(expr: Expr, name: string): string {
  if (expr.kind !== 'literal')
    throw new Error(`${name} must be a string literal (e.g. '0xff'), got expression kind ${kinds[expr.kind]}`);
  const { value: text } = expr;
  if (typeof text !== 'string') throw new Error(`${name} must be a string literal, got ${goTypeOf(text)}`);
  if (!text.startsWith('0x')) throw new Error(`${name} must have '0x' prefix, got ${quote(text)}`);
  const hex = text.slice(2);
  if (hex === '') throw new Error(`${name}: hex value is required after '0x'`);
  const length = Buffer.byteLength(hex);
  if (length > digits + 1) {
    throw new Error(`${name}: hex value too long (${length} chars, max ${digits + 1}): ${quote(hex)}`);
  }
  const wrong = [...hex].find((character) => !/[0-9a-f]/.test(character));
  if (wrong !== undefined) throw new Error(`${name}: invalid hex character ${quote(wrong)} in ${quote(text)}`);
  if (length > digits && text !== rangeEnd) {
    throw new Error(`${name}: ${length}-digit hex value must be '${rangeEnd}' (2^64), got ${quote(text)}`);
  }
  if (length < digits) {
    throw new Error(
      `${name} must be a 0x-prefixed ${digits}-digit hex value, got ${quote(text)} (did you mean ${quote(`0x${hex.padStart(digits, '0')}`)}?)`,
    );
  }
  return text;
}

/** The numbers of expression kinds in error texts. */
const kinds: Readonly<Record<Expr['kind'], number>> = {
  call: 1,
  comprehension: 2,
  ident: 3,
  list: 4,
  literal: 5,
  map: 6,
  select: 7,
  struct: 8,
};

/** Returns Go's type of a literal as error texts print it. */
function goTypeOf(value: Exclude<Literal['value'], string>): string {
  if (value === null) return 'structpb.NullValue';
  if (value instanceof Uint) return 'uint64';
  if (value instanceof Uint8Array) return '[]uint8';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'bigint' ? 'int64' : 'float64';
}
