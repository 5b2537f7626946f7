import { maxCost, type Range } from './cost.js';

/** Arithmetic of estimates: whole numbers that saturate at 2^64, as in cel-go. */

export const exactly = (size: number): Range => ({ min: size, max: size });
export const anySize: Range = { min: 0, max: maxCost };

const capped = (value: number): number => (value > maxCost ? maxCost : value);

export const plus = (a: Range, b: Range): Range => ({ min: capped(a.min + b.min), max: capped(a.max + b.max) });
export const times = (a: Range, b: Range): Range => ({ min: capped(a.min * b.min), max: capped(a.max * b.max) });
/** Multiplies a range by a factor, rounding up. */
export const scaled = (range: Range, factor: number): Range => ({
  min: capped(Math.ceil(range.min * factor)),
  max: capped(Math.ceil(range.max * factor)),
});
/** Returns the range from the smaller minimum to the larger maximum. */
export const union = (a: Range, b: Range): Range => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) });
