import type { Call, Expr } from './ast.js';
import type { Checked } from './checker.js';
import type { Issues } from './issues.js';
import { acceptedTypes, type Clause, readFormat } from './library/format-text.js';
import { nameOfType } from './runtime-types.js';
import { errorType, isAny, type Type } from './types.js';
import { Failure } from './values.js';

const kindsOf: Readonly<Record<Clause['verb'], readonly Type['kind'][]>> = {
  s: ['list', 'map', 'int', 'uint', 'double', 'bool', 'string', 'timestamp', 'bytes', 'duration', 'type', 'null'],
  d: ['int', 'uint'],
  f: ['double', 'string'],
  e: ['double', 'string'],
  b: ['int', 'uint', 'bool'],
  x: ['int', 'uint', 'string', 'bytes'],
  X: ['int', 'uint', 'string', 'bytes'],
  o: ['int', 'uint'],
};

/** Checks `'...'.format([...])` with literal operands: each clause must receive a value that it can print. */
export function checkFormatCall(call: Call, { types, references }: Checked, issues: Issues): void {
  const [list] = call.args;
  if (call.target?.kind !== 'literal' || typeof call.target.value !== 'string' || list?.kind !== 'list') return;
  if (references.get(call.id)?.overloads?.includes('string_format') === false) return;
  const format = call.target.value;
  const { elements } = list;
  const typeOf = (expr: Expr): Type => types.get(expr.id) ?? errorType;
  const takes = (verb: Clause['verb'], type: Type): boolean =>
    (type.kind === 'dyn' && !isAny(type)) || kindsOf[verb].includes(type.kind);

  let at = call.at;
  let needed = 0;
  const read = (count: number): string | Failure =>
    readFormat(format, count, ({ verb }, argument) => {
      needed = argument + 1;
      const element = elements[argument];
      const wrong =
        element === undefined ? undefined : firstRefused(element, verb === 's', (expr) => takes(verb, typeOf(expr)));
      if (wrong === undefined) return '';
      at = wrong.at;
      return new Failure(`${acceptedTypes[verb]}, was given ${nameOfType(typeOf(wrong))}`);
    });
  let result = read(elements.length);
  if (result instanceof Failure && result.message.startsWith('index ')) {
    // An unexpected end of the format is reported first.
    const more = read(elements.length + 1);
    if (more instanceof Failure && more.message === 'unexpected end of string') result = more;
  }
  if (result instanceof Failure) issues.add(at, result.message);
  else if (elements.length > needed) {
    const counts = `expected ${needed}, got ${elements.length}`;
    issues.add(call.at, `too many arguments supplied to string.format (${counts})`);
  }
}

/** Returns the expression, or with `deep` the first one within lists and maps, whose value cannot be printed. */
function firstRefused(expr: Expr, deep: boolean, takes: (expr: Expr) => boolean): Expr | undefined {
  if (!takes(expr)) return expr;
  if (!deep) return undefined;
  const parts =
    expr.kind === 'list'
      ? expr.elements
      : expr.kind === 'map'
        ? expr.entries.flatMap(({ key, value }) => [key, value])
        : [];
  for (const part of parts) {
    const refused = firstRefused(part, deep, takes);
    if (refused !== undefined) return refused;
  }
  return undefined;
}
