/** The record of issued certificates, as objects represent it. Times are RFC 3339 in UTC with whole seconds. */

/** Record of one issued certificate. */
export interface LedgerRecord {
  /** CertificateSigningRequest that led to the certificate; it may have been deleted since. */
  readonly request: { readonly name: string; readonly uid: string };
  /** Username of the requester. */
  readonly requester: string;
  /** Reason and message of the condition Approved: who approved the request, or by which rule it was approved. */
  readonly approval: { readonly reason?: string; readonly message?: string };
  /** Name of the signer that issued the certificate. */
  readonly signerName: string;
  /** Hexadecimal key identifier of the CA that issued the certificate. */
  readonly caKeyId: string;
  /** Hexadecimal serial number of the certificate. */
  readonly serial: string;
  /**
   * Subject of the certificate: its attributes in order, such as `CN=alice,O=team`, with values escaped as in RFC 4514;
   * absent if it is empty.
   */
  readonly subject?: string;
  /**
   * Subject alternative names, each prefixed with its type: `DNS:a.b`, `IP:10.0.0.1`, `email:a@b`, `URI:spiffe://a`.
   */
  readonly names?: readonly string[];
  /** Number of names that are not listed here, because there are too many. */
  readonly omittedNames?: number;
  /**
   * Hexadecimal SHA-256 of all names in this form and order, joined by line feeds; present only if some are omitted.
   */
  readonly namesSha256?: string;
  /** Start of the validity period of the certificate. */
  readonly notBefore: string;
  /** End of the validity period of the certificate. */
  readonly notAfter: string;
  /** Hexadecimal SHA-256 of the certificate's DER. */
  readonly sha256: string;
}

/** One page of the ledger of issued certificates: records, and the link to the previous entry. */
export interface LedgerEntrySpec {
  /** Sequence number of the entry, starting at 1, without gaps. */
  readonly sequence: number;
  /** Hash of the previous entry; absent in the first. */
  readonly previous?: string;
  /** Records of the certificates that were issued. */
  readonly records: readonly LedgerRecord[];
  /** Hexadecimal SHA-256 of the other fields; see `ledgerHash`. */
  readonly hash: string;
}

/** Limits that keep a record to about 4 KB: records are kept for long, and requesters choose names and subjects. */
export const ledgerLimits = { records: 256, names: 20, nameBytes: 1_024, textBytes: 512 } as const;

/** Returns the name of the entry with this sequence number. Names sort like the numbers. */
export const ledgerEntryName = (sequence: number): string => String(sequence).padStart(16, '0');
