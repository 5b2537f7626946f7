/**
 * Concurrency of controllers that write once or twice per object and do little else. They mostly wait for writes to be
 * durable, and concurrent writes share one sync: 64 workers issue more than twice as many certificates as 5.
 */
export const highConcurrency = 64;
