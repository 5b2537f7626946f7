import { ApiError } from '../../api/errors.js';
import { escapeFieldValue, parseFieldSelector } from '../../api/field-selectors.js';
import type {
  AccessQuestion,
  AccessReviewStatus,
  ResourceAttributes,
  SelectorAttributes,
} from '../../api/kinds/access-review.js';
import { labelSelectorFrom, parseLabelSelector } from '../../api/label-selectors.js';
import type { UserInfo } from '../../api/user.js';
import type { AccessAttributes, Authorizer } from '../../auth/authorizer.js';

/** Asks the authorizer exactly what the review requests. Errors become part of the result. */
export async function reviewAccess(
  authorizer: Authorizer,
  user: UserInfo,
  question: AccessQuestion,
): Promise<AccessReviewStatus> {
  const { verdict, reason, error } = await authorizer.authorize(attributesOf(user, question));
  const trouble = [...(error === undefined ? [] : [error]), ...selectorTrouble(question.resourceAttributes)].join('; ');
  return {
    allowed: verdict === 'allow',
    ...(verdict === 'deny' ? { denied: true } : {}),
    ...(reason === '' ? {} : { reason }),
    ...(trouble === '' ? {} : { evaluationError: trouble }),
  };
}

function attributesOf(user: UserInfo, { resourceAttributes, nonResourceAttributes }: AccessQuestion): AccessAttributes {
  if (resourceAttributes === undefined) {
    const { path = '', verb = '' } = nonResourceAttributes ?? {};
    return { user, verb, path, group: '', version: '', resource: '' };
  }
  const { verb = '', group = '', version, resource = '', subresource, namespace, name } = resourceAttributes;
  return {
    user,
    verb,
    group,
    version: version || '*',
    resource,
    subresource: subresource || undefined,
    namespace: namespace || undefined,
    name: name || undefined,
    fieldSelector: selectorText(resourceAttributes.fieldSelector, fieldText),
    labelSelector: selectorText(resourceAttributes.labelSelector, labelText),
  };
}

/**
 * Returns a selector as a request would contain it. Invalid requirements are left out, because they could only narrow
 * the request.
 */
function selectorText(
  selector: SelectorAttributes | undefined,
  textOf: (requirement: Requirement) => string | undefined,
): string | undefined {
  const { rawSelector = '', requirements = [] } = selector ?? {};
  if (rawSelector !== '') return rawSelector;
  return requirements.flatMap((requirement) => textOf(requirement) ?? []).join(',') || undefined;
}

const fieldText = (requirement: Requirement): string | undefined => {
  if (!isFieldRequirement(requirement)) return undefined;
  const { key = '', operator, values = [] } = requirement;
  return `${key}${operator === 'In' ? '=' : '!='}${escapeFieldValue(values[0] ?? '')}`;
};

const labelText = (requirement: Requirement): string | undefined =>
  isLabelRequirement(requirement) ? labelSelectorFrom({ matchExpressions: [requirement] }).text : undefined;

/**
 * Returns an error for each selector with invalid parts. These parts are ignored, so that more access is checked than
 * was requested.
 */
const selectorTrouble = (attributes: ResourceAttributes | undefined): readonly string[] =>
  (
    [
      ['fieldSelector', unreadable(attributes?.fieldSelector, parseFieldSelector, isFieldRequirement)],
      ['labelSelector', unreadable(attributes?.labelSelector, parseLabelSelector, isLabelRequirement)],
    ] as const
  ).flatMap(([name, problem]) =>
    problem === undefined ? [] : [`spec.resourceAttributes.${name} ${problem} due to parse error`],
  );

/** One requirement of a selector, on a label or a field. */
export type Requirement = NonNullable<SelectorAttributes['requirements']>[number];

function unreadable(
  selector: SelectorAttributes | undefined,
  parse: (text: string) => unknown,
  isRequirement: (requirement: Requirement) => boolean,
): 'ignored' | 'partially ignored' | undefined {
  if (selector === undefined) return undefined;
  const { rawSelector = '', requirements = [] } = selector;
  if (requirements.length === 0) return isReadable(() => parse(rawSelector)) ? undefined : 'ignored';
  const readable = requirements.filter(isRequirement).length;
  if (readable === requirements.length) return undefined;
  return readable === 0 ? 'ignored' : 'partially ignored';
}

const isFieldRequirement = ({ operator, values = [] }: Requirement): boolean =>
  (operator === 'In' || operator === 'NotIn') && values.length === 1;

const isLabelRequirement = (requirement: Requirement): boolean =>
  isReadable(() => labelSelectorFrom({ matchExpressions: [requirement] }));

function isReadable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}
