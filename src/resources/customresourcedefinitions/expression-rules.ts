import { goFixed } from '../../api/go-float.js';
import { maxRequestBytes } from '../../api/request-size.js';
import type { Steps } from '../../api/steps.js';
import {
  child,
  forbiddenField,
  index,
  invalid,
  maxViolationChars,
  maxViolations,
  type Violation,
} from '../../api/violations.js';
import { maxCost } from '../../cel/cost.js';
import { internalRule } from '../../schema/internal-form.js';
import type { SchemaProps } from '../../schema/json-schema-props.js';
import { type CompiledRule, nodeRules } from '../../schema/rules/compile.js';
import { type DeclaredSchema, declareSchema } from '../../schema/rules/declare.js';
import type { Schema } from '../../schema/schema.js';
import { toSchema } from '../../schema/to-schema.js';
import type { RuleSite } from './keyword-rules.js';

/** Limits of the estimated cost in one object: of one rule, and of all rules of a schema. */
const perRule = 10_000_000;
const perSchema = 100_000_000;
/** How many of the most expensive rules are named if the total is exceeded; each costs at least 1 % of the limit. */
const namedRules = 4;

export interface ExpressionRuleOptions {
  /** Path of the schema, for errors about the schema as a whole. */
  readonly path: string;
  readonly prefix: string;
  /** Whether the schema is as it was stored, so that its rules may exceed the limits of cost. */
  readonly anyCost: boolean;
}

/** Compiles the rules of one schema and estimates their cost. `sites` are in the order of the tree. */
export function* expressionViolations(
  sites: readonly RuleSite[],
  { path, prefix, anyCost }: ExpressionRuleOptions,
): Steps<readonly Violation[]> {
  const found: Violation[] = [];
  let reportedChars = 0;
  const add = (violation: Violation): void => {
    reportedChars += violation.field.length + violation.body.length;
    found.push(violation);
  };
  const estimated: { readonly field: string; readonly cost: number }[] = [];
  const limit = (field: string, label: string, cost: number): void => {
    if (cost > perRule && !anyCost) add(forbiddenField(field, tooDear(`estimated ${label} cost`, cost, perRule)));
    estimated.push({ field, cost });
  };
  const root = sites[0] && toSchema(sites[0].above[0]?.schema ?? sites[0].schema);
  for (const site of sites) {
    if (root === undefined) break;
    const at = child(site.path, `${prefix}validations`);
    const { schema, declared } = placeOf(site, root);
    if (declared === undefined) {
      add({ reason: 'InternalError', field: at, body: `Internal error: ${untyped}` });
      continue;
    }
    for (const [place, nodeRule] of nodeRules(schema, declared).entries()) {
      if (found.length >= maxViolations || reportedChars > maxViolationChars) return found;
      yield;
      const compiled = yield* nodeRule.compiled();
      yield;
      const field = index(at, place);
      const cost =
        compiled.expression && compiled.expression.wrong === undefined ? (yield* compiled.expression.cost()).max : 0;
      limit(child(field, 'rule'), 'rule', cappedProduct(cost, cardinality(site, declared)));
      for (const violation of ruleViolations(compiled, field)) add(violation);
      if (compiled.message && compiled.message.wrong === undefined) {
        limit(child(field, 'messageExpression'), 'messageExpression', (yield* compiled.message.cost()).max);
      }
      for (const violation of oldSelfViolations(compiled, field, site.uncorrelatable)) add(violation);
    }
  }
  return [...found, ...totalViolations(estimated, path)];
}

const untyped =
  'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations';

/**
 * Returns a node's schema and its declaration for expressions. The declaration is undefined if the node, or a node
 * above it that has rules too, cannot be declared.
 */
function placeOf(
  { above, schema }: RuleSite,
  root: Schema,
): { readonly schema: Schema; readonly declared: DeclaredSchema | undefined } {
  let current = root;
  let isRoot = true;
  let isUnknown = false;
  const checkDeclared = ({ validations = [] }: SchemaProps): void => {
    if (validations.length > 0 && declareSchema(current, isRoot || current.embeddedResource === true) === undefined)
      isUnknown = true;
  };
  for (const { schema: outer, to, name = '' } of above) {
    checkDeclared(outer);
    const { properties, items, additionalProperties } = current;
    const inner = to === 'property' ? properties?.get(name) : to === 'items' ? items : additionalProperties;
    current = typeof inner === 'object' ? inner : {};
    isRoot = false;
  }
  checkDeclared(schema);
  return {
    schema: current,
    declared: isUnknown ? undefined : declareSchema(current, isRoot || current.embeddedResource === true),
  };
}

function ruleViolations({ rule, expression, message }: CompiledRule, field: string): readonly Violation[] {
  return [
    ...(expression?.wrong === undefined ? [] : [invalid(child(field, 'rule'), internalRule(rule), expression.wrong)]),
    ...(message?.wrong === undefined
      ? []
      : [invalid(child(field, 'messageExpression'), internalRule(rule), message.wrong)]),
  ];
}

function oldSelfViolations(
  { rule, usesOldSelf }: CompiledRule,
  field: string,
  uncorrelatable: string | undefined,
): readonly Violation[] {
  if (usesOldSelf) {
    return uncorrelatable === undefined
      ? []
      : [
          invalid(
            child(field, 'rule'),
            rule.rule,
            `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`,
          ),
        ];
  }
  return rule.optionalOldSelf === undefined
    ? []
    : [invalid(child(field, 'optionalOldSelf'), rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule')];
}

/** Returns how often a value can occur at a node in one object. */
function cardinality({ above }: RuleSite, { minSize }: DeclaredSchema): number {
  let product = 1;
  for (const { schema } of above) {
    const most = mostElements(schema);
    if (most === undefined) return Math.floor(maxRequestBytes / (minSize + 1));
    product = cappedProduct(product, most);
  }
  return product;
}

function mostElements({ type, additionalProperties, maxProperties, maxItems }: SchemaProps): number | undefined {
  const limit = type === 'array' ? maxItems : type === 'object' && additionalProperties ? maxProperties : 1;
  return limit === undefined ? undefined : Math.max(0, limit);
}

const cappedProduct = (one: number, other: number): number => Math.min(maxCost, one * other);

function totalViolations(
  estimated: readonly { readonly field: string; readonly cost: number }[],
  path: string,
): readonly Violation[] {
  const total = estimated.reduce((sum, { cost }) => Math.min(maxCost, sum + cost), 0);
  if (total <= perSchema) return [];
  const dearest = estimated
    .filter(({ cost }) => cost >= perSchema / 100)
    .sort((a, b) => b.cost - a.cost)
    .slice(0, namedRules);
  return [
    ...dearest.map(({ field }) =>
      forbiddenField(
        field,
        'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      ),
    ),
    forbiddenField(
      path,
      tooDear('x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema', total, perSchema),
    ),
  ];
}

function tooDear(label: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const times = factor > 100 ? 'more than 100x' : `${goFixed(factor, factor < 1.5 ? 6 : 1)}x`;
  return `${label} exceeds budget by factor of ${times} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}
