import { type FieldRequirement, parseFieldSelector } from '../../api/field-selectors.js';
import type { LabelRequirement } from '../../api/label-requirements.js';
import { parseLabelSelector } from '../../api/label-selectors.js';
import type { JsonObject } from '../../api/object.js';
import type { AccessAttributes } from '../authorizer.js';

/** Converts an access check into the spec of a SubjectAccessReview. */

/**
 * Returns the spec that is sent to a webhook, without empty members. In version v1beta1 the groups are named `group`.
 */
export function reviewSpec({ user, ...attributes }: AccessAttributes, version: 'v1' | 'v1beta1'): object {
  const { username, uid, groups, extra } = user;
  const identity = {
    user: username,
    ...(groups.length > 0 ? { [version === 'v1' ? 'groups' : 'group']: groups } : {}),
    ...(extra === undefined ? {} : { extra }),
    ...(uid === undefined ? {} : { uid }),
  };
  const { path, verb } = attributes;
  if (path !== undefined) return { nonResourceAttributes: withoutEmpty({ path, verb }), ...identity };
  return { resourceAttributes: { ...withoutEmpty(namesIn(attributes)), ...selectorsIn(attributes) }, ...identity };
}

const withoutEmpty = (texts: Readonly<Record<string, string>>): object =>
  Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));

/**
 * Returns the spec as match conditions see it: all members are present, except that there is only one kind of
 * attributes, and no empty selectors.
 */
export function expressionSpec({ user, ...attributes }: AccessAttributes): JsonObject {
  const { username, uid = '', groups, extra = {} } = user;
  const { path, verb } = attributes;
  const target =
    path === undefined
      ? { resourceAttributes: { ...namesIn(attributes), ...selectorsIn(attributes, []) } }
      : { nonResourceAttributes: { path, verb } };
  return { user: username, uid, groups, extra, ...target } as object as JsonObject;
}

type ReviewedAccess = Omit<AccessAttributes, 'user'>;

const namesIn = ({ namespace = '', verb, group, version, resource, subresource = '', name = '' }: ReviewedAccess) => ({
  namespace,
  verb,
  group,
  version,
  resource,
  subresource,
  name,
});

/** Returns the selectors; `noValues` is the value of a requirement without values. */
function selectorsIn({ fieldSelector, labelSelector }: ReviewedAccess, noValues?: readonly string[]): object {
  const fields = fieldRequirements(fieldSelector);
  const labels = labelRequirements(labelSelector, noValues);
  return {
    ...(fields.length === 0 ? {} : { fieldSelector: { requirements: fields } }),
    ...(labels.length === 0 ? {} : { labelSelector: { requirements: labels } }),
  };
}

/**
 * Parses a selector into requirements. An unreadable selector is dropped, so that more access is checked than was
 * requested.
 */
function requirementsOf<R>(text: string | undefined, parse: (text: string) => readonly R[]): readonly R[] {
  if (text === undefined) return [];
  try {
    return parse(text);
  } catch {
    return [];
  }
}

const fieldRequirements = (text: string | undefined): readonly object[] =>
  requirementsOf<FieldRequirement>(text, (selector) => parseFieldSelector(selector).requirements).map(
    ({ field, operator, value }) => ({ key: field, operator: operator === '=' ? 'In' : 'NotIn', values: [value] }),
  );

const labelOperators: Readonly<Record<LabelRequirement['operator'], string | undefined>> = {
  in: 'In',
  '=': 'In',
  '==': 'In',
  notin: 'NotIn',
  '!=': 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
  '>': undefined,
  '<': undefined,
};

const labelRequirements = (text: string | undefined, noValues: readonly string[] | undefined): readonly object[] =>
  requirementsOf<LabelRequirement>(text, (selector) => parseLabelSelector(selector).requirements).flatMap(
    ({ key, operator, values }) => {
      const known = labelOperators[operator];
      if (known === undefined) return [];
      const listed = values.length > 0 ? values : noValues;
      return [{ key, operator: known, ...(listed === undefined ? {} : { values: listed }) }];
    },
  );
