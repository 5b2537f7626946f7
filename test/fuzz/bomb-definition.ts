/** Returns the kind of a plural in definitions created here. */
export const bombName = (plural: string): string => `K${plural}`;

/** Returns a CustomResourceDefinition with one version and this schema of `spec`. */
export const bombDefinition = (spec: unknown, plural = 'bombs'): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.bomb.example.com` },
  spec: {
    group: 'bomb.example.com',
    scope: 'Cluster',
    names: { plural, kind: bombName(plural) },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      },
    ],
  },
});
