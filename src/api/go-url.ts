import { parseAddress } from './go-ip.js';
import { quoteBytes } from './go-text.js';

/** A URL as Go's `net/url` parses it; accepted texts and errors are Go's, because clients see both. Linear in the length. */
export interface GoUrl {
  /** Lower case; empty if there is none. */
  readonly scheme: string;
  /** The text after the scheme if that is no path. */
  readonly opaque: string;
  /** `user[:password]`, escaped again; absent without an `@`. */
  readonly user?: string;
  /** Includes the port. */
  readonly host: string;
  readonly path: string;
  /** The path as it was written, if that is a valid escaping of it. */
  readonly escapedPath: string;
  /** The query after `?`, not decoded. */
  readonly rawQuery: string;
  readonly fragment: string;
  /** The whole URL, formatted again. */
  readonly text: string;
}

type ParseError = { readonly wrong: string };

/** Parses a URL, or returns the text of Go's error (`parse "...": ...`). */
export function parseGoUrl(text: string): GoUrl | ParseError {
  const [before, fragment] = cut(asBytes(text), '#');
  const url = attempt(before, () => readReference(before, false));
  if ('wrong' in url) return url;
  const read = attempt(asBytes(text), () => ({ fragment: unescaped(fragment, 'fragment') }));
  return 'wrong' in read ? read : goUrlOf({ ...url, ...read, escapedFragment: fragment });
}

/** Like `parseGoUrl`, for the URL of a request: without a fragment, with an absolute path or a scheme. */
export function parseGoRequestUrl(text: string): GoUrl | ParseError {
  const bytes = asBytes(text);
  const url = attempt(bytes, () => readReference(bytes, true));
  return 'wrong' in url ? url : goUrlOf({ ...url, fragment: '', escapedFragment: '' });
}

/** Splits a host into name and port; the port has no colon and is empty if there is none. */
export function splitHost(host: string): { readonly name: string; readonly port: string } {
  const colon = host.lastIndexOf(':');
  const hasPort = colon >= 0 && optionalPort.test(host.slice(colon));
  const name = hasPort ? host.slice(0, colon) : host;
  const bare = name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name;
  return { name: bare, port: hasPort ? host.slice(colon + 1) : '' };
}

const mostParameters = 10_000;

/** Parses the parameters of a query, by name. Invalid ones are left out; more than 10,000 yield none at all. */
export function queryValues(rawQuery: string): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  const parts = asBytes(rawQuery).split('&', mostParameters + 1);
  if (parts.length > mostParameters) return values;
  for (const part of parts) {
    if (part === '' || part.includes(';')) continue;
    const [name, value] = cut(part, '=');
    const read = attempt(part, () => ({ name: unescaped(name, 'query'), value: unescaped(value, 'query') }));
    if ('wrong' in read) continue;
    const key = asText(read.name);
    const known = values.get(key);
    if (known === undefined) values.set(key, [asText(read.value)]);
    else known.push(asText(read.value));
  }
  return values;
}

// Go works on bytes: within this file texts are bytes of UTF-8, one unit each.
// biome-ignore lint/suspicious/noControlCharactersInRegex: stands for ASCII
const beyondAscii = /[^\x00-\x7f]/;
const asBytes = (text: string): string => (beyondAscii.test(text) ? Buffer.from(text).toString('latin1') : text);
const asText = (bytes: string): string => (beyondAscii.test(bytes) ? Buffer.from(bytes, 'latin1').toString() : bytes);
const quoted = (bytes: string): string => quoteBytes(Buffer.from(bytes, 'latin1'));

class UrlProblem extends Error {
  override readonly name = 'UrlProblem';
}

function attempt<T extends object>(url: string, read: () => T): T | ParseError {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UrlProblem)) throw error;
    return { wrong: `parse ${quoted(url)}: ${error.message}` };
  }
}

const cut = (text: string, separator: string): readonly [string, string] => {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
};

/** A URL without its fragment, in bytes. */
interface Reference {
  readonly scheme: string;
  readonly opaque: string;
  readonly user?: string | undefined;
  readonly host: string;
  readonly path: string;
  readonly escapedPath: string;
  readonly rawQuery: string;
  /** Whether there is a `?` with nothing after it. */
  readonly emptyQuery: boolean;
  /** Whether the path follows the scheme directly: `file:/x`. */
  readonly noHost: boolean;
}

