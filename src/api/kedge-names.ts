/** Labels, annotations and the API group that are specific to Kedge. The domain is a private one. */

const domain = 'kedge.internal';

export const kedgeNames = {
  /** Label of Secrets that hold a CA which is rotated. */
  caLabel: `${domain}/ca`,
  /** Annotation of such Secrets: names of the signers, comma-separated. */
  signersAnnotation: `${domain}/signers`,
  /** Annotation of such Secrets: further targets that the anchors are distributed to, as JSON. */
  bundlesAnnotation: `${domain}/bundles`,
  /** Annotation of such Secrets: the time of a request for rotation. */
  rotateAnnotation: `${domain}/rotate`,
  /** Label of distributed objects: who maintains them. */
  trustOwnerLabel: `${domain}/trust-owner`,
  /** The default value of the label `trustOwnerLabel`. */
  trustOwner: 'kedge',
  /** Label of distributed objects: the name of the bundle. */
  trustBundleLabel: `${domain}/trust-bundle`,
  /** API group of the record of certificates. */
  group: `certificates.${domain}`,
} as const;
