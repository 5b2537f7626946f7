/** Features that can be enabled or disabled, with the names and defaults of Kubernetes 1.36. */
export interface FeatureGates {
  /** Supports `shardSelector` in lists, watches and deletions of collections (KEP-5866). */
  readonly ShardedListAndWatch: boolean;
}

export const defaultFeatureGates: FeatureGates = { ShardedListAndWatch: false };

/** The stage of each feature gate in Kubernetes 1.36; empty if the feature is generally available. */
export const featureStages: Readonly<Record<keyof FeatureGates, 'ALPHA' | 'BETA' | ''>> = {
  ShardedListAndWatch: 'ALPHA',
};
