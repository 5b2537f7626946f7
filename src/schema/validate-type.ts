import { quote } from '../api/go-text.js';
import { typeInvalid } from '../api/violations.js';
import type { Schema } from './schema.js';
import { type Check, isNearlyWhole, type Kind, kindOf } from './validate-scalars.js';
import type { ValidationState } from './validation-state.js';

/** Validates the type of a value. */

/** Returns the types that a value may have. With `forDefaults`, int-or-string does not restrict them. */
export function typesOf(schema: Schema, { forDefaults }: { readonly forDefaults?: boolean }): readonly string[] {
  if (schema.intOrString && !forDefaults) return ['integer', 'string'];
  return schema.type === undefined ? [] : [schema.type];
}

const goTypes: Partial<Record<Kind, string>> = { integer: 'int64', number: 'float64' };

/**
 * Checks that a value has one of the types. An error names the format instead of the types if the type of the value
 * could not have that format.
 */
export function compileType(types: readonly string[], format: string, nullable: boolean): Check {
  const numeric = types.includes('number') || types.includes('integer');
  const wrong = (at: ValidationState, expected: string, actual: string): number => {
    at.fail((path) => typeInvalid(path, actual, `${path} in body must be of type ${expected}: ${quote(actual)}`));
    return 0;
  };
  const fits = (kind: Kind, value: unknown): boolean =>
    types.includes(kind) ||
    (kind === 'integer' && types.includes('number')) ||
    (kind === 'number' && types.includes('integer') && isNearlyWhole(Number(value)));
  return (value, at) => {
    const kind = kindOf(value);
    if (kind === 'null') return types.length > 0 && !nullable ? wrong(at, types.join(), 'null') : 1;
    if (fits(kind, value)) return 1;
    const goType = goTypes[kind] ?? '';
    const isText = kind === 'string' || kind === 'array';
    if (format !== '' && !isText && goType !== format) return wrong(at, format, goType);
    if (format !== '' && isText && !numeric) return 1;
    return wrong(at, types.join(), kind);
  };
}
