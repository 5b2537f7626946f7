import { checkThat, isNonEmptyString } from './checks.js';
import { quote } from './go-text.js';
import { dnsLabel, dnsSubdomain } from './names.js';
import { invalid, required, tooLong, type Violation } from './violations.js';

const maxDomain = 253;
/** Domain, slash, and a path of a label, a dot and a subdomain. */
const maxSignerName = maxDomain + 1 + 63 + 1 + 253;

/** The grammar of signer names: `domain/path`, the domain of two labels or more. Everything that is wrong with one. */
export function signerNameViolations(field: string, signerName: string): readonly Violation[] {
  if (signerName === '') return [required(field)];
  const segments = signerName.split('/');
  const [domain = '', path = ''] = segments;
  if (segments.length !== 2) {
    return [
      invalid(field, signerName, "must be a fully qualified domain and path of the form 'example.com/signer-name'"),
    ];
  }
  const labels = domain.split('.');
  return [
    ...(Buffer.byteLength(domain) > maxDomain ? [tooLong(field, maxDomain)] : []),
    ...firstWrong(field, domain, labels, dnsLabel),
    ...(labels.length < 2
      ? [invalid(field, domain, 'should be a domain with at least two segments separated by dots')]
      : []),
    ...firstWrong(field, path, path.split('.'), dnsSubdomain),
    ...(Buffer.byteLength(signerName) > maxSignerName ? [tooLong(field, maxSignerName)] : []),
  ];
}

/** Does it stand for every signer of a domain, as `domain/*` does? */
export const isSignerDomain = (pattern: string): boolean => pattern.endsWith('/*') && pattern.length > 2;

/** Everything that is wrong with what may be a signer name or `domain/*`. */
export const signerPatternViolations = (field: string, pattern: string): readonly Violation[] =>
  signerNameViolations(field, isSignerDomain(pattern) ? `${pattern.slice(0, -1)}any` : pattern);

/** Is it this signer, or one of this domain? `domain/*` covers every path, a bare name only itself. */
export const coversSigner = (pattern: string, signerName: string): boolean =>
  isSignerDomain(pattern) ? signerName.startsWith(pattern.slice(0, -1)) : pattern === signerName;

/** A value from outside that says what a signer serves. */
export const servedSigner = checkThat(
  'a signer name, or domain/*',
  (value) => isNonEmptyString(value) && signerPatternViolations('', value).length === 0,
);

/** What is wrong with the first bad part; the value told is the whole. */
function firstWrong(
  field: string,
  whole: string,
  parts: readonly string[],
  check: (part: string) => readonly string[],
): readonly Violation[] {
  for (const part of parts) {
    const wrong = check(part);
    if (wrong.length > 0) return wrong.map((text) => invalid(field, whole, `validating label ${quote(part)}: ${text}`));
  }
  return [];
}
