import { isDeepStrictEqual } from 'node:util';
import { goLowerCase, trimSpace } from '../../api/go-text.js';
import type {
  AdmissionPolicyBindingSpec,
  AdmissionPolicySpec,
  MatchResources,
  ParamKind,
  ParamRef,
  PolicyVariable,
} from '../../api/kinds/admission-policy.js';
import { validateLabelSelector } from '../../api/label-selectors.js';
import { dns1035Label, dnsSubdomain, pathSegment } from '../../api/names.js';
import type { Steps } from '../../api/steps.js';
import {
  child,
  eachInvalid,
  forbiddenField,
  index,
  invalid,
  notSupportedTypedString,
  required,
  type Violation,
  validateEachInSteps,
} from '../../api/violations.js';
import type { PolicyCompiler } from '../../cel/environments/admission.js';
import { isReserved } from '../../cel/reserved.js';
import { expressionViolations, validateMatchConditions } from '../match-conditions.js';
import { matchViolations } from './match-resources.js';

const failurePolicies = ['Fail', 'Ignore'];

/** How policies of one kind are validated. */
interface PolicyRules {
  readonly compiler: PolicyCompiler;
  /** Operations that rules may name; all of them if absent. */
  readonly operations?: readonly string[];
}

/** Returns the violations of what all kinds of policies share, in Kubernetes' order. */
export function* specViolations(
  spec: AdmissionPolicySpec,
  previous: AdmissionPolicySpec | undefined,
  { compiler, operations }: PolicyRules,
): Steps<readonly Violation[]> {
  const at = (member: string): string => child('spec', member);
  const { failurePolicy = '', paramKind, matchConstraints, matchConditions = [], variables = [] } = spec;
  const storedConditions =
    previous !== undefined &&
    isDeepStrictEqual(paramKind ?? undefined, previous.paramKind ?? undefined) &&
    isDeepStrictEqual(matchConditions, previous.matchConditions ?? []);
  return [
    ...(failurePolicies.includes(failurePolicy)
      ? []
      : [notSupportedTypedString(at('failurePolicy'), failurePolicy, failurePolicies)]),
    ...(paramKind ? paramKindViolations(paramKind, at('paramKind')) : []),
    ...(matchConstraints
      ? [
          ...(yield* matchViolations(matchConstraints, at('matchConstraints'))),
          ...(matchConstraints.resourceRules?.length ? [] : [required(child(at('matchConstraints'), 'resourceRules'))]),
          ...operationViolations(matchConstraints, at('matchConstraints'), operations),
        ]
      : [required(at('matchConstraints'))]),
    ...(storedConditions
      ? []
      : yield* validateMatchConditions(matchConditions, at('matchConditions'), compiler.condition)),
    ...(yield* validateEachInSteps(variables, (variable, i) =>
      variableViolations(variable, index(at('variables'), i), compiler),
    )),
  ];
}

/** Returns the violations of what all kinds of bindings share, in Kubernetes' order. */
export function* bindingViolations(
  { policyName = '', paramRef, matchResources }: AdmissionPolicyBindingSpec,
  { operations }: Pick<PolicyRules, 'operations'> = {},
): Steps<readonly Violation[]> {
  const at = (member: string): string => child('spec', member);
  return [
    ...(policyName === ''
      ? [required(at('policyName'))]
      : eachInvalid(at('policyName'), policyName, dnsSubdomain(policyName))),
    ...(paramRef ? yield* paramRefViolations(paramRef, at('paramRef')) : []),
    ...(matchResources
      ? [
          ...(yield* matchViolations(matchResources, at('matchResources'))),
          ...operationViolations(matchResources, at('matchResources'), operations),
        ]
      : []),
  ];
}

/** Validates the operations of rules. The reported path is the same for all rules. */
function operationViolations(
  { resourceRules }: MatchResources,
  path: string,
  allowed: readonly string[] | undefined,
): readonly Violation[] {
  if (allowed === undefined) return [];
  const at = child(child(path, 'resourceRules'), 'operations');
  return (resourceRules ?? [])
    .flatMap(({ operations }) => operations ?? [])
    .filter((operation) => !allowed.includes(operation))
    .map((operation) => notSupportedTypedString(at, operation, allowed));
}

function paramKindViolations({ apiVersion = '', kind = '' }: ParamKind, path: string): readonly Violation[] {
  const [versionAt, kindAt] = [child(path, 'apiVersion'), child(path, 'kind')];
  const mixed = dns1035Label(goLowerCase(kind));
  return [
    ...(apiVersion === '' ? [required(versionAt)] : versionViolations(apiVersion, versionAt)),
    ...(kind === '' ? [required(kindAt)] : []),
    ...(kind !== '' && mixed.length > 0
      ? [invalid(kindAt, kind, `may have mixed case, but should otherwise match: ${mixed.join()}`)]
      : []),
  ];
}

function versionViolations(apiVersion: string, path: string): readonly Violation[] {
  const parts = apiVersion === '/' ? ['', ''] : apiVersion.split('/');
  if (parts.length > 2) return [invalid(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  const [version = '', group = ''] = parts.reverse();
  const wrongGroup = group === '' ? [] : dnsSubdomain(group);
  const wrongVersion = version === '' ? [] : dns1035Label(version);
  return [
    ...(wrongGroup.length > 0 ? [invalid(path, group, wrongGroup.join())] : []),
    ...(version === '' ? [invalid(path, apiVersion, 'version must be specified')] : []),
    ...(wrongVersion.length > 0 ? [invalid(path, version, wrongVersion.join())] : []),
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
        : [notSupportedTypedString(at('parameterNotFoundAction'), parameterNotFoundAction, notFound)]),
  ];
}

const isIdentifier = (name: string): boolean => /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !isReserved(name);

/** Validates a variable and compiles its expression; expressions that follow can use it. */
function* variableViolations(
  { name = '', expression = '' }: PolicyVariable,
  path: string,
  compiler: PolicyCompiler,
): Steps<readonly Violation[]> {
  const [nameAt, expressionAt] = [child(path, 'name'), child(path, 'expression')];
  return [
    ...(trimSpace(name) === ''
      ? [required(nameAt, 'name is not specified')]
      : isIdentifier(name)
        ? []
        : [invalid(nameAt, name, 'must be a valid CEL identifier')]),
    ...(trimSpace(expression) === ''
      ? [required(expressionAt, 'expression is not specified')]
      : yield* expressionViolations(expression, expressionAt, (text) => compiler.variable(name, text))),
  ];
}
