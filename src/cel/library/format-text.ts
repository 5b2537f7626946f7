import { goFixed, goScientific } from '../../api/go-float.js';
import { maxInt64 } from '../../api/go-integers.js';
import { quote } from '../../api/go-text.js';
import { strictUtf8 } from '../../api/utf8-text.js';
import { spend, spendOnText } from '../effort.js';
import { compareTexts } from '../ordering.js';
import { typeName } from '../runtime-types.js';
import {
  Duration,
  Failure,
  type ListValue,
  type MapValue,
  type StructValue,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from '../values.js';
import { refuseLonger } from './call-costs.js';
import { timestampText } from './timestamps.js';
import { doubleText, durationText } from './value-text.js';

/** A formatting clause, such as `%.2f`; `precision` is the number after the dot. */
export interface Clause {
  readonly verb: 's' | 'd' | 'f' | 'e' | 'b' | 'x' | 'X' | 'o';
  readonly precision: number | undefined;
}

/** The values that each verb accepts, as error messages list them. */
export const acceptedTypes: Readonly<Record<Clause['verb'], string>> = {
  s: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  d: 'decimal clause can only be used on integers',
  f: 'fixed-point clause can only be used on doubles',
  e: 'scientific clause can only be used on doubles',
  b: 'only integers and bools can be formatted as binary',
  x: 'only integers, byte buffers, and strings can be formatted as hex',
  X: 'only integers, byte buffers, and strings can be formatted as hex',
  o: 'octal clause can only be used on integers',
};

/**
 * Expands a format string: the literal text between clauses, and for each clause the result of `print`, which receives
 * the index of the argument. Adds a prefix to failures of `print`.
 */
export function readFormat(
  format: string,
  argumentCount: number,
  print: (clause: Clause, argument: number) => string | Failure,
): string | Failure {
  const parts: string[] = [];
  let length = 0;
  let argument = 0;
  let done = 0;
  const add = (part: string): void => {
    parts.push(part);
    length += part.length;
  };
  for (let at = format.indexOf('%'); at >= 0; at = format.indexOf('%', done)) {
    add(format.slice(done, at));
    if (format[at + 1] === '%') {
      add('%');
      done = at + 2;
      continue;
    }
    if (argument >= argumentCount) return new Failure(`index ${argument} out of range`);
    if (at + 1 >= format.length) return new Failure('unexpected end of string');
    const clause = readClause(format, at + 1);
    if ('wrong' in clause) return new Failure(`could not parse formatting clause: ${clause.wrong}`);
    const text = print(clause, argument);
    if (text instanceof Failure) return new Failure(`error during formatting: ${text.message}`);
    add(text);
    refuseLonger(length);
    spendOnText(text.length);
    done = clause.end;
    argument++;
  }
  add(format.slice(done));
  return parts.join('');
}

const verbs = 'sdfebxXo';

function readClause(format: string, start: number): (Clause & { readonly end: number }) | { readonly wrong: string } {
  const inPrecision = (wrong: string): { readonly wrong: string } => ({
    wrong: `error while parsing precision: ${wrong}`,
  });
  let at = start;
  let precision: number | undefined;
  if (format[at] === '.') {
    at++;
    while (/^[0-9]$/.test(format[at] ?? '')) at++;
    if (at >= format.length) return inPrecision('could not find end of precision specifier');
    const digits = format.slice(start + 1, at);
    const significant = digits.replace(/^0+/, '');
    const problem =
      digits === ''
        ? 'invalid syntax'
        : significant.length > 19 || BigInt(digits) > maxInt64
          ? 'value out of range'
          : undefined;
    if (problem !== undefined) {
      return inPrecision(
        `error while converting precision to integer: strconv.Atoi: parsing ${quote(digits)}: ${problem}`,
      );
    }
    precision = Number(significant);
  }
  const verb = format[at] ?? '';
  if (verbs.includes(verb)) return { verb: verb as Clause['verb'], precision, end: at + 1 };
  // Like Go, shows the first byte of the character as if it were a character.
  const [byte = 0] = Buffer.from(String.fromCodePoint(format.codePointAt(at) ?? 0));
  return { wrong: `unrecognized formatting clause "${String.fromCharCode(byte)}"` };
}

/** `format.format(list)` of cel-go's `strings` extension before version 4, for American English. */
export function formatText(format: string, list: ListValue): string | Failure {
  return readFormat(format, list.size, (clause, at) => printed(clause, list.at(at)));
}

function printed({ verb, precision }: Clause, value: Value): string | Failure {
  switch (verb) {
    case 's':
      return plainText(value);
    case 'd':
      return wholeNumber(value)?.toString() ?? wrongFor(verb, value);
    case 'f':
    case 'e': {
      const number = typeof value === 'string' ? numberNames.get(value) : value;
      if (typeof number !== 'number') return wrongFor(verb, value);
      return verb === 'f' ? fixedText(number, precision ?? 6) : scientificText(number, precision ?? 6);
    }
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      return wholeNumber(value)?.toString(2) ?? wrongFor(verb, value);
    case 'o':
      return wholeNumber(value)?.toString(8) ?? wrongFor(verb, value);
    default: {
      const bytes = typeof value === 'string' ? Buffer.from(value) : value instanceof Uint8Array ? value : undefined;
      const digits = bytes === undefined ? wholeNumber(value)?.toString(16) : Buffer.from(bytes).toString('hex');
      if (digits === undefined) return wrongFor(verb, value);
      return verb === 'X' ? digits.toUpperCase() : digits;
    }
  }
}

const wrongFor = (verb: Clause['verb'], value: Value): Failure =>
  new Failure(`${acceptedTypes[verb]}, was given ${typeName(value)}`);
const wholeNumber = (value: Value): bigint | undefined =>
  typeof value === 'bigint' ? value : value instanceof Uint ? value.value : undefined;
const numberNames: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]);

