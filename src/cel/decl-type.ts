import type { Range } from './cost.js';
import { isReserved } from './reserved.js';
import { listOf, mapOf, type Type } from './types.js';

/** A declared type with its size limits (Kubernetes' `DeclType`). */
export interface DeclType {
  /** The type of a scalar; other types follow from their components. */
  readonly type?: Type;
  /** The maximum bytes of a text, items of a list or members of a map; 0 for what has no size. */
  readonly maxElements: number;
  /** The fields of a structure, by their names in expressions. */
  readonly fields?: ReadonlyMap<string, DeclType>;
  /** The keys of a map. */
  readonly key?: DeclType;
  /** The items of a list or values of a map. */
  readonly element?: DeclType;
}

/**
 * Returns the type of a declaration. Structures are named after their path below `name`, as in `self.spec`; their
 * fields are created on demand, because most expressions use few.
 */
export function typeOf({ type, key, element, fields }: DeclType, name: string): Type {
  if (type !== undefined) return type;
  if (element && key) return mapOf(typeOf(key, name), typeOf(element, `${name}.@elem`));
  if (element) return listOf(typeOf(element, `${name}.@idx`));
  let converted: ReadonlyMap<string, Type> | undefined;
  return {
    kind: 'struct',
    name,
    get fields() {
      converted ??= new Map(
        [...(fields ?? [])].flatMap(([field, inner]) => {
          const type = typeOf(inner, `${name}.${field}`);
          // A field with a reserved name may also be written without escapes.
          const plain = /^__([a-z]+)__$/.exec(field)?.[1];
          return plain !== undefined && isReserved(plain)
            ? [[field, type] as const, [plain, type] as const]
            : [[field, type] as const];
        }),
      );
      return converted;
    },
  };
}

/**
 * Returns the sizes of values by path, for estimates. A path begins with the name of the variable; `@items`, `@keys`
 * and `@values` stand for the components of lists and maps. `fieldOfMap` returns the declaration of `map.name`.
 */
export const sizesWithin =
  (root: DeclType, fieldOfMap?: (map: DeclType) => DeclType | undefined) =>
  ([, ...path]: readonly string[]): Range | undefined => {
    let current: DeclType | undefined = root;
    for (const step of path) {
      if (step === '@items' || step === '@values') current = current.element;
      else if (step === '@keys') current = current.key;
      else current = current.fields?.get(step) ?? fieldOfMap?.(current);
      if (current === undefined) return undefined;
    }
    return { min: 0, max: current.maxElements };
  };
