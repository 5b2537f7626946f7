import type { TextPosition } from './yaml-position.js';

/** Scans what begins with `&`, `*`, `!` or `%`: anchors, aliases, tags and directives. */

const letters = /[\w-]*/y;
const digits = /\d*/y;
const uriCharacters = /[\w\-;/?:@&=+$,.!~*'()[\]]+/y;

/** Scans the name of an anchor or alias. */
export function scanName(position: TextPosition): string {
  position.skip(1);
  const name = position.take(letters);
  const ends = position.isBlankOrEnd() || '?:,]}%@`'.includes(position.character());
  if (name === '' || !ends) throw position.error('did not find expected alphabetic or numeric character');
  return name;
}

interface Tag {
  /** The handle, such as `!` or `!!`; '' for a tag without one. */
  readonly value: string;
  readonly suffix: string;
}

export function scanTag(position: TextPosition): Tag {
  const tag = position.character(1) === '<' ? scanVerbatimTag(position) : scanShortTag(position);
  if (!position.isBlankOrEnd()) throw position.error('did not find expected whitespace or line break');
  return tag;
}

function scanVerbatimTag(position: TextPosition): Tag {
  position.skip(2);
  const suffix = scanUri(position);
  if (position.character() !== '>') throw position.error("did not find the expected '>'");
  position.skip(1);
  return { value: '', suffix };
}

function scanShortTag(position: TextPosition): Tag {
  const handle = scanHandle(position);
  if (handle.length > 1 && handle.endsWith('!')) return { value: handle, suffix: scanUri(position) };
  const suffix = scanUri(position, handle);
  return suffix === '' ? { value: '', suffix: '!' } : { value: '!', suffix };
}

function scanHandle(position: TextPosition): string {
  if (position.character() !== '!') throw position.error("did not find expected '!'");
  const start = position.at;
  position.skip(1);
  position.take(letters);
  if (position.character() === '!') position.skip(1);
  return position.text.slice(start, position.at);
}

/** Scans the URI of a tag, of which `before` has been read already, after an exclamation mark. */
function scanUri(position: TextPosition, before = ''): string {
  const pieces = [before.slice(1)];
  for (let more = before !== ''; ; more = true) {
    const plain = position.take(uriCharacters);
    if (plain !== '') pieces.push(plain);
    else if (position.character() === '%') pieces.push(scanUriEscapes(position));
    else if (more) return pieces.join('');
    else throw position.error('did not find expected tag URI');
  }
}

const escapedBytes = /(?:%[\da-fA-F]{2})+/y;

/** Scans characters in UTF-8 as escaped bytes. */
function scanUriEscapes(position: TextPosition): string {
  const bytes = Buffer.from(position.take(escapedBytes).replaceAll('%', ''), 'hex');
  for (let at = 0; at === 0 || at < bytes.length; ) {
    const first = bytes[at];
    if (first === undefined) throw position.error('did not find URI escaped octet');
    const width = widthOf(first);
    if (width === 0) throw position.error('found an incorrect leading UTF-8 octet');
    const others = bytes.subarray(at + 1, at + width);
    if (others.some((byte) => (byte & 0xc0) !== 0x80)) throw position.error('found an incorrect trailing UTF-8 octet');
    if (others.length < width - 1) throw position.error('did not find URI escaped octet');
    at += width;
  }
  return bytes.toString('utf8');
}

/** Returns the number of bytes of the character that a byte begins; 0 if none begins with it. */
const widthOf = (byte: number): number =>
  byte < 0x80 ? 1 : (byte & 0xe0) === 0xc0 ? 2 : (byte & 0xf0) === 0xe0 ? 3 : (byte & 0xf8) === 0xf0 ? 4 : 0;

/** A directive: `%YAML` with its version, or `%TAG` with a handle and the prefix that it stands for. */
export interface Directive {
  readonly type: 'version' | 'tag-directive';
  readonly value: string;
  readonly suffix: string;
}

/** Scans a directive up to the end of its line. */
export function scanDirective(position: TextPosition): Directive {
  position.skip(1);
  const name = position.take(letters);
  if (name === '') throw position.error('could not find expected directive name');
  if (!position.isBlankOrEnd()) throw position.error('found unexpected non-alphabetical character');
  const isVersion = name === 'YAML';
  if (!isVersion && name !== 'TAG') throw position.error('found unknown directive name');
  position.skipBlanks();
  const directive: Directive = isVersion
    ? { type: 'version', value: scanVersion(position), suffix: '' }
    : { type: 'tag-directive', ...scanTagDirective(position) };
  position.skipBlanks();
  if (position.character() === '#') position.skipLine();
  if (!position.isEnd && !position.isBreak()) throw position.error('did not find expected comment or line break');
  position.readBreak();
  return directive;
}

function scanVersion(position: TextPosition): string {
  const major = scanVersionNumber(position);
  if (position.character() !== '.') throw position.error("did not find expected digit or '.' character");
  position.skip(1);
  return `${major}.${scanVersionNumber(position)}`;
}

function scanVersionNumber(position: TextPosition): number {
  const number = position.take(digits);
  if (number.length > 2) throw position.error('found extremely long version number');
  if (number === '') throw position.error('did not find expected version number');
  return Number(number);
}

function scanTagDirective(position: TextPosition): Tag {
  const value = scanHandle(position);
  if (value !== '!' && !value.endsWith('!')) throw position.error("did not find expected '!'");
  if (!position.isBlank()) throw position.error('did not find expected whitespace');
  position.skipBlanks();
  const suffix = scanUri(position);
  if (!position.isBlankOrEnd()) throw position.error('did not find expected whitespace or line break');
  return { value, suffix };
}
