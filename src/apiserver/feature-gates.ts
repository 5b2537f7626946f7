/** Behaviour that can be turned on and off, named and set by default as in Kubernetes 1.36. */
export interface FeatureGates {
  /** `ShardedListAndWatch` (KEP-5866): lists and watches read `shardSelector`. */
  readonly shardedListAndWatch: boolean;
}

export const defaultFeatureGates: FeatureGates = { shardedListAndWatch: false };
