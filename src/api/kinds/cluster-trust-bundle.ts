import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';

/** A set of trust anchors, of a signer or of nobody in particular. */
export interface ClusterTrustBundle extends ApiObject {
  readonly spec: ClusterTrustBundleSpec;
}

/** The anchors, and whose they are (KEP-3257). */
export interface ClusterTrustBundleSpec {
  /** `domain/path`; set, it decides how the object may be named. Cannot be changed. */
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

/** What the name of a signer's bundle begins with: `example.com:roots:` for `example.com/roots`. */
export const bundleNamePrefix = (signerName: string): string => `${signerName.replaceAll('/', ':')}:`;
