import { type CertificateSigningRequest, keyUsages } from '../../api/kinds/certificate-signing-request.js';
import { signerNameViolations } from '../../api/signer-name.js';
import {
  duplicate,
  index,
  invalid,
  notSupportedTypedString,
  required,
  type Violation,
  validateEach,
} from '../../api/violations.js';
import { readCertificateRequest } from '../../pki/certificate-request.js';
import { PkiError } from '../../pki/pki-error.js';

/** Validation of the request's spec. It applies on creation and again on every update, because a signer relies on it. */

const minimumSeconds = 600;
const knownUsages: ReadonlySet<string> = new Set(keyUsages);

const usagesOf = (csr: CertificateSigningRequest | undefined): readonly string[] =>
  (csr?.spec?.usages ?? []).map((usage) => usage ?? '');
const hasDuplicates = (items: readonly string[]): boolean => new Set(items).size < items.length;

/** Validates the spec. `legacyUnknown` is the name of the only signer that this version of the API rejects. */
export function specViolations(
  next: CertificateSigningRequest,
  previous: CertificateSigningRequest | undefined,
  { legacyUnknown }: { readonly legacyUnknown: string },
): readonly Violation[] {
  const { expirationSeconds, request, signerName = '' } = next.spec ?? {};
  return [
    ...requestViolations(request),
    ...usageViolations(usagesOf(next), usagesOf(previous)),
    ...(signerName === legacyUnknown && previous?.spec?.signerName !== legacyUnknown
      ? [invalid('spec.signerName', signerName, 'the legacy signerName is not allowed via this API version')]
      : signerNameViolations('spec.signerName', signerName)),
    ...(expirationSeconds !== undefined && expirationSeconds !== null && expirationSeconds < minimumSeconds
      ? [
          invalid(
            'spec.expirationSeconds',
            expirationSeconds,
            'may not specify a duration less than 600 seconds (10 minutes)',
          ),
        ]
      : []),
  ];
}

function requestViolations(request: string | null | undefined): readonly Violation[] {
  try {
    readCertificateRequest(Buffer.from(request ?? '', 'base64'));
    return [];
  } catch (error) {
    if (error instanceof PkiError) return [invalid('spec.request', request, error.message)];
    throw error;
  }
}

/** Validates usages. Unknown ones pass if the stored request has unknown ones, duplicates if it has duplicates. */
function usageViolations(usages: readonly string[], previous: readonly string[]): readonly Violation[] {
  const mayBeUnknown = previous.some((usage) => !knownUsages.has(usage));
  const mayRepeat = hasDuplicates(previous);
  const seen = new Set<string>();
  const unknown = validateEach(usages, (usage, at) =>
    knownUsages.has(usage) || mayBeUnknown ? [] : [notSupportedTypedString(index('spec.usages', at), usage, keyUsages)],
  );
  const repeated = validateEach(usages, (usage, at) => {
    const again = seen.has(usage);
    seen.add(usage);
    return again && !mayRepeat ? [duplicate(index('spec.usages', at), usage)] : [];
  });
  return [...(usages.length === 0 ? [required('spec.usages')] : []), ...unknown, ...repeated];
}
