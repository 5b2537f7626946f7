import type { AdmissionPolicy, AdmissionPolicyBinding } from '../../api/kinds/admission-policy.js';
import type { LabelSelectorSpec } from '../../api/label-selectors.js';
import { sortedNames } from '../../api/text-order.js';
import { age, column } from '../columns.js';

/** Returns the columns of a policy; the first counts its validations or mutations. */
export const policyColumns = <T extends AdmissionPolicy>(
  counted: string,
  description: string,
  count: (policy: T) => number,
) => [
  column(counted, description, count, { type: 'integer' }),
  column('ParamKind', 'ParamKind specifies the kind of resources used to parameterize this policy', kindText),
  age,
];

/** Columns of a binding. */
export const bindingColumns = [
  column(
    'PolicyName',
    'PolicyName indicates the policy definition which the policy binding binded to',
    ({ spec }: AdmissionPolicyBinding) => spec?.policyName ?? '',
  ),
  column('ParamRef', 'ParamRef indicates the param resource which sets the configuration param', paramText),
  age,
];

/** Returns the parameter kind as `group/version/Kind`. */
function kindText({ spec }: AdmissionPolicy): string {
  return spec?.paramKind ? `${spec.paramKind.apiVersion ?? ''}/${spec.paramKind.kind ?? ''}` : '<unset>';
}

function paramText({ spec }: AdmissionPolicyBinding): string {
  const { name, namespace, selector } = spec?.paramRef ?? {};
  if (name) return `${namespace || '*'}/${name}`;
  return selector ? goSelector(selector) : '<unset>';
}

/** Returns a selector as Go prints it. */
function goSelector({ matchLabels, matchExpressions }: LabelSelectorSpec): string {
  const labels = sortedNames(matchLabels ?? {}).map((name) => `${name}: ${matchLabels?.[name]},`);
  const expressions = (matchExpressions ?? []).map(
    ({ key, operator, values }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${(values ?? []).join(' ')}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}
