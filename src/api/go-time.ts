import { microTimestamp, timestamp } from './time.js';

/** Reads timestamps as Go's `time.Parse` does, with its complaints. */

/** A point in time, or what is wrong with the text. `micros` are the microseconds beyond the whole millisecond. */
export type ParsedTime =
  | { readonly milliseconds: number; readonly micros: number; readonly wrong?: undefined }
  | { readonly wrong: string };

const layouts = {
  date: '2006-01-02',
  local: '2006-01-02T15:04:05',
  seconds: '2006-01-02T15:04:05Z07:00',
  micros: '2006-01-02T15:04:05.000000Z07:00',
} as const;
const canonicalSeconds = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;
const zeroTime = -62_135_596_800_000;

/** RFC 3339 to whole seconds in UTC (`metav1.Time`); null for the zero time. */
export function canonicalTime(text: string): string | null | { readonly wrong: string } {
  if (canonicalSeconds.test(text) && text !== '0001-01-01T00:00:00Z') return text;
  const parsed = parseTime(text, 'seconds');
  if (parsed.wrong !== undefined) return { wrong: parsed.wrong };
  return parsed.milliseconds === zeroTime && parsed.micros === 0 ? null : timestamp(parsed.milliseconds);
}

/** RFC 3339 as milliseconds since the epoch; undefined if it cannot be read. */
export const momentOf = (text: string): number | undefined => {
  const parsed = parseTime(text, 'seconds');
  return parsed.wrong === undefined ? parsed.milliseconds : undefined;
};

/** RFC 3339 with exactly six fraction digits to UTC (`metav1.MicroTime`); null for the zero time. */
export function canonicalMicroTime(text: string): string | null | { readonly wrong: string } {
  const parsed = parseTime(text, 'micros');
  if (parsed.wrong !== undefined) return { wrong: parsed.wrong };
  const { milliseconds, micros } = parsed;
  if (milliseconds === zeroTime && micros === 0) return null;
  return `${microTimestamp(milliseconds).slice(0, -4)}${String(micros).padStart(3, '0')}Z`;
}

/** What is wrong with a date, or with a time without a zone; undefined if nothing is. */
export const timeProblem = (text: string, layout: 'date' | 'local'): string | undefined =>
  parseTime(text, layout).wrong;

/** Parts of a layout in their order: what Go calls them, the digits they take, the literal that follows. */
const parts = [
  { name: '2006', pattern: /^\d{4}/, after: '-' },
  { name: '01', pattern: /^\d\d/, after: '-', range: [1, 12, 'month'] },
  { name: '02', pattern: /^\d\d/, after: 'T' },
  { name: '15', pattern: /^\d\d?/, after: ':', range: [0, 23, 'hour'] },
  { name: '04', pattern: /^\d\d/, after: ':', range: [0, 59, 'minute'] },
  { name: '05', pattern: /^\d\d/, after: '', range: [0, 59, 'second'] },
] as const;
const dateParts = parts.slice(0, 3);

/** Reads a whole text in RFC 3339, or the beginning of it that `form` is; `micros` insists on six fraction digits. */
function parseTime(text: string, form: keyof typeof layouts): ParsedTime {
  const layout = layouts[form];
  const complain = (rest: string, part: string): ParsedTime => ({
    wrong: `parsing time ${goTimeQuote(text)} as ${goTimeQuote(layout)}: cannot parse ${goTimeQuote(rest)} as ${goTimeQuote(part)}`,
  });
  const outOfRange = (name: string): ParsedTime => ({
    wrong: `parsing time ${goTimeQuote(text)}: ${name} out of range`,
  });

  let rest = text;
  const numbers: number[] = [];
  const wanted = form === 'date' ? dateParts : parts;
  for (const part of wanted) {
    const digits = part.pattern.exec(rest)?.[0];
    if (digits === undefined) return complain(rest, part.name);
    const value = Number(digits);
    if ('range' in part && (value < part.range[0] || value > part.range[1])) return outOfRange(part.range[2]);
    numbers.push(value);
    rest = rest.slice(digits.length);
    if (part === wanted.at(-1)) break;
    if (!rest.startsWith(part.after)) return complain(rest, part.after);
    rest = rest.slice(part.after.length);
  }

  let fraction = '';
  if (form === 'micros') {
    const found = /^[.,](\d{6})/.exec(rest);
    if (found === null) return complain(rest, '.000000');
    fraction = found[1] ?? '';
    rest = rest.slice(7);
  } else if (form !== 'date') {
    fraction = /^[.,](\d+)/.exec(rest)?.[1] ?? '';
    if (fraction !== '') rest = rest.slice(fraction.length + 1);
  }

  const zone = (form === 'date' || form === 'local' ? /^/ : /^(?:Z|([+-])(\d\d):(\d\d))/).exec(rest);
  if (zone === null) return complain(rest, 'Z07:00');
  const [zoneText, sign, zoneHours, zoneMinutes] = zone;
  if (Number(zoneHours ?? 0) > 24) return outOfRange('time zone offset hour');
  if (Number(zoneMinutes ?? 0) > 60) return outOfRange('time zone offset minute');
  rest = rest.slice(zoneText.length);
  if (rest !== '') return { wrong: `parsing time ${goTimeQuote(text)}: extra text: ${goTimeQuote(rest)}` };

  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = numbers;
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

/** Go's `time` package quotes in its own way: bytes beyond ASCII one by one. */
export function goTimeQuote(text: string): string {
  let out = '"';
  for (const character of text) {
    if (character === '"' || character === '\\') out += `\\${character}`;
    else if (character >= ' ' && character < '\x80') out += character;
    else for (const byte of Buffer.from(character)) out += `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return `${out}"`;
}
