import { utf8Text } from '../api/utf8-text.js';

/** What requests say in their heads, as it was meant. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is that of ASCII.
const beyondAscii = /[^\x00-\x7f]/;
/** Node reads headers byte by byte; who somebody is, and what a client calls itself, is written in UTF-8. */
export const headerText = (bytes: string): string =>
  beyondAscii.test(bytes) ? utf8Text(Buffer.from(bytes, 'latin1')) : bytes;

/** So is what is asked for. Bytes that are no UTF-8 are there what they are when they are percent-encoded. */
export const targetText = (bytes: string): string =>
  beyondAscii.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes;

/** Does the caller wait to be asked for the body (RFC 9110 section 10.1.1)? As Node tells it over HTTP/1.1. */
export const expectsContinue = (expect = ''): boolean => /(?:^|\W)100-continue(?:$|\W)/i.test(expect);

/** Path and query of a target that names the host as well, as proxies are sent. RFC 9112 section 3.2.2. */
export const originForm = (target: string): string =>
  target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*\/?/i, '/');

/** The first value of a header. Node joins those of most headers that come more than once. */
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
