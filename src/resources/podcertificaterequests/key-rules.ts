import type { PodCertificateRequestSpec } from '../../api/kinds/pod-certificate-request.js';
import { invalid, invalidWithoutValue, tooLong, type Violation } from '../../api/violations.js';
import { PkiError } from '../../pki/pki-error.js';
import { isAgreementKey, isSignedByItsKey, podCertificateKey, provesPodKey } from '../../pki/pod-certificate-key.js';
import type { PublicKey } from '../../pki/public-key.js';

/** Validation of the key to be certified: a stub request that it signed, or the key itself and a proof of possession. */

const paths = {
  stub: 'spec.stubPKCS10Request',
  key: 'spec.pkixPublicKey',
  proof: 'spec.proofOfPossession',
} as const;
const mostBytes = 10 * 1_024;

const isTooLong = (base64: string): boolean => Buffer.from(base64, 'base64').length > mostBytes;

export function keyViolations(spec: PodCertificateRequestSpec): readonly Violation[] {
  const { stubPKCS10Request: stub, pkixPublicKey: key, proofOfPossession: proof } = spec;
  if (stub && !key && !proof) return stubViolations(stub);
  if (!stub && key && proof) return proofViolations({ key, proof, podUID: spec.podUID ?? '' });
  return [
    invalidWithoutValue('spec', 'exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set'),
  ];
}

function stubViolations(stub: string): readonly Violation[] {
  if (isTooLong(stub)) return [tooLong(paths.stub, mostBytes)];
  const key = readKey({ stubPKCS10Request: stub });
  if (key === undefined) return [invalidWithoutValue(paths.stub, 'must be a valid PKCS#10 CSR')];
  const unfit = unfitKey(key);
  if (unfit === 'unknown') return [invalidWithoutValue(paths.stub, unknownKey)];
  if (unfit?.kind === 'ECDSA') {
    return [invalid(paths.stub, unfit.shown, 'elliptic public keys must use curve P256, P384, or P521')];
  }
  if (unfit !== undefined) return [invalid(paths.stub, unfit.shown, wrongSize)];
  return isSignedByItsKey(stub) ? [] : [invalidWithoutValue(paths.stub, 'invalid signature')];
}

function proofViolations(input: {
  readonly key: string;
  readonly proof: string;
  readonly podUID: string;
}): readonly Violation[] {
  if (isTooLong(input.key)) return [tooLong(paths.key, mostBytes)];
  if (isTooLong(input.proof)) return [tooLong(paths.proof, mostBytes)];
  const key = readKey({ pkixPublicKey: input.key });
  // Go accepts fewer kinds of bare keys than of keys in a request, where an unknown kind is no parse error.
  const isRead = key !== undefined && (knownKinds.includes(key.kind) || isAgreementKey(input.key));
  if (!isRead) return [invalid(paths.key, input.key, 'must be a valid PKIX-serialized public key')];
  const unfit = unfitKey(key);
  if (unfit === 'unknown') return [invalid(paths.key, input.key, unknownKey)];
  if (unfit?.kind === 'ECDSA') {
    return [invalid(paths.key, unfit.shown, 'elliptic public keys must use curve P256 or P384')];
  }
  if (unfit !== undefined) return [invalid(paths.key, unfit.shown, wrongSize)];
  return provesPodKey(key, input)
    ? []
    : [invalidWithoutValue(paths.proof, 'could not verify proof-of-possession signature')];
}

const knownKinds: readonly PublicKey['kind'][] = ['RSA', 'ECDSA', 'Ed25519', 'DSA'];
const unknownKey = 'unknown public key type; supported types are Ed25519, ECDSA, and RSA';
const wrongSize = 'RSA keys must have modulus size 3072 or 4096';

/** Reads the key; undefined if it cannot be read. */
function readKey(fields: Parameters<typeof podCertificateKey>[0]): PublicKey | undefined {
  try {
    return podCertificateKey(fields);
  } catch (error) {
    if (error instanceof PkiError) return undefined;
    throw error;
  }
}

/** Returns why a key must not be certified, with the detail that errors show; undefined for an acceptable key. */
function unfitKey({
  kind,
  curve,
  bits,
}: PublicKey): 'unknown' | { readonly kind: 'RSA' | 'ECDSA'; readonly shown: string } | undefined {
  if (kind === 'Ed25519') return undefined;
  if (kind === 'ECDSA') return curve === 'P-224' ? { kind, shown: `curve ${curve}` } : undefined;
  if (kind !== 'RSA') return 'unknown';
  // Go counts whole bytes of the modulus.
  const size = Math.ceil(bits / 8) * 8;
  return size === 3_072 || size === 4_096 ? undefined : { kind, shown: `${size}-bit modulus` };
}
