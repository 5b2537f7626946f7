import { asciiLowerCase, trimSpace } from '../../api/go-text.js';
import { codePoints } from '../code-points.js';
import { listFrom } from '../collections.js';
import { type EstimateCall, maxCost, perByte, type Range } from '../cost.js';
import { spend, spendOnText } from '../effort.js';
import type { Library } from '../functions.js';
import { anySize, exactly, plus, scaled, times } from '../ranges.js';
import { indexOf, lastIndexOf, partsBetween } from '../text-search.js';
import { dyn, int, listOf, string } from '../types.js';
import { Failure, type ListValue } from '../values.js';
import { refuseLonger, searching, sizeEstimate, sizeOf, traversal } from './call-costs.js';
import { type Costs, global, member } from './declarations.js';
import { formatText } from './format-text.js';
import { valueText } from './value-text.js';

/** Text functions: cel-go's `strings` extension, version 2. Positions are counted in code points. */

/** Returns the number of UTF-16 units before a code point. */
function unitsBefore(text: string, place: number): number {
  if (codePoints(text) === text.length) return place;
  let units = 0;
  for (let passed = 0; passed < place; passed++) units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  return units;
}

const outOfRange = (place: bigint): Failure => new Failure(`index out of range: ${place}`);
/** Whether the position is within a text of this size, which is small enough for a number. */
const isWithin = (place: bigint, size: number): boolean => place >= 0n && place <= BigInt(size);

function charAt(text: string, place: bigint): string | Failure {
  spendOnText(text.length);
  if (!isWithin(place, codePoints(text))) return outOfRange(place);
  const code = text.codePointAt(unitsBefore(text, Number(place)));
  return code === undefined ? '' : String.fromCodePoint(code);
}

function firstPlace(text: string, part: string, from: bigint): bigint | Failure {
  spendOnText(text.length);
  if (part === '') return from;
  if (from < 0n) return outOfRange(from);
  if (from >= BigInt(text.length)) return -1n;
  return placeOf(text, indexOf(text, part, unitsBefore(text, Number(from))));
}

/** Implements `lastIndexOf`. An empty text is found at any position; other texts are not found after the end. */
function lastPlace(text: string, part: string, from: bigint): bigint | Failure {
  spendOnText(text.length);
  if (part === '') return from;
  if (from < 0n) return outOfRange(from);
  const size = codePoints(text);
  if (from >= BigInt(size)) return -1n;
  const last = Math.min(Number(from), size - codePoints(part));
  return last < 0 ? -1n : placeOf(text, lastIndexOf(text, part, unitsBefore(text, last)));
}

const veryLastPlace = (text: string, part: string): bigint | Failure => {
  if (part === '') return BigInt(codePoints(text));
  return text === '' ? -1n : lastPlace(text, part, BigInt(codePoints(text) - 1));
};

const placeOf = (text: string, units: number): bigint =>
  BigInt(units < 0 || codePoints(text) === text.length ? units : codePoints(text.slice(0, units)));

function lowerAscii(text: string): string {
  spendOnText(text.length);
  return asciiLowerCase(text);
}

function upperAscii(text: string): string {
  spendOnText(text.length);
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

function substringFrom(text: string, start: bigint): string | Failure {
  spendOnText(text.length);
  return isWithin(start, codePoints(text)) ? text.slice(unitsBefore(text, Number(start))) : outOfRange(start);
}

function substring(text: string, start: bigint, end: bigint): string | Failure {
  spendOnText(text.length);
  if (start > end) return new Failure(`invalid substring range. start: ${start}, end: ${end}`);
  const size = codePoints(text);
  if (!isWithin(start, size)) return outOfRange(start);
  if (!isWithin(end, size)) return outOfRange(end);
  return text.slice(unitsBefore(text, Number(start)), unitsBefore(text, Number(end)));
}

/**
 * Replaces at most `count` occurrences, or all if `count` is negative. An empty text occurs before each code point and
 * at the end.
 */
function replace(text: string, old: string, by: string, count: bigint): string | Failure {
  spendOnText(text.length);
  if (old === by || count === 0n) return text;
  const most = count < 0n ? Number.POSITIVE_INFINITY : Number(count);
  if (old !== '') {
    const parts = partsBetween(text, old, most + 1);
    const length = text.length + (parts.length - 1) * (by.length - old.length);
    refuseLonger(length);
    spendOnText(length);
    return parts.join(by);
  }
  const times = Math.min(most, codePoints(text) + 1);
  refuseLonger(text.length + times * by.length);
  spend(times);
  const end = unitsBefore(text, times - 1);
  return by + Array.from(text.slice(0, end), (character) => character + by).join('') + text.slice(end);
}

/**
 * Splits into at most `count` parts: all if `count` is negative, none for 0. An empty separator splits between code
 * points.
 */
function split(text: string, separator: string, count: bigint): ListValue {
  spendOnText(text.length);
  if (count === 0n) return listFrom([]);
  const most = count < 0n ? Number.POSITIVE_INFINITY : Number(count);
  if (separator !== '') return listFrom(partsBetween(text, separator, most));
  if (text === '') return listFrom([]);
  const single = Math.min(most, codePoints(text)) - 1;
  spend(single);
  const end = unitsBefore(text, single);
  return listFrom([...Array.from(text.slice(0, end)), text.slice(end)]);
}

function join(list: ListValue, separator: string): string | Failure {
  spend(list.size);
  const parts: string[] = [];
  let length = 0;
  for (let at = 0; at < list.size; at++) {
    const part = list.at(at);
    if (typeof part !== 'string') return new Failure(`join: invalid input: ${valueText(part)}`);
    length += part.length + separator.length;
    refuseLonger(length - separator.length);
    parts.push(part);
  }
  spendOnText(length);
  return parts.join(separator);
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['\\', '\\\\'],
  ['"', '\\"'],
]);
/** Returns the text as a CEL literal; what cannot be encoded in UTF-8 becomes U+FFFD. */
const quote = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  `"${text.replace(/[\x07-\x0d"\\]|\p{Cs}/gu, (character) => escapes.get(character) ?? '\ufffd')}"`;

