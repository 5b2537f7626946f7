import type { ClusterTrustBundle } from '../../src/api/kinds/cluster-trust-bundle.js';
import { bundleName } from '../../src/controller/bundle-name.js';
import { type Certificate, readCertificate } from '../../src/pki/certificate.js';
import { certificateBlocks, encodePem } from '../../src/pki/pem.js';

/**
 * Merges the certificates of several PEM texts: each once, in order, nothing else; empty if there are none. Expired
 * ones are left out and returned separately.
 */
export function freshAnchors(
  texts: readonly string[],
  now: number,
): { readonly bundle: string; readonly expired: readonly Certificate[] } {
  const expired: Certificate[] = [];
  const fresh = texts.flatMap(certificateBlocks).filter((der) => {
    const certificate = read(der);
    const isOver = certificate !== undefined && certificate.notAfter <= now;
    if (isOver) expired.push(certificate);
    return !isOver;
  });
  return { bundle: textOf(fresh), expired };
}

const textOf = (certificates: readonly Buffer[]): string =>
  [...new Set(certificates.map((bytes) => encodePem('CERTIFICATE', bytes)))].join('');

/** Parses a certificate; undefined if it is malformed, which the server will report. */
function read(der: Buffer): Certificate | undefined {
  try {
    return readCertificate(der);
  } catch {
    return undefined;
  }
}

/** Returns the latest creation time, in milliseconds since the epoch; NaN if one is missing. */
const lastMade = (bundles: readonly ClusterTrustBundle[]): number =>
  Math.max(...bundles.map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? '')));

export interface Plan {
  readonly name: string;
  readonly create: boolean;
  /** The object with the name, if its content is not the bundle. */
  readonly repair: ClusterTrustBundle | undefined;
  /** The superseded bundles whose grace period is over. */
  readonly remove: readonly ClusterTrustBundle[];
  /** The time until the grace period of the others is over, in milliseconds. */
  readonly waitMs: number | undefined;
}

/**
 * Decides how to publish exactly this bundle for a signer. Other bundles of the signer are kept until the new one has
 * existed for `graceMs`, so that holders of certificates under the old anchors have time.
 */
export function plan(input: {
  readonly signerName: string;
  readonly bundle: string;
  readonly published: readonly ClusterTrustBundle[];
  readonly now: number;
  readonly graceMs: number;
  /**
   * The time from which this has been the bundle, if it is known: it may have been created earlier and replaced
   * meanwhile.
   */
  readonly since?: number | undefined;
}): Plan {
  const { signerName, bundle, published, now, graceMs } = input;
  const name = bundleName(signerName, bundle);
  const current = published.find(({ metadata }) => metadata.name === name);
  const others = published.filter(({ metadata, spec }) => metadata.name !== name && spec.signerName === signerName);
  const since = current === undefined ? now : (input.since ?? lastMade([current, ...others]));
  const leftMs = Number.isNaN(since) ? graceMs : since + graceMs - now;
  return {
    name,
    create: current === undefined,
    repair: current !== undefined && current.spec.trustBundle !== bundle ? current : undefined,
    remove: leftMs <= 0 ? others : [],
    waitMs: others.length > 0 && leftMs > 0 ? leftMs : undefined,
  };
}
