import querystring from 'node:querystring';

/**
 * Different spellings of one URI: percent-encoded letters, `.` and `..` segments in its path (RFC 3986, section 6.2.2), empty
 * segments, a user and a port. Programs that read a certificate may normalize all of them; Go decodes every path.
 */

/** Whether the path has a segment `.` or `..`, however it is encoded. Some programs treat a backslash as a slash. */
export const hasDotSegments = (uri: string): boolean =>
  /(?:^|[/\\])\.{1,2}(?:$|[/\\?#])/.test(querystring.unescape(uri));

/** Returns the normalized URI, without any of these. */
export function withoutDetours(uri: string): string {
  const [, scheme = '', authority = '', path = '', others = ''] =
    /^([^/?#]*:)?(\/\/[^/?#]*)?([^?#]*)(.*)$/s.exec(querystring.unescape(uri)) ?? [];
  const host = authority.replace(/^\/\/.*@/s, '//').replace(/:\d*$/, '');
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '.' && segment !== '') segments.push(segment);
  }
  const end = segments.length > 0 && /\/\.{0,2}$/.test(path) ? '/' : '';
  return `${scheme}${host}${path.startsWith('/') ? '/' : ''}${segments.join('/')}${end}${others}`;
}
