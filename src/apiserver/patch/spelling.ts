import { goJson, htmlEscaped } from '../../api/go-text.js';
import { type ParsedJson, wholeNumber } from '../../api/json-exact.js';
import { code, endOfNumber, endOfString } from '../../api/json-scan.js';
import { readJsonInSteps, unlimited } from '../../api/json-text.js';
import { isList, isObject, type Json, type JsonObject, setMember } from '../../api/object.js';
import { itemsPerStep, runSync, type Steps } from '../../api/steps.js';

/**
 * Values of patches with their spelling, because Kubernetes' library moves pieces of text around. In a JSON Patch,
 * `test` compares spellings (`1.0` is not `1`, and `"<"` is not `"\\u003c"`, which is how Go writes it), and whatever
 * reads the result sees the numbers as they were written, and every repeated member.
 *
 * A string or number that Go would write differently is represented by a symbol with its spelling: for code that moves
 * values around, it is an atomic value that equals only itself.
 */

/**
 * The maximum size of a patch whose spelling counts, in bytes. Longer ones are read by their meaning only, because
 * reading the spelling would delay other requests.
 */
const longest = 65_536;

/** Matches texts that may be spelt differently from how Go writes them. */
const mayDiffer = /[\\<>&\u2028\u2029]|\d[.eE]|\d{19}|-0/;

/**
 * Reads bytes that are known to be valid JSON and not too deep. Returns undefined if the spelling makes no difference.
 * `hasRepeats`: some member is repeated.
 */
export function readSpelled(bytes: Uint8Array, hasRepeats: boolean): Json | undefined {
  if (bytes.length > longest) return undefined;
  const text = Buffer.from(bytes).toString('utf8');
  if (!hasRepeats && !mayDiffer.test(text)) return undefined;
  const reader = new Reader(text);
  const value = reader.read();
  return reader.isOdd ? value : undefined;
}

const read = (text: string): Json => new Reader(text).read();

/** Writes a value with its spelling, except for the HTML characters, which Go escapes. */
export const writeSpelled = (value: Json): string => runSync(writtenInSteps(value));

/** Writes a value and parses the text. */
export function* readBack(value: Json): Steps<ParsedJson> {
  const text = yield* writtenInSteps(value);
  return yield* readJsonInSteps(text, unlimited);
}

/** A list or an object that is being written. */
interface OpenContainer {
  readonly values: readonly Json[];
  /** The names of the members of an object. */
  readonly names: readonly string[] | undefined;
  at: number;
}

/**
 * Writes pieces that are joined once. Joining them at every level would write deeply nested values again for each
 * level.
 */
function* writtenInSteps(root: Json): Steps<string> {
  const parts: string[] = [];
  const open: OpenContainer[] = [];
  let count = 0;
  const begin = (value: Json): void => {
    if (isSymbol(value)) parts.push(value.description ?? '');
    else if (isList(value)) {
      parts.push('[');
      open.push({ values: value, names: undefined, at: 0 });
    } else if (isObject(value)) {
      // Objects made by code may have undefined members.
      const members = pairsOf(value).filter(([, member]) => member !== undefined);
      parts.push('{');
      open.push({ values: members.map(([, member]) => member), names: members.map(([name]) => name), at: 0 });
    } else parts.push(goJson(value));
  };
  begin(root);
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    if (++count % itemsPerStep === 0) yield;
    const { values, names, at } = last;
    if (at === values.length) {
      parts.push(names === undefined ? ']' : '}');
      open.pop();
      continue;
    }
    last.at++;
    if (at > 0) parts.push(',');
    if (names !== undefined) parts.push(goJson(names[at] ?? ''), ':');
    begin(values[at] ?? null);
  }
  yield;
  const text = parts.join('');
  yield;
  return htmlEscaped(text);
}

/**
 * Copies a value. Go writes it in between, which escapes the HTML characters in unusual spellings and changes nothing
 * else.
 */
export function copyOf(value: Json): Json {
  if (isSymbol(value)) {
    const spelling = writeSpelled(value);
    return spelling === value.description ? value : read(spelling);
  }
  if (isList(value)) return value.map(copyOf);
  return isObject(value) ? objectOf(pairsOf(value).map(([name, member]) => [name, copyOf(member)])) : value;
}

const isText = (spelling: string): boolean => spelling.startsWith('"');
const textOf = (spelling: string): string => (JSON.parse(spelling) as string).replace(/\p{Surrogate}/gu, '\ufffd');

type Pairs = readonly (readonly [string, Json])[];

/**
 * All members of the objects that have repeated members. An object that is changed or sorted is replaced by one without
 * repetitions.
 */
const repeated = new WeakMap<JsonObject, Pairs>();

const pairsOf = (object: JsonObject): Pairs => repeated.get(object) ?? Object.entries(object);

function objectOf(members: Pairs): JsonObject {
  const object: Record<string, Json> = {};
  for (const [name, member] of members) setMember(object, name, member);
  if (Object.keys(object).length < members.length) repeated.set(object, members);
  return object;
}

const isSymbol = (value: unknown): value is symbol => typeof value === 'symbol';

const words = { t: true, f: false, n: null } as const;

class Reader {
  /** Whether something was spelt differently from how Go writes it, or repeated. */
  isOdd = false;
  readonly #text: string;
  readonly #symbols = new Map<string, symbol>();
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): Json {
    const character = this.#next();
    if (character === code.openBracket) return this.#readList();
    if (character === code.openBrace) return this.#readObject();
    const start = this.#at;
    const word = words[this.#text[start] as keyof typeof words];
    if (character === code.quote) this.#at = endOfString(this.#text, start) + 1;
    else this.#at = word === undefined ? endOfNumber(this.#text, start) : start + String(word).length;
    return word === undefined ? this.#scalar(this.#text.slice(start, this.#at)) : word;
  }

  #scalar(spelling: string): Json {
    const value = isText(spelling) ? textOf(spelling) : (wholeNumber(spelling) ?? Number(spelling));
    if (goJson(value) === spelling) return value;
    this.isOdd = true;
    const symbol = this.#symbols.get(spelling) ?? Symbol(spelling);
    this.#symbols.set(spelling, symbol);
    return symbol as unknown as Json;
  }

  #readList(): Json {
    const list: Json[] = [];
    for (this.#at++; this.#next() !== code.closeBracket; this.#pastComma()) list.push(this.read());
    this.#at++;
    return list;
  }

  #readObject(): Json {
    const members: [string, Json][] = [];
    for (this.#at++; this.#next() !== code.closeBrace; this.#pastComma()) {
      const start = this.#at;
      this.#at = endOfString(this.#text, start) + 1;
      const name = JSON.parse(this.#text.slice(start, this.#at)) as string;
      this.#next();
      this.#at++;
      members.push([name, this.read()]);
    }
    this.#at++;
    const object = objectOf(members);
    this.isOdd ||= repeated.has(object);
    return object;
  }

  #pastComma(): void {
    if (this.#next() === code.comma) this.#at++;
  }

  /** Returns the next character that is not a space. */
  #next(): number {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++;
    return this.#text.charCodeAt(this.#at);
  }
}
