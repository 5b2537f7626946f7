import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';

/** A set of trust anchors, which may belong to a signer. */
export interface ClusterTrustBundle extends ApiObject {
  readonly spec: ClusterTrustBundleSpec;
}

/** The anchors and their signer (KEP-3257). */
export interface ClusterTrustBundleSpec {
  /** The signer's name, `domain/path`. If set, it determines a prefix of the object's name. Cannot be changed. */
  readonly signerName?: string;
  /** PEM blocks CERTIFICATE, each a CA certificate. */
  readonly trustBundle?: string;
}

/** The resource `clustertrustbundles` of `certificates.k8s.io/v1beta1`, cluster-scoped. */
export const ClusterTrustBundles = resourceType<ClusterTrustBundle>({
  group: `certificates.${defaultDomains.api}`,
  version: 'v1beta1',
  plural: 'clustertrustbundles',
  kind: 'ClusterTrustBundle',
  namespaced: false,
});

/** Returns the name prefix of a signer's bundles: `example.com:roots:` for `example.com/roots`. */
export const bundleNamePrefix = (signerName: string): string => `${signerName.replaceAll('/', ':')}:`;
