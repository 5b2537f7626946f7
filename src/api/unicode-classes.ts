import { asciiLowerCase } from './go-text.js';

/**
 * Unicode character classes in patterns (`\p{Greek}`) by Go's rules: capitals, spaces, `_` and `-` in a name are ignored,
 * categories have long names too, and scripts whose own name has `_` or a second capital cannot be named.
 */

/** A pattern for the regular expression package, and a function that restores the original names in its errors. */
export interface ReadPattern {
  readonly pattern: string;
  given(complaint: string): string;
}

/** Replaces the names of classes with those that the package knows. Names unknown to Go stay unknown to the package. */
export function withKnownClasses(pattern: string): ReadPattern {
  const writtenAs = new Map<string, string>();
  const known = pattern.replace(classOrKept, (text, sign?: string, braced?: string, letter = '') => {
    if (sign === undefined) return text;
    const name = braced ?? letter;
    const isInverted = name.startsWith('^');
    const bare = isInverted ? name.slice(1) : name;
    const read = nameOf(bare);
    if (read === bare) return text;
    // Written differently than usual, so that errors do not confuse it with the same class elsewhere.
    const token = (sign === 'P') === isInverted ? `\\P{^${read}}` : `\\p{^${read}}`;
    if (!writtenAs.has(token)) writtenAs.set(token, text);
    return token;
  });
  return {
    pattern: known,
    given: (complaint) => complaint.replace(classWithSign, (token) => writtenAs.get(token) ?? token),
  };
}

/** Matches a named class; also quoted texts and all other escapes, even an invalid one (`\x\p`), which are kept unchanged. */
const classOrKept = /\\Q.*?(?:\\E|$)|\\([pP])(?:\{([^}]{0,250})\}|([A-Za-z]))|\\(?:x\\)?./gs;
const classWithSign = /\\[pP]\{\^[^}]{0,60}\}/g;

function nameOf(name: string): string {
  // Names have ASCII letters only.
  const letters = asciiLowerCase(name.replace(/[-_ ]/g, ''));
  const canonical = letters.replace(/^[a-z]/, (first) => first.toUpperCase());
  if (ofPackage.has(canonical)) return `${canonical}?`;
  return longCategories.get(canonical) ?? canonical;
}

/** Names that the package knows and Go does not: properties, and scripts newer than Unicode 15. */
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
