/**
 * How soon to look whether what is to go is gone, in milliseconds: often at first, every five seconds at the end. So it is
 * where waiting began in the future: clocks that differ by much are no reason to look often for as long.
 */
export const deletionPollMs = (waitedMs: number): number => Math.min(5_000, Math.max(200, Math.abs(waitedMs) / 4 || 0));
