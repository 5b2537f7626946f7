/** The record of issued certificates, as objects represent it. Times are RFC 3339 in UTC with whole seconds. */

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
  /** The number of names that are left out because there are too many. */
  readonly omittedNames?: number;
  /** Present if names are left out: hexadecimal SHA-256 of all names in this form and order, joined by line feeds. */
  readonly namesSha256?: string;
  readonly notBefore: string;
  readonly notAfter: string;
  /** Hexadecimal SHA-256 of the certificate's DER. */
  readonly sha256: string;
}

/** A page of the ledger: some records, and the link to the page before. */
export interface LedgerEntrySpec {
  /** Counts from 1, without gaps. */
  readonly sequence: number;
  /** Hash of the entry before; absent in the first. */
  readonly previous?: string;
  readonly records: readonly LedgerRecord[];
  /** Hexadecimal SHA-256 of everything else here; see `ledgerHash`. */
  readonly hash: string;
}

/** Limits of a record, to about 4 KB: nothing leaves the ledger, and requesters choose names and subjects. */
export const ledgerLimits = { records: 256, names: 20, nameBytes: 1_024, textBytes: 512 } as const;

/** Returns the name of the entry with this number. Names sort like the numbers. */
export const ledgerEntryName = (sequence: number): string => String(sequence).padStart(16, '0');
