/** Least and greatest of Go's `int64`, and the greatest of its `uint64`. */
export const minInt64 = -(2n ** 63n);
export const maxInt64 = 2n ** 63n - 1n;
export const maxUint64 = 2n ** 64n - 1n;

export const isInt64 = (value: bigint): boolean => BigInt.asIntN(64, value) === value;
