import { bundleNamePrefix } from '../../api/kinds/cluster-trust-bundle.js';
import { nameRules } from '../../api/names.js';

/**
 * Returns why a bundle's name is invalid: with a signer it must begin with the signer's name, without one it must not
 * contain a colon.
 */
export function wrongBundleName(
  name: string,
  signerName: string,
  options: { readonly prefix: boolean },
): readonly string[] {
  if (signerName === '') {
    return name.includes(':')
      ? ['ClusterTrustBundle without signer name must not have ":" in its name']
      : nameRules.dnsSubdomain(name, options);
  }
  const start = bundleNamePrefix(signerName);
  return name.startsWith(start)
    ? nameRules.dnsSubdomain(name.slice(start.length), options)
    : [`ClusterTrustBundle for signerName ${signerName} must be named with prefix ${start}`];
}
