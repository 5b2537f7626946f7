import { oncePer } from '../api/once.js';
import { dyn, isAny, type Type } from './types.js';

/** Returns the component types of a type: elements, keys and values, parameters. */
export function partsOf(type: Type): readonly Type[] {
  switch (type.kind) {
    case 'list':
      return [type.element];
    case 'map':
      return [type.key, type.value];
    case 'opaque':
      return type.parameters;
    case 'type':
      return type.of === undefined ? [] : [type.of];
    default:
      return [];
  }
}

const nameOf = (type: Type): string =>
  type.kind === 'struct' || type.kind === 'opaque' || type.kind === 'parameter' ? type.name : type.kind;

/** Whether both are the same type, including the names of their parameters. */
export function isSameType(one: Type, other: Type): boolean {
  if (one === other) return true;
  if (one.kind !== other.kind || nameOf(one) !== nameOf(other) || isAny(one) !== isAny(other)) return false;
  const parts = partsOf(one);
  const others = partsOf(other);
  return parts.length === others.length && parts.every((part, index) => isSameType(part, others[index]!));
}

/** Returns `T` for `optional_type(T)`; undefined for other types. */
export const withinOptional = (type: Type): Type | undefined =>
  type.kind === 'opaque' && type.name === 'optional_type' ? type.parameters[0] : undefined;

/** Whether the first type is at most as specific as the second. */
function isLessSpecific(one: Type, other: Type): boolean {
  if (one.kind === 'dyn' || one.kind === 'parameter') return true;
  if (other.kind === 'dyn' || other.kind === 'parameter' || one.kind !== other.kind) return false;
  if (one.kind === 'type') return true;
  if (one.kind !== 'opaque' && one.kind !== 'list' && one.kind !== 'map') return isSameType(one, other);
  const others = partsOf(other);
  return (
    nameOf(one) === nameOf(other) &&
    partsOf(one).length === others.length &&
    partsOf(one).every((part, index) => isLessSpecific(part, others[index]!))
  );
}

/** Returns the less specific one of two types that are assignable to each other. */
export const mostGeneral = (one: Type, other: Type): Type => (isLessSpecific(one, other) ? one : other);

const isNullable = ({ kind }: Type): boolean =>
  kind === 'null' || kind === 'opaque' || kind === 'struct' || kind === 'duration' || kind === 'timestamp';

/** The types substituted for type parameters, as far as they are known while an expression is checked. */
export class Substitutions {
  readonly #known = new Map<string, Type>();
  /** The previous value of each change, for undoing them in reverse order. */
  readonly #undo: { readonly name: string; readonly before: Type | undefined }[] = [];

  #find(type: Type): Type | undefined {
    return type.kind === 'parameter' ? this.#known.get(type.name) : undefined;
  }

  #set(parameter: Type, type: Type): void {
    const name = nameOf(parameter);
    this.#undo.push({ name, before: this.#known.get(name) });
    this.#known.set(name, type);
  }

  /**
   * Whether a value of the first type can be used as one of the second. If so, records what that implies for
   * parameters.
   */
  isAssignable(one: Type, other: Type): boolean {
    return this.areAssignable([one], [other]);
  }

  areAssignable(ones: readonly Type[], others: readonly Type[]): boolean {
    this.#undo.length = 0;
    if (this.#fitAll(ones, others)) return true;
    for (const { name, before } of this.#undo.reverse()) {
      if (before === undefined) this.#known.delete(name);
      else this.#known.set(name, before);
    }
    return false;
  }

  /** Returns the type with known parameters substituted; unknown ones stay, or become `dyn`. */
  substitute(type: Type, unknownToDyn: boolean): Type {
    if (isConcrete(type)) return type;
    const known = this.#find(type);
    if (known !== undefined) return this.substitute(known, unknownToDyn);
    if (unknownToDyn && type.kind === 'parameter') return dyn;
    return withParts(type, (part) => this.substitute(part, unknownToDyn));
  }

  #fitAll(ones: readonly Type[], others: readonly Type[]): boolean {
    return ones.length === others.length && ones.every((one, index) => this.#fits(one, others[index]!));
  }

  #fits(one: Type, other: Type): boolean {
    if (other.kind === 'parameter') {
      const found = this.#stands(one, other);
      if (found.valid) return true;
      if (found.known) return false;
    }
    if (one.kind === 'parameter') return this.#stands(other, one).valid;
    if (one.kind === 'dyn' || one.kind === 'error' || other.kind === 'dyn' || other.kind === 'error') return true;
    if (one.kind === 'null') return isNullable(other);
    if (other.kind === 'null') return isNullable(one);
    if (one.kind === 'type') return other.kind === 'type';
    return one.kind === other.kind && nameOf(one) === nameOf(other) && this.#fitAll(partsOf(one), partsOf(other));
  }

  /** Whether the parameter can stand for the type, and whether it already stands for one. */
  #stands(type: Type, parameter: Type): { readonly valid: boolean; readonly known: boolean } {
    if (isSameType(type, parameter)) return { valid: true, known: true };
    const known = this.#find(parameter);
    if (known === undefined) {
      const valid = !this.#occurs(parameter, type);
      if (valid) this.#set(parameter, type);
      return { valid, known: false };
    }
    if (isSameType(type, known)) return { valid: true, known: true };
    if (!this.#fits(type, known)) return { valid: false, known: true };
    const general = mostGeneral(type, known);
    if (!this.#occurs(parameter, general)) this.#set(parameter, general);
    return { valid: true, known: true };
  }

  #occurs(parameter: Type, within: Type): boolean {
    if (isSameType(parameter, within)) return true;
    const known = this.#find(within);
    if (known !== undefined) return this.#occurs(parameter, known);
    return partsOf(within).some((part) => this.#occurs(parameter, part));
  }
}

/** Whether the type has no parameters. Cached, because the components of deep types recur. */
export const isConcrete: (type: Type) => boolean = oncePer(
  (type: Type): boolean => type.kind !== 'parameter' && partsOf(type).every(isConcrete),
);

/** Returns the type with each of its components replaced. */
export function withParts(type: Type, change: (part: Type) => Type): Type {
  switch (type.kind) {
    case 'list':
      return { kind: 'list', element: change(type.element) };
    case 'map':
      return { kind: 'map', key: change(type.key), value: change(type.value) };
    case 'opaque':
      return type.parameters.length === 0 ? type : { ...type, parameters: type.parameters.map(change) };
    case 'type':
      return type.of === undefined ? type : { kind: 'type', of: change(type.of) };
    default:
      return type;
  }
}
