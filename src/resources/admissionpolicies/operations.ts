/** Operations that mutating policies may name: of a deletion there is nothing to change. */
export const mutatedOperations: readonly string[] = ['*', 'CONNECT', 'CREATE', 'UPDATE'];
