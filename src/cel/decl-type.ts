import type { Range } from './cost.js';
import { isReserved } from './reserved.js';
import { listOf, mapOf, type Type } from './types.js';

/** What is declared about a value: its type, and how large it can be (Kubernetes' `DeclType`). */
export interface DeclType {
  /** Only for scalars; other types follow from their parts. */
  readonly type?: Type;
  /** Bytes of a text, items of a list, members of a map; 0 for what has no size. */
  readonly maxElements: number;
  /** The fields of a structure, by the names that expressions use. */
  readonly fields?: ReadonlyMap<string, DeclType>;
  /** The keys of a map. */
  readonly key?: DeclType;
  /** The items of a list or values of a map. */
  readonly element?: DeclType;
}

/**
 * The type of what was declared. Structures are named after where they stand below `name`, as in `self.spec`; their
 * fields are made when asked for, because most expressions look at few.
 */
export function typeOf({ type, key, element, fields }: DeclType, name: string): Type {
  if (type !== undefined) return type;
  if (element && key) return mapOf(typeOf(key, name), typeOf(element, `${name}.@elem`));
  if (element) return listOf(typeOf(element, `${name}.@idx`));
  let made: ReadonlyMap<string, Type> | undefined;
  return {
    kind: 'struct',
    name,
    get fields() {
      made ??= new Map(
        [...(fields ?? [])].flatMap(([field, inner]) => {
          const type = typeOf(inner, `${name}.${field}`);
          // A field whose name is reserved may be written without its escapes too.
          const plain = /^__([a-z]+)__$/.exec(field)?.[1];
          return plain !== undefined && isReserved(plain)
            ? [[field, type] as const, [plain, type] as const]
            : [[field, type] as const];
        }),
      );
      return made;
    },
  };
}

/**
 * How large the value at a path can be, for estimates. The first part of a path is the name of the variable; `@items`,
 * `@keys` and `@values` stand for what is within lists and maps. `fieldOfMap`: what `map.name` is.
 */
export const sizesWithin =
  (root: DeclType, fieldOfMap?: (map: DeclType) => DeclType | undefined) =>
  ([, ...path]: readonly string[]): Range | undefined => {
    let here: DeclType | undefined = root;
    for (const step of path) {
      if (step === '@items' || step === '@values') here = here.element;
      else if (step === '@keys') here = here.key;
      else here = here.fields?.get(step) ?? fieldOfMap?.(here);
      if (here === undefined) return undefined;
    }
    return { min: 0, max: here.maxElements };
  };
