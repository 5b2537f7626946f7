import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';

/** Set of X.509 trust anchors, with or without an associated signer (KEP-3257). */
export interface ClusterTrustBundle extends ApiObject {
  readonly spec: ClusterTrustBundleSpec;
}

/** Trust anchors, and the signer they belong to. */
export interface ClusterTrustBundleSpec {
  /**
   * Signer of the anchors, such as `example.com/roots`; a prefix of the object's name (`bundleNamePrefix`). Can be used
   * in field selectors. Immutable.
   */
  readonly signerName?: string;
  /** X.509 CA certificates, as PEM blocks of type CERTIFICATE without duplicates. */
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
