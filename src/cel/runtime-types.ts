import { typeNameOf } from './library/type-name.js';
import { isAny, type Type } from './types.js';
import { Duration, Optional, Timestamp, TypeValue, Uint, type Value } from './values.js';

/** Returns the name of a value's type at evaluation, where structures are maps, as in Kubernetes. */
export const typeName = (value: Value): string =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'struct' ? 'map' : typeNameOf(value);

/** Returns the value of `type(...)`. */
export const typeOf = (value: Value): TypeValue => new TypeValue(typeName(value));

/** Returns the name of the value's Go type in Kubernetes, which some messages show. */
export const goTypeName = (value: Value): string => goTypes.get(typeName(value)) ?? typeName(value);
const goTypes: ReadonlyMap<string, string> = new Map([
  ['null_type', 'types.Null'],
  ['bool', 'types.Bool'],
  ['int', 'types.Int'],
  ['uint', 'types.Uint'],
  ['double', 'types.Double'],
  ['string', 'types.String'],
  ['bytes', 'types.Bytes'],
  ['google.protobuf.Timestamp', 'types.Timestamp'],
  ['google.protobuf.Duration', 'types.Duration'],
  ['list', '*types.baseList'],
  ['map', '*types.baseMap'],
  ['optional_type', '*types.Optional'],
  ['type', '*types.Type'],
  ['kubernetes.NamedFormat', 'cel.Format'],
  ['kubernetes.Quantity', 'cel.Quantity'],
  ['kubernetes.Semver', 'cel.Semver'],
  ['kubernetes.URL', 'cel.URL'],
  ['net.CIDR', 'cel.CIDR'],
  ['net.IP', 'cel.IP'],
  ['kubernetes.authorization.Authorizer', 'library.authorizerVal'],
  ['kubernetes.authorization.Decision', 'library.decisionVal'],
  ['kubernetes.authorization.GroupCheck', 'library.groupCheckVal'],
  ['kubernetes.authorization.PathCheck', 'library.pathCheckVal'],
  ['kubernetes.authorization.ResourceCheck', 'library.resourceCheckVal'],
]);

/** Go types that cannot be map keys, because they contain a slice or a function. */
const unhashable: ReadonlySet<string> = new Set(['types.Bytes', 'cel.Format', 'cel.Semver']);

/** Returns the name of the value's Go type if it cannot be a map key; undefined otherwise. */
export function unhashableType(value: Value): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const name = goTypeName(value);
  return unhashable.has(name) ? name : undefined;
}

/** Returns the name of a type at evaluation; `dyn` for one that only the checker knows. */
export function nameOfType(type: Type): string {
  switch (type.kind) {
    case 'null':
      return 'null_type';
    case 'duration':
      return 'google.protobuf.Duration';
    case 'timestamp':
      return 'google.protobuf.Timestamp';
    case 'opaque':
    case 'struct':
    case 'parameter':
      return type.name;
    default:
      return isAny(type) ? 'google.protobuf.Any' : type.kind;
  }
}

const takesAll = ({ kind }: Type): boolean => kind === 'parameter' || kind === 'dyn' || kind === 'error';

/**
 * Whether a value fits a parameter of this type. As in cel-go, only one element of lists and maps is checked; type
 * parameters accept any value.
 */
export function fits(type: Type, value: Value): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'error':
    case 'parameter':
      return true;
    case 'bool':
      return typeof value === 'boolean';
    case 'int':
      return typeof value === 'bigint';
    case 'double':
      return typeof value === 'number';
    case 'string':
      return typeof value === 'string';
    case 'null':
      return value === null;
    case 'uint':
      return value instanceof Uint;
    case 'bytes':
      return value instanceof Uint8Array;
    case 'timestamp':
      return value instanceof Timestamp;
    case 'duration':
      return value instanceof Duration;
    case 'type':
      return value instanceof TypeValue;
  }
  if (typeof value !== 'object' || value === null) return false;
  if (type.kind === 'opaque' && type.name === 'optional_type') return value instanceof Optional;
  if (!('kind' in value)) return false;
  switch (type.kind) {
    case 'list':
      return value.kind === 'list' && (value.size === 0 || fits(type.element, value.at(0)));
    case 'map': {
      if (value.kind !== 'map') return false;
      if (takesAll(type.key) && takesAll(type.value)) return true;
      for (const key of value.keys()) return fits(type.key, key) && fits(type.value, value.get(key) ?? null);
      return true;
    }
    case 'struct':
      return value.kind === 'struct' && value.name === type.name;
    default:
      return value.kind === 'opaque' && value.name === type.name;
  }
}
