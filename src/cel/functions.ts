import type { EstimateCall } from './cost.js';
import type { Type } from './types.js';
import type { Value } from './values.js';

/** One overload of a function: parameters, result, implementation and cost. */
export interface Overload {
  /** The id, unique among all overloads, as Kubernetes names it: `string_split_string`. */
  readonly id: string;
  /** Whether it is a method, `target.name(...)`, whose first parameter is the target. */
  readonly member: boolean;
  /** The parameters, the target first if there is one. */
  readonly parameters: readonly Type[];
  readonly result: Type;
  /**
   * Implements the overload. Receives values that match the parameters, checked at run time where the checker could not
   * know (`dyn`), and never a `Failure`. Returns a `Failure` on error and never throws.
   */
  readonly evaluate: (...values: never[]) => Value;
  /**
   * Whether the implementation also receives values that do not match the parameters; of several such overloads the
   * first one is chosen.
   */
  readonly unguarded?: boolean;
  /**
   * Returns the actual cost of a call with its result; 1 by default. Also called when no overload fits the values, as
   * in cel-go, so the values may have any type.
   */
  readonly cost?: (values: readonly Value[], result: Value) => number;
  /**
   * Returns the cost where the checker left several overloads possible (`dyn`), if it differs from `cost`; all those
   * overloads then have it.
   */
  readonly undecidedCost?: (values: readonly Value[], result: Value) => number;
  /** Estimates the cost of a call and the size of its result, from types and limits only. */
  readonly estimate?: EstimateCall;
}

export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
}

/** A set of functions. */
export interface Library {
  readonly functions: readonly FunctionDeclaration[];
}
