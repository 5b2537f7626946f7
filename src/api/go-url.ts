import { quote } from './go-text.js';

/**
 * Reads URLs as Go's `net/url` does: what it takes and how it complains, because clients see both. Linear in the length.
 */
export interface GoUrl {
  /** Lower case; empty if there is none. */
  readonly scheme: string;
  /** `user[:password]`, escaped again; absent without an `@`. */
  readonly user?: string;
  /** With the port. */
  readonly host: string;
  readonly path: string;
  /** What follows `?`, not decoded. */
  readonly rawQuery: string;
  readonly fragment: string;
}

/** The URL, or the text of Go's error (`parse "...": ...`). */
export function parseGoUrl(text: string): GoUrl | { readonly wrong: string } {
  const [before, fragment] = cut(text, '#');
  try {
    const url = parseReference(before);
    return { ...url, fragment: inUrl(text, () => unescaped(fragment, 'other')) };
  } catch (error) {
    if (!(error instanceof UrlProblem)) throw error;
    return { wrong: `parse ${quote(error.url ?? before)}: ${error.message}` };
  }
}

class UrlProblem extends Error {
  override readonly name = 'UrlProblem';
  /** The URL to name, if not the one without its fragment. */
  readonly url: string | undefined;
  constructor(message: string, url?: string) {
    super(message);
    this.url = url;
  }
}

function inUrl<T>(url: string, attempt: () => T): T {
  try {
    return attempt();
  } catch (error) {
    throw error instanceof UrlProblem ? new UrlProblem(error.message, url) : error;
  }
}

const cut = (text: string, separator: string): readonly [string, string] => {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
};

function parseReference(text: string): Omit<GoUrl, 'fragment'> {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\x00-\x1f\x7f]/.test(text)) throw new UrlProblem('net/url: invalid control character in URL');
  const [scheme, afterScheme] = splitScheme(text);
  const [rest, rawQuery] = cut(afterScheme, '?');
  const none = { scheme, host: '', path: '', rawQuery };
  if (!rest.startsWith('/')) {
    if (scheme !== '') return none;
    if (cut(rest, '/')[0].includes(':')) throw new UrlProblem('first path segment in URL cannot contain colon');
  }
  if (!rest.startsWith('//') || (scheme === '' && rest.startsWith('///'))) {
    return { ...none, path: unescaped(rest, 'other') };
  }
  const slash = rest.indexOf('/', 2);
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
  return { ...none, ...parseAuthority(authority), path: slash < 0 ? '' : unescaped(rest.slice(slash), 'other') };
}

function splitScheme(text: string): readonly [string, string] {
  const length = /^[A-Za-z0-9+.-]*/.exec(text)?.[0].length ?? 0;
  if (text[length] !== ':') return ['', text];
  if (length === 0) throw new UrlProblem('missing protocol scheme');
  if (!/^[A-Za-z]/.test(text)) return ['', text];
  return [text.slice(0, length).toLowerCase(), text.slice(length + 1)];
}

function parseAuthority(authority: string): { readonly user?: string; readonly host: string } {
  const at = authority.lastIndexOf('@');
  const host = parseHost(authority.slice(at + 1));
  if (at < 0) return { host };
  const userinfo = authority.slice(0, at);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(userinfo)) throw new UrlProblem('net/url: invalid userinfo');
  const [name, password] = cut(userinfo, ':').map((part) => escapeUser(unescaped(part, 'other')));
  return { host, user: userinfo.includes(':') ? `${name}:${password}` : (name ?? '') };
}

const escapeUser = (text: string): string =>
  encodeURIComponent(text)
    .replace(/%(24|26|2B|2C|3B|3D)/g, (escaped) => decodeURIComponent(escaped))
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

function parseHost(host: string): string {
  const bracket = host.lastIndexOf(']');
  if (host.startsWith('[') && bracket < 0) throw new UrlProblem("missing ']' in host");
  const portAt = host.startsWith('[') ? bracket + 1 : host.lastIndexOf(':');
  const port = portAt < 0 ? '' : host.slice(portAt);
  if (!/^(:[0-9]*)?$/.test(port)) throw new UrlProblem(`invalid port ${quote(port)} after host`);
  return unescaped(host, 'host');
}

const hostCharacter = /[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"]/;

/** Decodes `%xx`. A host takes fewer characters, and escapes only of bytes beyond ASCII. */
function unescaped(text: string, part: 'host' | 'other'): string {
  if (part === 'host') {
    for (const character of text) {
      if (character !== '%' && character.charCodeAt(0) < 0x80 && !hostCharacter.test(character)) {
        throw new UrlProblem(`invalid character ${quote(character)} in host name`);
      }
    }
  }
  if (!text.includes('%')) return text;
  const bytes: Buffer[] = [];
  let done = 0;
  for (let at = text.indexOf('%'); at >= 0; at = text.indexOf('%', done)) {
    const escaped = text.slice(at, at + 3);
    if (!/^%[0-9A-Fa-f]{2}$/.test(escaped) || (part === 'host' && escaped < '%8' && escaped !== '%25')) {
      throw new UrlProblem(`invalid URL escape ${quote(escaped)}`);
    }
    bytes.push(Buffer.from(text.slice(done, at)), Buffer.from(escaped.slice(1), 'hex'));
    done = at + 3;
  }
  return Buffer.concat([...bytes, Buffer.from(text.slice(done))]).toString('utf8');
}
