import { itemsPerStep, type Steps } from '../api/steps.js';
import {
  isConcrete,
  isSameType,
  mostGeneral,
  partsOf,
  Substitutions,
  withinOptional,
  withParts,
} from './assignability.js';
import type { Call, Comprehension, Expr, ListLiteral, MapLiteral, Select, StructLiteral } from './ast.js';
import { FieldTypes } from './field-types.js';
import type { FunctionDeclaration, Overload } from './functions.js';
import type { Issues } from './issues.js';
import { fullName, qualifiers } from './qualified-names.js';
import { callText, typeText } from './type-text.js';
import {
  bool,
  bytes,
  double,
  dyn,
  errorType,
  int,
  isAny,
  listOf,
  mapOf,
  nullType,
  optionalOf,
  parameter,
  string,
  type Type,
  uint,
} from './types.js';
import { Uint, type Value } from './values.js';

/** A type-checked expression. Dotted names are resolved to identifiers, and functions in namespaces have no targets. */
export interface Checked {
  readonly expr: Expr;
  /** The types of nodes, by node id. */
  readonly types: ReadonlyMap<number, Type>;
  /** The references of nodes, by node id: the full name of a variable, or the ids of the overloads that fit a call. */
  readonly references: ReadonlyMap<number, Reference>;
  /** The type of the whole expression. */
  readonly type: Type;
}

interface Reference {
  readonly name?: string;
  readonly value?: Value;
  readonly overloads?: readonly string[];
}

/** The names that expressions can refer to. */
export interface Declarations {
  /** Returns the type of a variable or a type's name. */
  ident(name: string): Type | undefined;
  /** Returns the type for a type's name only, as in struct literals. */
  type(name: string): Type | undefined;
  function(name: string): FunctionDeclaration | undefined;
}

/**
 * The maximum number of components of a type, which doubles with each map that has the same type for its keys and
 * values.
 */
const mostParts = 10_000;

/** Infers the types of all nodes as cel-go's checker does. Adds errors to `issues`. */
export function check(expr: Expr, declarations: Declarations, issues: Issues): Steps<Checked> {
  return new Checker(declarations, issues).check(expr);
}

interface Scope {
  readonly names: ReadonlyMap<string, Type>;
  readonly outer: Scope | undefined;
}

class Checker {
  readonly #declarations: Declarations;
  readonly #issues: Issues;
  readonly #types = new Map<number, Type>();
  readonly #references = new Map<number, Reference>();
  readonly #substitutions = new Substitutions();
  readonly #fields: FieldTypes;
  readonly #sizes = new WeakMap<Type, number>();
  #scope: Scope | undefined;
  #seen = 0;
  #variables = 0;

  constructor(declarations: Declarations, issues: Issues) {
    this.#declarations = declarations;
    this.#issues = issues;
    this.#fields = new FieldTypes(this.#substitutions, issues);
  }

  *check(root: Expr): Steps<Checked> {
    const expr = yield* this.#check(root);
    for (const [id, type] of this.#types) {
      if (id % itemsPerStep === 0) yield;
      this.#types.set(id, this.#substitutions.substitute(type, true));
    }
    return { expr, types: this.#types, references: this.#references, type: this.#typeOf(expr) };
  }

  #typeOf({ id }: Expr): Type {
    return this.#types.get(id) ?? errorType;
  }

