import { code, endOfString } from './json-scan.js';
import { type Json, setMember } from './object.js';
import type { Steps } from './steps.js';

/** The length of text that `JSON.parse` reads in a millisecond or two; longer texts are parsed in pieces. */
export const largeJson = 65_536;

/** Like `JSON.parse`, in steps for a text that may be long. Throws SyntaxError under the same conditions. */
export function* parseInPieces(text: string, length = largeJson): Steps<Json> {
  if (text.length <= length) return JSON.parse(text) as Json;
  const large = largeContainers(text, length);
  const start = text.search(/[^ \t\n\r]/);
  const end = large.get(start);
  if (end === undefined) return JSON.parse(text) as Json;
  yield;
  const value = yield* container({ text, large, length }, start, end);
  checkBlank(text, end + 1, text.length);
  return value;
}

/** The lists and objects longer than a limit: end offsets by start offsets. */
type Containers = ReadonlyMap<number, number>;

export function largeContainers(text: string, length = largeJson): Containers {
  const found = new Map<number, number>();
  if (text.length <= length) return found;
  const open: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === code.quote) {
      at = endOfString(text, at);
      if (at < 0) break;
    } else if (isOpening(character)) open.push(at);
    else if (isClosing(character)) {
      const start = open.pop();
      if (start !== undefined && at - start > length) found.set(start, at);
    }
  }
  return found;
}

const isOpening = (character: number): boolean => character === code.openBrace || character === code.openBracket;
const isClosing = (character: number): boolean => character === code.closeBrace || character === code.closeBracket;

interface SourceText {
  readonly text: string;
  readonly large: Containers;
  readonly length: number;
}

/** Parses a list or object: small members or items together, large values separately. */
function* container(source: SourceText, start: number, end: number): Steps<Json> {
  const { text, large, length } = source;
  const isList = text.charCodeAt(start) === code.openBracket;
  if (text.charCodeAt(end) !== (isList ? code.closeBracket : code.closeBrace)) throw new SyntaxError('mismatch');
  const items: Json[] = [];
  const members: Record<string, Json> = {};
  /** Parses the contents of the list or object from `begin` to `stop`. */
  const add = (begin: number, stop: number): void => {
    const inside = text.slice(begin, stop);
    if (isList) {
      const some = JSON.parse(`[${inside}]`) as readonly Json[];
      checkSome(some.length > 0 || isAll(begin, stop));
      for (const item of some) items.push(item);
    } else {
      const some = JSON.parse(`{${inside}}`) as { readonly [name: string]: Json };
      let any = false;
      for (const name in some) {
        setMember(members, name, some[name] as Json);
        any = true;
      }
      checkSome(any || isAll(begin, stop));
    }
  };
  const isAll = (begin: number, stop: number): boolean => begin === start + 1 && stop === end;
  const addLarge = (begin: number, stop: number, value: Json): void => {
    const before = text.slice(begin, stop);
    if (isList) {
      checkBlank(before, 0, before.length);
      items.push(value);
    } else {
      // The placeholder for the value must not be able to form a token with the text before it.
      for (const name in JSON.parse(`{${before}{}}`) as object) setMember(members, name, value);
    }
  };

  // `begin` is the start of the text not parsed yet, `at` that of the current member or item.
  let begin = start + 1;
  for (let at = begin; ; ) {
    const stop = endOfItem(source, at, end);
    const close = stop < end ? large.get(stop) : undefined;
    if (close === undefined) {
      if (stop === end || stop - begin >= length) {
        add(begin, stop);
        begin = stop + 1;
        yield;
      }
      if (stop === end) break;
      at = stop + 1;
      continue;
    }
    if (begin < at) add(begin, at - 1);
    yield;
    addLarge(at, stop, yield* container(source, stop, close));
    const next = endOfItem(source, close + 1, end);
    checkBlank(text, close + 1, next);
    if (next === end) break;
    at = begin = next + 1;
  }
  return isList ? items : members;
}

/** Returns the offset of the next comma at this level, of a large value before it, or of the end. */
function endOfItem({ text, large }: SourceText, begin: number, end: number): number {
  let level = 0;
  for (let at = begin; at < end; at++) {
    const character = text.charCodeAt(at);
    if (character === code.quote) at = endOfString(text, at);
    else if (isOpening(character)) {
      if (large.has(at)) return at;
      level++;
    } else if (isClosing(character)) level--;
    else if (level === 0 && character === code.comma) return at;
  }
  return end;
}

function checkBlank(text: string, begin: number, end: number): void {
  if (!/^[ \t\n\r]*$/.test(text.slice(begin, end))) throw new SyntaxError('more than a value');
}

function checkSome(isThere: boolean): void {
  if (!isThere) throw new SyntaxError('nothing where a value must be');
}
