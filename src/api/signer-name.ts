import { checkThat, isNonEmptyString } from './checks.js';
import { quote } from './go-text.js';
import { dnsLabel, dnsSubdomain } from './names.js';
import { invalid, required, tooLong, type Violation } from './violations.js';

const maxDomain = 253;
/** The maximum length: a domain, a slash, and a path of a label, a dot and a subdomain. */
const maxSignerName = maxDomain + 1 + 63 + 1 + 253;

/** Returns all violations in a signer name: `domain/path`, with a domain of two labels or more. */
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

/** Whether a pattern stands for every signer of a domain, as `domain/*` does. */
export const isSignerDomain = (pattern: string): boolean => pattern.endsWith('/*') && pattern.length > 2;

/** Returns all violations in a text that must be a signer name or `domain/*`. */
export const signerPatternViolations = (field: string, pattern: string): readonly Violation[] =>
  signerNameViolations(field, isSignerDomain(pattern) ? `${pattern.slice(0, -1)}any` : pattern);

/** Whether a pattern covers a signer: `domain/*` covers every path of the domain, a name only itself. */
export const coversSigner = (pattern: string, signerName: string): boolean =>
  isSignerDomain(pattern) ? signerName.startsWith(pattern.slice(0, -1)) : pattern === signerName;

/** Checks a value from outside: a signer name or `domain/*`. */
export const servedSigner = checkThat(
  'a signer name, or domain/*',
  (value) => isNonEmptyString(value) && signerPatternViolations('', value).length === 0,
);

/** Returns the violations in the first invalid part; they show the whole value. */
function firstWrong(
  field: string,
  value: string,
  parts: readonly string[],
  check: (part: string) => readonly string[],
): readonly Violation[] {
  for (const part of parts) {
    const wrong = check(part);
    if (wrong.length > 0) return wrong.map((text) => invalid(field, value, `validating label ${quote(part)}: ${text}`));
  }
  return [];
}
