import { isIPv6 } from 'node:net';
import { quote } from '../api/go-text.js';

/**
 * Which URIs a request may name: those that Go's net/url parses (RFC 3986 with its leniency). The texts are Go's,
 * because they reach clients.
 */

/** C0 controls and DEL. */
function hasControl(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}
const hexDigit = /^[0-9a-fA-F]{2}$/;
/** ASCII that may stand unescaped in a host. */
const plainHost = /^[A-Za-z0-9!$&'()*+,;=:[\]<>"\-_.~]*$/;
const brokenEscape = /%(?![0-9a-fA-F]{2})/;
const port = /^(?::[0-9]*)?$/;
const userinfo = /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/;

type Part = 'host' | 'zone' | 'other';

const badEscape = (text: string): string => `invalid URL escape ${quote(text)}`;

/** What is wrong with percent signs and characters of a part; undefined if nothing is. */
function escapeProblem(text: string, part: Part): string | undefined {
  if (part === 'other') {
    const at = text.search(brokenEscape);
    return at < 0 ? undefined : badEscape(text.slice(at, at + 3));
  }
  if (plainHost.test(text)) return undefined;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '%') {
      const digits = text.slice(at + 1, at + 3);
      const escaped = text.slice(at, at + 3);
      if (!hexDigit.test(digits)) return badEscape(escaped);
      const byte = Number.parseInt(digits, 16);
      if (part === 'host' && byte < 0x80 && escaped !== '%25') return badEscape(escaped);
      const allowed = byte === 0x20 || plainHost.test(String.fromCharCode(byte));
      if (part === 'zone' && escaped !== '%25' && !allowed) return badEscape(escaped);
      at += 2;
    } else if (character < '\x80' && !plainHost.test(character)) {
      return `invalid character ${quote(character)} in host name`;
    }
  }
  return undefined;
}

/** The scheme (lower case) and what follows it. */
function splitScheme(text: string): { readonly scheme: string; readonly rest: string } | { readonly problem: string } {
  const found = /^[A-Za-z][A-Za-z0-9+\-.]*(?=:)/.exec(text)?.[0];
  if (found !== undefined) return { scheme: found.toLowerCase(), rest: text.slice(found.length + 1) };
  return text.startsWith(':') ? { problem: 'missing protocol scheme' } : { scheme: '', rest: text };
}

const unescaped = (text: string): string =>
  !text.includes('%')
    ? text
    : text.replace(/%[0-9a-fA-F]{2}/g, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));

interface Host {
  readonly problem?: string;
  /** Unescaped. */
  readonly host: string;
}
const bad = (problem: string): Host => ({ problem, host: '' });

function parseHost(scheme: string, text: string): Host {
  const open = text.lastIndexOf('[');
  if (open > 0) return bad('invalid IP-literal');
  if (open === 0) return parseLiteral(text);
  const first = text.indexOf(':');
  const strict = scheme === 'http' || scheme === 'https';
  const colonPort = first < 0 ? '' : text.slice(strict ? first : text.lastIndexOf(':'));
  if (!port.test(colonPort)) return bad(`invalid port ${quote(colonPort)} after host`);
  const problem = escapeProblem(text, 'host');
  return problem === undefined ? { host: unescaped(text) } : bad(problem);
}

/** `[address%25zone]:port` */
function parseLiteral(text: string): Host {
  const close = text.lastIndexOf(']');
  if (close < 0) return bad("missing ']' in host");
  const colonPort = text.slice(close + 1);
  if (!port.test(colonPort)) return bad(`invalid port ${quote(colonPort)} after host`);
  const inside = text.slice(1, close);
  const zoneAt = inside.indexOf('%25');
  const address = zoneAt < 0 ? inside : inside.slice(0, zoneAt);
  const zone = zoneAt < 0 ? '' : inside.slice(zoneAt);
  const problem = escapeProblem(address, 'host') ?? escapeProblem(zone, 'zone');
  if (problem !== undefined) return bad(problem);
  const host = unescaped(inside);
  const bare = host.replace(/%.*$/s, '');
  if (/^[0-9]+(?:\.[0-9]+){3}$/.test(bare)) return bad('invalid IP-literal');
  if (host.endsWith('%') && isIPv6(bare)) {
    return bad(`invalid host: ParseAddr(${quote(host)}): zone must be a non-empty string`);
  }
  if (!isIPv6(bare)) return bad(`invalid host: ParseAddr(${quote(host)}): unable to parse IP`);
  return { host: `[${host}]${colonPort}` };
}

function parseAuthority(scheme: string, text: string): Host {
  const at = text.lastIndexOf('@');
  const host = parseHost(scheme, text.slice(at + 1));
  if (host.problem !== undefined || at < 0) return host;
  const user = text.slice(0, at);
  if (!userinfo.test(user)) return bad('net/url: invalid userinfo');
  const colon = user.indexOf(':');
  const problem =
    colon < 0
      ? escapeProblem(user, 'other')
      : (escapeProblem(user.slice(0, colon), 'other') ?? escapeProblem(user.slice(colon + 1), 'other'));
  return problem === undefined ? host : bad(problem);
}

/** The part before a fragment: what is wrong with it, or its host. */
function parseReference(text: string): Host {
  if (hasControl(text)) return bad('net/url: invalid control character in URL');
  if (text === '*') return { host: '' };
  const split = splitScheme(text);
  if ('problem' in split) return bad(split.problem);
  const { scheme } = split;
  const question = split.rest.indexOf('?');
  const rest = question < 0 ? split.rest : split.rest.slice(0, question);
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { host: '' };
    if ((rest.split('/', 1)[0] ?? '').includes(':')) return bad('first path segment in URL cannot contain colon');
  }
  const hasAuthority = rest.startsWith('//') && (scheme !== '' || !rest.startsWith('///'));
  if (!hasAuthority) return pathChecked({ host: '' }, rest);
  const slash = rest.indexOf('/', 2);
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
  const host = parseAuthority(scheme, authority);
  return host.problem === undefined ? pathChecked(host, slash < 0 ? '' : rest.slice(slash)) : host;
}

function pathChecked(host: Host, path: string): Host {
  const problem = escapeProblem(path, 'other');
  return problem === undefined ? host : bad(problem);
}

/** Printable ASCII in non-empty labels, no dot at the end; an empty name passes. */
export function isDomainName(text: string, { constraint }: { readonly constraint: boolean }): boolean {
  if (text === '') return true;
  const name = constraint && text.startsWith('.') ? text.slice(1) : text;
  return /^[!-~]+$/.test(name) && name.split('.').every((part) => part !== '');
}

/** What is wrong with a URI of ASCII characters, in Go's words; undefined if nothing is. */
export function uriProblem(text: string): string | undefined {
  const hash = text.indexOf('#');
  const reference = hash < 0 ? text : text.slice(0, hash);
  const { problem, host } = parseReference(reference);
  if (problem !== undefined) return `parse ${quote(reference)}: ${problem}`;
  const fragment = hash < 0 ? undefined : escapeProblem(text.slice(hash + 1), 'other');
  if (fragment !== undefined) return `parse ${quote(text)}: ${fragment}`;
  return host !== '' && !isDomainName(host, { constraint: false }) ? 'invalid domain' : undefined;
}
