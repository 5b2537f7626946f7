/**
 * Objects at a time for controllers that write once or twice about each and do little else. Most of their time they wait
 * for a write to be durable, and writes that wait together share one: with 64 instead of 5 more than twice as many
 * certificates are issued.
 */
export const highConcurrency = 64;
