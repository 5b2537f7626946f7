import { nameOfType } from './runtime-types.js';
import { isAny, type Type } from './types.js';

/** Returns a type as cel-go prints it in messages: `map(string, list(int))`. */
export function typeText(type: Type): string {
  switch (type.kind) {
    case 'error':
      return '!error!';
    case 'list':
      return `list(${typeText(type.element)})`;
    case 'map':
      return `map(${typeText(type.key)}, ${typeText(type.value)})`;
    case 'struct':
    case 'parameter':
      return type.name;
    case 'opaque':
      return type.parameters.length === 0 ? type.name : `${type.name}(${type.parameters.map(typeText).join(', ')})`;
    case 'type':
      return type.of === undefined ? 'type' : `type(${typeText(type.of)})`;
    default:
      return isAny(type) ? 'any' : type.kind;
  }
}

/** Returns a type by its full name, as Kubernetes prints the type of a whole expression. */
export function fullTypeText(type: Type): string {
  switch (type.kind) {
    case 'list':
      return `list(${fullTypeText(type.element)})`;
    case 'map':
      return `map(${fullTypeText(type.key)}, ${fullTypeText(type.value)})`;
    case 'opaque':
      return type.parameters.length === 0 ? type.name : `${type.name}(${type.parameters.map(fullTypeText).join(', ')})`;
    case 'type':
      return type.of === undefined ? 'type' : `type(${fullTypeText(type.of)})`;
    default:
      return nameOfType(type);
  }
}

/** Returns the types of a call: `(int, string)`, or `string.(int)` with a target. */
export function callText(target: Type | undefined, args: readonly Type[]): string {
  return `${target === undefined ? '' : `${typeText(target)}.`}(${args.map(typeText).join(', ')})`;
}
