import { BoundedMap } from '../runtime/bounded-map.js';

/** How much is kept: so many results, none of longer bytes. */
const limits = { results: 256, bytes: 8_192 };

/**
 * A function of bytes that remembers what it lately answered, for work that several parties do one after the other
 * on the same bytes. Failures are not remembered. The results are shared, so nobody may change them.
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
