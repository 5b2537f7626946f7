import type {
  ExpressionWarning,
  NamedRuleWithOperations,
  ParamKind,
  ValidatingAdmissionPolicySpec,
} from '../../api/kinds/validating-admission-policy.js';
import type { Steps } from '../../api/steps.js';
import { compareText } from '../../api/text-order.js';
import { policyCompiler } from '../../cel/environments/admission.js';
import type { Type } from '../../cel/types.js';

/** A kind of objects, and what expressions may know of them; undefined: nothing. */
export interface TypedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly type: Type | undefined;
}

/** What is served, as far as it matters here. */
export interface ServedTypes {
  /** The kinds of a resource by its plural or singular name; the empty group stands for any. */
  kindsOf(group: string, version: string, resource: string): readonly TypedKind[];
  typeOf(kind: ParamKind): Type | undefined;
}

/** So many kinds of one rule are looked at. */
const maxKinds = 10;

/** So many characters are told of one policy, whose status has to fit beside what it says itself. */
const mostText = 65_536;
const more = 'More is wrong than is told of one policy.\n';

/**
 * What is wrong with the validations and messages of a policy, seen the types of what it matches (KEP-3488): members that
 * do not exist, operators that do not fit. Kinds that a rule names with `*` are not looked at. Warnings are
 * kube-controller-manager's; where they would be very long the last one says that there are more.
 */
export function* typeWarnings(
  spec: ValidatingAdmissionPolicySpec,
  served: ServedTypes,
): Steps<readonly ExpressionWarning[]> {
  const kinds = matchedKinds(spec.matchConstraints?.resourceRules ?? [], served);
  const params = spec.paramKind ? served.typeOf(spec.paramKind) : undefined;
  const complaints: Complain[] = [];
  for (const kind of kinds) complaints.push(yield* complainOf(kind, spec, params));
  const warnings: ExpressionWarning[] = [];
  let room = mostText;
  for (const [index, validation] of (spec.validations ?? []).entries()) {
    for (const field of ['expression', 'messageExpression'] as const) {
      const expression = validation[field];
      if (!expression) continue;
      const found: string[] = [];
      for (const complain of complaints) {
        yield;
        const complaint = yield* complain(expression);
        if (complaint === undefined) continue;
        found.push(complaint.length > room ? `${linesWithin(complaint, room)}${more}` : complaint);
        room -= complaint.length;
        if (room < 0) break;
      }
      if (found.length > 0)
        warnings.push({ fieldRef: `spec.validations[${index}].${field}`, warning: found.join('\n') });
      if (room < 0) return warnings;
    }
  }
  return warnings;
}

const linesWithin = (text: string, length: number): string => text.slice(0, text.lastIndexOf('\n', length - 1) + 1);

/** What is wrong with an expression about objects of one kind. */
type Complain = (expression: string) => Steps<string | undefined>;

function* complainOf(
  { group, version, kind, type }: TypedKind,
  { paramKind, variables = [] }: ValidatingAdmissionPolicySpec,
  params: Type | undefined,
): Steps<Complain> {
  const compiler = policyCompiler({
    hasParams: Boolean(paramKind),
    hasVariables: variables.length > 0,
    types: { object: type, params },
  });
  for (const { name, expression } of variables) yield* compiler.variable(name, expression);
  return function* (expression) {
    const complaint = yield* compiler.complaint(expression);
    return complaint && `${group}/${version}, Kind=${kind}: ${complaint}\n`;
  };
}

/** In the order of their groups, versions and names. */
function matchedKinds(rules: readonly NamedRuleWithOperations[], served: ServedTypes): readonly TypedKind[] {
  const found = new Map<string, TypedKind>();
  for (const rule of rules) {
    const kinds = kindsOfRule(rule, served).slice(0, maxKinds);
    for (const one of kinds) found.set(`${one.group}/${one.version}/${one.kind}`, one);
    if (kinds.length === maxKinds) break;
  }
  return [...found.values()].sort(
    (a, b) => compareText(a.group, b.group) || compareText(a.version, b.version) || compareText(a.kind, b.kind),
  );
}

function kindsOfRule(
  { apiGroups = [], apiVersions = [], resources = [] }: NamedRuleWithOperations,
  served: ServedTypes,
): readonly TypedKind[] {
  if ([...apiGroups, ...apiVersions].some((name) => name.includes('*'))) return [];
  const plain = resources.filter((name) => !/[*/]/.test(name)).sort(compareText);
  return apiGroups
    .toSorted(compareText)
    .flatMap((group) =>
      apiVersions
        .toSorted(compareText)
        .flatMap((version) => plain.flatMap((name) => served.kindsOf(group, version, name))),
    );
}
