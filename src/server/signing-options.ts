import type { CertificatePolicy, ExpressionCompiler } from '../../controllers/csr-policy-approver/policy.js';
import { objectName, type TrustOptions } from '../../controllers/trust-distributor/trust-bundle.js';
import { checkThat, fields, integer, isNonEmptyString, listOf, nonEmptyString, oneForm, oneOf } from '../api/checks.js';
import { servedSigner } from '../api/signer-name.js';
import { type KeyType, keyTypes } from '../pki/key-pair.js';
import { isTrustDomain } from '../pki/signers/spiffe.js';
import { minCertificateSeconds } from '../pki/validity.js';

export type { TrustOptions };

/**
 * A signer that is configured by its name, or `domain/*` for all names in a domain, and by what signs: a CA in files,
 * in a Secret or on a token, or a program.
 */
export type ConfiguredSigner = {
  /** Name of the signer, or `domain/*`. The name of a well-known signer includes its other spellings. */
  readonly name: string;
  /**
   * Maximum lifetime of certificates in seconds, which is also the default lifetime. By default that of the well-known
   * signers.
   */
  readonly maxSeconds?: number;
} & ((CaUses & (FilesSource | SecretSource | TokenSource)) | CommandSource);

/** Further uses of the CA of a signer, besides CertificateSigningRequests. */
export interface CaUses {
  /** Also issues certificates for pods, which contain the SPIFFE ID of the service account that the pod runs as. */
  readonly podCertificates?: {
    /** Trust domain of the SPIFFE IDs: `spiffe://<trustDomain>/ns/<namespace>/sa/<account>`. */
    readonly trustDomain: string;
  };
}

/** A CA in PEM files, which are reloaded when they change. */
export interface FilesSource {
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** A CA in a Secret: its `tls.crt` and `tls.key`. */
export interface SecretSource {
  /** Namespace and name of the Secret, as `namespace/name`. */
  readonly secret: string;
  /** Creates the CA if it is missing, and rotates it in time. */
  readonly rotation?: {
    /** Lifetime of the CA in seconds; ten years by default. */
    readonly caSeconds?: number;
    /** Seconds for which the next anchor must have been in every bundle before its key signs; a day by default. */
    readonly propagationSeconds?: number;
    /**
     * Remaining lifetime in seconds at which a rotation begins. By default the maximum lifetime of certificates, plus
     * the propagation time, plus a week.
     */
    readonly renewBeforeSeconds?: number;
    /** Type of the key; P-256 by default. */
    readonly keyType?: KeyType;
  };
}

/** A program that signs; docs/signers.md describes its protocol. */
export interface CommandSource {
  /** Program to run, with its arguments. */
  readonly command: readonly string[];
  /** Timeout of one answer in seconds; 20 by default. */
  readonly timeoutSeconds?: number;
  /** Also issues certificates for pods. */
  readonly podCertificates?: {
    /**
     * Names of the annotations that the program understands; requests with other annotations are denied. None by
     * default.
     */
    readonly annotations?: readonly string[];
  };
}

/** A CA whose key is on a PKCS#11 token. */
export interface TokenSource {
  readonly certificateFile: string;
  readonly pkcs11: {
    /** Shared library of the PKCS#11 module. */
    readonly library: string;
    /** Label of the token. */
    readonly token: string;
    /** Label of the private key. */
    readonly key: string;
    /** File that contains the PIN in its first line. */
    readonly pinFile: string;
  };
}

/** Options for certificates and trust. */
export interface CertificateOptions {
  /** Signers with a CA or a program of their own. */
  readonly signers?: readonly ConfiguredSigner[];
  /**
   * Rules by which requests are approved and denied. By default, people decide, and the built-in approver for client
   * certificates of nodes.
   */
  readonly policy?: CertificatePolicy;
  /** Compiler of the expressions in rules. */
  readonly expressions?: ExpressionCompiler;
  /** Bundles of trust anchors to distribute. By default nothing is distributed, and nothing is cleaned up. */
  readonly trust?: TrustOptions;
}

/** Checks the maximum lifetime of certificates of a signer, in seconds. */
export const certificateSeconds = integer({ from: minCertificateSeconds });
const named = { name: servedSigner, maxSeconds: certificateSeconds };
const positive = integer({ from: 1 });
type NamedSource<S> = S & Pick<ConfiguredSigner, 'name' | 'maxSeconds'>;
const caUses = {
  podCertificates: fields<NonNullable<CaUses['podCertificates']>>(
    {
      trustDomain: checkThat(
        'a trust domain, such as example.com',
        (value) => isNonEmptyString(value) && isTrustDomain(value),
      ),
    },
    'trustDomain',
  ),
};
type CaSource<S> = NamedSource<S> & CaUses;

/** Checks signers from a configuration file, or from a program without static types. */
export const configuredSigners = listOf(
  oneForm('certificateFile and keyFile, or secret, or command, or certificateFile and pkcs11', {
    command: fields<NamedSource<CommandSource>>(
      {
        ...named,
        command: listOf(nonEmptyString, { least: 1 }),
        timeoutSeconds: positive,
        podCertificates: fields<NonNullable<CommandSource['podCertificates']>>({ annotations: listOf(nonEmptyString) }),
      },
      'name',
    ),
    secret: fields<CaSource<SecretSource>>(
      {
        ...named,
        ...caUses,
        secret: objectName,
        rotation: fields<NonNullable<SecretSource['rotation']>>({
          caSeconds: positive,
          propagationSeconds: integer({ from: 0 }),
          renewBeforeSeconds: positive,
          keyType: oneOf(keyTypes),
        }),
      },
      'name',
    ),
    pkcs11: fields<CaSource<TokenSource>>(
      {
        ...named,
        ...caUses,
        certificateFile: nonEmptyString,
        pkcs11: fields<TokenSource['pkcs11']>(
          { library: nonEmptyString, token: nonEmptyString, key: nonEmptyString, pinFile: nonEmptyString },
          'library',
          'token',
          'key',
          'pinFile',
        ),
      },
      'name',
      'certificateFile',
    ),
    keyFile: fields<CaSource<FilesSource>>(
      { ...named, ...caUses, certificateFile: nonEmptyString, keyFile: nonEmptyString },
      'name',
      'certificateFile',
    ),
    certificateFile: fields<CaSource<FilesSource>>(
      { ...named, ...caUses, certificateFile: nonEmptyString, keyFile: nonEmptyString },
      'name',
      'keyFile',
    ),
  }),
);