/** A list or map that is being printed, with the progress so far. */
interface Unfinished {
  readonly size: number;
  readonly end: ']' | '}';
  /** Returns the text before a part, and the part. */
  readonly part: (at: number) => readonly [string, Value];
  next: number;
}

/** Formats for `%s`: a text as it is, lists and maps with their parts as literals. Works on values of any depth. */
function plainText(value: Value): string | Failure {
  const out: string[] = [];
  let length = 0;
  const unfinished: Unfinished[] = [];
  /** Writes a scalar completely, or the beginning of a list or map. */
  const write = (text: string, part: Value): Failure | undefined => {
    const opened = begin(part);
    if (opened instanceof Failure) return opened;
    if (opened !== undefined) unfinished.push(opened);
    const own = opened === undefined ? literalText(part) : opened.end === ']' ? '[' : '{';
    if (own instanceof Failure) return own;
    out.push(text, own);
    length += text.length + own.length;
    refuseLonger(length);
    spend(6 + (own.length >> 5));
    return undefined;
  };
  if (!isMadeOfOthers(value)) return scalarText(value) ?? wrongFor('s', value);
  let failure = write('', value);
  for (let open = unfinished.at(-1); open !== undefined && failure === undefined; open = unfinished.at(-1)) {
    if (open.next >= open.size) {
      out.push(open.end);
      unfinished.pop();
      continue;
    }
    const [before, part] = open.part(open.next);
    failure = write(open.next++ > 0 ? `, ${before}` : before, part);
  }
  return failure ?? out.join('');
}

/** Whether the value is a list, map or structure; a structure counts as a map of its fields. */
const isMadeOfOthers = (value: Value): value is ListValue | MapValue | StructValue =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind !== 'opaque';

