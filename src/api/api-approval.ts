import { isWithinDomain } from './domains.js';
import { quote } from './go-text.js';
import { parseGoUrl } from './go-url.js';

/** Groups under the project's own domains need an annotation that says the API was approved (KEP-1111). */

export const approvalAnnotation = 'api-approved.kubernetes.io';
const protectedDomains = ['k8s.io', 'kubernetes.io'];
const more = 'see https://github.com/kubernetes/enhancements/pull/1111';

interface Approval {
  readonly state: 'missing' | 'bypassed' | 'approved' | 'invalid';
  readonly reason: string;
}

/** Returns the approval that a definition's annotations declare; undefined where its group needs none. */
export function approvalOf(
  group: string,
  annotations: Readonly<Record<string, string>> | undefined,
): Approval | undefined {
  if (!protectedDomains.some((domain) => isWithinDomain(group, domain))) return undefined;
  const annotation = annotations?.[approvalAnnotation] ?? '';
  const must = `protected groups must have approval annotation ${quote(approvalAnnotation)}`;
  if (annotation === '') return { state: 'missing', reason: `${must}, ${more}` };
  if (annotation.startsWith('unapproved')) {
    return { state: 'bypassed', reason: `not approved: ${quote(annotation)}` };
  }
  const url = parseGoUrl(annotation);
  if (!('wrong' in url) && url.host !== '' && url.scheme !== '') {
    return { state: 'approved', reason: `approved in ${annotation}` };
  }
  return { state: 'invalid', reason: `${must} with either a URL or a reason starting with "unapproved", ${more}` };
}
