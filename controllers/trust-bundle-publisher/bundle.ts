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

/** Milliseconds since the epoch; NaN if one of them does not say. */
const lastMade = (bundles: readonly ClusterTrustBundle[]): number =>
  Math.max(...bundles.map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? '')));

export interface Plan {
  readonly name: string;
  readonly create: boolean;
  /** What stands under the name, if its content is not the bundle. */
  readonly repair: ClusterTrustBundle | undefined;
  /** Superseded bundles whose time is up. */
  readonly remove: readonly ClusterTrustBundle[];
  /** When to look again for those whose time is not up yet. */
  readonly waitMs: number | undefined;
}

/**
 * What is to be done so that exactly this bundle is published for a signer. Others of the signer stay until the new one
 * has been there for `graceMs`, so that those who hold certificates of the old anchors have time.
 */
export function plan(given: {
  readonly signerName: string;
  readonly bundle: string;
  readonly published: readonly ClusterTrustBundle[];
  readonly now: number;
  readonly graceMs: number;
  /** Since when this is the bundle, where that is known: it may have been made before, and others have taken its place. */
  readonly since?: number | undefined;
}): Plan {
  const { signerName, bundle, published, now, graceMs } = given;
  const name = bundleName(signerName, bundle);
  const current = published.find(({ metadata }) => metadata.name === name);
  const others = published.filter(({ metadata, spec }) => metadata.name !== name && spec.signerName === signerName);
  const since = current === undefined ? now : (given.since ?? lastMade([current, ...others]));
  const leftMs = Number.isNaN(since) ? graceMs : since + graceMs - now;
  return {
    name,
    create: current === undefined,
    repair: current !== undefined && current.spec.trustBundle !== bundle ? current : undefined,
    remove: leftMs <= 0 ? others : [],
    waitMs: others.length > 0 && leftMs > 0 ? leftMs : undefined,
  };
}
