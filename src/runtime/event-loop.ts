/**
 * Functions of Node.js as they are when this is loaded. Test runners put others in their place for a while (fake timers);
 * what a server does between two steps of its own must not wait for a test's clock, nor for one that was thrown away.
 */
export const { setImmediate, queueMicrotask } = globalThis;
export const nextTick = process.nextTick.bind(process);
/** Milliseconds of a clock that nobody sets. */
export const monotonicNow = performance.now.bind(performance);
