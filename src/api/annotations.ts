import type { Json } from './object.js';

/** The maximum size of all annotations of an object together, in bytes, keys included. */
export const annotationsLimit = 256 * 1024;

/** Returns the number of bytes of all keys and values. */
export const sizeOfAnnotations = (annotations: Readonly<Record<string, Json>>): number =>
  Object.keys(annotations).reduce(
    (sum, key) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(annotations[key] ?? '')),
    0,
  );
