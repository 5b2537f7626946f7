import { createHash } from 'node:crypto';
import type { UserInfo } from '../api/user.js';
import type { TokenAuthenticator } from './bearer-token.js';

// Tokens are looked up by their digest, so that the duration of a lookup reveals nothing about a token.
const digest = (token: string): string => createHash('sha256').update(token).digest('base64');

/**
 * Authenticates tokens from a file with the lines `token,user,uid[,"group,group"]`. Lines without a token are skipped;
 * of several lines for the same token the last one counts. Throws Error that names a line with fewer than three
 * columns.
 */
export function staticTokens(csv: string): TokenAuthenticator {
  const users = readUsers(csv);
  return {
    async authenticateToken(token) {
      const user = users.get(digest(token));
      return user === undefined ? undefined : { user };
    },
  };
}

function readUsers(csv: string): ReadonlyMap<string, UserInfo> {
  const users = new Map<string, UserInfo>();
  for (const [at, columns] of readCsv(csv).entries()) {
    const [token, username, uid, groups] = columns;
    if (token === undefined || username === undefined || uid === undefined) {
      throw new Error(
        `token file must have at least 3 columns (token, user name, user uid), found ${columns.length} in record ${at + 1}`,
      );
    }
    if (token === '') continue;
    users.set(digest(token), {
      username,
      ...(uid === '' ? {} : { uid }),
      groups: groups?.split(',') ?? [],
    });
  }
  return users;
}

/** Parses the records of a CSV text (RFC 4180); empty lines are skipped. */
function readCsv(text: string): readonly (readonly string[])[] {
  const records: string[][] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;
  let record: string[] = [];
  while (field.lastIndex < text.length || record.length > 0) {
    const match = field.exec(text);
    if (match === null) throw new Error(`token file: record ${records.length + 1} is not readable as CSV`);
    record.push(match[1] === undefined ? (match[2] ?? '') : match[1].replaceAll('""', '"'));
    if (match[3] === ',') continue;
    if (record.length > 1 || record[0] !== '') records.push(record);
    record = [];
    if (match[3] === '') break;
  }
  return records;
}