function readReference(text: string, ofRequest: boolean): Reference {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\x00-\x1f\x7f]/.test(text)) throw new UrlProblem('net/url: invalid control character in URL');
  if (text === '' && ofRequest) throw new UrlProblem('empty url');
  const [scheme, afterScheme] = text === '*' ? ['', text] : splitScheme(text);
  const emptyQuery = afterScheme.indexOf('?') === afterScheme.length - 1 && afterScheme !== '';
  const [beforeQuery, rawQuery] = cut(afterScheme, '?');
  const none = { scheme, opaque: '', host: '', path: '', escapedPath: '', rawQuery, emptyQuery, noHost: false };
  if (text === '*') return { ...none, path: '*', escapedPath: '*' };
  if (!beforeQuery.startsWith('/')) {
    if (scheme !== '') return { ...none, opaque: beforeQuery };
    if (ofRequest) throw new UrlProblem('invalid URI for request');
    if (cut(beforeQuery, '/')[0].includes(':')) throw new UrlProblem('first path segment in URL cannot contain colon');
  }
  const hasAuthority =
    beforeQuery.startsWith('//') && (scheme !== '' || (!ofRequest && !beforeQuery.startsWith('///')));
  if (!hasAuthority) return { ...none, ...readPath(beforeQuery), noHost: scheme !== '' };
  const slash = beforeQuery.indexOf('/', 2);
  const authority = slash < 0 ? beforeQuery.slice(2) : beforeQuery.slice(2, slash);
  return { ...none, ...readAuthority(scheme, authority), ...readPath(slash < 0 ? '' : beforeQuery.slice(slash)) };
}

function readPath(written: string): { readonly path: string; readonly escapedPath: string } {
  const path = unescaped(written, 'path');
  return { path, escapedPath: isEscaped(written, 'path') ? written : escaped(path, 'path') };
}

function splitScheme(text: string): readonly [string, string] {
  const length = /^[A-Za-z0-9+.-]*/.exec(text)?.[0].length ?? 0;
  if (text[length] !== ':') return ['', text];
  if (length === 0) throw new UrlProblem('missing protocol scheme');
  if (!/^[A-Za-z]/.test(text)) return ['', text];
  return [text.slice(0, length).toLowerCase(), text.slice(length + 1)];
}

function readAuthority(scheme: string, authority: string): { readonly user?: string; readonly host: string } {
  const at = authority.lastIndexOf('@');
  const host = readHost(scheme, authority.slice(at + 1));
  if (at < 0) return { host };
  const userinfo = authority.slice(0, at);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(userinfo)) throw new UrlProblem('net/url: invalid userinfo');
  const [name, password] = cut(userinfo, ':').map((part) => escaped(unescaped(part, 'user'), 'user'));
  return { host, user: userinfo.includes(':') ? `${name}:${password}` : (name ?? '') };
}

const optionalPort = /^(?::[0-9]*)?$/;

function readHost(scheme: string, host: string): string {
  const bracket = host.lastIndexOf('[');
  if (bracket > 0) throw new UrlProblem('invalid IP-literal');
  if (bracket === 0) return readLiteral(host);
  const isWeb = scheme === 'http' || scheme === 'https';
  const colon = isWeb ? host.indexOf(':') : host.lastIndexOf(':');
  if (colon >= 0) checkPort(host.slice(colon));
  return unescaped(host, 'host');
}

function checkPort(port: string): void {
  if (!optionalPort.test(port)) throw new UrlProblem(`invalid port ${quoted(port)} after host`);
}

/** Reads an IPv6 address in brackets, possibly with a zone after `%25`. */
function readLiteral(host: string): string {
  const close = host.lastIndexOf(']');
  if (close < 0) throw new UrlProblem("missing ']' in host");
  const port = host.slice(close + 1);
  checkPort(port);
  const inner = host.slice(1, close);
  const zoneAt = inner.indexOf('%25');
  const name =
    zoneAt < 0
      ? unescaped(inner, 'host')
      : unescaped(inner.slice(0, zoneAt), 'host') + unescaped(inner.slice(zoneAt), 'zone');
  const address = parseAddress(name, quoted);
  if ('wrong' in address) throw new UrlProblem(`invalid host: ${address.wrong}`);
  if (address.bytes.length === 4) throw new UrlProblem('invalid IP-literal');
  return `[${name}]${port}`;
}

