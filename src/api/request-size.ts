/** Bytes of the body of a request, which is also what an object may come to. Kubernetes' limit of a body. */
export const maxRequestBytes = 3_145_728;
