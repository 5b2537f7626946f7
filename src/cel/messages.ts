import { maxInt64, minInt64 } from '../api/go-integers.js';
import { int, type Type } from './types.js';
import { Duration, Failure, Optional, Timestamp, TypeValue, Uint, type Value } from './values.js';

/** A type that struct literals can have: a structure, or a protobuf message for a CEL value. */
export interface Message {
  readonly fields: { get(field: string): Type | undefined };
  /** Returns the value of a message with these fields, or a failure. */
  make(values: ReadonlyMap<string, Value>): Value;
}

/** Returns the message type for struct literals of a type: `google.protobuf.Duration{seconds: 1}`. */
export function messageOf(type: Type | undefined): Message | undefined {
  if (type?.kind === 'struct') return type.make && { fields: type.fields, make: type.make };
  return type?.kind === 'duration' || type?.kind === 'timestamp' ? messages[type.kind] : undefined;
}

const fields: ReadonlyMap<string, Type> = new Map([
  ['seconds', int],
  ['nanos', int],
]);
const messages: Readonly<Record<'duration' | 'timestamp', Message>> = {
  duration: {
    fields,
    make: (values) => withNanoseconds('google.protobuf.Duration', values, (sum) => new Duration(saturated(sum))),
  },
  timestamp: {
    fields,
    make: (values) =>
      withNanoseconds('google.protobuf.Timestamp', values, (sum) =>
        -largestTime <= sum && sum <= largestTime ? new Timestamp(sum) : new Failure('timestamp out of range'),
      ),
  },
};

/** The range of a JavaScript Date, in nanoseconds. */
const largestTime = 8_640_000_000_000_000n * 1_000_000n;
const saturated = (sum: bigint): bigint => (sum > maxInt64 ? maxInt64 : sum < minInt64 ? minInt64 : sum);

function withNanoseconds(name: string, values: ReadonlyMap<string, Value>, make: (sum: bigint) => Value): Value {
  const seconds = integerOf(values.get('seconds'), 64);
  if (typeof seconds !== 'bigint') return wrongField(`${name}.seconds`, seconds);
  const nanos = integerOf(values.get('nanos'), 32);
  if (typeof nanos !== 'bigint') return wrongField(`${name}.nanos`, nanos);
  return make(seconds * 1_000_000_000n + nanos);
}

const wrongField = (field: string, problem: string): Failure =>
  new Failure(`field type conversion error for ${field} value type: ${problem}`);

/** Converts a value to an integer field of this many bits; returns the error in cel-go's words otherwise. */
function integerOf(value: Value | undefined, bits: 32 | 64): bigint | string {
  if (value === undefined) return 0n;
  if (typeof value === 'bigint') return BigInt.asIntN(bits, value) === value ? value : 'integer overflow';
  if (value instanceof Optional && value.value !== undefined) return integerOf(value.value, bits);
  if (value instanceof Uint) return `unsupported type conversion from 'uint' to int${bits}`;
  if (value instanceof TypeValue) return "type conversion not supported for 'type'";
  if (typeof value === 'string') return `unsupported native conversion from string to 'int${bits}'`;
  return `type conversion error from ${kindOf(value)} to 'int${bits}'`;
}

function kindOf(value: Value): string {
  if (value === null) return "'null_type'";
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return 'Double';
  if (value instanceof Uint8Array) return 'Bytes';
  if (value instanceof Duration) return "'Duration'";
  if (value instanceof Timestamp) return "'Timestamp'";
  return typeof value === 'object' && 'kind' in value ? value.kind : 'optional_type';
}
