import { isInt64 } from '../../api/go-integers.js';
import { spend } from '../effort.js';
import { Failure } from '../values.js';

/** The date and time of day in a time zone. */
export interface ZoneTime {
  readonly year: number;
  /** The month, counted from 0, as are the days of the year and of the week (Sunday is 0). */
  readonly month: number;
  readonly dayOfYear: number;
  readonly dayOfWeek: number;
  /** The day of the month, counted from 1. */
  readonly day: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
  readonly milliseconds: number;
}

/**
 * Converts a timestamp to a time zone, given by name as Go finds it (`Europe/Berlin`) or by its offset from UTC
 * (`+02:00`).
 */
export function inZone(nanoseconds: bigint, zone: string): ZoneTime | Failure {
  const milliseconds = Number((nanoseconds - (((nanoseconds % 1_000_000n) + 1_000_000n) % 1_000_000n)) / 1_000_000n);
  if (zone === '' || zone === 'UTC') return parts(milliseconds);
  const offset = zone.includes(':') ? writtenOffset(zone) : namedOffset(milliseconds, zone);
  return offset instanceof Failure ? offset : parts(milliseconds + offset);
}

function parts(milliseconds: number): ZoneTime {
  const local = new Date(milliseconds);
  const year = local.getUTCFullYear();
  const newYear = new Date(0).setUTCFullYear(year, 0, 1);
  return {
    year,
    month: local.getUTCMonth(),
    dayOfYear: Math.floor((milliseconds - newYear) / 86_400_000),
    dayOfWeek: local.getUTCDay(),
    day: local.getUTCDate(),
    hours: local.getUTCHours(),
    minutes: local.getUTCMinutes(),
    seconds: local.getUTCSeconds(),
    milliseconds: local.getUTCMilliseconds(),
  };
}

/**
 * Parses an offset to milliseconds. A minus before the hours applies to the minutes too. All numbers have 64 bits and
 * overflow, as in Go.
 */
function writtenOffset(zone: string): number | Failure {
  const at = zone.indexOf(':');
  const hours = int64(zone.slice(0, at));
  if (hours instanceof Failure) return hours;
  const minutes = int64(zone.slice(at + 1));
  if (minutes instanceof Failure) return minutes;
  const offset = BigInt.asIntN(64, hours * 60n + (zone.startsWith('-') ? -minutes : minutes));
  const nanoseconds = BigInt.asIntN(64, offset * 60_000_000_000n);
  const seconds = nanoseconds / 1_000_000_000n;
  return Math.trunc(Number(seconds) + Number(nanoseconds - seconds * 1_000_000_000n) / 1e9) * 1000;
}

function int64(text: string): bigint | Failure {
  const wrong = (problem: string): Failure => new Failure(`strconv.Atoi: parsing ${JSON.stringify(text)}: ${problem}`);
  if (!/^[+-]?\d+$/.test(text)) return wrong('invalid syntax');
  const digits = text.replace(/^[+-]?0*/, '');
  const size = digits.length > 19 ? 2n ** 64n : BigInt(digits);
  const value = text.startsWith('-') ? -size : size;
  return isInt64(value) ? value : wrong('value out of range');
}

interface Zone {
  readonly format: Intl.DateTimeFormat;
  /** Offsets known so far, by quarter of an hour. Since offsets are whole minutes, none changes within a quarter. */
  readonly offsets: Map<number, number>;
}

const zones = new Map<string, Zone | Failure>();
const keptZones = 100;
const keptOffsets = 1_000;
/** Effort steps for loading a zone and for computing an offset in it. */
const zoneSteps = 2_000;
const offsetSteps = 60;
const quarter = 900_000;

/** Returns the offset of a named zone at a time, in milliseconds. */
function namedOffset(milliseconds: number, name: string): number | Failure {
  const known = zones.get(name);
  if (known === undefined) spend(zoneSteps);
  const zone = known ?? zoneOf(name);
  if (known === undefined) {
    if (zones.size >= keptZones) zones.clear();
    zones.set(name, zone);
  }
  if (zone instanceof Failure) return zone;
  const place = Math.floor(milliseconds / quarter);
  const cached = zone.offsets.get(place);
  if (cached !== undefined) return cached;
  spend(offsetSteps);
  if (zone.offsets.size >= keptOffsets) zone.offsets.clear();
  const offset = shownBy(zone.format, milliseconds) - Math.floor(milliseconds / 1000) * 1000;
  zone.offsets.set(place, offset);
  return offset;
}

/** Matches names of zones, which begin with a capital letter; other zones of ICU (`+01`, `utc`) are unknown to Go. */
const plausible = /^[A-Z][A-Za-z0-9_+/-]{0,63}$/;

function zoneOf(name: string): Zone | Failure {
  if (name.includes('..') || name.startsWith('/') || name.includes('\\')) {
    return new Failure('time: invalid location name');
  }
  if (name === 'Local') return zoneOf(Intl.DateTimeFormat().resolvedOptions().timeZone);
  const unknown = new Failure(`unknown time zone ${name}`);
  if (!plausible.test(name)) return unknown;
  try {
    const format = new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
      timeZone: name,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    return { format, offsets: new Map() };
  } catch {
    return unknown;
  }
}

/**
 * Returns the local time shown by the format, read as if it were UTC, in milliseconds with the precision of a second.
 * Uses the proleptic Gregorian calendar.
 */
function shownBy(format: Intl.DateTimeFormat, milliseconds: number): number {
  const shown = new Map(format.formatToParts(milliseconds).map(({ type, value }) => [type, value]));
  const part = (type: Intl.DateTimeFormatPartTypes): number => Number(shown.get(type));
  const year = shown.get('era') === 'BC' ? 1 - part('year') : part('year');
  const date = new Date(0);
  date.setUTCFullYear(year, part('month') - 1, part('day'));
  return date.setUTCHours(part('hour'), part('minute'), part('second'));
}
