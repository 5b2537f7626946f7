/**
 * Returns how soon to check whether a pending deletion is complete, in milliseconds: often at first, every five seconds at
 * the end. The same for a start in the future, so that a clock skew does not cause frequent checks.
 */
export const deletionPollMs = (waitedMs: number): number => Math.min(5_000, Math.max(200, Math.abs(waitedMs) / 4 || 0));
