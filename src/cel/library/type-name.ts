import { Duration, Failure, Optional, Timestamp, TypeValue, Uint, type Value } from '../values.js';

/** Returns the name of a value's type in error messages: `google.protobuf.Timestamp`, `list`, `kubernetes.URL`. */
export function typeNameOf(value: Value): string {
  if (value === null) return 'null_type';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'number') return 'double';
  if (typeof value === 'string') return 'string';
  if (value instanceof Uint) return 'uint';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp';
  if (value instanceof Duration) return 'google.protobuf.Duration';
  if (value instanceof TypeValue) return 'type';
  if (value instanceof Optional) return 'optional_type';
  if (value instanceof Failure) return 'error';
  return value.kind === 'struct' || value.kind === 'opaque' ? value.name : value.kind;
}
