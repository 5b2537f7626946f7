/**
 * Functions of Node.js as they are when this module is loaded. Test runners replace them temporarily (fake timers);
 * pauses between two steps of the server's own work must not wait for a test's clock, nor for a clock that no longer
 * exists.
 */
export const { setImmediate, queueMicrotask } = globalThis;
export const nextTick = process.nextTick.bind(process);
/** Returns milliseconds of a monotonic clock. */
export const monotonicNow = performance.now.bind(performance);
