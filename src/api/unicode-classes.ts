import { asciiLowerCase } from './go-text.js';

/**
 * Classes of Unicode characters in patterns (`\p{Greek}`), read by Go's rules: capitals, spaces, `_` and `-` in a name do
 * not count, categories have long names too, and scripts whose own name has `_` or a second capital cannot be named.
 */

/** A pattern as the regular expression package reads it, and what turns its complaints back into the given words. */
export interface ReadPattern {
  readonly pattern: string;
  given(complaint: string): string;
}

/** The pattern with the names that the package knows for its classes. What Go does not know, the package does not either. */
export function withKnownClasses(pattern: string): ReadPattern {
  const writtenAs = new Map<string, string>();
  const known = pattern.replace(classOrKept, (text, sign?: string, braced?: string, letter = '') => {
    if (sign === undefined) return text;
    const name = braced ?? letter;
    const isInverted = name.startsWith('^');
    const bare = isInverted ? name.slice(1) : name;
    const read = nameOf(bare);
    if (read === bare) return text;
    // Written with another sign than usual, so that complaints do not take it for the same class elsewhere.
    const token = (sign === 'P') === isInverted ? `\\P{^${read}}` : `\\p{^${read}}`;
    if (!writtenAs.has(token)) writtenAs.set(token, text);
    return token;
  });
  return {
    pattern: known,
    given: (complaint) => complaint.replace(classWithSign, (token) => writtenAs.get(token) ?? token),
  };
}

/** A class with a name; quoted texts and all other escapes, also one that is none (`\x\p`), are kept as they are. */
const classOrKept = /\\Q.*?(?:\\E|$)|\\([pP])(?:\{([^}]{0,250})\}|([A-Za-z]))|\\(?:x\\)?./gs;
const classWithSign = /\\[pP]\{\^[^}]{0,60}\}/g;

function nameOf(name: string): string {
  // No other letter is one of a name.
  const letters = asciiLowerCase(name.replace(/[-_ ]/g, ''));
  const canonical = letters.replace(/^[a-z]/, (first) => first.toUpperCase());
  if (ofPackage.has(canonical)) return `${canonical}?`;
  return longCategories.get(canonical) ?? canonical;
}

/** What the package knows beyond Go: properties, and scripts newer than Unicode 15. */
const ofPackage: ReadonlySet<string> = new Set([
  'Alphabetic',
  'Dash',
  'Emoji',
  'Garay',
  'Lowercase',
  'Math',
  'Sidetic',
  'Sunuwar',
  'Todhri',
  'Unknown',
  'Uppercase',
]);

const longCategories: ReadonlyMap<string, string> = new Map([
  ['Casedletter', 'LC'],
  ['Closepunctuation', 'Pe'],
  ['Cntrl', 'Cc'],
  ['Combiningmark', 'M'],
  ['Connectorpunctuation', 'Pc'],
  ['Control', 'Cc'],
  ['Currencysymbol', 'Sc'],
  ['Dashpunctuation', 'Pd'],
  ['Decimalnumber', 'Nd'],
  ['Digit', 'Nd'],
  ['Enclosingmark', 'Me'],
  ['Finalpunctuation', 'Pf'],
  ['Format', 'Cf'],
  ['Initialpunctuation', 'Pi'],
  ['Lc', 'LC'],
  ['Letter', 'L'],
  ['Letternumber', 'Nl'],
  ['Lineseparator', 'Zl'],
  ['Lowercaseletter', 'Ll'],
  ['Mark', 'M'],
  ['Mathsymbol', 'Sm'],
  ['Modifierletter', 'Lm'],
  ['Modifiersymbol', 'Sk'],
  ['Nonspacingmark', 'Mn'],
  ['Number', 'N'],
  ['Openpunctuation', 'Ps'],
  ['Other', 'C'],
  ['Otherletter', 'Lo'],
  ['Othernumber', 'No'],
  ['Otherpunctuation', 'Po'],
  ['Othersymbol', 'So'],
  ['Paragraphseparator', 'Zp'],
  ['Privateuse', 'Co'],
  ['Punct', 'P'],
  ['Punctuation', 'P'],
  ['Separator', 'Z'],
  ['Spaceseparator', 'Zs'],
  ['Spacingmark', 'Mc'],
  ['Surrogate', 'Cs'],
  ['Symbol', 'S'],
  ['Titlecaseletter', 'Lt'],
  ['Unassigned', 'Cn'],
  ['Uppercaseletter', 'Lu'],
]);
