import type { Expr } from './ast.js';

/** Returns a name without its leading dot, which means that it is no variable of a macro. */
export const fullName = (name: string): string => (name.startsWith('.') ? name.slice(1) : name);

/** Returns the parts of `a.b.c`; undefined for an expression with more than names and dots. */
export function qualifiers(expr: Expr): readonly [string, ...string[]] | undefined {
  const fields: string[] = [];
  let inner = expr;
  while (inner.kind === 'select' && !inner.test) {
    fields.push(inner.field);
    inner = inner.operand;
  }
  return inner.kind === 'ident' ? [inner.name, ...fields.reverse()] : undefined;
}
