/**
 * Concatenates two changing texts. Returns the same string while neither changes, because caches of parsed certificates
 * are keyed by it.
 */
export function concatenated(first: () => string, second: () => string, between = ''): () => string {
  let known = { first: '', second: '', text: '' };
  return () => {
    const now = { first: first(), second: second() };
    if (now.first !== known.first || now.second !== known.second) {
      known = { ...now, text: `${now.first}${between}${now.second}` };
    }
    return known.text;
  };
}
