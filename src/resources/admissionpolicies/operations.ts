/** Operations that mutating policies may name: of a deletion there is nothing to change. */
export const mutatingOperations: readonly string[] = ['*', 'CONNECT', 'CREATE', 'UPDATE'];
