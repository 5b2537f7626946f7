import type { Type } from './types.js';

/**
 * A range of costs in units of about 100 ns on Kubernetes' scale: one for a call or a comparison, a tenth for each unit
 * of a text that is traversed. Estimates are ranges of whole numbers that saturate at 2^64.
 */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** An argument of a call whose cost is estimated. */
export interface EstimatedNode {
  /** The bytes of a text, items of a list or members of a map; the maximum when nothing limits them. */
  readonly size: Range;
  /** The value of a literal; undefined for other expressions. */
  readonly literal: unknown;
  readonly type: Type;
  /** The size of one item of a list, the maximum when nothing limits it; undefined for other types. */
  readonly itemSize?: Range;
}

/** Estimates a call; `target` is undefined for a function without one. */
export type EstimateCall = (
  target: EstimatedNode | undefined,
  args: readonly EstimatedNode[],
) => { readonly cost: Range; readonly resultSize?: Range };

/** The cost of reading one byte of a text. */
export const perByte = 0.1;
/** The cost factor per byte of a regular expression when matching a text. */
export const perPatternByte = 0.25;
/** The costs that cel-go charges for literals that are not constant. */
export const listLiteralCost = 10;
export const mapLiteralCost = 30;
export const messageCost = 40;
/** The cost limit of evaluating one expression in Kubernetes (`PerCallLimit`). */
export const perCallLimit = 1_000_000;
/** The error when the expressions of a request or policy together exceed their cost budget. */
export const overBudget =
  'validation failed due to running out of cost budget, no further validation rules will be run';
/** The saturation limit of costs. */
export const maxCost = 2 ** 64;
