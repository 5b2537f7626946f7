/** The kind of a plural, in definitions made here. */
export const bombName = (plural: string): string => `K${plural}`;

/** A CustomResourceDefinition of one version with this schema of `spec`. */
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
