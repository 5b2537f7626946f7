/** Returns a function that calls `make` once, at its first call, and returns the same result ever after. */
export function once<T>(make: () => T): () => T {
  let cached: { readonly value: T } | undefined;
  return () => {
    cached ??= { value: make() };
    return cached.value;
  };
}

/** Returns a function that calls `make` once for each object and remembers the result for as long as the object lives. */
export function oncePer<K extends object, V>(make: (of: K) => V): (of: K) => V {
  const cache = new WeakMap<K, V>();
  return (of) => {
    const known = cache.get(of);
    if (known !== undefined || cache.has(of)) return known as V;
    const value = make(of);
    cache.set(of, value);
    return value;
  };
}
