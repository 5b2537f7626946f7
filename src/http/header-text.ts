import { utf8Text } from '../api/utf8-text.js';

/** Decodes the texts in the head of a request. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is that of ASCII.
const beyondAscii = /[^\x00-\x7f]/;
/**
 * Decodes a header value as UTF-8, in which user names and user agents are written. Node.js decodes headers byte by
 * byte.
 */
export const headerText = (bytes: string): string =>
  beyondAscii.test(bytes) ? utf8Text(Buffer.from(bytes, 'latin1')) : bytes;

/** Decodes a request target as UTF-8. Invalid bytes are replaced as in percent-encoded form. */
export const targetText = (bytes: string): string =>
  beyondAscii.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes;

/**
 * Whether the caller waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1). Matches as Node.js
 * does over HTTP/1.1.
 */
export const expectsContinue = (expect = ''): boolean => /(?:^|\W)100-continue(?:$|\W)/i.test(expect);

/** Returns path and query of a target that includes the host, as sent to proxies (RFC 9112 section 3.2.2). */
export const originForm = (target: string): string =>
  target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*\/?/i, '/');

/** Returns the first value of a header. Node.js joins the values of most repeated headers. */
export function firstValue(
  value: string | string[] | undefined,
  name: string,
  rawHeaders: readonly string[],
): string | undefined {
  if (Array.isArray(value)) return value[0];
  if (!value?.includes(', ')) return value;
  const at = rawHeaders.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name);
  return rawHeaders[at + 1] ?? value;
}
