/** Both texts as one; the same one while neither changes: what was found out about certificates is kept with it. */
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
