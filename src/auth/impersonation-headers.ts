import { badRequest } from '../api/errors.js';
import { quote } from '../api/go-text.js';
import type { Credentials } from './authenticator.js';
import { readExtraHeaders } from './extra-headers.js';

/** The user that the headers request, exactly as they name it: no groups are added, and nothing is authorized yet. */
export interface WantedUser {
  readonly username: string;
  /** The requested UID; empty if there is none. */
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

const prefix = 'impersonate-';
const names = { user: `${prefix}user`, uid: `${prefix}uid`, group: `${prefix}group` } as const;
const extraPrefix = `${prefix}extra-`;

/** Whether there is any impersonation header. */
export const asksToImpersonate = (headers: Pick<Credentials, 'headerNames'>): boolean =>
  headers.headerNames().some((name) => name.startsWith(prefix));

/**
 * Reads the impersonation headers; undefined if there are none. Throws BadRequest if there is no username among them.
 */
export function readWantedUser(headers: Pick<Credentials, 'header' | 'headerNames'>): WantedUser | undefined {
  const requested = {
    username: headers.header(names.user)[0] ?? '',
    uid: headers.header(names.uid)[0] ?? '',
    groups: headers.header(names.group),
    extra: readExtraHeaders(headers, extraPrefix),
  };
  if (requested.username !== '') return requested;
  const { uid, groups, extra } = requested;
  if (uid === '' && groups.length === 0 && Object.keys(extra).length === 0) return undefined;
  throw badRequest(`requested ${goText(requested)} without impersonating a user name`);
}

/** Formats the user as Go prints the struct (`%#v`). */
function goText({ username, uid, groups, extra }: WantedUser): string {
  const list = (values: readonly string[]): string => `[]string{${values.map(quote).join(', ')}}`;
  const entries = Object.entries(extra)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, values]) => `${quote(key)}:${list(values)}`);
  const groupText = groups.length > 0 ? list(groups) : '[]string(nil)';
  const extraText = entries.length > 0 ? `map[string][]string{${entries.join(', ')}}` : 'map[string][]string(nil)';
  return `&user.DefaultInfo{Name:${quote(username)}, UID:${quote(uid)}, Groups:${groupText}, Extra:${extraText}}`;
}
