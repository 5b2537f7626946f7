/** Behaviour that can be turned on and off, named and set by default as in Kubernetes 1.36. */
export interface FeatureGates {
  /** KEP-5866: lists, watches and deletecollection read `shardSelector`. */
  readonly ShardedListAndWatch: boolean;
}

export const defaultFeatureGates: FeatureGates = { ShardedListAndWatch: false };

/** The stage of each feature gate in Kubernetes 1.36; empty if the feature is generally available. */
export const featureStages: Readonly<Record<keyof FeatureGates, 'ALPHA' | 'BETA' | ''>> = {
  ShardedListAndWatch: 'ALPHA',
};
