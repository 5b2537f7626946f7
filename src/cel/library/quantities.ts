import {
  approximate,
  compareQuantities,
  difference,
  parseQuantity,
  type Quantity,
  signOf,
  sum,
  wholeOf,
  wholeQuantity,
} from '../../api/quantity.js';
import type { Library } from '../functions.js';
import { bool, double, int, opaque, string } from '../types.js';
import { Failure, type OpaqueValue } from '../values.js';
import { parsing } from './call-costs.js';
import { global, member } from './declarations.js';

/** Quantities with suffixes: Kubernetes' `quantity` library. */

export const quantityType = opaque('kubernetes.Quantity');

interface QuantityValue extends OpaqueValue {
  readonly quantity: Quantity;
  readonly isComputed: boolean;
}

/** Wraps a quantity. As in Kubernetes, a computed quantity cannot be compared on the right side of `==`. */
const valueFrom = (quantity: Quantity, isComputed = false): QuantityValue => ({
  kind: 'opaque',
  name: 'kubernetes.Quantity',
  quantity,
  isComputed,
  isComparable: (other) => 'isComputed' in other && !other.isComputed,
  equals: (other) => 'quantity' in other && compareQuantities(quantity, (other as QuantityValue).quantity) === 0,
});

function quantityOf(text: string): QuantityValue | Failure {
  const quantity = parseQuantity(text);
  return 'wrong' in quantity ? new Failure(quantity.wrong) : valueFrom(quantity);
}

const asInteger = ({ quantity }: QuantityValue): bigint | Failure =>
  wholeOf(quantity) ?? new Failure('cannot convert value to integer');

const order = (a: QuantityValue, b: QuantityValue): -1 | 0 | 1 => compareQuantities(a.quantity, b.quantity);

const computed =
  (operation: typeof sum) =>
  ({ quantity }: QuantityValue, by: QuantityValue | bigint): QuantityValue | Failure => {
    const result = operation(quantity, typeof by === 'bigint' ? wholeQuantity(by) : by.quantity);
    return result === undefined ? new Failure('quantity has too many digits') : valueFrom(result, true);
  };

const arithmetic = (name: string, operation: typeof sum) => ({
  name,
  overloads: [
    member(`quantity_${name}`, [quantityType, quantityType], quantityType, computed(operation)),
    member(`quantity_${name}_int`, [quantityType, int], quantityType, computed(operation)),
  ],
});

export const quantities: Library = {
  functions: [
    { name: 'quantity', overloads: [global('string_to_quantity', [string], quantityType, quantityOf, parsing())] },
    {
      name: 'isQuantity',
      overloads: [
        global('is_quantity_string', [string], bool, (text: string) => !('wrong' in parseQuantity(text)), parsing()),
      ],
    },
    {
      name: 'sign',
      overloads: [
        global('quantity_sign', [quantityType], int, (value: QuantityValue) => BigInt(signOf(value.quantity))),
      ],
    },
    {
      name: 'isGreaterThan',
      overloads: [
        member(
          'quantity_is_greater_than',
          [quantityType, quantityType],
          bool,
          (a: QuantityValue, b: QuantityValue) => order(a, b) > 0,
        ),
      ],
    },
    {
      name: 'isLessThan',
      overloads: [
        member(
          'quantity_is_less_than',
          [quantityType, quantityType],
          bool,
          (a: QuantityValue, b: QuantityValue) => order(a, b) < 0,
        ),
      ],
    },
    {
      name: 'compareTo',
      overloads: [
        member('quantity_compare_to', [quantityType, quantityType], int, (a: QuantityValue, b: QuantityValue) =>
          BigInt(order(a, b)),
        ),
      ],
    },
    {
      name: 'asApproximateFloat',
      overloads: [
        member('quantity_get_float', [quantityType], double, (value: QuantityValue) => approximate(value.quantity)),
      ],
    },
    { name: 'asInteger', overloads: [member('quantity_get_int', [quantityType], int, asInteger)] },
    {
      name: 'isInteger',
      overloads: [
        member(
          'quantity_is_integer',
          [quantityType],
          bool,
          (value: QuantityValue) => wholeOf(value.quantity) !== undefined,
        ),
      ],
    },
    arithmetic('add', sum),
    arithmetic('sub', difference),
  ],
};
