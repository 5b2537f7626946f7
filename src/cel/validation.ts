import { compile } from '../api/regular-expression.js';
import { itemsPerStep, type Steps } from '../api/steps.js';
import { isSameType, withinOptional } from './assignability.js';
import type { Call, Expr, ListLiteral, MapLiteral } from './ast.js';
import type { Checked } from './checker.js';
import { checkFormatCall } from './format-calls.js';
import type { Overload } from './functions.js';
import type { Issues } from './issues.js';
import { fits } from './runtime-types.js';
import { subexpressions } from './subexpressions.js';
import { typeText } from './type-text.js';
import { errorType, type Type } from './types.js';
import { Failure, type Value } from './values.js';

type FindOverload = (id: string) => Overload | undefined;

/**
 * Checks what Kubernetes checks besides types: literal durations, timestamps and regular expressions, homogeneous list
 * and map literals, and formats with their arguments.
 */
export function* validate(checked: Checked, overload: FindOverload, issues: Issues): Steps<void> {
  let seen = 0;
  function* visit(expr: Expr, inFormat: boolean): Steps<void> {
    if (++seen % itemsPerStep === 0) yield;
    const inside = inFormat || (expr.kind === 'call' && expr.name === 'format');
    for (const part of subexpressions(expr)) yield* visit(part, inside);
    if (expr.kind === 'call') {
      checkLiteral(expr, checked, overload, issues);
      if (expr.name === 'format') checkFormatCall(expr, checked, issues);
    }
    if (!inFormat && expr.kind === 'list') checkList(expr, checked, issues);
    if (!inFormat && expr.kind === 'map') checkMap(expr, checked, issues);
  }
  yield* visit(checked.expr, false);
}

/** Reports a literal argument that can only fail: `duration('x')`, `s.matches('[')`. */
function checkLiteral(call: Call, checked: Checked, overload: FindOverload, issues: Issues): void {
  const [literal] = call.args;
  if (literal?.kind !== 'literal') return;
  const isWrong =
    call.name === 'matches'
      ? typeof literal.value === 'string' && compile(literal.value).error !== undefined
      : (call.name === 'duration' || call.name === 'timestamp') && fails(call, literal.value, checked, overload);
  if (isWrong) issues.add(literal.at, `invalid ${call.name} argument`);
}

function fails(call: Call, value: Value, { references }: Checked, overload: FindOverload): boolean {
  const [id] = references.get(call.id)?.overloads ?? [];
  const found = id === undefined ? undefined : overload(id);
  const parameter = found?.parameters[0];
  if (found === undefined || parameter === undefined) return false;
  // The checker accepts null for any duration or timestamp.
  return !fits(parameter, value) || (found.evaluate as (value: Value) => Value)(value) instanceof Failure;
}

const typeOf = ({ types }: Checked, { id }: Expr): Type => types.get(id) ?? errorType;
const elementType = (type: Type, optional: boolean): Type => (optional ? (withinOptional(type) ?? type) : type);

function mismatch(at: number, expected: Type, found: Type, issues: Issues): void {
  issues.add(at, () => `expected type '${typeText(expected)}' but found '${typeText(found)}'`);
}

function checkList(list: ListLiteral, checked: Checked, issues: Issues): void {
  const types = list.elements.map((element, index) => elementType(typeOf(checked, element), list.optional.has(index)));
  const wrong = types.findIndex((type) => !isSameType(types[0]!, type));
  if (wrong >= 0) mismatch(list.elements[wrong]!.at, types[0]!, types[wrong]!, issues);
}

function checkMap(map: MapLiteral, checked: Checked, issues: Issues): void {
  const [first] = map.entries;
  if (first === undefined) return;
  const keys = typeOf(checked, first.key);
  const values = elementType(typeOf(checked, first.value), first.optional);
  for (const { key, value, optional } of map.entries) {
    const keyType = typeOf(checked, key);
    const valueType = elementType(typeOf(checked, value), optional);
    if (!isSameType(keys, keyType)) mismatch(key.at, keys, keyType, issues);
    if (!isSameType(values, valueType)) mismatch(value.at, values, valueType, issues);
  }
}
