import type { NamedRuleWithOperations } from '../../api/kinds/admission-policy.js';
import type { ExpressionWarning, ValidatingAdmissionPolicySpec } from '../../api/kinds/validating-admission-policy.js';
import { groupVersion } from '../../api/object.js';
import type { Steps } from '../../api/steps.js';
import { compareText } from '../../api/text-order.js';
import { policyCompiler } from '../../cel/environments/admission.js';
import type { Type } from '../../cel/types.js';

/** A served kind, with the type that expressions know it by. */
export interface ServedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  /** Returns the type; undefined if nothing is known. */
  type(): Type | undefined;
}

/** The maximum number of kinds of one rule that are checked. */
const maxKinds = 10;

/**
 * The maximum number of characters of the warnings for one policy, whose status must fit into the object beside its
 * spec.
 */
const mostText = 65_536;
const more = 'Too many problems; the rest are not listed.\n';

/**
 * Checks the validations and messages of a policy against the types of the objects that it matches (KEP-3488). Yields a
 * warning for each error, such as an unknown member or an operator that does not fit. Kinds that a rule names by `*`
 * are not checked. The texts are those of kube-controller-manager; if they are too long, the last one says that there
 * are more.
 */
export function* typeWarnings(
  spec: ValidatingAdmissionPolicySpec,
  served: readonly ServedKind[],
): Steps<readonly ExpressionWarning[]> {
  const kinds = yield* matchedKinds(spec.matchConstraints?.resourceRules ?? [], served);
  const complaints: Complain[] = [];
  for (const kind of kinds) complaints.push(yield* complainOf(kind, spec, served));
  const warnings: ExpressionWarning[] = [];
  let remaining = mostText;
  for (const { fieldRef, expression } of expressionsOf(spec)) {
    const found: string[] = [];
    for (const complain of complaints) {
      yield;
      const complaint = yield* complain(expression);
      if (complaint === undefined) continue;
      found.push(complaint.length > remaining ? `${linesWithin(complaint, remaining)}${more}` : complaint);
      remaining -= complaint.length;
      if (remaining < 0) break;
    }
    if (found.length > 0) warnings.push({ fieldRef, warning: found.join('\n') });
    if (remaining < 0) break;
  }
  return warnings;
}

const expressionsOf = ({ validations = [] }: ValidatingAdmissionPolicySpec) =>
  validations.flatMap((validation, index) =>
    (['expression', 'messageExpression'] as const).flatMap((field) => {
      const expression = validation[field];
      return expression ? [{ fieldRef: `spec.validations[${index}].${field}`, expression }] : [];
    }),
  );

const linesWithin = (text: string, length: number): string => text.slice(0, text.lastIndexOf('\n', length - 1) + 1);

/** Returns the type error of an expression about objects of one kind; undefined if there is none. */
type Complain = (expression: string) => Steps<string | undefined>;

function* complainOf(
  { group, version, kind, type }: ServedKind,
  { paramKind, variables = [] }: ValidatingAdmissionPolicySpec,
  served: readonly ServedKind[],
): Steps<Complain> {
  const params = served.find((one) => one.kind === paramKind?.kind && groupVersion(one) === paramKind.apiVersion);
  const compiler = policyCompiler({
    hasParams: Boolean(paramKind),
    hasVariables: variables.length > 0,
    types: { object: type(), params: params?.type() },
  });
  for (const { name, expression } of variables) yield* compiler.variable(name, expression);
  return function* (expression) {
    const complaint = yield* compiler.complaint(expression);
    return complaint && `${group}/${version}, Kind=${kind}: ${complaint}\n`;
  };
}

/** Yields the matched kinds, sorted by group, version and name. */
function* matchedKinds(
  rules: readonly NamedRuleWithOperations[],
  served: readonly ServedKind[],
): Steps<readonly ServedKind[]> {
  const found = new Set<ServedKind>();
  for (const rule of rules) {
    yield;
    const matching = kindsOfRule(rule, served);
    for (const { one } of matching) found.add(one);
    if (matching.length === maxKinds) break;
  }
  return [...found].sort(
    (a, b) => compareText(a.group, b.group) || compareText(a.version, b.version) || compareText(a.kind, b.kind),
  );
}

/** A kind, with the group and the name that the rule contains. */
interface RequestedKind {
  readonly one: ServedKind;
  readonly group: string;
  readonly name: string;
}

/** Returns the first kinds that the rule names, by group, version and name. The empty group means any group. */
function kindsOfRule(
  { apiGroups = [], apiVersions = [], resources = [] }: NamedRuleWithOperations,
  served: readonly ServedKind[],
): readonly RequestedKind[] {
  if ([...apiGroups, ...apiVersions].some((name) => name.includes('*'))) return [];
  const [groups, versions, names] = [new Set(apiGroups), new Set(apiVersions), new Set(resources)];
  const matching = served.flatMap((one): readonly RequestedKind[] => {
    if (!versions.has(one.version)) return [];
    const byGroup = [...new Set(['', one.group])].filter((group) => groups.has(group));
    const byName = [...new Set([one.plural, one.singular])].filter((name) => names.has(name));
    return byGroup.flatMap((group) => byName.map((name) => ({ one, group, name })));
  });
  matching.sort(
    (a, b) => compareText(a.group, b.group) || compareText(a.one.version, b.one.version) || compareText(a.name, b.name),
  );
  return matching.slice(0, maxKinds);
}
