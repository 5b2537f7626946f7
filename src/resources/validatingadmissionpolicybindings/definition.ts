import { isDeepStrictEqual } from 'node:util';
import {
  type ParamRef,
  type ValidatingAdmissionPolicyBinding,
  type ValidatingAdmissionPolicyBindingSpec,
  ValidatingAdmissionPolicyBindings,
} from '../../api/kinds/validating-admission-policy.js';
import { type LabelSelectorSpec, validateLabelSelector } from '../../api/label-selectors.js';
import { dnsSubdomain, nameRules, pathSegment } from '../../api/names.js';
import type { Steps } from '../../api/steps.js';
import { sortedNames } from '../../api/text-order.js';
import {
  child,
  duplicate,
  eachInvalid,
  forbiddenField,
  index,
  invalid,
  notSupportedWord,
  ofEach,
  required,
  type Violation,
} from '../../api/violations.js';
import { defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import { field, list, optional, string } from '../../schema/builder.js';
import { labelSelector, objectMembers } from '../../schema/meta.js';
import { matchViolations, withMatchDefaults } from '../admissionpolicies/match-resources.js';
import { matchResources } from '../admissionpolicies/schema.js';
import { age, column } from '../columns.js';
import { struct } from '../webhookconfigurations/schema.js';
import { reservedNameWarnings } from '../webhookconfigurations/validate.js';

const paramRef = struct(
  'ParamRef',
  {
    name: field(1, string(), { description: 'Name of the parameters; not together with selector.' }),
    namespace: field(2, string(), { description: 'Namespace of the parameters; that of the request if absent.' }),
    selector: optional(3, labelSelector, { description: 'Labels that parameters must have; each of them counts.' }),
    parameterNotFoundAction: optional(4, string({ go: 'v1.ParameterNotFoundActionType' }), {
      description: 'What follows if there are none: Allow or Deny.',
    }),
  },
  { mapType: 'atomic', description: 'Which objects are the parameters of a policy.' },
);

const schema = struct(
  'ValidatingAdmissionPolicyBinding',
  {
    ...objectMembers,
    spec: field(
      2,
      struct(
        'ValidatingAdmissionPolicyBindingSpec',
        {
          policyName: field(1, string(), { description: 'Name of the policy that is put into force.' }),
          paramRef: optional(2, paramRef, { description: 'Parameters, if the policy has any.' }),
          matchResources: optional(3, matchResources, { description: 'Narrows what the policy matches.' }),
          validationActions: field(4, list(string({ go: 'v1.ValidationAction' }), { listType: 'set' }), {
            description: 'What follows from a validation that is false: Deny or Warn, and Audit.',
          }),
        },
        { description: 'Which policy is put into force, how, and for what.' },
      ),
      { description: 'Which policy is put into force, how, and for what.' },
    ),
  },
  { description: 'Puts a ValidatingAdmissionPolicy into force, with its parameters.' },
);

const actions = ['Audit', 'Deny', 'Warn'];

function* specViolations(
  { policyName = '', paramRef: ref, matchResources: matched, validationActions }: ValidatingAdmissionPolicyBindingSpec,
  path: string,
): Steps<readonly Violation[]> {
  const at = (member: string): string => child(path, member);
  return [
    ...(policyName === ''
      ? [required(at('policyName'))]
      : eachInvalid(at('policyName'), policyName, dnsSubdomain(policyName))),
    ...(ref ? yield* paramRefViolations(ref, at('paramRef')) : []),
    ...(matched ? yield* matchViolations(matched, at('matchResources')) : []),
    ...actionViolations(validationActions ?? [], at('validationActions')),
  ];
}

function* paramRefViolations(
  { name = '', selector, parameterNotFoundAction }: ParamRef,
  path: string,
): Steps<readonly Violation[]> {
  const at = (member: string): string => child(path, member);
  const hasBoth = name !== '' && Boolean(selector);
  const exclusive = 'name and selector are mutually exclusive';
  const notFound = ['Deny', 'Allow'];
  return [
    ...(name === '' ? [] : eachInvalid(at('name'), name, pathSegment(name))),
    ...(hasBoth ? [forbiddenField(at('name'), exclusive)] : []),
    ...(yield* validateLabelSelector(selector, at('selector'))),
    ...(hasBoth ? [forbiddenField(at('selector'), exclusive)] : []),
    ...(name === '' && !selector ? [required(path, 'one of name or selector must be specified')] : []),
    ...(!parameterNotFoundAction
      ? [required(at('parameterNotFoundAction'))]
      : notFound.includes(parameterNotFoundAction)
        ? []
        : [notSupportedWord(at('parameterNotFoundAction'), parameterNotFoundAction, notFound)]),
  ];
}

function actionViolations(given: readonly string[], path: string): readonly Violation[] {
  const seen = new Set<string>();
  return [
    ...ofEach(given, (action, i) => {
      const repeated = seen.has(action);
      seen.add(action);
      return [
        ...(actions.includes(action) ? [] : [notSupportedWord(index(path, i), action, actions)]),
        ...(repeated ? [duplicate(index(path, i), action)] : []),
      ];
    }),
    ...(seen.has('Deny') && seen.has('Warn')
      ? [
          invalid(
            path,
            given,
            'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
          ),
        ]
      : []),
    ...(seen.size === 0 ? [required(path, 'at least one validation action is required')] : []),
  ];
}

function paramText({ spec }: ValidatingAdmissionPolicyBinding): string {
  const { name, namespace, selector } = spec?.paramRef ?? {};
  if (name) return `${namespace || '*'}/${name}`;
  return selector ? goSelector(selector) : '<unset>';
}

/** A selector as Go prints it. */
function goSelector({ matchLabels, matchExpressions }: LabelSelectorSpec): string {
  const labels = sortedNames(matchLabels ?? {}).map((name) => `${name}: ${matchLabels?.[name]},`);
  const expressions = (matchExpressions ?? []).map(
    ({ key, operator, values }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${(values ?? []).join(' ')}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}

export const validatingAdmissionPolicyBindings: ResourceDefinition<ValidatingAdmissionPolicyBinding> =
  defineResource<ValidatingAdmissionPolicyBinding>({
    ...ValidatingAdmissionPolicyBindings,
    origin: 'built-in',
    anyFinalizer: true,
    schema,
    checksMetadata: 'as if new',
    nameRule: nameRules.dnsSubdomain,
    newGeneration: (next, previous) => !isDeepStrictEqual(next.spec ?? {}, previous.spec ?? {}),
    columns: [
      column(
        'PolicyName',
        'PolicyName indicates the policy definition which the policy binding binded to',
        ({ spec }: ValidatingAdmissionPolicyBinding) => spec?.policyName ?? '',
      ),
      column('ParamRef', 'ParamRef indicates the param resource which sets the configuration param', paramText),
      age,
    ],
    defaults: ({ spec, ...rest }) => {
      if (!spec?.matchResources) return spec === undefined ? rest : { ...rest, spec };
      return { ...rest, spec: { ...spec, matchResources: withMatchDefaults(spec.matchResources) } };
    },
    validate: ({ spec }) => specViolations(spec ?? {}, 'spec'),
    warnings: reservedNameWarnings,
  });
