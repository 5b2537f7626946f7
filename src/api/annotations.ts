import type { Json } from './object.js';

/** Annotations together may have this many bytes, keys included. */
export const annotationsLimit = 256 * 1024;

/** Bytes of keys and values together. */
export const sizeOfAnnotations = (annotations: Readonly<Record<string, Json>>): number =>
  Object.keys(annotations).reduce(
    (sum, key) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(annotations[key] ?? '')),
    0,
  );