const looking: Costs = {
  cost: ([text]) => traversal(sizeOf(text)),
  estimate: (target) => {
    const size = sizeEstimate(target);
    return { cost: scaled(size, perByte), resultSize: size };
  },
};

const replacing: Costs = {
  cost: ([text]) => traversal(sizeOf(text), 2),
  estimate: (target, [old, by]) => {
    const size = sizeEstimate(target);
    return { cost: scaled(size, 2 * perByte), resultSize: replacedSize(size, sizeEstimate(old), sizeEstimate(by)) };
  },
};

/**
 * Estimates the size after `replace`: at most as many shortest matches as fit, each replaced by the longest text; the
 * minimum accordingly.
 */
function replacedSize(size: Range, old: Range, by: Range): Range {
  const longest =
    old.min === 0
      ? { times: size.max + 1, kept: size.max }
      : by.max <= old.min
        ? { times: 0, kept: size.max }
        : { times: Math.ceil(size.max / old.min), kept: 0 };
  const shortest =
    old.max === 0
      ? { times: size.min + 1, kept: size.min }
      : old.max <= by.min
        ? { times: 0, kept: size.min }
        : { times: Math.ceil(size.min / old.max), kept: 0 };
  return plus(times({ min: shortest.times, max: longest.times }, by), { min: shortest.kept, max: longest.kept });
}

const splitting: Costs = {
  cost: ([text]) => traversal(sizeOf(text), 2),
  estimate: (target, [, count]) => {
    const size = sizeEstimate(target);
    const most = typeof count?.literal === 'bigint' ? Number(BigInt.asUintN(64, count.literal)) : size.max;
    return { cost: scaled(size, 2 * perByte), resultSize: { min: 0, max: most } };
  },
};

const estimateJoined: EstimateCall = (target, [separator]) => {
  const count = sizeEstimate(target);
  const items = target?.type.kind === 'list' ? times(count, target.itemSize ?? anySize) : exactly(0);
  const gaps = { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) };
  const size = separator === undefined ? items : plus(items, times(separator.size, gaps));
  return { cost: scaled(size, perByte), resultSize: size };
};
const joining: Costs = { cost: (_, result) => traversal(sizeOf(result), 2), estimate: estimateJoined };

const formatting: Costs = {
  cost: ([format]) => traversal(sizeOf(format)),
  estimate: (target) => ({ cost: scaled(sizeEstimate(target), perByte) }),
};

const quoting: Costs = {
  cost: ([text]) => traversal(sizeOf(text)),
  estimate: (_, [text]) => {
    const size = sizeEstimate(text);
    // cel-go's sum overflows to zero for a text of unlimited size.
    const max = size.max >= maxCost ? 0 : size.max * 2 + 2;
    return { cost: scaled(size, perByte), resultSize: { min: size.min + 2, max } };
  },
};

export const strings: Library = {
  functions: [
    { name: 'charAt', overloads: [member('string_char_at_int', [string, int], string, charAt)] },
    {
      name: 'indexOf',
      overloads: [
        member(
          'string_index_of_string',
          [string, string],
          int,
          (text: string, part: string) => firstPlace(text, part, 0n),
          searching,
        ),
        member('string_index_of_string_int', [string, string, int], int, firstPlace, searching),
      ],
    },
    {
      name: 'lastIndexOf',
      overloads: [
        member('string_last_index_of_string', [string, string], int, veryLastPlace, searching),
        member('string_last_index_of_string_int', [string, string, int], int, lastPlace, searching),
      ],
    },
    { name: 'lowerAscii', overloads: [member('string_lower_ascii', [string], string, lowerAscii, looking)] },
    { name: 'upperAscii', overloads: [member('string_upper_ascii', [string], string, upperAscii, looking)] },
    { name: 'trim', overloads: [member('string_trim', [string], string, trimSpace, looking)] },
    {
      name: 'substring',
      overloads: [
        member('string_substring_int', [string, int], string, substringFrom, looking),
        member('string_substring_int_int', [string, int, int], string, substring, looking),
      ],
    },
    {
      name: 'replace',
      overloads: [
        member(
          'string_replace_string_string',
          [string, string, string],
          string,
          (text: string, old: string, by: string) => replace(text, old, by, -1n),
          replacing,
        ),
        member('string_replace_string_string_int', [string, string, string, int], string, replace, replacing),
      ],
    },
    {
      name: 'split',
      overloads: [
        member(
          'string_split_string',
          [string, string],
          listOf(string),
          (text: string, separator: string) => split(text, separator, -1n),
          splitting,
        ),
        member('string_split_string_int', [string, string, int], listOf(string), split, splitting),
      ],
    },
    {
      name: 'join',
      overloads: [
        member('list_join', [listOf(string)], string, (list: ListValue) => join(list, ''), joining),
        member('list_join_string', [listOf(string), string], string, join, joining),
      ],
    },
    { name: 'format', overloads: [member('string_format', [string, listOf(dyn)], string, formatText, formatting)] },
    { name: 'strings.quote', overloads: [global('strings_quote', [string], string, quote, quoting)] },
  ],
};
