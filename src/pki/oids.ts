/** Object identifiers that are used in more than one file, in dotted form. */
export const oids = {
  // Extensions (RFC 5280 4.2).
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  // Extended key usages (RFC 5280 4.2.1.12).
  anyUsage: '2.5.29.37.0',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  /** The attribute of a request that contains requested extensions (RFC 2985 5.4.2). */
  extensionRequest: '1.2.840.113549.1.9.14',
  // Signature algorithms (RFC 8017, RFC 5758), and Ed25519, whose identifier also stands for keys (RFC 8410).
  md5WithRsa: '1.2.840.113549.1.1.4',
  sha1WithRsa: '1.2.840.113549.1.1.5',
  /** Another identifier of the same algorithm. */
  sha1WithRsaIso: '1.3.14.3.2.29',
  sha256WithRsa: '1.2.840.113549.1.1.11',
  dsaWithSha1: '1.2.840.10040.4.3',
  ecdsaWithSha1: '1.2.840.10045.4.1',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  ecdsaWithSha384: '1.2.840.10045.4.3.3',
  ecdsaWithSha512: '1.2.840.10045.4.3.4',
  ed25519: '1.3.101.112',
} as const;
