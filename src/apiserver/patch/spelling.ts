import { goJson, htmlEscaped } from '../../api/go-text.js';
import { type ExactJson, NumberText, wholeNumber } from '../../api/json-exact.js';
import { code, endOfNumber, endOfString } from '../../api/json-scan.js';
import { isList, isObject, type Json, setMember } from '../../api/object.js';

/**
 * Patches as texts: Kubernetes' library moves pieces of text around. A JSON patch that tests a value compares how it is
 * spelt (`1.0` is not `1`, and `"<"` is not `"\u003c"`, which is how Go writes it), and what reads the result reads the
 * numbers as they were written.
 *
 * A text or number that Go would write otherwise is a symbol here, with its spelling: to whatever moves values around,
 * it is a value without parts that is the same as itself only.
 */

/** Longer patches are taken for what they mean: reading how they are spelt would keep others waiting. */
const longest = 65_536;

/** What may be spelt otherwise than Go spells it. */
const odd = /[\\<>&\u2028\u2029]|\d[.eE]|\d{19}|-0/;

/**
 * Reads bytes known to be JSON and not too deep; of repeated members the last counts. undefined where nothing has to be
 * known of how it is spelt.
 */
export function readSpelt(bytes: Uint8Array): Json | undefined {
  if (bytes.length > longest) return undefined;
  const text = Buffer.from(bytes).toString('utf8');
  return odd.test(text) ? read(text) : undefined;
}

const read = (text: string): Json => new Reader(text).read();

/** The value, with every symbol as what it spells. Shares nothing with it that has symbols. */
export const plainOf = (value: Json): Json =>
  replaced(value, (spelling) => (isText(spelling) ? textOf(spelling) : Number(spelling))) as Json;

/** A copy, which Go writes on the way: of what is spelt otherwise it escapes the signs of HTML, and nothing else. */
export const copyOf = (value: Json): Json =>
  replaced(value, (spelling, symbol) => {
    const escaped = htmlEscaped(spelling);
    return escaped === spelling ? (symbol as unknown as Json) : read(escaped);
  }) as Json;

/** The same with the numbers that decoding must see as they were written. */
export const exactOf = (value: Json): ExactJson =>
  replaced(value, (spelling) => (isText(spelling) ? textOf(spelling) : new NumberText(spelling)));

const isText = (spelling: string): boolean => spelling.startsWith('"');
const textOf = (spelling: string): string => (JSON.parse(spelling) as string).replace(/\p{Surrogate}/gu, '\ufffd');

function replaced(value: Json, by: (spelling: string, symbol: symbol) => ExactJson): ExactJson {
  if (isSymbol(value)) return by(value.description ?? '', value);
  if (isList(value)) return value.map((item) => replaced(item, by));
  if (!isObject(value)) return value;
  const out: Record<string, ExactJson> = {};
  for (const [name, item] of Object.entries(value)) setMember(out, name, replaced(item, by));
  return out;
}

const isSymbol = (value: unknown): value is symbol => typeof value === 'symbol';

const words = { t: true, f: false, n: null } as const;

class Reader {
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
    const object: Record<string, Json> = {};
    for (this.#at++; this.#next() !== code.closeBrace; this.#pastComma()) {
      const start = this.#at;
      this.#at = endOfString(this.#text, start) + 1;
      const name = JSON.parse(this.#text.slice(start, this.#at)) as string;
      this.#next();
      this.#at++;
      setMember(object, name, this.read());
    }
    this.#at++;
    return object;
  }

  #pastComma(): void {
    if (this.#next() === code.comma) this.#at++;
  }

  /** The next character that is no space. */
  #next(): number {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++;
    return this.#text.charCodeAt(this.#at);
  }
}
