import { microTimestamp, timestamp } from './time.js';

/** Parses timestamps as Go's `time.Parse` does, with its error texts. */

/** A point in time, or the error. `micros` are the microseconds beyond the whole millisecond. */
export type ParsedTime =
  | { readonly milliseconds: number; readonly micros: number; readonly wrong?: undefined }
  | { readonly wrong: string };

const layouts = {
  date: '2006-01-02',
  local: '2006-01-02T15:04:05',
  seconds: '2006-01-02T15:04:05Z07:00',
  micros: '2006-01-02T15:04:05.000000Z07:00',
  utcMinutes: '0601021504Z0700',
  utc: '060102150405Z0700',
  generalized: '20060102150405.999999999Z0700',
} as const;
const canonicalSeconds = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;
const zeroTime = -62_135_596_800_000;

/** Converts RFC 3339 to whole seconds in UTC (`metav1.Time`); null for the zero time. */
export function canonicalTime(text: string): string | null | { readonly wrong: string } {
  if (canonicalSeconds.test(text) && text !== '0001-01-01T00:00:00Z') return text;
  const parsed = parseTime(text, 'seconds');
  if (parsed.wrong !== undefined) return { wrong: parsed.wrong };
  return parsed.milliseconds === zeroTime && parsed.micros === 0 ? null : timestamp(parsed.milliseconds);
}

/** Parses RFC 3339 into milliseconds since the epoch; undefined if it is invalid. */
export const parseRfc3339 = (text: string): number | undefined => {
  const parsed = parseTime(text, 'seconds');
  return parsed.wrong === undefined ? parsed.milliseconds : undefined;
};

/** Converts RFC 3339 with exactly six fraction digits to UTC (`metav1.MicroTime`); null for the zero time. */
export function canonicalMicroTime(text: string): string | null | { readonly wrong: string } {
  const parsed = parseTime(text, 'micros');
  if (parsed.wrong !== undefined) return { wrong: parsed.wrong };
  const { milliseconds, micros } = parsed;
  if (milliseconds === zeroTime && micros === 0) return null;
  return `${microTimestamp(milliseconds).slice(0, -4)}${String(micros).padStart(3, '0')}Z`;
}

/** Returns the error for a date, a time without a zone, or one of ASN.1's times; undefined if it is valid. */
export const timeProblem = (
  text: string,
  layout: Exclude<keyof typeof layouts, 'seconds' | 'micros'>,
): string | undefined => parseTime(text, layout).wrong;

interface Part {
  /** The name in Go's layout. */
  readonly name: string;
  /** Matches its digits. */
  readonly pattern: RegExp;
  readonly range?: readonly [number, number, string];
  /** The literal that follows. */
  readonly after: string;
}

/** The parts of a layout, in order. */
const parts: readonly Part[] = [
  { name: '2006', pattern: /^\d{4}/, after: '-' },
  { name: '01', pattern: /^\d\d/, after: '-', range: [1, 12, 'month'] },
  { name: '02', pattern: /^\d\d/, after: 'T' },
  { name: '15', pattern: /^\d\d?/, after: ':', range: [0, 23, 'hour'] },
  { name: '04', pattern: /^\d\d/, after: ':', range: [0, 59, 'minute'] },
  { name: '05', pattern: /^\d\d/, after: '', range: [0, 59, 'second'] },
];
const joined = parts.map((part): Part => ({ ...part, after: '' }));
const withShortYear: readonly Part[] = [{ name: '06', pattern: /^\d\d/, after: '' }, ...joined.slice(1)];
const partsOf: Readonly<Record<keyof typeof layouts, readonly Part[]>> = {
  date: parts.slice(0, 3),
  local: parts,
  seconds: parts,
  micros: parts,
  utcMinutes: withShortYear.slice(0, 5),
  utc: withShortYear,
  generalized: joined,
};
const zones = {
  none: { name: '', pattern: /^/ },
  colon: { name: 'Z07:00', pattern: /^(?:Z|([+-])(\d\d):(\d\d))/ },
  joined: { name: 'Z0700', pattern: /^(?:Z|([+-])(\d\d)(\d\d))/ },
} as const;
const zoneOf: Readonly<Record<keyof typeof layouts, { readonly name: string; readonly pattern: RegExp }>> = {
  date: zones.none,
  local: zones.none,
  seconds: zones.colon,
  micros: zones.colon,
  utcMinutes: zones.joined,
  utc: zones.joined,
  generalized: zones.joined,
};

