/** Operations that rules of mutating policies may name. DELETE is missing: a deletion has nothing to mutate. */
export const mutatingOperations: readonly string[] = ['*', 'CONNECT', 'CREATE', 'UPDATE'];
