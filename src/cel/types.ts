import type { Value } from './values.js';

/** The types of expressions in the checker. */
export type Type =
  | { readonly kind: SimpleKind }
  /** `packed`: a value wrapped in a protobuf message; it is assignable like `dyn`, but cannot be iterated over. */
  | { readonly kind: 'dyn'; readonly packed?: true }
  | { readonly kind: 'list'; readonly element: Type }
  | { readonly kind: 'map'; readonly key: Type; readonly value: Type }
  | StructType
  /** An opaque type, whose values are accessible only to functions: `net.IP`, `kubernetes.URL`, `optional_type(T)`. */
  | { readonly kind: 'opaque'; readonly name: string; readonly parameters: readonly Type[] }
  /** The type of a type. */
  | { readonly kind: 'type'; readonly of: Type | undefined }
  /** A type parameter in the declaration of a function. */
  | { readonly kind: 'parameter'; readonly name: string };

/** A structure with known fields. Structures with the same name are the same type. */
export interface StructType {
  readonly kind: 'struct';
  readonly name: string;
  readonly fields: { get(field: string): Type | undefined };
  /** Returns the value of a struct literal with these fields, or a failure; absent where there are no literals. */
  readonly make?: (values: ReadonlyMap<string, Value>) => Value;
}

type SimpleKind =
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'duration'
  | 'timestamp'
  /** The type of an expression with an error; assignable to every type, so that no error is reported twice. */
  | 'error';

export const dyn: Type = { kind: 'dyn' };
export const any: Type = { kind: 'dyn', packed: true };
export const isAny = (type: Type): boolean => type.kind === 'dyn' && type.packed === true;
export const nullType: Type = { kind: 'null' };
/** The type of an expression with an error. */
export const errorType: Type = { kind: 'error' };
export const bool: Type = { kind: 'bool' };
export const int: Type = { kind: 'int' };
export const uint: Type = { kind: 'uint' };
export const double: Type = { kind: 'double' };
export const string: Type = { kind: 'string' };
export const bytes: Type = { kind: 'bytes' };
export const duration: Type = { kind: 'duration' };
export const timestamp: Type = { kind: 'timestamp' };
export const listOf = (element: Type): Type => ({ kind: 'list', element });
export const mapOf = (key: Type, value: Type): Type => ({ kind: 'map', key, value });
export const opaque = (name: string, ...parameters: readonly Type[]): Type => ({ kind: 'opaque', name, parameters });
export const optionalOf = (type: Type): Type => opaque('optional_type', type);
export const parameter = (name: string): Type => ({ kind: 'parameter', name });
