import { oncePer } from '../api/once.js';
import type { Steps } from '../api/steps.js';
import { type Checked, check, type Declarations } from './checker.js';
import type { FunctionDeclaration, Library, Overload } from './functions.js';
import { type Issue, Issues } from './issues.js';
import { bindMacros, listMacros, optionalMacros, standardMacros, twoVariableMacros } from './macros.js';
import { parse } from './parser.js';
import type { Macro } from './tree-builder.js';
import {
  bool,
  bytes,
  double,
  duration,
  dyn,
  int,
  listOf,
  mapOf,
  nullType,
  opaque,
  optionalOf,
  type StructType,
  string,
  type Type,
  timestamp,
  uint,
} from './types.js';
import { validate } from './validation.js';

export interface EnvironmentParts {
  /** The variables by their full names, which may have dots. */
  readonly variables: ReadonlyMap<string, Type>;
  /** The libraries, including the standard functions of the language. */
  readonly libraries: readonly Library[];
  /** Whether `cel.bind` is available. */
  readonly bindings?: boolean;
  /** Returns the structure type for a struct literal by its name; these names are no types at evaluation. */
  readonly written?: (name: string) => StructType | undefined;
}

type Compiled =
  | { readonly checked: Checked; readonly issues?: undefined }
  | { readonly issues: readonly Issue[]; readonly checked?: undefined };

/** The variables, functions and macros of expressions. */
export interface Environment {
  overload(id: string): Overload | undefined;
  /** All overloads of a function. */
  overloadsOf(name: string): readonly Overload[];
  /** Whether the name is a type at evaluation. */
  hasType(name: string): boolean;
  /** Parses and checks an expression; returns the typed tree, or all errors in cel-go's words. */
  compile(text: string): Steps<Compiled>;
}

const macros: readonly Macro[] = [...standardMacros, ...twoVariableMacros, ...optionalMacros, ...listMacros];
const macrosWithBindings: readonly Macro[] = [...macros, ...bindMacros];

const namedTypes: readonly (readonly [string, Type])[] = [
  ['bool', bool],
  ['bytes', bytes],
  ['double', double],
  ['google.protobuf.Duration', duration],
  ['google.protobuf.Timestamp', timestamp],
  ['int', int],
  ['list', listOf(dyn)],
  ['map', mapOf(dyn, dyn)],
  ['null_type', nullType],
  ['string', string],
  ['uint', uint],
];
/** Types that Kubernetes' checker also knows by the names in its schemas; they are unknown at evaluation. */
const checkedTypes: ReadonlyMap<string, Type> = new Map([
  ['duration', { kind: 'type', of: duration }],
  ['timestamp', { kind: 'type', of: timestamp }],
]);
/** The opaque types of libraries that expressions can refer to by name. */
const namedOpaqueTypes: ReadonlyMap<string, Type> = new Map([
  ['net.IP', opaque('net.IP')],
  ['net.CIDR', opaque('net.CIDR')],
  ['optional_type', optionalOf(dyn)],
]);

const typeOf = (type: Type | undefined): Type => ({ kind: 'type', of: type });
const writtenType = (type: StructType | undefined): Type | undefined => type && typeOf(type);

interface Declared {
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly overloads: ReadonlyMap<string, Overload>;
  readonly types: ReadonlyMap<string, Type>;
}

/** Returns the declarations of libraries, cached because many environments share them. */
const declaredBy = oncePer((libraries: readonly Library[]): Declared => {
  const functions = new Map<string, FunctionDeclaration>();
  const overloads = new Map<string, Overload>();
  const types = new Map<string, Type>(namedTypes.map(([name, type]) => [name, typeOf(type)]));
  types.set('type', typeOf({ kind: 'type', of: undefined }));
  for (const declaration of libraries.flatMap((library) => library.functions)) {
    const { name } = declaration;
    const others = functions.get(name)?.overloads ?? [];
    functions.set(name, { name, overloads: [...others, ...declaration.overloads] });
    for (const overload of declaration.overloads) {
      overloads.set(overload.id, overload);
      for (const type of [...overload.parameters, overload.result]) {
        if (type.kind !== 'opaque') continue;
        const named = namedOpaqueTypes.get(type.name);
        if (named !== undefined) types.set(type.name, typeOf(named));
      }
    }
  }
  return { functions, overloads, types };
});

export function environmentOf({ variables, libraries, bindings = false, written }: EnvironmentParts): Environment {
  const { functions, overloads, types } = declaredBy(libraries);
  const type = (name: string): Type | undefined =>
    types.get(name) ?? checkedTypes.get(name) ?? writtenType(written?.(name));
  const declarations: Declarations = {
    ident: (name) => variables.get(name) ?? type(name),
    type,
    function: (name) => functions.get(name),
  };
  return {
    overload: (id) => overloads.get(id),
    overloadsOf: (name) => functions.get(name)?.overloads ?? [],
    hasType: (name) => types.has(name),
    *compile(text) {
      const parsed = yield* parse(text, bindings ? macrosWithBindings : macros);
      if (parsed.issues !== undefined) return { issues: parsed.issues };
      const issues = new Issues(parsed.source);
      yield;
      const checked = yield* check(parsed.expr, declarations, issues);
      yield;
      if (issues.count === 0) yield* validate(checked, (id) => overloads.get(id), issues);
      return issues.count === 0 ? { checked } : { issues: issues.list() };
    },
  };
}
