import { isList, type Json, type JsonObject, member } from '../../api/object.js';
import { once } from '../../api/once.js';
import type { Steps } from '../../api/steps.js';
import type { Expr } from '../ast.js';
import { type Environment, environmentOf } from '../environment.js';
import { unescapeField } from '../field-names.js';
import { kubernetesLibraries } from '../kubernetes.js';
import { lazyList } from '../lazy-list.js';
import { memberNames } from '../member-names.js';
import { type Prepared, prepare } from '../prepare.js';
import { fullName } from '../qualified-names.js';
import { subexpressions } from '../subexpressions.js';
import { any, mapOf, string, type Type } from '../types.js';
import type { MapValue, Value } from '../values.js';
import { userInfo } from './structures.js';

/**
 * Returns the environment of expressions about tokens of other issuers (KEP-3331), with one variable: the `claims` of a
 * token, or the `user` that they were mapped to.
 */
const environmentWith = (variable: string, type: Type): (() => Environment) =>
  once(() => environmentOf({ variables: new Map([[variable, type]]), libraries: kubernetesLibraries }));
const claimsEnvironment = environmentWith('claims', mapOf(string, any));
const userEnvironment = environmentWith('user', userInfo);

const anyType = (): undefined => undefined;
const onlyBool = (type: Type): string | undefined => (type.kind === 'bool' ? undefined : 'must evaluate to bool');

/** Compiles a claim mapping. Its type is only known when it is evaluated. */
export const compileMapping = (expression: string): Steps<Prepared> =>
  prepare(claimsEnvironment(), expression, { wrongType: anyType });
export const compileClaimRule = (expression: string): Steps<Prepared> =>
  prepare(claimsEnvironment(), expression, { wrongType: onlyBool });
export const compileUserRule = (expression: string): Steps<Prepared> =>
  prepare(userEnvironment(), expression, { wrongType: onlyBool });

/** Whether an expression refers to a claim by name: `claims.email`, `has(claims.email)` or `claims.?email`. */
export function asksForClaim(expression: Expr, claim: string): boolean {
  const isClaims = (expr: Expr | undefined): boolean => expr?.kind === 'ident' && fullName(expr.name) === 'claims';
  const unvisited = [expression];
  for (let expr = unvisited.pop(); expr !== undefined; expr = unvisited.pop()) {
    if (expr.kind === 'select' && isClaims(expr.operand) && expr.field === claim) return true;
    if (expr.kind === 'call' && expr.name === '_?._' && isClaims(expr.args[0])) {
      const [, field] = expr.args;
      if (field?.kind === 'literal' && field.value === claim) return true;
    }
    unvisited.push(...subexpressions(expr));
  }
  return false;
}

/**
 * Returns claims or a user as these expressions see them. All numbers are doubles. Names may be written with escapes:
 * `a__dot__b` is `a.b`.
 */
export const membersValue = (json: JsonObject): Value => new NamedMap(json, (name) => unescapeField(name));

const claimValue = (json: Json): Value => {
  if (typeof json !== 'object' || json === null) return json;
  return isList(json)
    ? lazyList(json.length, (at) => claimValue(json[at] ?? null))
    : new NamedMap(json, (name) => unescapeField(name) ?? name);
};

class NamedMap implements MapValue {
  readonly kind = 'map';
  readonly #json: JsonObject;
  readonly #nameOf: (key: string) => string | undefined;

  constructor(json: JsonObject, nameOf: (key: string) => string | undefined) {
    this.#json = json;
    this.#nameOf = nameOf;
  }

  get size(): number {
    return memberNames(this.#json).length;
  }

  get(key: Value): Value | undefined {
    const name = typeof key === 'string' ? this.#nameOf(key) : undefined;
    const value = name === undefined ? undefined : member(this.#json, name);
    return value === undefined ? undefined : claimValue(value);
  }

  keys(): readonly string[] {
    return memberNames(this.#json);
  }
}
