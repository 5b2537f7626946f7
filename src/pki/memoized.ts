import { BoundedMap } from '../runtime/bounded-map.js';

/** The maximum number of results that are cached, and the maximum length of their inputs. */
const limits = { results: 256, bytes: 8_192 };

/**
 * Memoizes a function of bytes, for inputs that several parts of the program read one after the other. Keeps the latest
 * results, and no failures. The results are shared and must not be modified.
 */
export function memoized<R extends object>(read: (bytes: Buffer) => R): (bytes: Buffer) => R {
  const known = new BoundedMap<string, R>(limits.results);
  return (bytes) => {
    if (bytes.length > limits.bytes) return read(bytes);
    const key = bytes.toString('latin1');
    const before = known.get(key);
    if (before !== undefined) return before;
    // The result may refer to the bytes, which the caller may modify.
    const result = read(Buffer.from(bytes));
    known.set(key, result);
    return result;
  };
}
