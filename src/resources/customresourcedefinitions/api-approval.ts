import { isWithinDomain } from '../../api/domains.js';
import { quote } from '../../api/go-text.js';
import { parseGoUrl } from '../../api/go-url.js';
import type { CustomResourceDefinition } from '../../api/kinds/custom-resource-definition.js';
import { invalid, mapKey, required, type Violation } from '../../api/violations.js';

/** Groups under the project's own domains need an annotation that says the API was approved (KEP-1111). */

export const approvalAnnotation = 'api-approved.kubernetes.io';
const protectedDomains = ['k8s.io', 'kubernetes.io'];
const more = 'see https://github.com/kubernetes/enhancements/pull/1111';

export const isProtectedGroup = (group: string): boolean =>
  protectedDomains.some((domain) => isWithinDomain(group, domain));

export interface Approval {
  readonly state: 'missing' | 'bypassed' | 'approved' | 'invalid';
  readonly reason: string;
}

/** What the annotations of a definition say about its approval. */
export function approvalOf(annotations: Readonly<Record<string, string>> | undefined): Approval {
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

/** A definition in a protected group says that it was approved, unless it said as much or as little before. */
export function approvalViolations(
  next: CustomResourceDefinition,
  previous: CustomResourceDefinition | undefined,
): readonly Violation[] {
  if (!isProtectedGroup(next.spec.group ?? '')) return [];
  const { annotations } = next.metadata;
  const { state, reason } = approvalOf(annotations);
  if (previous !== undefined && approvalOf(previous.metadata.annotations).state === state) return [];
  const path = mapKey('metadata.annotations', approvalAnnotation);
  if (state === 'missing') return [required(path, reason)];
  return state === 'invalid' ? [invalid(path, annotations?.[approvalAnnotation], reason)] : [];
}
