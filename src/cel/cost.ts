import type { Type } from './types.js';

/**
 * Costs, in units of about 100 ns on Kubernetes' scale: one for a call or a comparison, a tenth for each unit of a text
 * that is looked through. Estimates are ranges of whole numbers that stop at 2^64.
 */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** An argument of a call whose cost is estimated. */
export interface EstimatedNode {
  /** Bytes of a text, items of a list, members of a map; as large as they can be when nothing limits them. */
  readonly size: Range;
  /** A literal's value; undefined for other expressions. */
  readonly literal: unknown;
  readonly type: Type;
  /** Where the type is a list: size of one item, as large as it can be when nothing limits it. */
  readonly itemSize?: Range;
}

/** `target` is undefined for a call without one. */
export type EstimateCall = (
  target: EstimatedNode | undefined,
  args: readonly EstimatedNode[],
) => { readonly cost: Range; readonly resultSize?: Range };

/** Cost of reading one byte of a text. */
export const perByte = 0.1;
/** What making a text of so many bytes for a regular expression costs per byte of the pattern. */
export const perPatternByte = 0.25;
/** What cel-go charges for literals that are not constant. */
export const listLiteralCost = 10;
export const mapLiteralCost = 30;
export const messageCost = 40;
/** The most that Kubernetes lets the evaluation of one expression cost (`PerCallLimit`). */
export const perCallLimit = 1_000_000;
/** What is said where the expressions of a request or of a policy cost more than they may together. */
export const overBudget =
  'validation failed due to running out of cost budget, no further validation rules will be run';
/** As large as numbers of costs get. */
export const maxCost = 2 ** 64;