type Part = 'path' | 'fragment' | 'user' | 'host' | 'zone' | 'query';

/** The characters that need no escape, besides letters, digits and `-_.~`. */
const plain: Readonly<Record<Part, string>> = {
  path: '$&+,/:;=@',
  fragment: '!$&()*+,/:;=?@',
  user: '$&+,;=',
  host: '!"$&\'()*+,:;<=>[\\]',
  zone: '!"$&\'()*+,:;<=>[\\]',
  query: '',
};
const unescapedIn = (part: Part, more = ''): RegExp => new RegExp(`[^A-Za-z0-9\\-_.~${plain[part]}${more}]`, 'g');
const toEscape: Readonly<Record<Part, RegExp>> = {
  path: unescapedIn('path'),
  fragment: unescapedIn('fragment'),
  user: unescapedIn('user'),
  host: unescapedIn('host'),
  zone: unescapedIn('zone'),
  query: unescapedIn('query'),
};
/** Matches the characters that are escaped: hosts allow only those of their grammar, and everything beyond ASCII. */
const unusual: Readonly<Record<'host' | 'other', RegExp>> = { host: unescapedIn('host', '\\x80-\\xff'), other: /%/g };
/** Matches characters that a valid escaping does not have; it may leave some unescaped that the writer escapes. */
const notEscaped: Readonly<Record<'path' | 'fragment', RegExp>> = {
  path: unescapedIn('path', "!'()*[\\]%"),
  fragment: unescapedIn('fragment', "'[\\]%"),
};

const isEscaped = (text: string, part: 'path' | 'fragment'): boolean => text.search(notEscaped[part]) < 0;

const escaped = (bytes: string, part: Part): string =>
  bytes.replace(toEscape[part], (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);

/**
 * Decodes `%xx`, and in queries `+`. Hosts allow escapes only of bytes beyond ASCII, zones also of characters of their
 * grammar.
 */
function unescaped(text: string, part: Part): string {
  const isHost = part === 'host' || part === 'zone';
  const parts: string[] = [];
  let done = 0;
  for (const { index, 0: found } of text.matchAll(unusual[isHost ? 'host' : 'other'])) {
    if (found !== '%') throw new UrlProblem(`invalid character ${quoted(found)} in host name`);
    const triplet = text.slice(index, index + 3);
    if (!/^%[0-9A-Fa-f]{2}$/.test(triplet)) throw new UrlProblem(`invalid URL escape ${quoted(triplet)}`);
    const byte = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
    const isAllowed =
      triplet === '%25' ||
      (part === 'zone' ? byte === ' ' || byte.search(toEscape.host) < 0 : part !== 'host' || byte >= '\x80');
    if (!isAllowed) throw new UrlProblem(`invalid URL escape ${quoted(triplet)}`);
    parts.push(text.slice(done, index), byte);
    done = index + 3;
  }
  parts.push(text.slice(done));
  if (part !== 'query') return parts.join('');
  return parts.map((piece, at) => (at % 2 === 0 ? piece.replaceAll('+', ' ') : piece)).join('');
}

function goUrlOf(url: Reference & { readonly fragment: string; readonly escapedFragment: string }): GoUrl {
  const { scheme, opaque, user, host, path, escapedPath, rawQuery, emptyQuery, noHost, fragment } = url;
  let text = scheme === '' ? '' : `${scheme}:`;
  if (opaque !== '') text += opaque;
  else {
    if (!noHost && (host !== '' || user !== undefined || (scheme !== '' && path !== ''))) text += '//';
    if (user !== undefined) text += `${user}@`;
    text += escaped(host, 'host');
    if (escapedPath !== '' && !escapedPath.startsWith('/') && host !== '') text += '/';
    if (text === '' && cut(escapedPath, '/')[0].includes(':')) text += './';
    text += escapedPath;
  }
  if (emptyQuery || rawQuery !== '') text += `?${rawQuery}`;
  if (fragment !== '') {
    text += `#${isEscaped(url.escapedFragment, 'fragment') ? url.escapedFragment : escaped(fragment, 'fragment')}`;
  }
  return {
    scheme,
    opaque: asText(opaque),
    ...(user === undefined ? {} : { user }),
    host: asText(host),
    path: asText(path),
    escapedPath: asText(escapedPath),
    rawQuery: asText(rawQuery),
    fragment: asText(fragment),
    text: asText(text),
  };
}
