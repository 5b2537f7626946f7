import type { EstimateCall } from './cost.js';
import type { Type } from './types.js';
import type { Value } from './values.js';

/** One overload of a function: parameters, result, implementation and cost. */
export interface Overload {
  /** Unique among all, as Kubernetes names it: `string_split_string`. */
  readonly id: string;
  /** Whether the first parameter is the target: `target.name(...)`. */
  readonly member: boolean;
  /** The target first, if there is one. */
  readonly parameters: readonly Type[];
  readonly result: Type;
  /**
   * Gets values that fit the parameters, or not, when the checker could not know (`dyn`): those were compared with the
   * parameters before. Never a `Failure`. Answers a `Failure` when it fails and never throws.
   */
  readonly evaluate: (...values: never[]) => Value;
  /** Values that do not fit the parameters are passed all the same; of several such overloads the first one is taken. */
  readonly unguarded?: boolean;
  /**
   * What a call has cost, with its result at hand; 1 if nothing is said. Also asked when no overload fits the values, as in
   * cel-go: they are of any type.
   */
  readonly cost?: (values: readonly Value[], result: Value) => number;
  /** The same where the checker left other overloads possible, too (`dyn`), if it is not the same: all of them say so. */
  readonly undecidedCost?: (values: readonly Value[], result: Value) => number;
  /** What a call may cost, and how large its result may be, before anything is known but types and limits. */
  readonly estimate?: EstimateCall;
}

export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
}

/** A family of functions. */
export interface Library {
  readonly functions: readonly FunctionDeclaration[];
}