/** Parses a whole text of this form; `micros` requires six fraction digits. ASN.1's texts are bytes, one unit each. */
function parseTime(text: string, form: keyof typeof layouts): ParsedTime {
  const layout = layouts[form];
  const zoneForm = zoneOf[form];
  const quoted = (part: string): string => goTimeQuote(part, zoneForm === zones.joined ? 'latin1' : 'utf8');
  const complain = (remaining: string, part: string): ParsedTime => ({
    wrong: `parsing time ${quoted(text)} as ${quoted(layout)}: cannot parse ${quoted(remaining)} as ${quoted(part)}`,
  });
  const outOfRange = (name: string): ParsedTime => ({ wrong: `parsing time ${quoted(text)}: ${name} out of range` });

  let remaining = text;
  const numbers: number[] = [];
  const parts = partsOf[form];
  for (const part of parts) {
    const digits = part.pattern.exec(remaining)?.[0];
    if (digits === undefined) return complain(remaining, part.name);
    const value = Number(digits);
    if (part.range && (value < part.range[0] || value > part.range[1])) return outOfRange(part.range[2]);
    numbers.push(value);
    remaining = remaining.slice(digits.length);
    if (part === parts.at(-1)) break;
    if (!remaining.startsWith(part.after)) return complain(remaining, part.after);
    remaining = remaining.slice(part.after.length);
  }

  let fraction = '';
  if (form === 'micros') {
    const found = /^[.,](\d{6})/.exec(remaining);
    if (found === null) return complain(remaining, '.000000');
    fraction = found[1] ?? '';
    remaining = remaining.slice(7);
  } else if (form !== 'date' && form !== 'utcMinutes') {
    fraction = /^[.,](\d+)/.exec(remaining)?.[1] ?? '';
    if (fraction !== '') remaining = remaining.slice(fraction.length + 1);
  }

  const zone = zoneForm.pattern.exec(remaining);
  if (zone === null) return complain(remaining, zoneForm.name);
  const [zoneText, sign, zoneHours, zoneMinutes] = zone;
  if (Number(zoneHours ?? 0) > 24) return outOfRange('time zone offset hour');
  if (Number(zoneMinutes ?? 0) > 60) return outOfRange('time zone offset minute');
  remaining = remaining.slice(zoneText.length);
  if (remaining !== '') return { wrong: `parsing time ${quoted(text)}: extra text: ${quoted(remaining)}` };

  const [yearNumber = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = numbers;
  const year = parts[0]?.name !== '06' ? yearNumber : yearNumber < 69 ? 2000 + yearNumber : 1900 + yearNumber;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (day < 1 || date.getUTCDate() !== day) return outOfRange('day');
  date.setUTCHours(hour, minute, second);
  const offset = (Number(zoneHours ?? 0) * 60 + Number(zoneMinutes ?? 0)) * 60_000 * (sign === '-' ? -1 : 1);
  const micros = Number(fraction.padEnd(6, '0').slice(0, 6));
  return {
    milliseconds: date.getTime() - offset + Math.trunc(micros / 1_000),
    micros: micros % 1_000,
  };
}

/** Quotes as Go's `time` package does, which escapes bytes beyond ASCII one by one. */
export function goTimeQuote(text: string, encoding: BufferEncoding = 'utf8'): string {
  // Texts of millions of characters are quoted too; processing them byte by byte would take seconds.
  const escaped = (part: string): string =>
    part === '"' || part === '\\' ? `\\${part}` : Buffer.from(part, encoding).toString('hex').replace(/../g, '\\x$&');
  return `"${text.replace(/["\\]|[^ -\x7f]+/gu, escaped)}"`;
}
