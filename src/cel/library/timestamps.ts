import { isInt64 } from '../../api/go-integers.js';
import type { FunctionDeclaration } from '../functions.js';
import { duration, int, string, timestamp } from '../types.js';
import { Duration, Failure, Timestamp, type Value } from '../values.js';
import { member } from './declarations.js';
import { inZone, type ZoneTime } from './time-zones.js';

/** Timestamps and durations: limits, texts, arithmetic, and functions that return their parts. */

const second = 1_000_000_000n;
const earliest = -62_135_596_800n * second;
const latest = 253_402_300_799n * second + (second - 1n);

/**
 * Returns a timestamp, or a failure outside the years 1 to 9999. `offset` is the offset from UTC in its text, in
 * minutes.
 */
export const timestampOf = (nanoseconds: bigint, offset?: number): Value =>
  nanoseconds < earliest || nanoseconds > latest
    ? new Failure('timestamp overflow')
    : new Timestamp(nanoseconds, offset);

const durationOf = (nanoseconds: bigint): Value =>
  isInt64(nanoseconds) ? new Duration(nanoseconds) : new Failure('integer overflow');

/** Returns whole seconds, rounded down. */
export const floorSeconds = (nanoseconds: bigint): bigint =>
  (nanoseconds - (((nanoseconds % second) + second) % second)) / second;

/** Computes `a + b` or `a - b` for durations. */
export const longerDuration =
  (sign: 1n | -1n) =>
  (a: Duration, b: Duration): Value =>
    durationOf(a.nanoseconds + sign * b.nanoseconds);

/** Computes `moment + by` or `moment - by` for a timestamp and a duration. */
export const longerTimestamp =
  (sign: 1n | -1n) =>
  (moment: Timestamp, by: Duration): Value => {
    const length = sign * by.nanoseconds;
    return isInt64(length) ? timestampOf(moment.nanoseconds + length, moment.offset) : new Failure('integer overflow');
  };

/**
 * Returns the duration between two timestamps. Overflow is checked on the whole seconds, before fractions are added.
 */
export function timeBetween(a: Timestamp, b: Timestamp): Value {
  const seconds = (floorSeconds(a.nanoseconds) - floorSeconds(b.nanoseconds)) * second;
  const wholeSeconds = durationOf(seconds);
  return wholeSeconds instanceof Failure ? wholeSeconds : durationOf(a.nanoseconds - b.nanoseconds);
}

const timestampPattern = /^(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/;

/**
 * Parses RFC 3339 as Go does, with a failure outside the years of expressions; undefined if the text is no timestamp.
 */
export function timestampFromText(text: string): Value | undefined {
  const moment = momentFromText(text);
  return moment && timestampOf(moment.nanoseconds, moment.offset);
}

/** Parses RFC 3339 with any year: limits of expressions do not apply to timestamps in objects. */
export function momentFromText(text: string): Timestamp | undefined {
  const found = timestampPattern.exec(text);
  if (found === null) return undefined;
  const [year, month, day, hour, minute, second_] = found.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [fraction = '', sign, zoneHours = 0, zoneMinutes = 0] = found.slice(7);
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second_ > 59) return undefined;
  if (Number(zoneHours) > 24 || Number(zoneMinutes) > 60) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (day < 1 || date.getUTCDate() !== day) return undefined;
  date.setUTCHours(hour, minute, second_);
  const offset = (Number(zoneHours) * 60 + Number(zoneMinutes)) * (sign === '-' ? -1 : 1);
  const nanoseconds = BigInt(date.getTime() - offset * 60_000) * 1_000_000n;
  return new Timestamp(nanoseconds + BigInt(fraction.padEnd(9, '0').slice(0, 9)), offset);
}

const digits = (value: number, count: number): string => String(value).padStart(count, '0');

/** Formats as RFC 3339, with as many fraction digits as needed, and the offset of the original text. */
export function timestampText({ nanoseconds, offset = 0 }: Timestamp): string {
  const local = new Date(Number(floorSeconds(nanoseconds)) * 1000 + offset * 60_000);
  const fraction = digits(Number(((nanoseconds % second) + second) % second), 9).replace(/0+$/, '');
  const size = Math.abs(offset);
  const zone =
    offset === 0 ? 'Z' : `${offset < 0 ? '-' : '+'}${digits(Math.trunc(size / 60), 2)}:${digits(size % 60, 2)}`;
  const day = `${digits(local.getUTCFullYear(), 4)}-${digits(local.getUTCMonth() + 1, 2)}-${digits(local.getUTCDate(), 2)}`;
  const time = [local.getUTCHours(), local.getUTCMinutes(), local.getUTCSeconds()].map((part) => digits(part, 2));
  return `${day}T${time.join(':')}${fraction === '' ? '' : `.${fraction}`}${zone}`;
}

/**
 * Declares a function that returns a part of a timestamp, in UTC or in a given time zone. For a duration, it returns
 * the whole duration in that unit.
 */
function getter(
  name: string,
  id: string,
  part: (time: ZoneTime) => number,
  inZoneId = `${id}_with_tz`,
  ofDuration?: readonly [id: string, nanoseconds: bigint],
): FunctionDeclaration {
  const of = ({ nanoseconds }: Timestamp, zone: string): Value => {
    const time = inZone(nanoseconds, zone);
    return time instanceof Failure ? time : BigInt(part(time));
  };
  const overloads = [
    member(id, [timestamp], int, (moment: Timestamp) => of(moment, 'UTC')),
    member(inZoneId, [timestamp, string], int, of),
  ];
  if (ofDuration === undefined) return { name, overloads };
  const [durationId, unit] = ofDuration;
  const overload = member(durationId, [duration], int, ({ nanoseconds }: Duration) => nanoseconds / unit);
  return { name, overloads: [...overloads, overload] };
}

export const timeFunctions: readonly FunctionDeclaration[] = [
  getter('getFullYear', 'timestamp_to_year', ({ year }) => year),
  getter('getMonth', 'timestamp_to_month', ({ month }) => month),
  getter('getDayOfYear', 'timestamp_to_day_of_year', ({ dayOfYear }) => dayOfYear),
  getter('getDayOfMonth', 'timestamp_to_day_of_month', ({ day }) => day - 1),
  getter('getDate', 'timestamp_to_day_of_month_1_based', ({ day }) => day),
  getter('getDayOfWeek', 'timestamp_to_day_of_week', ({ dayOfWeek }) => dayOfWeek),
  getter('getHours', 'timestamp_to_hours', ({ hours }) => hours, undefined, ['duration_to_hours', 3600n * second]),
  getter('getMinutes', 'timestamp_to_minutes', ({ minutes }) => minutes, undefined, [
    'duration_to_minutes',
    60n * second,
  ]),
  getter('getSeconds', 'timestamp_to_seconds', ({ seconds }) => seconds, 'timestamp_to_seconds_tz', [
    'duration_to_seconds',
    second,
  ]),
  getter('getMilliseconds', 'timestamp_to_milliseconds', ({ milliseconds }) => milliseconds, undefined, [
    'duration_to_milliseconds',
    1_000_000n,
  ]),
];
