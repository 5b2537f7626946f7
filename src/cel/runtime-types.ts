import { typeNameOf } from './library/type-name.js';
import { isAny, type Type } from './types.js';
import { Duration, Optional, Timestamp, TypeValue, Uint, type Value } from './values.js';

/** Name of the type a value has while an expression runs: structures are maps there, as in Kubernetes. */
export const typeName = (value: Value): string =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'struct' ? 'map' : typeNameOf(value);

/** What `type(...)` gives. */
export const typeOf = (value: Value): TypeValue => new TypeValue(typeName(value));

/** The name of the Go type of such values in Kubernetes, which some complaints show. */
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

/** Types of Go that can be no key of its maps, since they have a list or a function within. */
const unhashable: ReadonlySet<string> = new Set(['types.Bytes', 'cel.Format', 'cel.Semver']);

/** Name of the Go type if a value of it can be no key. */
export function unhashableType(value: Value): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const name = goTypeName(value);
  return unhashable.has(name) ? name : undefined;
}

/** The name of a type that the checker knows; `dyn` for one that only it knows. */
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
 * Whether a value fits a parameter of this type. Of lists and maps one member speaks for all, as in cel-go; a type's
 * own parameters take everything.
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
