/**
 * What expressions compute with. `int` is a bigint (of 64 bits), `double` a number, `bytes` an Uint8Array; a failure is a
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
/** Types whose values cel-go asks themselves for what it does not know: they say so in brief. */
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

/** A moment from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z. */
export class Timestamp {
  /** Since 1970, in nanoseconds. */
  readonly nanoseconds: bigint;
  /** From UTC, in minutes, where the moment was written down: only its text shows it. */
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

/** A failure: what is compared is one or has one in it, or the left value cannot be compared with one like the right. */
export type EqualityResult = boolean | Failure;

/** Elements may be made when asked for. */
export interface ListValue {
  readonly kind: 'list';
  readonly size: number;
  /** `index` is within the list. */
  at(index: number): Value;
  /** Where a list has an equality of its own (sets, maps by keys). */
  readonly equals?: (other: ListValue) => EqualityResult;
  /** Where adding means merging. */
  readonly plus?: (other: ListValue) => ListValue;
  /**
   * Lists and maps of a custom resource are no zero values, not even empty ones, and cannot be compared with what is no list
   * or no map.
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
  /** Where a map has an equality of its own (objects with a schema). */
  readonly equals?: (other: MapValue) => EqualityResult;
  /** As in a list. */
  readonly ofResource?: boolean;
}

/** A structure with declared fields. */
export interface StructValue {
  readonly kind: 'struct';
  /** Name of its type. */
  readonly name: string;
  /** undefined: not set, or not declared. */
  get(field: string): Value | undefined;
  /** Names of the fields that are set. */
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

/** A value that only functions can look into. */
export interface OpaqueValue {
  readonly kind: 'opaque';
  /** Name of its type, as in its `Type`. */
  readonly name: string;
  /** Its size for costs; 1 by default. */
  readonly size?: number;
  equals(other: OpaqueValue): boolean;
  /** Whether `==` can compare it with another value of its type; true by default. */
  isComparable?(other: OpaqueValue): boolean;
}
