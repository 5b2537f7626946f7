import { isIPv6 } from 'node:net';
import { parseDuration } from './go-duration.js';
import { maxInt64 } from './go-integers.js';
import { parseGoRequestUrl } from './go-url.js';
import { isMailAddress } from './mail-address.js';
import { member } from './object.js';

/** The checker of a string format. Formats without one are ignored; their names are compared without `-`. */
type Tester = (text: string) => boolean;

const matches =
  (pattern: RegExp): Tester =>
  (text) =>
    pattern.test(text);

const name = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const shortName = new RegExp(`^${name}$`);
const uuid = (third: string, fourth: string): Tester =>
  matches(new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${third}-?${fourth}-?[0-9a-f]{12}$`, 'i'));
const anyDigits = '[0-9a-f]{4}';
const byteValue = '(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])';

const testers: Readonly<Record<string, Tester>> = {
  bsonobjectid: matches(/^[0-9a-fA-F]{24}$/),
  uri: (text) => !('wrong' in parseGoRequestUrl(text)),
  email: isMailAddress,
  hostname: isHostname,
  ipv4: (text) => isSloppyIPv4(text) || (isSloppyIPv6(text) && text.includes('.')),
  ipv6: (text) => isIPv6(text) && !text.includes('%'),
  cidr: isCidr,
  mac: isMac,
  uuid: uuid(anyDigits, anyDigits),
  uuid3: uuid('3[0-9a-f]{3}', anyDigits),
  uuid4: uuid('4[0-9a-f]{3}', '[89ab][0-9a-f]{3}'),
  uuid5: uuid('5[0-9a-f]{3}', '[89ab][0-9a-f]{3}'),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  hexcolor: matches(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  rgbcolor: matches(
    new RegExp(
      `^rgb\\([\\t\\n\\f\\r ]*${[byteValue, byteValue, byteValue].join('[\\t\\n\\f\\r ]*,[\\t\\n\\f\\r ]*')}[\\t\\n\\f\\r ]*\\)$`,
    ),
  ),
  byte: (text) => text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text),
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  k8sshortname: (text) => text.length <= 63 && shortName.test(text),
  k8slongname: (text) => text.length <= 253 && text.split('.').every((part) => shortName.test(part)),
};

const numeric: Readonly<Record<string, readonly string[]>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
};

/** Returns the checker of a string format; undefined if the format is not checked. */
export function stringFormat(format: string): Tester | undefined {
  const normal = format.replaceAll('-', '');
  return member(testers, normal);
}

/** Whether this format is checked for values of this type ('' for none). */
export const isKnownFormat = (type: string, format: string): boolean =>
  type === '' || type === 'string' ? stringFormat(format) !== undefined : (numeric[type]?.includes(format) ?? false);

const hostname =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.))+([a-zA-Z\p{L}]){2,63})$/u;

/** RFC 1034, section 3.1, with digits first (RFC 1123). The length is checked first: it bounds the expression's work. */
function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255) return false;
  return text.split('.').every((part) => Buffer.byteLength(part) <= 63) && hostname.test(text);
}

/** Four decimal numbers up to 255, leading zeros allowed. */
const isSloppyIPv4 = (text: string): boolean => {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^\d+$/.test(part) && part.length < 200 && Number(part) <= 255);
};

/** An IPv6 address without a zone; its numbers may have leading zeros. */
const isSloppyIPv6 = (text: string): boolean =>
  !text.includes('%') && isIPv6(text.replace(/(^|[:.])0+(?=[\da-fA-F])/g, '$1'));

function isCidr(text: string): boolean {
  const [address = '', length = '', ...rest] = text.split('/');
  if (rest.length > 0 || !/^\d{1,9}$/.test(length)) return false;
  if (isSloppyIPv4(address)) return Number(length) <= 32;
  return isSloppyIPv6(address) && Number(length) <= 128;
}

const longestMac = 20 * 2 + 19;

/** 48, 64 or 160 bits in groups of one byte (`:` or `-`) or two (`.`), or without separators. */
function isMac(text: string): boolean {
  if (text.length > longestMac) return false;
  const separator = /[:.-]/.exec(text)?.[0];
  const parts = separator === undefined ? (text.match(/.{2}/gs) ?? []) : text.split(separator, 21);
  const digits = separator === '.' ? 4 : 2;
  return (
    (separator !== undefined || text.length % 2 === 0) &&
    [6, 8, 20].includes((parts.length * digits) / 2) &&
    parts.every((part) => part.length === digits && /^[0-9a-fA-F]+$/.test(part))
  );
}

const withoutSpaces = (text: string): string => text.replace(/[\t\n\f\r -]+/g, '');

function isIsbn10(text: string): boolean {
  const digits = withoutSpaces(text);
  if (!/^[0-9]{9}[0-9X]$/.test(digits)) return false;
  const sum = [...digits].reduce((total, digit, at) => total + (at + 1) * (digit === 'X' ? 10 : Number(digit)), 0);
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = withoutSpaces(text);
  if (!/^[0-9]{13}$/.test(digits)) return false;
  const sum = [...digits].reduce((total, digit, at) => total + (at % 2 === 0 ? 1 : 3) * Number(digit), 0);
  return sum % 10 === 0;
}

const cards =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;

/** A number of a known issuer whose check digit (Luhn) is right; what is not a digit is skipped. */
function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '');
  if (!cards.test(digits)) return false;
  const sum = [...digits].reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

/** RFC 3339 full-date (`2026-01-31`) of a day that exists. */
export function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (year === undefined) return false;
  const leap = Number(year) % 4 === 0 && (Number(year) % 100 !== 0 || Number(year) % 400 === 0);
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return Number(day) >= 1 && Number(day) <= (days[Number(month) - 1] ?? 0);
}

const timeOfDay = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/u;

/** RFC 3339 date-time; `t` and `z` in either case, no leap seconds. */
function isDateTime(text: string): boolean {
  const [date = '', time] = text.toLowerCase().split('t');
  if (time === undefined || !isDate(date)) return false;
  const [, hours, minutes, seconds] = timeOfDay.exec(time) ?? [];
  if (hours === undefined || minutes === undefined || seconds === undefined) return false;
  return hours <= '23' && minutes <= '59' && seconds <= '59';
}

const amounts = /(\d+)\s*([A-Za-zµ]+)/g;
/** The maximum length of a text with amounts in words; bounds the work of searching it. */
const longestWords = 1_000;
const hour = 3_600_000_000_000n;
/** The names of units and their nanoseconds; the last name of each may also begin longer words. */
const units: readonly (readonly [names: readonly string[], nanoseconds: bigint])[] = [
  [['ns', 'nano'], 1n],
  [['us', 'µs', 'micro'], 1_000n],
  [['ms', 'milli'], 1_000_000n],
  [['s', 'sec'], 1_000_000_000n],
  [['m', 'min'], 60_000_000_000n],
  [['h', 'hr', 'hour'], hour],
  [['d', 'day'], 24n * hour],
  [['w', 'wk', 'week'], 7n * 24n * hour],
];

/** Returns the sum of all amounts with units in words (`2 weeks`) in a text, in nanoseconds; undefined if there are none. */
export function durationInWords(text: string): bigint | undefined {
  if (text.length > longestWords) return undefined;
  let sum: bigint | undefined;
  for (const [, amount = '', word = ''] of text.matchAll(amounts)) {
    const count = BigInt(amount);
    if (count > maxInt64) return undefined;
    const unit = word.toLowerCase();
    for (const [names, nanoseconds] of units) {
      if (names.includes(unit) || unit.startsWith(names.at(-1) ?? '')) sum = (sum ?? 0n) + count * nanoseconds;
    }
  }
  return sum;
}

/** Go's duration syntax, or amounts in words. */
function isDuration(text: string): boolean {
  return parseDuration(text).wrong === undefined || durationInWords(text) !== undefined;
}
