/** How soon to look whether what is to go is gone, in milliseconds: often at first, every five seconds at the end. */
export const nextLookMs = (waitedMs: number): number => Math.min(5_000, Math.max(200, waitedMs / 4 || 0));
