import type { CertificatePolicy, ExpressionCompiler } from '../../controllers/csr-policy-approver/policy.js';
import { objectName, type TrustOptions } from '../../controllers/trust-distributor/trust-bundle.js';
import { checkThat, fields, integer, isNonEmptyString, listOf, nonEmptyString, oneForm, oneOf } from '../api/checks.js';
import { servedSigner } from '../api/signer-name.js';
import { type KeyType, keyTypes } from '../pki/key-pair.js';
import { isTrustDomain } from '../pki/signers/spiffe.js';
import { minCertificateSeconds } from '../pki/validity.js';

export type { TrustOptions };

/** A signer by configuration: its name, or `domain/*`, and what signs. */
export type ConfiguredSigner = {
  /** For a well-known signer all its spellings are meant. */
  readonly name: string;
  /** Longest lifetime, and the one for who asks for none. Default: that of the well-known signers. */
  readonly maxSeconds?: number;
} & ((CaUses & (FilesSource | SecretSource | TokenSource)) | CommandSource);

/** What a signer with a CA at hand does beyond signing CertificateSigningRequests. */
export interface CaUses {
  /** Nodes get certificates for pods, too, whose name is the account that a pod runs as, as SPIFFE calls it. */
  readonly podCertificates?: {
    /** The first part of these names: `spiffe://<trustDomain>/ns/<namespace>/sa/<account>`. */
    readonly trustDomain: string;
  };
}

/** A CA in PEM files, read again when they change. */
export interface FilesSource {
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** A CA in a Secret, `namespace/name`: its `tls.crt` and `tls.key`. */
export interface SecretSource {
  readonly secret: string;
  /** Make the CA if it is missing, and replace it in time. */
  readonly rotation?: {
    /** Lifetime of the CA. Default: ten years. */
    readonly caSeconds?: number;
    /** How long the next anchor must be in every bundle before its key signs. Default: a day. */
    readonly propagationSeconds?: number;
    /** A rotation begins when so much is left. Default: the longest lifetime, the propagation, and a week. */
    readonly renewBeforeSeconds?: number;
    /** Default: P-256. */
    readonly keyType?: KeyType;
  };
}

/** A program that signs; docs/signers.md describes the protocol. */
export interface CommandSource {
  readonly command: readonly string[];
  /** How long one answer may take. Default: 20. */
  readonly timeoutSeconds?: number;
  /** The program issues certificates to pods, too. */
  readonly podCertificates?: {
    /** Names of the annotations that it understands; requests with others are denied. Default: none. */
    readonly annotations?: readonly string[];
  };
}

/** A CA whose key is in a token. */
export interface TokenSource {
  readonly certificateFile: string;
  readonly pkcs11: {
    /** The module's shared library. */
    readonly library: string;
    /** Label of the token. */
    readonly token: string;
    /** Label of the private key. */
    readonly key: string;
    /** File with the pin in its first line. */
    readonly pinFile: string;
  };
}

/** Options about certificates and trust. */
export interface CertificateOptions {
  readonly signers?: readonly ConfiguredSigner[];
  /** Approve and deny by rules. Default: people and the approver of node clients do. */
  readonly policy?: CertificatePolicy;
  /** The language of expressions in rules. */
  readonly expressions?: ExpressionCompiler;
  /** Distribute bundles of anchors. Default: nothing is distributed, and nothing cleaned up. */
  readonly trust?: TrustOptions;
}

/** Lifetimes that a signer may have as its longest. */
export const certificateSeconds = integer({ from: minCertificateSeconds });
const named = { name: servedSigner, maxSeconds: certificateSeconds };
const positive = integer({ from: 1 });
type Named<S> = S & Pick<ConfiguredSigner, 'name' | 'maxSeconds'>;
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
type OfCa<S> = Named<S> & CaUses;

/** Signers as they may come from a file, or from a program without types. */
export const configuredSigners = listOf(
  oneForm('certificateFile and keyFile, or secret, or command, or certificateFile and pkcs11', {
    command: fields<Named<CommandSource>>(
      {
        ...named,
        command: listOf(nonEmptyString, { least: 1 }),
        timeoutSeconds: positive,
        podCertificates: fields<NonNullable<CommandSource['podCertificates']>>({ annotations: listOf(nonEmptyString) }),
      },
      'name',
    ),
    secret: fields<OfCa<SecretSource>>(
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
    pkcs11: fields<OfCa<TokenSource>>(
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
    keyFile: fields<OfCa<FilesSource>>(
      { ...named, ...caUses, certificateFile: nonEmptyString, keyFile: nonEmptyString },
      'name',
      'certificateFile',
    ),
    certificateFile: fields<OfCa<FilesSource>>(
      { ...named, ...caUses, certificateFile: nonEmptyString, keyFile: nonEmptyString },
      'name',
      'keyFile',
    ),
  }),
);
