import { quote } from '../api/go-text.js';
import { timeProblem } from '../api/go-time.js';
import { withoutTrailing } from '../api/trim.js';

/** UTCTime and GeneralizedTime (X.690 11.7 and 11.8, RFC 5280 4.1.2.5), with the zones that Go accepts too. */

const utcTime = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?(Z|[+-]\d{4})$/;
const generalizedTime = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(Z|[+-]\d{4})$/;

/** Returns milliseconds since the epoch, for 1950 to 2049; undefined for a malformed time. Seconds may be absent. */
export const readUtcTime = (text: string): number | undefined =>
  instant(utcTime.exec(text), Number(text.slice(0, 2)) < 50 ? 2000 : 1900);

/** Returns milliseconds since the epoch; undefined for a malformed time. */
export const readGeneralizedTime = (text: string): number | undefined => instant(generalizedTime.exec(text), 0);

/** Returns the milliseconds of a date; undefined if the date does not exist. */
function instant(parts: RegExpExecArray | null, century: number): number | undefined {
  if (parts === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const date = new Date(0);
  date.setUTCFullYear(century + year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const exists =
    date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
  const offset = zoneMinutes(parts[7] ?? 'Z');
  return exists && offset !== undefined ? date.getTime() - offset * 60_000 : undefined;
}

/** Returns minutes east of UTC; `+0000` must be written as Z. */
function zoneMinutes(zone: string): number | undefined {
  if (zone === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3, 5));
  if (hours > 24 || minutes > 59 || hours + minutes === 0) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

/** Returns the error text of Go's encoding/asn1 for a time; undefined if it is valid. */
export function asn1TimeProblem(bytes: Buffer, form: 'utc' | 'generalized'): string | undefined {
  const text = bytes.toString('latin1');
  if (form === 'utc' && timeProblem(text, 'utcMinutes') === undefined) return notCanonical(text, '');
  return timeProblem(text, form) ?? notCanonical(text, form === 'utc' ? '' : '.');
}

/** Returns the error of a time that is not encoded as Go would: without unnecessary digits, and UTC as Z. */
function notCanonical(text: string, point: '' | '.'): string | undefined {
  const [, seconds = '', digits = '', zone = ''] = /^(\d+)(?:[.,](\d{1,9})\d*)?(.*)$/.exec(text) ?? [];
  const fraction = point && withoutTrailing(digits, '0');
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3));
  const offset = `${zone.charAt(0)}${String(Math.floor(minutes / 60)).padStart(2, '0')}${String(minutes % 60).padStart(2, '0')}`;
  const written = `${seconds}${fraction && `.${fraction}`}${minutes > 0 ? offset : 'Z'}`;
  return written === text
    ? undefined
    : `asn1: time did not serialize back to the original value and may be invalid: given ${quote(text)}, but serialized as ${quote(written)}`;
}
