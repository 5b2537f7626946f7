import { goTypeOf } from './go-values.js';
import { dyn, type StructType, string, type Type } from './types.js';
import { Failure, type StructValue, type Value } from './values.js';

/**
 * Returns the type of a struct literal in mutating policies: `Object{...}` and its parts (`Object.spec{...}`), of which
 * only the path is known, or `JSONPatch{...}`, one operation.
 */
export function patchType(name: string): StructType | undefined {
  if (name === 'JSONPatch') return operationType;
  return name === 'Object' || name.startsWith('Object.') ? objectType(name) : undefined;
}

export const objectTypeName = 'Object';
export const operationTypeName = 'JSONPatch';

const objectType = (name: string): StructType => ({
  kind: 'struct',
  name,
  fields: { get: () => dyn },
  make: (values) => new PatchStruct(name, values),
});

/** The type of unknown fields of an operation, to which no value is assignable. */
const noType: Type = { kind: 'struct', name: '', fields: new Map<string, never>() };

const operationFields: ReadonlyMap<string, Type> = new Map<string, Type>([
  ['op', string],
  ['path', string],
  ['from', string],
  ['value', dyn],
]);

const operationType: StructType = {
  kind: 'struct',
  name: operationTypeName,
  fields: { get: (field) => operationFields.get(field) ?? noType },
  make(values) {
    for (const [field, value] of values) {
      if (!operationFields.has(field)) return new Failure(`unexpected JSONPatchType field: ${field}`);
      if (field === 'value' || typeof value === 'string') continue;
      return new Failure(`unexpected type ${goTypeOf(value)} for JSONPatchType '${field}' field`);
    }
    return new PatchStruct(operationTypeName, values);
  },
};

/** The value of an `Object{...}` or `JSONPatch{...}` literal. */
export class PatchStruct implements StructValue {
  readonly kind = 'struct';
  readonly name: string;
  readonly #values: ReadonlyMap<string, Value>;

  constructor(name: string, values: ReadonlyMap<string, Value>) {
    this.name = name;
    this.#values = values;
  }

  get(field: string): Value | undefined {
    return this.#values.get(field);
  }

  fields(): Iterable<string> {
    return this.#values.keys();
  }
}
