/** Labels, annotations and the API group that are Kedge's own and no part of Kubernetes. The domain is a private one. */

const domain = 'kedge.internal';

export const kedgeNames = {
  /** Label of Secrets that hold a CA which is rotated. */
  caLabel: `${domain}/ca`,
  /** Annotation of such Secrets: names of the signers, comma-separated. */
  signersAnnotation: `${domain}/signers`,
  /** Annotation of such Secrets: where else the anchors are distributed to, as JSON. */
  bundlesAnnotation: `${domain}/bundles`,
  /** Annotation of such Secrets: somebody asks for a rotation; when. */
  rotateAnnotation: `${domain}/rotate`,
  /** Label of what is distributed: who keeps it. */
  trustOwnerLabel: `${domain}/trust-owner`,
  /** Who keeps it, unless somebody else is named. */
  trustOwner: 'kedge',
  /** Label of what is distributed: name of the bundle. */
  trustBundleLabel: `${domain}/trust-bundle`,
  /** API group of the record of certificates. */
  group: `certificates.${domain}`,
} as const;
