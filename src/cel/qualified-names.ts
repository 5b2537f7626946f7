import type { Expr } from './ast.js';

/** A leading dot says that a name is none of a macro's variables; all others are full names. */
export const fullName = (name: string): string => (name.startsWith('.') ? name.slice(1) : name);

/** `a.b.c` as names; undefined for what is more than names and dots. */
export function qualifiers(expr: Expr): readonly [string, ...string[]] | undefined {
  const fields: string[] = [];
  let inner = expr;
  while (inner.kind === 'select' && !inner.test) {
    fields.push(inner.field);
    inner = inner.operand;
  }
  return inner.kind === 'ident' ? [inner.name, ...fields.reverse()] : undefined;
}
