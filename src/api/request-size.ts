/** The maximum size of a request body in bytes, as in Kubernetes; also the maximum size of an object. */
export const maxRequestBytes = 3_145_728;
