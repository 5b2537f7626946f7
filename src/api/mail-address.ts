import { isIP } from 'node:net';

/** Mail addresses (RFC 5322) as Go's `net/mail` reads one: `a@b`, `Name <a@b>`, and a group of one, `x: a@b;`. */

/** Is the text one address? */
export function isMailAddress(text: string): boolean {
  const reader = new Reader(text);
  return reader.addresses(true) === 1 && reader.skipComments() && reader.isAtEnd;
}

/** What ends a word. */
const special = new Set('()<>[]:;@\\,"');
const isVisible = (character: string): boolean => (character >= '!' && character <= '~') || character >= '\u0080';
const isBlank = (character: string): boolean => character === ' ' || character === '\t';

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** How many addresses there are: one, or those of a group; undefined if that cannot be read. */
  addresses(mayBeGroup: boolean): number | undefined {
    if (this.#spec()) {
      this.#skipBlanks();
      if (this.#next !== '(') return 1;
      const comment = this.#comment();
      return comment?.split(/[ \t]+/).every(isReadable) ? 1 : undefined;
    }
    this.#skipBlanks();
    if (this.#next !== '<' && !this.#phrase()) return undefined;
    this.#skipBlanks();
    if (mayBeGroup && this.#take(':')) return this.#group();
    return this.#take('<') && this.#spec() && this.#take('>') ? 1 : undefined;
  }

  /** Blanks and comments. False: one of these does not end. */
  skipComments(): boolean {
    this.#skipBlanks();
    while (this.#next === '(') {
      if (this.#comment() === undefined) return false;
      this.#skipBlanks();
    }
    return true;
  }

  get #next(): string {
    return this.#text[this.#at] ?? '';
  }

  #take(character: string): boolean {
    if (this.#next !== character) return false;
    this.#at++;
    return true;
  }

  #skipBlanks(): void {
    while (isBlank(this.#next)) this.#at++;
  }

  #group(): number | undefined {
    this.#skipBlanks();
    if (this.#take(';')) return this.skipComments() ? 0 : undefined;
    for (let count = 1; ; count++) {
      if (this.addresses(false) === undefined || !this.skipComments()) return undefined;
      if (this.#take(';')) return this.skipComments() ? count : undefined;
      if (!this.#take(',')) return undefined;
    }
  }

  /** `local@domain`. Where there is none, nothing is read. */
  #spec(): boolean {
    const start = this.#at;
    this.#skipBlanks();
    // An empty text in quotes is nobody.
    if ((this.#next === '"' ? this.#quoted() : this.#dotted()) && this.#take('@')) {
      this.#skipBlanks();
      if (this.#next === '[' ? this.#literal() : this.#dotted()) return true;
    }
    this.#at = start;
    return false;
  }

  /** Words between dots. */
  #dotted(): boolean {
    const word = this.#word();
    return word !== undefined && !word.startsWith('.') && !word.endsWith('.') && !word.includes('..');
  }

  #word(): string | undefined {
    const start = this.#at;
    while (isVisible(this.#next) && !special.has(this.#next)) this.#at++;
    return this.#at === start ? undefined : this.#text.slice(start, this.#at);
  }

  /** What is in quotes. Where they do not end, nothing is read. */
  #quoted(): string | undefined {
    let said = '';
    for (let at = this.#at + 1; at < this.#text.length; at++) {
      let character = this.#text[at] ?? '';
      if (character === '"') {
        this.#at = at + 1;
        return said;
      }
      if (character === '\\') character = this.#text[++at] ?? '';
      if (!isVisible(character) && !isBlank(character)) return undefined;
      said += character;
    }
    return undefined;
  }

  /** `[192.0.2.1]` */
  #literal(): boolean {
    const end = this.#text.indexOf(']', this.#at);
    const address = this.#text.slice(this.#at + 1, end);
    if (end < 0 || isIP(address) === 0 || address.includes('%')) return false;
    this.#at = end + 1;
    return true;
  }

  /** Words and quoted texts. Where the first is none, there is no phrase. */
  #phrase(): boolean {
    for (let isFirst = true; ; isFirst = false) {
      if (!isFirst && !this.skipComments()) return false;
      this.#skipBlanks();
      if (this.isAtEnd) return true;
      const isQuoted = this.#next === '"';
      const word = isQuoted ? this.#quoted() : this.#word();
      if (word === undefined || !(isQuoted || isReadable(word))) return !isFirst;
    }
  }

  /** What is in parentheses; undefined if they do not close. */
  #comment(): string | undefined {
    const start = ++this.#at;
    for (let depth = 1; !this.isAtEnd; ) {
      const character = this.#next;
      this.#at++;
      if (character === '\\' && !this.isAtEnd) this.#at++;
      else if (character === '(') depth++;
      else if (character === ')' && --depth === 0) return this.#text.slice(start, this.#at - 1);
    }
    return undefined;
  }
}

const knownCharsets: readonly string[] = ['utf-8', 'iso-8859-1', 'us-ascii'];
const isEncoded: Readonly<Record<string, RegExp>> = {
  q: /^(?:[^=]|=[0-9A-Fa-f]{2})*$/,
  b: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
};

/** An encoded word (RFC 2047) must be in an encoding of characters that is known. */
function isReadable(word: string): boolean {
  const [, charset, way, content = ''] = /^=\?([^?]+)\?([bq])\?([^?]*)\?=$/i.exec(word) ?? [];
  if (charset === undefined || way === undefined || !isEncoded[way.toLowerCase()]?.test(content)) return true;
  return knownCharsets.includes(charset.toLowerCase());
}
