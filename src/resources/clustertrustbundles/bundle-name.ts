import { bundleNamePrefix, type ClusterTrustBundle } from '../../api/kinds/cluster-trust-bundle.js';
import { nameRules } from '../../api/names.js';
import { eachInvalid, type Violation } from '../../api/violations.js';

type Prefix = { readonly prefix: boolean };

/** What is wrong with a bundle's name: with a signer it begins with the signer's name, without one it holds no colon. */
export function wrongBundleName(name: string, signerName: string, options: Prefix): readonly string[] {
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

/** Rules of `metadata.generateName` and `metadata.name`; that there is a name at all is said elsewhere. */
export function nameViolations({ metadata, spec }: ClusterTrustBundle): readonly Violation[] {
  const signerName = spec?.signerName ?? '';
  const check = (member: 'generateName' | 'name', options: Prefix): readonly Violation[] => {
    const name = metadata[member];
    if (!name) return [];
    return eachInvalid(`metadata.${member}`, name, wrongBundleName(name, signerName, options));
  };
  return [...check('generateName', { prefix: true }), ...check('name', { prefix: false })];
}
