/** Formats timestamps and durations. */

/** Formats RFC 3339 in UTC with whole seconds (`metav1.Time`); fractions are cut off. */
export const timestamp = (milliseconds: number): string => `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;

/** Formats RFC 3339 in UTC with six fraction digits (`metav1.MicroTime`). */
export const microTimestamp = (milliseconds: number): string =>
  `${new Date(milliseconds).toISOString().slice(0, 23)}000Z`;

/** Formats the day in UTC: `2026-01-31`. */
export const dateText = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 10);

const units = { second: 1, minute: 60, hour: 3_600, day: 86_400, year: 365 * 86_400 };

const goZeroTime = '0001-01-01 00:00:00 +0000 UTC';

/** Formats a time in UTC as Go prints it, with whole seconds; the zero time if there is none or it is beyond all dates. */
export function goTimeText(milliseconds: number | undefined): string {
  const date = new Date(milliseconds ?? Number.NaN);
  if (Number.isNaN(date.getTime())) return goZeroTime;
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} +0000 UTC`;
}

/** Formats an age as kubectl does: `45s`, `3m10s`, `5h`, `2d3h`, `3y20d`; rounded down, at most two units. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1_000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * units.minute) return `${seconds}s`;
  const minutes = Math.floor(seconds / units.minute);
  if (minutes < 10) return twoUnits(minutes, 'm', seconds % 60, 's');
  if (minutes < 3 * 60) return `${minutes}m`;
  const hours = Math.floor(seconds / units.hour);
  if (hours < 8) return twoUnits(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(seconds / units.day);
  if (hours < 8 * 24) return twoUnits(days, 'd', hours % 24, 'h');
  if (hours < 2 * 365 * 24) return `${days}d`;
  const years = Math.floor(days / 365);
  if (hours < 8 * 365 * 24) return twoUnits(years, 'y', days % 365, 'd');
  return `${years}y`;
}
const twoUnits = (high: number, highUnit: string, low: number, lowUnit: string): string =>
  low === 0 ? `${high}${highUnit}` : `${high}${highUnit}${low}${lowUnit}`;
