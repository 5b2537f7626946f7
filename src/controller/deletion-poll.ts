/**
 * Returns how soon to check whether a pending deletion is complete, in milliseconds: often at first, every five seconds
 * at the end. A start in the future counts as a long wait, so that clock skew does not cause frequent checks.
 */
export const deletionPollMs = (waitedMs: number): number => Math.min(5_000, Math.max(200, Math.abs(waitedMs) / 4 || 0));
