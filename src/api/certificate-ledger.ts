/** The record of issued certificates, as it stands in objects. Times are RFC 3339 in UTC with whole seconds. */

/** One certificate that was issued. */
export interface LedgerRecord {
  /** The CertificateSigningRequest, which may be gone. */
  readonly request: { readonly name: string; readonly uid: string };
  readonly requester: string;
  /** Reason and message of the condition Approved: who or which rule approved. */
  readonly approval: { readonly reason?: string; readonly message?: string };
  readonly signerName: string;
  /** Hexadecimal key identifier of the CA. */
  readonly caKeyId: string;
  /** Hexadecimal. */
  readonly serial: string;
  /** `CN=alice,O=team`, in the order of the certificate; absent if it is empty. */
  readonly subject?: string;
  /** `DNS:a.b`, `IP:10.0.0.1`, `email:a@b`, `URI:spiffe://a`. */
  readonly names?: readonly string[];
  /** How many names are left out because there are too many. */
  readonly omittedNames?: number;
  /** Where some are left out: hexadecimal SHA-256 of all names as they stand here, in their order, with a line feed between. */
  readonly namesSha256?: string;
  readonly notBefore: string;
  readonly notAfter: string;
  /** Hexadecimal SHA-256 of the certificate's DER. */
  readonly sha256: string;
}

/** A page of the ledger: some records, and the link to the page before. */
export interface LedgerEntrySpec {
  /** From 1, without gaps. */
  readonly sequence: number;
  /** Hash of the entry before; absent in the first. */
  readonly previous?: string;
  readonly records: readonly LedgerRecord[];
  /** Hexadecimal SHA-256 of everything else here; see `ledgerHash`. */
  readonly hash: string;
}

/** Nothing leaves the ledger, and requesters choose names and subjects: so a record is bounded, to some 4 KB. */
export const ledgerLimits = { records: 256, names: 20, nameBytes: 1_024, textBytes: 512 } as const;

/** Name of the entry with this number. Names sort as numbers do. */
export const ledgerEntryName = (sequence: number): string => String(sequence).padStart(16, '0');
