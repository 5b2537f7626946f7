import { BoundedMap } from '../runtime/bounded-map.js';

/** Most results that are cached, and the longest input whose result is. */
const limits = { results: 256, bytes: 8_192 };

/**
 * Memoizes a function of bytes, for inputs that several parties read one after the other. Keeps the latest results, no
 * failures. The results are shared, so nobody may change them.
 */
export function memoized<R extends object>(read: (bytes: Buffer) => R): (bytes: Buffer) => R {
  const known = new BoundedMap<string, R>(limits.results);
  return (bytes) => {
    if (bytes.length > limits.bytes) return read(bytes);
    const key = bytes.toString('latin1');
    const before = known.get(key);
    if (before !== undefined) return before;
    // The result may be a view of the bytes, which are the caller's to change.
    const result = read(Buffer.from(bytes));
    known.set(key, result);
    return result;
  };
}
