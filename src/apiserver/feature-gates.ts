/** Behaviour that can be turned on and off, named and set by default as in Kubernetes 1.36. */
export interface FeatureGates {
  /** KEP-5866: lists, watches and deletecollection read `shardSelector`. */
  readonly ShardedListAndWatch: boolean;
}

export const defaultFeatureGates: FeatureGates = { ShardedListAndWatch: false };

/** How far Kubernetes 1.36 has come with each; empty: it is there for good. */
export const featureStages: Readonly<Record<keyof FeatureGates, 'ALPHA' | 'BETA' | ''>> = {
  ShardedListAndWatch: 'ALPHA',
};
