import type { EstimateCall } from '../cost.js';
import type { Overload } from '../functions.js';
import type { Type } from '../types.js';
import { noSuchOverload, type Value } from '../values.js';

/** What calls cost, where it is not one unit: afterwards, and as foreseen. */
export interface Costs {
  readonly cost?: (values: readonly Value[], result: Value) => number;
  /** Where `dyn` leaves several overloads possible. */
  readonly undecidedCost?: (values: readonly Value[], result: Value) => number;
  readonly estimate?: EstimateCall;
}

/** Of a function that is declared for its types only, since the evaluator has its own ways for it. */
export const declaredOnly = (): Value => noSuchOverload;

/** `target.name(...)`; the first parameter is the target. */
export const member = (
  id: string,
  parameters: readonly Type[],
  result: Type,
  evaluate: Overload['evaluate'],
  costs: Costs = {},
): Overload => ({ id, member: true, parameters, result, evaluate, ...costs });

/** `name(...)`. */
export const global = (
  id: string,
  parameters: readonly Type[],
  result: Type,
  evaluate: Overload['evaluate'],
  costs: Costs = {},
): Overload => ({ id, member: false, parameters, result, evaluate, ...costs });
