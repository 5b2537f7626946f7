import { quote } from './go-text.js';
import { code, isDigit, isSpace } from './json-scan.js';

/** Returns the error of Go's scanner for a text that is not JSON; undefined if it is. Linear, without recursion. */
export function syntaxError(bytes: Uint8Array, depthLimit: number): string | undefined {
  const open: number[] = [];
  let at = 0;
  let wrong: string | undefined;
  // At the end of the text, Go's scanner processes a space.
  const fail = (context: string): string => (wrong ??= invalidCharacter(bytes[at] ?? code.space, context));

  const literal = (name: string): void => {
    for (let i = 1; i < name.length; i++) {
      at++;
      if (bytes[at] !== name.charCodeAt(i)) return void fail(`in literal ${name} (expecting '${name[i]}')`);
    }
    at++;
  };
  const digits = (context: string): void => {
    if (!isDigit(bytes[at] ?? 0)) return void fail(context);
    while (isDigit(bytes[at] ?? 0)) at++;
  };
  const number = (): void => {
    if (bytes[at] === code.minus) at++;
    if (bytes[at] === code.zero) at++;
    else digits('in numeric literal');
    if (wrong === undefined && bytes[at] === code.dot) {
      at++;
      digits('after decimal point in numeric literal');
    }
    if (wrong === undefined && ((bytes[at] ?? 0) | 0x20) === 0x65) {
      at++;
      if (bytes[at] === code.plus || bytes[at] === code.minus) at++;
      digits('in exponent of numeric literal');
    }
  };
  const string = (): void => {
    for (at++; ; at++) {
      const byte = bytes[at];
      if (byte === undefined) {
        wrong = endsEarly;
        return;
      }
      if (byte < code.space) return void fail('in string literal');
      if (byte === code.quote) break;
      if (byte !== code.backslash) continue;
      const escaped = bytes[++at];
      if (escaped === undefined || !escapes.has(escaped)) return void fail('in string escape code');
      if (escaped !== 0x75) continue;
      for (let i = 0; i < 4; i++) {
        if (!isHex(bytes[++at])) return void fail('in \\u hexadecimal character escape');
      }
    }
    at++;
  };
  const begin = (bracket: number): void => {
    open.push(bracket);
    if (open.length > depthLimit) return void fail('exceeded max depth');
    at++;
  };
  const value = (byte: number): Expected => {
    if (byte === code.openBrace) {
      begin(byte);
      return 'first name';
    }
    if (byte === code.openBracket) {
      begin(byte);
      return 'first item';
    }
    if (byte === code.quote) string();
    else if (byte === code.minus || isDigit(byte)) number();
    else if (byte === 0x74) literal('true');
    else if (byte === 0x66) literal('false');
    else if (byte === 0x6e) literal('null');
    else fail('looking for beginning of value');
    return after();
  };
  const after = (): Expected => {
    const inside = open.at(-1);
    return inside === undefined ? 'end' : inside === code.openBrace ? 'next name' : 'next item';
  };
  const close = (): Expected => {
    open.pop();
    at++;
    return after();
  };
  const step: Readonly<Record<Expected, (byte: number) => Expected>> = {
    value,
    'first item': (byte) => (byte === code.closeBracket ? close() : value(byte)),
    'next item': (byte) => {
      if (byte === code.closeBracket) return close();
      if (byte !== code.comma) fail('after array element');
      at++;
      return 'value';
    },
    'first name': (byte) => (byte === code.closeBrace ? close() : step.name(byte)),
    name: (byte) => {
      if (byte !== code.quote) fail('looking for beginning of object key string');
      else string();
      return 'colon';
    },
    colon: (byte) => {
      if (byte !== code.colon) fail('after object key');
      at++;
      return 'value';
    },
    'next name': (byte) => {
      if (byte === code.closeBrace) return close();
      if (byte !== code.comma) fail('after object key:value pair');
      at++;
      return 'name';
    },
    end: () => {
      fail('after top-level value');
      return 'end';
    },
  };

  let expected: Expected = 'value';
  for (;;) {
    while (isSpace(bytes[at])) at++;
    const byte = bytes[at];
    if (byte === undefined) return expected === 'end' ? undefined : endsEarly;
    expected = step[expected](byte);
    if (wrong !== undefined) return wrong;
  }
}

export const endsEarly = 'unexpected end of JSON input';

type Expected = 'value' | 'first item' | 'next item' | 'first name' | 'name' | 'colon' | 'next name' | 'end';
const isHex = (byte: number | undefined): boolean =>
  byte !== undefined && (isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66));
const escapes: ReadonlySet<number> = new Set([...'bfnrt\\/"u'].map((character) => character.charCodeAt(0)));

/** Returns the error for a byte, which is printed as the code point of its value, as Go does. */
function invalidCharacter(byte: number, context: string): string {
  const character = String.fromCharCode(byte);
  const shown = character === "'" ? "\\'" : character === '"' ? '"' : quote(character).slice(1, -1);
  return `invalid character '${shown}' ${context}`;
}
