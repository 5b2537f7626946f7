import type { Expr } from './ast.js';
import type { Checked } from './checker.js';
import { codePoints } from './code-points.js';
import type { Range } from './cost.js';
import { emptyPath, type Path, pathSteps } from './estimate-path.js';
import { anySize, exactly, union } from './ranges.js';
import { dyn, type Type } from './types.js';

/**
 * Returns the size of the value at a path from a variable (`self`, `items`, `@items`); undefined when it is unknown.
 */
export type SizeOf = (path: readonly string[]) => Range | undefined;

/** The sizes of the components of a list or map. */
export interface EntrySizes {
  readonly of: 'list' | 'map';
  readonly key: Range;
  readonly value: Range;
}

interface Local {
  readonly path: Path;
  readonly size: Range | undefined;
  readonly entries: EntrySizes | undefined;
}

/** Returns the union of the entry sizes of two lists or maps, either of which may be the value. */
export const unionOfEntries = (one: EntrySizes | undefined, other: EntrySizes | undefined): EntrySizes | undefined =>
  one && other && { of: one.of, key: union(one.key, other.key), value: union(one.value, other.value) };

const one: Range = exactly(1);

/** The estimated sizes of the values of an expression, derived from the paths of variables and from literals. */
export class SizeEstimates {
  readonly #checked: Checked;
  readonly #sizeOfPath: SizeOf;
  readonly #paths = new Map<number, Path>();
  readonly #locals = new Map<string, Local[]>();
  readonly #sizes = new Map<number, Range>();
  readonly #entries = new Map<number, EntrySizes>();

  constructor(checked: Checked, sizeOf: SizeOf) {
    this.#checked = checked;
    this.#sizeOfPath = sizeOf;
  }

  typeOf({ id }: Expr): Type {
    return this.#checked.types.get(id) ?? dyn;
  }

  /** Returns the macro variable that the expression names, if any. */
  local(expr: Expr): Local | undefined {
    return expr.kind === 'ident' ? this.#locals.get(expr.name)?.at(-1) : undefined;
  }

  /** Declares a variable of a macro until it is popped. */
  push(name: string, local: Local): void {
    const locals = this.#locals.get(name);
    if (locals === undefined) this.#locals.set(name, [local]);
    else locals.push(local);
  }

  pop(name: string): void {
    this.#locals.get(name)?.pop();
  }

  setPath({ id }: Expr, path: Path): void {
    this.#paths.set(id, path);
  }

  /** Returns the path to a value from a variable; empty if there is none. */
  path(expr: Expr): Path {
    return this.local(expr)?.path ?? this.#paths.get(expr.id) ?? emptyPath;
  }

  /** Returns the size of the value at a path; undefined when it is unknown. */
  sizeAt(path: readonly string[]): Range | undefined {
    return path.length === 0 ? undefined : this.#sizeOfPath(path);
  }

  size(expr: Expr): Range | undefined {
    const known = this.#sizes.get(expr.id) ?? literalSize(expr);
    if (known !== undefined) return known;
    const limited = this.sizeAt(pathSteps(this.path(expr)));
    if (limited !== undefined) this.#sizes.set(expr.id, limited);
    return limited ?? (isScalar(this.typeOf(expr)) ? one : this.local(expr)?.size);
  }

  sizeOrAny(expr: Expr): Range {
    return this.size(expr) ?? anySize;
  }

  setSize(expr: Expr, size: Range | undefined): void {
    if (size !== undefined) this.#sizes.set(expr.id, size);
  }

  /** Returns the sizes of the components of a list or map; undefined when they are unknown. */
  entriesOf(expr: Expr): EntrySizes | undefined {
    return this.#entries.get(expr.id) ?? this.local(expr)?.entries;
  }

  setEntries(expr: Expr, entries: EntrySizes | undefined): void {
    if (entries !== undefined) this.#entries.set(expr.id, entries);
  }
}

/** Returns the size of a literal. */
function literalSize(expr: Expr): Range | undefined {
  switch (expr.kind) {
    case 'literal':
      if (typeof expr.value === 'string') return exactly(codePoints(expr.value));
      return expr.value instanceof Uint8Array ? exactly(expr.value.length) : one;
    case 'list':
      return exactly(expr.elements.length);
    case 'map':
      return exactly(expr.entries.length);
    default:
      return undefined;
  }
}

function isScalar(type: Type): boolean {
  switch (type.kind) {
    case 'bool':
    case 'double':
    case 'duration':
    case 'int':
    case 'timestamp':
    case 'uint':
      return true;
    case 'opaque': {
      const [within] = type.parameters;
      return type.name === 'optional_type' && within !== undefined && isScalar(within);
    }
    default:
      return false;
  }
}
