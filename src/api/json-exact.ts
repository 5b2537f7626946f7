import { Complaints } from './complaints.js';
import { isInt64 } from './go-integers.js';
import { quote } from './go-text.js';
import { largeContainers } from './json-pieces.js';
import { code, endOfNumber, endOfString, isDigit } from './json-scan.js';
import { type Json, type JsonObject, setMember } from './object.js';
import { itemsPerStep, type Steps } from './steps.js';

/** Reads JSON without losing what `JSON.parse` loses. */

/** The result of parsing a JSON text. */
export interface ParsedJson {
  /** The value; the last of repeated members wins. */
  readonly value: Json;
  /** The value including what JavaScript would lose; the same object as `value` if nothing is lost. */
  readonly exact: ExactJson;
  /** The errors for repeated members, `duplicate field "spec.x"`, in document order, each once, at most 100. */
  readonly duplicates: readonly string[];
  /** Go's error about a number that no double can hold, for values without a schema that reports it. */
  readonly numberError?: string | undefined;
}

/** The result for a text from which `JSON.parse` loses nothing. */
export const parsedPlain = (value: Json): ParsedJson => ({ value, exact: value, duplicates: [] });

/** JSON with number literals and repeated members kept. */
export type ExactJson =
  | null
  | boolean
  | number
  | bigint
  | string
  | NumberLiteral
  | RepeatedMembers
  | readonly ExactJson[]
  | { readonly [member: string]: ExactJson };

/** A number that is no int64 and is not written as JavaScript prints it: `10.0`, `1e3`, `9223372036854775808`. */
export class NumberLiteral {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }

  /** The nearest double. */
  get double(): number {
    return Number(this.text);
  }
}

/** Returns the literal of a number that a JavaScript number does not represent exactly. */
export const literalOf = (value: ExactJson): string | undefined =>
  value instanceof NumberLiteral ? value.text : typeof value === 'bigint' ? String(value) : undefined;

/** Returns the name of a value's type in `encoding/json` errors (`cannot unmarshal ...`). */
export function jsonKind(value: ExactJson): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'bigint' || value instanceof NumberLiteral ? 'number' : typeof value;
}

/** Returns Go's error for a JSON value that does not fit a Go type. */
export const cannotUnmarshal = (value: ExactJson, goType: string): string =>
  `json: cannot unmarshal ${jsonKind(value)} into Go value of type ${goType}`;

/** Returns Go's error for a JSON value that does not fit a field (`TYPE.PATH`) of a Go struct. */
export const cannotUnmarshalField = (value: ExactJson, field: string, goType: string): string =>
  `json: cannot unmarshal ${jsonKind(value)} into Go struct field ${field} of type ${goType}`;

/**
 * Parses a whole number of JSON (`-0` is 0): a bigint if a number would lose digits; undefined if it is not whole or
 * does not fit in 64 bits.
 */
export function wholeNumber(literal: string): number | bigint | undefined {
  if (literal.length > 20 || !/^-?\d+$/.test(literal)) return undefined;
  const value = Number(literal);
  if (Number.isSafeInteger(value)) return value + 0;
  const integer = BigInt(literal);
  return isInt64(integer) ? integer : undefined;
}

/** An object with repeated members; holds all of them in document order. */
export class RepeatedMembers {
  readonly members: readonly (readonly [string, ExactJson])[];
  constructor(members: readonly (readonly [string, ExactJson])[]) {
    this.members = members;
  }
}

export const isList = (value: ExactJson): value is readonly ExactJson[] => Array.isArray(value);

export type Members = RepeatedMembers | { readonly [member: string]: ExactJson };
/** Whether the value is an object. */
export const isMembers = (value: ExactJson): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberLiteral);
/** Returns the members in document order, repeated ones included. */
export const membersOf = (value: Members): readonly (readonly [string, ExactJson])[] =>
  value instanceof RepeatedMembers ? value.members : Object.entries(value);

/** Parses a text known to be JSON, keeping what `JSON.parse` loses; in steps if it is long. */
export function parseExactJson(text: string): Steps<ParsedJson> {
  return new ExactReader(text).read();
}

interface Pair {
  readonly value: Json;
  readonly exact: ExactJson;
}
/** A list or object that is being read. */
interface Container {
  /** Called before a member or item; moves to its value. */
  enter(): void;
  add(value: Pair): void;
  done(): Pair;
}

const literals = { t: true, f: false, n: null } as const;
const loneSurrogates = /\p{Surrogate}/gu;

class ExactReader {
  readonly #text: string;
  readonly #large: ReadonlyMap<number, number>;
  readonly #duplicates = new Complaints();
  readonly #path: string[] = [];
  #at = 0;
  #numberError: string | undefined;

  constructor(text: string) {
    this.#text = text;
    this.#large = largeContainers(text);
  }

  *read(): Steps<ParsedJson> {
    yield;
    this.#skipSpace();
    const { value, exact } = yield* this.#readInSteps();
    const numberError = this.#numberError;
    const { texts } = this.#duplicates;
    return { value, exact, duplicates: texts, ...(numberError === undefined ? {} : { numberError }) };
  }

