import type { LedgerRecord } from '../api/certificate-ledger.js';
import { compareText } from '../api/text-order.js';
import { humanDuration } from '../api/time.js';
import { escapedValue } from '../pki/certificate-ledger.js';
import { escapeControls } from '../runtime/escape-controls.js';

/** Selects records of the ledger. */
export interface CertificateQuery {
  readonly signer?: string;
  readonly requester?: string;
  /** A common name, or an alternative name with or without its type. */
  readonly name?: string;
  /** The time until expiry, in milliseconds. */
  readonly expiresWithin?: number;
  /** Whether expired certificates are included. */
  readonly expired?: boolean;
}

/** Returns the matching records, each certificate once, ordered by expiry. */
export function selectRecords(
  records: readonly LedgerRecord[],
  { signer, requester, name, expiresWithin, expired = false }: CertificateQuery,
  now: number,
): readonly LedgerRecord[] {
  const bySha256 = new Map(records.map((record) => [record.sha256, record]));
  return [...bySha256.values()]
    .filter((record) => {
      const end = Date.parse(record.notAfter);
      return (
        (signer === undefined || record.signerName === signer) &&
        (requester === undefined || record.requester === requester) &&
        (name === undefined || isNamed(record, name)) &&
        (expired || end > now) &&
        (expiresWithin === undefined || end <= now + expiresWithin)
      );
    })
    .sort((a, b) => compareText(a.notAfter, b.notAfter) || compareText(a.sha256, b.sha256));
}

const isNamed = ({ subject = '', names = [] }: LedgerRecord, name: string): boolean =>
  partsOf(subject).includes(`CN=${escapedValue(name)}`) ||
  names.some((one) => one === name || one.slice(one.indexOf(':') + 1) === name);

/** Splits a subject at its commas; a comma after an odd number of backslashes is part of a value. */
const partsOf = (subject: string): readonly string[] => subject.match(/(?:[^,\\]|\\.)+/gs) ?? [];

/** Returns the records as a table for people, with columns as wide as their widest cell. */
export function recordTable(records: readonly LedgerRecord[], now: number): string {
  return table([
    ['EXPIRES', 'SIGNER', 'SUBJECT', 'NAMES', 'REQUESTER', 'APPROVAL', 'SERIAL'],
    ...records.map(
      ({ notAfter, signerName, subject = '', names = [], omittedNames = 0, requester, approval, serial }) => [
        shownEnd(notAfter, now),
        signerName,
        shortened(subject),
        shortened([...names, ...(omittedNames > 0 ? [`and ${omittedNames} more`] : [])].join(' ')),
        requester,
        ruleIn(approval.message) ?? approval.reason ?? '',
        serial,
      ],
    ),
  ]);
}

/** Returns the time that is left until an RFC 3339 time, or the time itself if it has passed. */
export function shownEnd(end: string, now: number): string {
  const leftMs = Date.parse(end) - now;
  return leftMs > 0 ? `in ${humanDuration(leftMs)}` : end;
}

/** Returns the rule of a certificate policy that a condition names. */
const ruleIn = (message: string | undefined): string | undefined => {
  const [, rule] = /^Approved by rule (".*") of the certificate policy\.$/.exec(message ?? '') ?? [];
  return rule === undefined ? undefined : `rule ${rule}`;
};

const shortened = (text: string): string => (text.length > 60 ? `${text.slice(0, 59)}…` : text);

export function table(rows: readonly (readonly string[])[]): string {
  const clean = rows.map((row) => row.map((cell) => (cell === '' ? '-' : escapeControls(cell))));
  const widths = (clean[0] ?? []).map((_, at) => clean.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), 0));
  return clean
    .map(
      (row) =>
        `${row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join('   ')
          .trimEnd()}\n`,
    )
    .join('');
}