  /** Records the type of a node; components become `dyn` when there are too many of them. */
  #note<T extends Expr>(expr: T, type: Type): T {
    if (this.#sizeOf(type) > mostParts) {
      this.#issues.add(expr.at, `type has more than ${mostParts} parts`);
      this.#types.set(expr.id, errorType);
    } else this.#types.set(expr.id, type);
    return expr;
  }

  #sizeOf(type: Type): number {
    const known = this.#sizes.get(type);
    if (known !== undefined) return known;
    const size = partsOf(type).reduce((sum, part) => sum + this.#sizeOf(part), 1);
    this.#sizes.set(type, size);
    return size;
  }

  /** Returns the type of a macro's variable. */
  #local(name: string): Type | undefined {
    for (let scope = this.#scope; scope !== undefined; scope = scope.outer) {
      const type = scope.names.get(name);
      if (type !== undefined) return type;
    }
    return undefined;
  }

  #undeclared(at: number, name: string): void {
    this.#issues.add(at, `undeclared reference to '${name}' (in container '')`);
  }

  #mismatch(at: number, expected: Type, found: Type): void {
    this.#issues.add(at, () => `expected type '${typeText(expected)}' but found '${typeText(found)}'`);
  }

  #freshVariable(): Type {
    return parameter(`_var${this.#variables++}`);
  }

  *#check(expr: Expr): Steps<Expr> {
    if (++this.#seen % itemsPerStep === 0) yield;
    switch (expr.kind) {
      case 'literal':
        return this.#note(expr, literalType(expr.value));
      case 'ident': {
        const found = this.#named(expr, [expr.name]);
        if (found !== undefined) return found;
        this.#undeclared(expr.at, expr.name);
        return this.#note(expr, errorType);
      }
      case 'select':
        return yield* this.#select(expr);
      case 'call':
        return yield* expr.name === '_?._' ? this.#optionalSelect(expr) : this.#call(expr);
      case 'list':
        return yield* this.#list(expr);
      case 'map':
        return yield* this.#map(expr);
      case 'struct':
        return yield* this.#struct(expr);
      case 'comprehension':
        return yield* this.#comprehension(expr);
    }
  }

  /**
   * Resolves a node as the name of something declared; undefined if there is none. A macro's variable hides
   * declarations with its name or below it (`x` hides `x.y`), unless the name begins with a dot, which is kept then.
   */
  #named({ id, at }: Expr, names: readonly [string, ...string[]]): Expr | undefined {
    const [first] = names;
    const named = (name: string, type: Type): Expr => {
      this.#references.set(id, { name });
      return this.#note({ kind: 'ident', id, at, name }, type);
    };
    const local = this.#local(fullName(first));
    if (local !== undefined && !first.startsWith('.')) return names.length === 1 ? named(first, local) : undefined;
    const full = fullName(names.join('.'));
    const type = this.#declarations.ident(full);
    return type && named(local === undefined ? full : `.${full}`, type);
  }

  *#select(expr: Select): Steps<Expr> {
    const names = qualifiers(expr);
    const named = names && this.#named(expr, names);
    if (named !== undefined) return named;
    const { operand, type } = yield* this.#field(expr, expr.operand, expr.field, false);
    return this.#note({ ...expr, operand }, this.#substitutions.substitute(expr.test ? bool : type, false));
  }

  *#optionalSelect(expr: Call): Steps<Expr> {
    const [target, field] = expr.args as readonly [Expr, Expr];
    const name = field.kind === 'literal' && typeof field.value === 'string' ? field.value : '';
    const { operand, type } = yield* this.#field(expr, target, name, true);
    this.#references.set(expr.id, { overloads: ['select_optional_field'] });
    return this.#note({ ...expr, args: [operand, field] }, this.#substitutions.substitute(type, false));
  }

  *#field(
    expr: Expr,
    target: Expr,
    field: string,
    optional: boolean,
  ): Steps<{ readonly operand: Expr; readonly type: Type }> {
    const operand = yield* this.#check(target);
    const operandType = this.#substitutions.substitute(this.#typeOf(operand), false);
    const within = withinOptional(operandType);
    const type = this.#fields.selected(expr.at, within ?? operandType, field);
    return { operand, type: optional || within !== undefined ? optionalOf(type) : type };
  }

  *#call(expr: Call): Steps<Expr> {
    const args: Expr[] = [];
    for (const arg of expr.args) args.push(yield* this.#check(arg));
    if (expr.target === undefined) {
      const name = fullName(expr.name);
      const found = this.#declarations.function(name);
      if (found !== undefined) return this.#resolve({ ...expr, name, args }, found);
      this.#undeclared(expr.at, expr.name);
      return this.#note({ ...expr, args }, errorType);
    }
    const prefix = qualifiers(expr.target);
    if (prefix !== undefined) {
      const name = fullName([...prefix, expr.name].join('.'));
      const found = this.#declarations.function(name);
      if (found !== undefined) return this.#resolve({ ...expr, name, target: undefined, args }, found);
    }
    const target = yield* this.#check(expr.target);
    const found = this.#declarations.function(expr.name);
    if (found !== undefined) return this.#resolve({ ...expr, target, args }, found);
    this.#undeclared(expr.at, expr.name);
    return this.#note({ ...expr, target, args }, errorType);
  }

  #resolve(call: Call, { name, overloads }: FunctionDeclaration): Call {
    const isMember = call.target !== undefined;
    const argumentTypes = [...(call.target === undefined ? [] : [call.target]), ...call.args].map((arg) =>
      this.#typeOf(arg),
    );
    const fitting: string[] = [];
    let result: Type | undefined;
    for (const overload of overloads) {
      if (overload.member !== isMember) continue;
      if (name === '_&&_' || name === '_||_') return this.#logic(call, overload);
      const instance = this.#instance(overload);
      if (!this.#substitutions.areAssignable(argumentTypes, instance.parameters)) continue;
      fitting.push(overload.id);
      const own = this.#substitutions.substitute(instance.result, false);
      if (result === undefined) result = own;
      else if (result.kind !== 'dyn' && !isSameType(own, result)) result = dyn;
    }
    if (result === undefined) {
      this.#issues.add(call.at, () => {
        const resolved = argumentTypes.map((type) => this.#substitutions.substitute(type, true));
        const text = isMember ? callText(resolved[0], resolved.slice(1)) : callText(undefined, resolved);
        return `found no matching overload for '${name}' applied to '${text}'`;
      });
      return this.#note(call, errorType);
    }
    this.#references.set(call.id, { overloads: fitting });
    return this.#note(call, result);
  }

  #logic(call: Call, overload: Overload): Call {
    const wrong = call.args.filter((arg) => {
      const type = this.#typeOf(arg);
      if (this.#substitutions.isAssignable(type, bool)) return false;
      this.#mismatch(arg.at, bool, type);
      return true;
    });
    if (wrong.length > 0) return this.#note(call, errorType);
    this.#references.set(call.id, { overloads: [overload.id] });
    return this.#note(call, bool);
  }

  /** Returns the types of an overload with fresh variables for its type parameters. */
  #instance(overload: Overload): Pick<Overload, 'parameters' | 'result'> {
    const { parameters, result } = overload;
    if (isConcrete(result) && parameters.every(isConcrete)) return overload;
    const variables = new Map<string, Type>();
    const change = (type: Type): Type => {
      if (type.kind !== 'parameter') return withParts(type, change);
      const variable = variables.get(type.name) ?? this.#freshVariable();
      variables.set(type.name, variable);
      return variable;
    };
    const changedResult = change(result);
    return { parameters: parameters.map(change), result: changedResult };
  }

  /** Returns the element type of a list or map that holds both types: the more general one, or `dyn`. */
  #join(before: Type | undefined, type: Type): Type {
    if (before === undefined) return type;
    return this.#substitutions.isAssignable(before, type) ? mostGeneral(before, type) : dyn;
  }

  /** Returns the type of an element; for one given with `?`, the type within its optional. */
  #unwrapped(value: Expr, optional: boolean): Type {
    const type = this.#typeOf(value);
    if (!optional) return type;
    const within = withinOptional(type);
    if (within === undefined && type.kind !== 'dyn') this.#mismatch(value.at, optionalOf(type), type);
    return within ?? type;
  }

  *#list(expr: ListLiteral): Steps<Expr> {
    let element: Type | undefined;
    const elements: Expr[] = [];
    for (const [index, unchecked] of expr.elements.entries()) {
      const checked = yield* this.#check(unchecked);
      element = this.#join(element, this.#unwrapped(checked, expr.optional.has(index)));
      elements.push(checked);
    }
    return this.#note({ ...expr, elements }, listOf(element ?? this.#freshVariable()));
  }

  *#map(expr: MapLiteral): Steps<Expr> {
    let keys: Type | undefined;
    let values: Type | undefined;
    const entries: MapLiteral['entries'][number][] = [];
    for (const entry of expr.entries) {
      const key = yield* this.#check(entry.key);
      keys = this.#join(keys, this.#typeOf(key));
      const value = yield* this.#check(entry.value);
      values = this.#join(values, this.#unwrapped(value, entry.optional));
      entries.push({ ...entry, key, value });
    }
    const key = keys ?? this.#freshVariable();
    return this.#note({ ...expr, entries }, mapOf(key, values ?? this.#freshVariable()));
  }

  *#struct(expr: StructLiteral): Steps<Expr> {
    const name = fullName(expr.name);
    const ident = this.#declarations.type(name);
    if (ident === undefined) {
      this.#undeclared(expr.at, expr.name);
      return this.#note(expr, errorType);
    }
    this.#references.set(expr.id, { name });
    const type = this.#fields.struct(expr, ident);
    const fields: StructLiteral['fields'][number][] = [];
    for (const field of expr.fields) {
      const value = yield* this.#check(field.value);
      const expected = this.#fields.structField(field, name, type);
      const actual = this.#unwrapped(value, field.optional);
      if (!this.#substitutions.isAssignable(expected, actual)) {
        const texts = `'${typeText(expected)}' but provided type is '${typeText(actual)}'`;
        this.#issues.add(field.at, `expected type of field '${field.name}' is ${texts}`);
      }
      fields.push({ ...field, value });
    }
    return this.#note({ ...expr, name, fields }, type);
  }

  *#comprehension(expr: Comprehension): Steps<Expr> {
    const range = yield* this.#check(expr.range);
    const start = yield* this.#check(expr.start);
    const accumulated = this.#typeOf(start);
    const outer = this.#scope;
    const around: Scope = { names: new Map([[expr.accumulator, accumulated]]), outer };
    const [first, second] = this.#elementTypes(range, expr.second !== undefined);
    const names = new Map([[expr.variable, first]]);
    if (expr.second !== undefined) names.set(expr.second, second);

    this.#scope = { names, outer: around };
    const condition = yield* this.#check(expr.condition);
    this.#assert(condition, bool);
    const step = yield* this.#check(expr.step);
    this.#assert(step, accumulated);
    this.#scope = around;
    const result = yield* this.#check(expr.result);
    this.#scope = outer;
    const type = this.#substitutions.substitute(this.#typeOf(result), false);
    return this.#note({ ...expr, range, start, condition, step, result }, type);
  }

  #elementTypes(range: Expr, two: boolean): readonly [Type, Type] {
    const type = this.#substitutions.substitute(this.#typeOf(range), false);
    switch (type.kind) {
      case 'list':
        return two ? [int, type.element] : [type.element, dyn];
      case 'map':
        return [type.key, type.value];
      case 'dyn':
      case 'error':
      case 'parameter':
        if (isAny(type)) break;
        this.#substitutions.isAssignable(dyn, type);
        return [dyn, dyn];
      default:
    }
    const must = 'cannot be range of a comprehension (must be list, map, or dynamic)';
    this.#issues.add(range.at, `expression of type '${typeText(type)}' ${must}`);
    return [errorType, errorType];
  }

  #assert(expr: Expr, type: Type): void {
    if (!this.#substitutions.isAssignable(type, this.#typeOf(expr))) this.#mismatch(expr.at, type, this.#typeOf(expr));
  }
}

function literalType(value: unknown): Type {
  if (value === null) return nullType;
  if (value instanceof Uint) return uint;
  if (value instanceof Uint8Array) return bytes;
  switch (typeof value) {
    case 'boolean':
      return bool;
    case 'bigint':
      return int;
    case 'number':
      return double;
    default:
      return string;
  }
}
