import { createHash } from 'node:crypto';
import { bundleNamePrefix } from '../api/kinds/cluster-trust-bundle.js';

/**
 * Returns the name of the ClusterTrustBundle published for a signer, which changes with its contents:
 * `<signer with : for />:<first 24 hex digits of the bundle's SHA-256>`
 */
export const bundleName = (signerName: string, bundle: string): string =>
  `${bundleNamePrefix(signerName)}${createHash('sha256').update(bundle).digest('hex').slice(0, 24)}`;
