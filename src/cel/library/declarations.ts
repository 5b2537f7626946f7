import type { EstimateCall } from '../cost.js';
import type { Overload } from '../functions.js';
import type { Type } from '../types.js';
import { noSuchOverload, type Value } from '../values.js';

/** The cost of calls, actual and estimated, where it is not one unit. */
export interface Costs {
  readonly cost?: (values: readonly Value[], result: Value) => number;
  /** The actual cost where `dyn` leaves several overloads possible. */
  readonly undecidedCost?: (values: readonly Value[], result: Value) => number;
  readonly estimate?: EstimateCall;
}

/**
 * The implementation of a function that is declared only for its types, because the evaluator implements it specially.
 */
export const declaredOnly = (): Value => noSuchOverload;

/** Declares an overload of `target.name(...)`; the first parameter is the target. */
export const member = (
  id: string,
  parameters: readonly Type[],
  result: Type,
  evaluate: Overload['evaluate'],
  costs: Costs = {},
): Overload => ({ id, member: true, parameters, result, evaluate, ...costs });

/** Declares an overload of `name(...)`. */
export const global = (
  id: string,
  parameters: readonly Type[],
  result: Type,
  evaluate: Overload['evaluate'],
  costs: Costs = {},
): Overload => ({ id, member: false, parameters, result, evaluate, ...costs });
