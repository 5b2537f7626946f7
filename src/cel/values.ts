/**
 * The values of expressions. `int` is a bigint (of 64 bits), `double` a number, `bytes` a Uint8Array. A failure is a
 * value too, because `false && failure` is false.
 */
export type Value =
  | null
  | boolean
  | bigint
  | Uint
  | number
  | string
  | Uint8Array
  | Timestamp
  | Duration
  | ListValue
  | MapValue
  | StructValue
  | Optional
  | TypeValue
  | OpaqueValue
  | Failure;

/** An evaluation that failed: `no such key: x`. */
export class Failure {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

/** The failure of a call without a matching overload. */
export const noSuchOverload = new Failure('no such overload');
/** Types whose values handle unknown operators themselves in cel-go: their failures have the short message. */
export const receivers: ReadonlySet<string> = new Set([
  'string',
  'google.protobuf.Timestamp',
  'google.protobuf.Duration',
]);

/** An unsigned integer of 64 bits. */
export class Uint {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

/** A timestamp from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z. */
export class Timestamp {
  /** Nanoseconds since 1970. */
  readonly nanoseconds: bigint;
  /** The offset from UTC in minutes, as written in its text; only text output uses it. */
  readonly offset: number;
  constructor(nanoseconds: bigint, offset = 0) {
    this.nanoseconds = nanoseconds;
    this.offset = offset;
  }
}

export class Duration {
  readonly nanoseconds: bigint;
  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds;
  }
}

/**
 * The result of a comparison; a failure if an operand is or contains one, or if the left value cannot be compared with
 * one like the right.
 */
export type EqualityResult = boolean | Failure;

/** A list. Its elements may be made on demand. */
export interface ListValue {
  readonly kind: 'list';
  readonly size: number;
  /** Returns the element at an index within the list. */
  at(index: number): Value;
  /** The list's own equality (sets, maps by keys). */
  readonly equals?: (other: ListValue) => EqualityResult;
  /** The list's own addition, which merges. */
  readonly plus?: (other: ListValue) => ListValue;
  /**
   * Whether the list belongs to a custom resource: such lists and maps are no zero values, not even when empty, and
   * cannot be compared with values that are no list or no map.
   */
  readonly ofResource?: boolean;
}

export const isList = (value: Value): value is ListValue =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'list';

export interface MapValue {
  readonly kind: 'map';
  readonly size: number;
  get(key: Value): Value | undefined;
  keys(): Iterable<Value>;
  /** The map's own equality (objects with a schema). */
  readonly equals?: (other: MapValue) => EqualityResult;
  /** Whether the map belongs to a custom resource; see `ListValue`. */
  readonly ofResource?: boolean;
}

/** A structure with declared fields. */
export interface StructValue {
  readonly kind: 'struct';
  /** The name of its type. */
  readonly name: string;
  /** Returns the value of a field; undefined if it is not set or not declared. */
  get(field: string): Value | undefined;
  /** Returns the names of the fields that are set. */
  fields(): Iterable<string>;
}

export class Optional {
  readonly value: Exclude<Value, Failure> | undefined;
  constructor(value?: Exclude<Value, Failure>) {
    this.value = value;
  }
}

export class TypeValue {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A value that is accessible only to functions. */
export interface OpaqueValue {
  readonly kind: 'opaque';
  /** The name of its type, as in its `Type`. */
  readonly name: string;
  /** The size for costs; 1 by default. */
  readonly size?: number;
  equals(other: OpaqueValue): boolean;
  /** Whether `==` can compare it with another value of its type; true by default. */
  isComparable?(other: OpaqueValue): boolean;
}
