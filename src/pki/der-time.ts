/** UTCTime and GeneralizedTime (X.690 11.7 and 11.8, RFC 5280 4.1.2.5), with the zones that Go takes too. */

const utcTime = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?(Z|[+-]\d{4})$/;
const generalizedTime = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(Z|[+-]\d{4})$/;

/** Milliseconds since the epoch, 1950 to 2049; undefined for what is malformed. Seconds may be absent. */
export const readUtcTime = (text: string): number | undefined =>
  instant(utcTime.exec(text), Number(text.slice(0, 2)) < 50 ? 2000 : 1900);

/** Milliseconds since the epoch; undefined for what is malformed. */
export const readGeneralizedTime = (text: string): number | undefined => instant(generalizedTime.exec(text), 0);

/** Milliseconds of a date that exists; undefined for others. */
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

/** Minutes east of UTC; `+0000` has to be written as Z. */
function zoneMinutes(zone: string): number | undefined {
  if (zone === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3, 5));
  if (hours > 24 || minutes > 59 || hours + minutes === 0) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
