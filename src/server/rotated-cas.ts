import type { RotatedCa } from '../../controllers/ca-rotation/ca-rotation.js';
import { namespacedName, signersIn } from '../../controllers/trust-distributor/trust-bundle.js';
import type { Domains } from '../api/domains.js';
import { isSignerDomain } from '../api/signer-name.js';
import { signerSpellings } from '../api/well-known-signers.js';
import { rotationPolicy } from '../pki/ca-rotation.js';
import { optionDefaults } from './option-defaults.js';
import type { ConfiguredSigner, SecretSource, TrustOptions } from './signing-options.js';

/**
 * Returns the CAs that are rotated, each once. Throws an Error if two signers configure the rotation of the same CA
 * differently.
 */
export function rotatedCas({
  configured = [],
  domains,
  maxSeconds: usual = optionDefaults.signingSeconds,
  trust,
}: {
  readonly configured?: readonly ConfiguredSigner[] | undefined;
  readonly domains: Domains;
  /** The maximum lifetime of certificates of signers that set none, in seconds. */
  readonly maxSeconds?: number | undefined;
  readonly trust?: TrustOptions | undefined;
}): readonly RotatedCa[] {
  const bySecret = new Map<string, (SecretSource & ConfiguredSigner)[]>();
  for (const signer of configured) {
    if ('secret' in signer) bySecret.set(signer.secret, [...(bySecret.get(signer.secret) ?? []), signer]);
  }
  return [...bySecret].flatMap(([secret, sharing]): readonly RotatedCa[] => {
    const rotation = sharing.find((signer) => signer.rotation !== undefined)?.rotation;
    const name = namespacedName(secret);
    if (rotation === undefined || name === undefined) return [];
    const other = sharing.find(
      (signer) => signer.rotation !== undefined && JSON.stringify(signer.rotation) !== JSON.stringify(rotation),
    );
    if (other !== undefined)
      throw new Error(`signing: ${other.name} wants the CA in ${secret} to be rotated differently`);
    const domain = sharing.find((signer) => isSignerDomain(signer.name));
    if (domain !== undefined) {
      throw new Error(`signing: the CA of ${domain.name} cannot be rotated, since its anchors are not published`);
    }
    const { caSeconds, propagationSeconds, renewBeforeSeconds, keyType } = rotation;
    const maxSeconds = Math.max(...sharing.map((signer) => signer.maxSeconds ?? usual));
    const policy = rotationPolicy({
      maxSeconds,
      propagationMs: inMs(propagationSeconds),
      renewBeforeMs: inMs(renewBeforeSeconds),
    });
    const names = sharing.flatMap((signer) => signerSpellings(signer.name, domains));
    return [
      {
        secret: name,
        signers: names,
        policy,
        distributed: bundlesWith(names, trust),
        ...(caSeconds === undefined ? {} : { seconds: caSeconds }),
        ...(keyType === undefined ? {} : { keyType }),
      },
    ];
  });
}

const inMs = (seconds: number | undefined): number | undefined => (seconds === undefined ? undefined : seconds * 1_000);

/** Returns the names of bundles that contain the anchors of any of these signers. */
const bundlesWith = (names: readonly string[], trust: TrustOptions | undefined): readonly string[] =>
  (trust?.bundles ?? [])
    .map(({ name }) => name)
    .filter((bundle) => [...signersIn(bundle, trust?.bundles ?? [])].some((signer) => names.includes(signer)));
