/**
 * Estimates the number of instructions that a regular expression compiles to, in time linear in its length. A repeated part
 * counts as often as it may be repeated; a character class counts once. Patterns that do not parse have some size too.
 */
export const patternSize = (pattern: string): number => measured(pattern).instructions;

/** Estimates the cost of compiling in the same unit: a Unicode class has hundreds of ranges, which are assembled for each one. */
export function compiledSize(pattern: string): number {
  const { instructions, classes } = measured(pattern);
  return instructions + classes * sizeOfUnicodeClass;
}

function measured(pattern: string): { readonly instructions: number; readonly classes: number } {
  const outer: number[] = [];
  let total = 0;
  /** The number of Unicode classes, which are assembled once, however often they are repeated. */
  let classes = 0;
  /** The size of the part that a following repetition would repeat. */
  let last = 0;
  const add = (size: number): void => {
    total += size;
    last = size;
  };
  for (let at = 0; at < pattern.length; ) {
    const text = textAt(atom, pattern, at);
    at += text.length;
    if (isUnicodeClass(text)) classes++;
    if (text === '(') {
      outer.push(total);
      total = 0;
    } else if (text === ')') {
      const inner = total + 2;
      total = outer.pop() ?? 0;
      add(inner);
    } else if (text.startsWith('[')) {
      while (at < pattern.length && pattern[at] !== ']') {
        const inside = textAt(inClass, pattern, at);
        if (isUnicodeClass(inside)) classes++;
        at += inside.length;
      }
      at++;
      add(1);
    } else if (text.startsWith('{') && text !== '{') {
      const [least, most] = text.slice(1, -1).split(',');
      const count = Math.max(1, Number(most || least));
      // A higher count does not parse.
      if (count <= maxCount) total += last * (count - 1);
    } else add(1);
  }
  return { instructions: outer.reduce((sum, size) => sum + size, total), classes };
}

/** The highest count in a repetition. */
const maxCount = 1_000;

const sizeOfUnicodeClass = 40;
const isUnicodeClass = (text: string): boolean => text.startsWith('\\p') || text.startsWith('\\P');

/** Matches an escape, the beginning of a character class, a repetition, or a single character. */
const atom = /\\[pPx]\{[^}]{0,40}\}|\\.|\[\^?\]?|\{\d{1,9}(?:,\d{0,9})?\}|./sy;
const inClass = /\\.|\[:\^?\w{1,10}:\]|./sy;

function textAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}
