import { badRequest } from './errors.js';
import {
  checkedRequirement,
  keyComplaints,
  type LabelOperator,
  type LabelRequirement,
  sortedSet,
} from './label-requirements.js';

/** Parses the text of label selectors in queries. Grammar and error texts are those of kube-apiserver. */

interface Token {
  readonly type: 'identifier' | 'symbol' | 'end';
  readonly text: string;
}

const endToken: Token = { type: 'end', text: '' };
const symbols: ReadonlyMap<string, Token> = new Map(
  ['=', '!', '(', ')', ',', '>', '<', '==', '!='].map((text) => [text, { type: 'symbol', text }]),
);
const blanks = ' \t\r\n';
/** The characters that end an identifier; all of them are ASCII. */
const boundaries = new Uint8Array(128);
for (const character of `${[...symbols.keys()].join('')}${blanks}\0`) boundaries[character.charCodeAt(0)] = 1;

/** Splits into tokens. As in Go's lexer a NUL ends the text where a token could begin, and else the token. */
function scan(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const start = at;
    while (at < text.length && boundaries[text.charCodeAt(at)] !== 1) at++;
    if (at > start) {
      tokens.push({ type: 'identifier', text: text.slice(start, at) });
      if (text.charCodeAt(at) === 0) at++;
      continue;
    }
    const character = text.charAt(at);
    if (character === '\0') break;
    const symbol = symbols.get(text.slice(at, at + 2)) ?? symbols.get(character);
    if (symbol !== undefined) tokens.push(symbol);
    at += symbol?.text.length ?? 1;
  }
  return tokens;
}

const isSymbol = (token: Token, text: string): boolean => token.type === 'symbol' && token.text === text;
const startsRequirement = (token: Token): boolean => token.type === 'identifier' || isSymbol(token, '!');

const unparsable = (message: string): Error => badRequest(`unable to parse requirement: ${message}`);

const operators: ReadonlyMap<string, LabelOperator> = new Map(
  (['in', 'notin', '=', '==', '!=', '>', '<'] as const).map((operator) => [operator, operator]),
);

/** Parses the text of a selector into requirements, in linear time. Throws BadRequest. */
export function parseRequirements(selector: string): readonly LabelRequirement[] {
  const tokens = scan(selector);
  const requirements: LabelRequirement[] = [];
  let at = 0;
  const peek = (): Token => tokens[at] ?? endToken;
  const next = (): Token => tokens[at++] ?? endToken;

  const parseOne = (): LabelRequirement => {
    let token = next();
    const negated = isSymbol(token, '!');
    if (negated) token = next();
    if (token.type !== 'identifier') throw unparsable(`found '${token.text}', expected: identifier`);
    const key = token.text;
    const [complaint] = keyComplaints(key, '<nil>');
    if (complaint !== undefined) throw unparsable(complaint);
    if (negated) return checkedRequirement(key, '!', []);
    if (peek().type === 'end' || isSymbol(peek(), ',')) return checkedRequirement(key, 'exists', []);
    const { text } = next();
    const operator = operators.get(text);
    if (operator === undefined) throw unparsable(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`);
    const values = operator === 'in' || operator === 'notin' ? parseValues() : [parseExactValue()];
    return checkedRequirement(key, operator, values, unparsable);
  };

  const parseExactValue = (): string => {
    if (peek().type === 'end' || isSymbol(peek(), ',')) return '';
    const token = next();
    if (token.type !== 'identifier') throw unparsable(`found '${token.text}', expected: identifier`);
    return token.text;
  };

  const parseValues = (): readonly string[] => {
    const open = next();
    if (!isSymbol(open, '(')) throw unparsable(`found '${open.text}' expected: '('`);
    if (isSymbol(peek(), ')')) {
      at++;
      return [''];
    }
    if (peek().type !== 'identifier' && !isSymbol(peek(), ',')) {
      throw unparsable(`found '${peek().text}', expected: ',', ')' or identifier`);
    }
    const values = new Set<string>();
    while (!isSymbol(peek(), ')')) {
      const token = next();
      if (token.type === 'identifier') {
        values.add(token.text);
        if (!isSymbol(peek(), ',') && !isSymbol(peek(), ')')) {
          throw unparsable(`found '${peek().text}', expected: ',' or ')'`);
        }
        continue;
      }
      if (!isSymbol(token, ',')) throw unparsable(`found '${token.text}', expected: ',', or identifier`);
      if (values.size === 0 || isSymbol(peek(), ',') || isSymbol(peek(), ')')) values.add('');
    }
    at++;
    return sortedSet(values);
  };

  while (startsRequirement(peek())) {
    requirements.push(parseOne());
    const separator = next();
    if (separator.type === 'end') return requirements;
    if (!isSymbol(separator, ',')) throw badRequest(`found '${separator.text}', expected: ',' or 'end of string'`);
    if (!startsRequirement(peek())) throw badRequest(`found '${peek().text}', expected: identifier after ','`);
  }
  if (peek().type !== 'end') {
    throw badRequest(`found '${peek().text}', expected: !, identifier, or 'end of string'`);
  }
  return requirements;
}
