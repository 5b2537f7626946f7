import { ipBytes } from '../api/ip-address.js';

/** One address of a mail's header (RFC 5322), as Go's net/mail reads it: with or without a name, or a group of one. */

const atom = /[!#-'*+\-/0-9=?A-Z^-~]+(?:\.[!#-'*+\-/0-9=?A-Z^-~]+)*(?!\.)/y;
/** Names of people may have dots anywhere. */
const word = /[!#-'*+\-./0-9=?A-Z^-~]+/y;
const quoted = /"(?:[ \t!#-[\]-~]|\\[ \t!-~])*"/y;
const literal = /\[([!-Z^-~]*)\]/y;
const blanks = /[ \t]*/y;

/** Is this an address? Text beyond ASCII is none here: certificates have none in it. */
export function isMailAddress(text: string): boolean {
  const input = new Header(text);
  return input.single();
}

class Header {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** One address and nothing after it but comments. */
  single(): boolean {
    const count = this.#address({ group: true });
    return count === 1 && this.#comments() && this.#at === this.#text.length;
  }

  /** How many addresses there are, which is more than one in a group; undefined: none. */
  #address({ group }: { readonly group: boolean }): number | undefined {
    this.#skip();
    if (this.#specification()) {
      this.#skip();
      return this.#peek() !== '(' || this.#comment() ? 1 : undefined;
    }
    if (this.#peek() !== '<' && !this.#phrase()) return undefined;
    this.#skip();
    if (group && this.#take(':')) return this.#members();
    return this.#take('<') && this.#specification() && this.#take('>') ? 1 : undefined;
  }

  #members(): number | undefined {
    let count = 0;
    this.#skip();
    if (this.#take(';')) return this.#comments() ? count : undefined;
    for (;;) {
      const one = this.#address({ group: false });
      if (one === undefined || !this.#comments()) return undefined;
      count += one;
      if (this.#take(';')) return this.#comments() ? count : undefined;
      if (!this.#take(',')) return undefined;
    }
  }

  /** `local@domain`; goes back to where it stood if there is none. */
  #specification(): boolean {
    const start = this.#at;
    this.#skip();
    const local = this.#peek() === '"' ? this.#match(quoted) : this.#match(atom);
    const isLocal = local !== undefined && local !== '""';
    if (isLocal && this.#take('@')) {
      this.#skip();
      if (this.#peek() === '[' ? this.#address6() : this.#match(atom) !== undefined) return true;
    }
    this.#at = start;
    return false;
  }

  #address6(): boolean {
    const found = this.#match(literal);
    return found !== undefined && ipBytes(found.slice(1, -1)) !== undefined;
  }

  /** Words before an address in brackets; comments may stand between them. */
  #phrase(): boolean {
    for (let words = 0; ; words++) {
      if (words > 0 && !this.#comments()) return false;
      this.#skip();
      const found = this.#peek() === '"' ? this.#match(quoted) : this.#match(word);
      if (found === undefined) return words > 0;
    }
  }

  #comments(): boolean {
    this.#skip();
    while (this.#peek() === '(') {
      if (!this.#comment()) return false;
      this.#skip();
    }
    return true;
  }

  /** Comments nest. */
  #comment(): boolean {
    let depth = 0;
    do {
      const next = this.#peek();
      if (next === '\\' && this.#at + 1 < this.#text.length) this.#at++;
      else if (next === '(') depth++;
      else if (next === ')') depth--;
      this.#at++;
    } while (depth > 0 && this.#at < this.#text.length);
    return depth === 0;
  }

  #skip(): void {
    this.#match(blanks);
  }

  #peek(): string | undefined {
    return this.#text[this.#at];
  }

  #take(sign: string): boolean {
    if (this.#peek() !== sign) return false;
    this.#at++;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found !== undefined) this.#at += found.length;
    return found;
  }
}