  /**
   * Reads in steps only containers that are large: recursive generators would be several times slower for small values.
   */
  *#readInSteps(): Steps<Pair> {
    if (!this.#large.has(this.#at)) return this.#read();
    const container = this.#begin();
    let count = 0;
    for (let more = this.#enters(); more; more = this.#goesOn()) {
      container.enter();
      this.#skipSpace();
      container.add(this.#large.has(this.#at) ? yield* this.#readInSteps() : this.#read());
      if (++count % itemsPerStep === 0) yield;
    }
    return container.done();
  }

  #read(): Pair {
    const character = this.#skipSpace();
    if (character === code.openBrace || character === code.openBracket) {
      const container = this.#begin();
      for (let more = this.#enters(); more; more = this.#goesOn()) {
        container.enter();
        container.add(this.#read());
      }
      return container.done();
    }
    if (character === code.minus || isDigit(character)) return this.#readNumber();
    if (character === code.quote) {
      const value = this.#readString();
      return { value, exact: value };
    }
    const value = literals[this.#text[this.#at] as keyof typeof literals];
    this.#at += String(value).length;
    return { value, exact: value };
  }

  #begin(): Container {
    return this.#text.charCodeAt(this.#at++) === code.openBracket ? this.#newList() : this.#newObject();
  }

  /** Whether the container has any content; skips the closing bracket otherwise. */
  #enters(): boolean {
    const character = this.#skipSpace();
    const isEmpty = character === code.closeBrace || character === code.closeBracket;
    if (isEmpty) this.#at++;
    return !isEmpty;
  }

  /** Skips a comma or the closing bracket; returns whether it was a comma. */
  #goesOn(): boolean {
    this.#skipSpace();
    return this.#text.charCodeAt(this.#at++) === code.comma;
  }

  #newList(): Container {
    const value: Json[] = [];
    const exact: ExactJson[] = [];
    let same = true;
    return {
      enter: () => void this.#path.push(`[${value.length}]`),
      add: (item) => {
        this.#path.pop();
        value.push(item.value);
        exact.push(item.exact);
        same &&= item.exact === item.value;
      },
      done: () => ({ value, exact: same ? value : exact }),
    };
  }

  #newObject(): Container {
    const path = this.#path;
    const value: Record<string, Json> = {};
    const members: [string, ExactJson][] = [];
    let name = '';
    let same = true;
    let repeated = false;
    return {
      enter: () => {
        this.#skipSpace();
        name = this.#readString();
        this.#skipSpace();
        this.#at++;
        const at = path.length ? `.${name}` : name;
        if (Object.hasOwn(value, name)) {
          repeated = true;
          this.#duplicates.add(() => `duplicate field ${quote(`${path.join('')}${at}`)}`);
        }
        path.push(at);
      },
      add: (member) => {
        path.pop();
        setMember(value, name, member.value);
        members.push([name, member.exact]);
        same &&= member.exact === member.value;
      },
      done: () => {
        if (repeated) return { value, exact: new RepeatedMembers(members) };
        if (same) return { value, exact: value };
        const exact: Record<string, ExactJson> = {};
        for (const [name, member] of members) setMember(exact, name, member);
        return { value, exact };
      },
    };
  }

  #skipSpace(): number {
    let character = this.#text.charCodeAt(this.#at);
    while (
      character === code.space ||
      character === code.newline ||
      character === code.return ||
      character === code.tab
    ) {
      character = this.#text.charCodeAt(++this.#at);
    }
    return character;
  }

  #readString(): string {
    const start = this.#at;
    this.#at = endOfString(this.#text, start) + 1;
    const inside = this.#text.slice(start + 1, this.#at - 1);
    return inside.includes('\\')
      ? (JSON.parse(this.#text.slice(start, this.#at)) as string).replace(loneSurrogates, '\ufffd')
      : inside;
  }

  #readNumber(): Pair {
    const start = this.#at;
    this.#at = endOfNumber(this.#text, start);
    const literal = this.#text.slice(start, this.#at);
    const integer = wholeNumber(literal);
    if (integer !== undefined) return { value: integer, exact: integer };
    const value = Number(literal);
    if (String(value) === literal && !Number.isInteger(value)) return { value, exact: value };
    if (!Number.isFinite(value)) {
      this.#numberError ??= `json: cannot unmarshal number ${literal} into Go value of type float64`;
    }
    const exact = new NumberLiteral(literal);
    return { value: exact.double, exact };
  }
}

/**
 * Returns the plain value of exact JSON: the last of repeated members, numbers that are no int64 as doubles. Parts that
 * are already plain are shared.
 */
export function plainJson(exact: ExactJson): Json {
  if (typeof exact !== 'object' || exact === null) return exact;
  if (exact instanceof NumberLiteral) return exact.double;
  if (Array.isArray(exact)) {
    const items = (exact as readonly ExactJson[]).map(plainJson);
    return items.every((item, at) => item === exact[at]) ? (exact as readonly Json[]) : items;
  }
  if (exact instanceof RepeatedMembers) {
    const value: Record<string, Json> = {};
    for (const [name, member] of exact.members) setMember(value, name, plainJson(member));
    return value;
  }
  const members = exact as { readonly [member: string]: ExactJson };
  let changed: Record<string, Json> | undefined;
  for (const name in members) {
    const member = members[name] as ExactJson;
    const plain = plainJson(member);
    if (plain === member) continue;
    changed ??= { ...(exact as JsonObject) };
    setMember(changed, name, plain);
  }
  return changed ?? (exact as JsonObject);
}
