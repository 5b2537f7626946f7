/** An index that is updated object by object. */
export interface Index<A> {
  add(object: A): void;
  remove(object: A): void;
}

/**
 * Returns a function that updates the index to a list of objects: objects that this list and the previous one have in
 * common at either end are not indexed again.
 */
export function incrementalIndex<A, I extends Index<A>>(index: I & Index<A>): (list: readonly A[]) => I {
  let last: readonly A[] = [];
  return (list) => {
    if (list === last) return index;
    const shorter = Math.min(list.length, last.length);
    let start = 0;
    while (start < shorter && list[start] === last[start]) start++;
    let end = 0;
    while (end < shorter - start && list.at(-1 - end) === last.at(-1 - end)) end++;
    for (const object of last.slice(start, last.length - end)) index.remove(object);
    for (const object of list.slice(start, list.length - end)) index.add(object);
    last = list;
    return index;
  };
}