function begin(value: Value): Unfinished | Failure | undefined {
  if (!isMadeOfOthers(value)) return undefined;
  if (value.kind === 'list') {
    return { size: value.size, end: ']', part: (at) => ['', value.at(at)], next: 0 };
  }
  const entries: (readonly [string, Value])[] = [];
  for (const key of value.kind === 'map' ? value.keys() : value.fields()) {
    spend(20);
    const text = keyText(key);
    if (text instanceof Failure) return text;
    const member = value.kind === 'map' ? value.get(key) : typeof key === 'string' ? value.get(key) : undefined;
    // An object of a resource also names its null fields, but returns no value for them.
    if (member === undefined) return new Failure(`could not find key: ${text}`);
    entries.push([text, member]);
  }
  entries.sort(([a], [b]) => compareTexts(a, b));
  return {
    size: entries.length,
    end: '}',
    part: (at) => {
      const [key = '', member = null] = entries[at] ?? [];
      return [`${key}:`, member];
    },
    next: 0,
  };
}

function keyText(key: Value): string | Failure {
  if (typeof key === 'string') return quote(key);
  if (typeof key === 'boolean' || typeof key === 'bigint') return String(key);
  if (key instanceof Uint) return String(key.value);
  return new Failure(`no formatting function for map key of type ${typeName(key)}`);
}

function literalText(value: Value): string | Failure {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return goFixed(value, 6);
    return quote(doubleText(value));
  }
  if (value instanceof Timestamp) return `timestamp("${timestampText(value)}")`;
  if (value instanceof Duration) return `duration("${durationText(value)}")`;
  const text = scalarText(value);
  if (text === undefined) return new Failure(`no formatting function for ${typeName(value)}`);
  return value instanceof Uint8Array && typeof text === 'string' ? `b${quote(text)}` : text;
}

function scalarText(value: Value): string | Failure | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value === null) return 'null';
  if (typeof value === 'number') return doubleText(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Timestamp) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  if (value instanceof TypeValue) return value.name;
  if (!(value instanceof Uint8Array)) return undefined;
  try {
    return strictUtf8.decode(value);
  } catch {
    return new Failure('could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string');
  }
}

/**
 * Formats for `%f`, with digits in groups of three. Precision beyond what Go's formatter has bits for overflows as
 * there.
 */
function fixedText(value: number, precision: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value < 0 ? '-∞' : '∞';
  const most = (precision << 16) >> 16;
  const least = precision & 0xff;
  const digits = most < 0 ? shortestDigits(Math.abs(value)) : goFixed(Math.abs(value), most);
  const [integer = '', fraction = ''] = digits.split('.');
  const shown = fraction.replace(/0+$/, '').padEnd(least, '0');
  const grouped = integer.replace(/\B(?=(?:\d{3})+$)/g, ',');
  return `${value < 0 ? '-' : ''}${grouped}${shown === '' ? '' : `.${shown}`}`;
}

/** Returns the shortest decimal digits, without an exponent: `0.15`, `1000000000000000000000`. */
function shortestDigits(value: number): string {
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const [first = '', others = ''] = digits.split('.');
  const point = Number(exponent) + 1;
  const all = first + others;
  if (point <= 0) return `0.${'0'.repeat(-point)}${all}`;
  return point >= all.length ? all.padEnd(point, '0') : `${all.slice(0, point)}.${all.slice(point)}`;
}

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/**
 * Formats for `%e`, always with six fraction digits. cel-go passes the precision on as a width: the text is padded on
 * the left with spaces up to it; Go's formatter keeps 16 bits of it.
 */
function scientificText(value: number, precision: number): string {
  return scientific(value).padStart(precision & 0xffff);
}

function scientific(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value < 0 ? '-∞' : '∞';
  const [digits = '', exponent = ''] = goScientific(value, 6).split('e');
  const shown = exponent
    .slice(1)
    .padStart(2, '0')
    .replace(/\d/g, (digit) => superscripts[Number(digit)] ?? '');
  return `${digits}×10${exponent.startsWith('-') ? '⁻' : ''}${shown}`;
}
