import type { Steps } from '../../api/steps.js';
import { invalid, tooLong, type Violation, validateEachInSteps } from '../../api/violations.js';
import { readCertificate } from '../../pki/certificate.js';
import { type PemBlock, pemBlocks } from '../../pki/pem.js';
import { PkiError } from '../../pki/pki-error.js';

/** Validation of `spec.trustBundle`: PEM blocks CERTIFICATE without headers, each a CA certificate, no duplicates. */

const field = 'spec.trustBundle';
const maxBytes = 1_048_576;
const invalidAnchors = (text: string): Violation => invalid(field, '<value omitted>', text);

export function* anchorViolations(trustBundle: string): Steps<readonly Violation[]> {
  const bundle = Buffer.from(trustBundle);
  if (bundle.length > maxBytes) return [tooLong(field, maxBytes)];
  const blocks = [...pemBlocks(bundle)];
  yield;
  const faulty = yield* validateEachInSteps(blocks, (block, at) => {
    const fault = problemOf(block);
    return fault === undefined ? [] : [invalidAnchors(`entry ${at} ${fault}`)];
  });
  if (faulty.length > 0) return faulty;
  if (blocks.length === 0) return [invalidAnchors('at least one trust anchor must be provided')];
  return duplicates(blocks).map((indices) => invalidAnchors(`duplicate trust anchor (indices [${indices.join(' ')}])`));
}

function problemOf({ type, hasHeaders, bytes }: PemBlock): string | undefined {
  if (type !== 'CERTIFICATE') return `has bad block type: ${type}`;
  if (hasHeaders) return 'has PEM block headers';
  try {
    return readCertificate(bytes).isCA ? undefined : 'does not have the CA bit set';
  } catch (error) {
    if (error instanceof PkiError) return 'does not parse as X.509';
    throw error;
  }
}

/** Returns the indices of equal certificates, one list for each certificate that occurs more than once. */
function duplicates(blocks: readonly PemBlock[]): readonly (readonly number[])[] {
  const places = new Map<string, number[]>();
  for (const [at, { bytes }] of blocks.entries()) {
    const key = bytes.toString('base64');
    const known = places.get(key);
    if (known) known.push(at);
    else places.set(key, [at]);
  }
  return [...places.values()].filter((indices) => indices.length > 1);
}
