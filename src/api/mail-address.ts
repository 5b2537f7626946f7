import { isIP } from 'node:net';

/** Checks mail addresses (RFC 5322) as Go's `net/mail` parses one: `a@b`, `Name <a@b>`, and a group of one, `x: a@b;`. */

/** Whether the text is a single address. */
export function isMailAddress(text: string): boolean {
  const reader = new Reader(text);
  return reader.addresses(true) === 1 && reader.skipComments() && reader.isAtEnd;
}

/** The characters that end a word. */
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

  /** Reads an address or a group and returns the number of addresses; undefined if the text is invalid. */
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

  /** Skips blanks and comments; returns false if a comment does not end. */
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

  /** Reads `local@domain`. Reads nothing if there is none. */
  #spec(): boolean {
    const start = this.#at;
    this.#skipBlanks();
    // Empty quotes are no local part.
    if ((this.#next === '"' ? this.#quoted() : this.#dotted()) && this.#take('@')) {
      this.#skipBlanks();
      if (this.#next === '[' ? this.#literal() : this.#dotted()) return true;
    }
    this.#at = start;
    return false;
  }

  /** Reads words between dots. */
  #dotted(): boolean {
    const word = this.#word();
    return word !== undefined && !word.startsWith('.') && !word.endsWith('.') && !word.includes('..');
  }

  #word(): string | undefined {
    const start = this.#at;
    while (isVisible(this.#next) && !special.has(this.#next)) this.#at++;
    return this.#at === start ? undefined : this.#text.slice(start, this.#at);
  }

  /** Reads a quoted text. Reads nothing if the quotes do not end. */
  #quoted(): string | undefined {
    let content = '';
    for (let at = this.#at + 1; at < this.#text.length; at++) {
      let character = this.#text[at] ?? '';
      if (character === '"') {
        this.#at = at + 1;
        return content;
      }
      if (character === '\\') character = this.#text[++at] ?? '';
      if (!isVisible(character) && !isBlank(character)) return undefined;
      content += character;
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

  /** Reads a phrase of words and quoted texts, which must begin with one. */
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

  /** Reads a comment in parentheses; undefined if they do not close. */
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

/** Whether a word is readable: an encoded word (RFC 2047) must use a known character encoding. */
function isReadable(word: string): boolean {
  const [, charset, encoding, content = ''] = /^=\?([^?]+)\?([bq])\?([^?]*)\?=$/i.exec(word) ?? [];
  if (charset === undefined || encoding === undefined || !isEncoded[encoding.toLowerCase()]?.test(content)) return true;
  return knownCharsets.includes(charset.toLowerCase());
}
