import { aggregate } from '../../api/go-text.js';
import { isObject, type Json, type JsonObject } from '../../api/object.js';
import type { Steps } from '../../api/steps.js';
import { appenderTo, child, invalid, mapKey, type Violation } from '../../api/violations.js';
import { type CheckMetadata, coerceEmbedded, embeddedViolations } from '../../schema/embedded.js';
import { printable } from '../../schema/printable.js';
import { metaFields, prune } from '../../schema/prune.js';
import { type Budget, compileRules, requestBudget } from '../../schema/rules/evaluate.js';
import { hasRules } from '../../schema/rules/has-rules.js';
import { same } from '../../schema/same.js';
import type { Schema } from '../../schema/schema.js';
import { compileValidator } from '../../schema/validate.js';

/** Validation of defaults: they must match the schema, be pruned and, within metadata, be valid metadata. */

export interface DefaultRuleOptions {
  /** Whether members of defaults must all be named by the schema. */
  readonly pruned: boolean;
  readonly checkMetadata: CheckMetadata;
}

/** Builds a resource around a value that stands at a certain path in it. */
type Surround = (value: Json) => JsonObject;

const resourceRoot: Surround = (value) => ({
  kind: 'Validation',
  apiVersion: 'validation/v1',
  ...(isObject(value) ? value : {}),
});

/** Returns the violations of all defaults in the schema. */
export function* defaultViolations(
  schema: Schema,
  path: string,
  options: DefaultRuleOptions,
): Steps<readonly Violation[]> {
  const root = schema.embeddedResource ? schema : { ...schema, embeddedResource: true };
  const budget = requestBudget();
  return yield* visit(root, path, { resource: root, surround: resourceRoot, insideMeta: false, budget }, options);
}

interface NodeContext {
  /** Schema of the innermost resource that contains this node. */
  readonly resource: Schema;
  readonly surround: Surround;
  readonly insideMeta: boolean;
  /** Cost budget of expressions, shared by all defaults. */
  readonly budget: Budget;
}

function* visit(
  schema: Schema,
  path: string,
  outer: NodeContext,
  options: DefaultRuleOptions,
): Steps<readonly Violation[]> {
  const place: NodeContext = schema.embeddedResource
    ? { ...outer, resource: schema, surround: resourceRoot, insideMeta: false }
    : outer;
  const { items, properties } = schema;
  const { surround } = place;
  const found: Violation[] = [];
  const add = appenderTo(found);
  if (schema.default !== undefined && schema.default !== null) {
    yield;
    if (place.budget.left < 0) return found;
    add(yield* check(schema, schema.default, child(path, 'default'), place, options));
  }
  if (items)
    add(yield* visit(items, child(path, 'items'), { ...place, surround: (value) => surround([value]) }, options));
  for (const [name, property] of properties ?? []) {
    const inner: NodeContext = {
      ...place,
      insideMeta: place.insideMeta || (schema.embeddedResource === true && metaFields.has(name)),
      surround: (value) => surround(Object.fromEntries([[name, value]])),
    };
    add(yield* visit(property, mapKey(child(path, 'properties'), name), inner, options));
  }
  return found;
}

function* check(
  schema: Schema,
  value: Json,
  path: string,
  place: NodeContext,
  options: DefaultRuleOptions,
): Steps<readonly Violation[]> {
  function* bySchema(): Steps<readonly Violation[]> {
    const violations = yield* compileValidator(schema, { forDefaults: true })(value, path);
    return violations.length > 0 ? violations : yield* byRules(schema, value, path, place.budget);
  }
  if (place.insideMeta) return inMetadata(value, path, place, options) ?? (yield* bySchema());
  const found: Violation[] = [];
  const { refused, value: coerced } = coerceEmbedded(value, schema, { path });
  if (options.pruned && !same(prune(value, schema).value, value)) {
    found.push(invalid(path, printable(coerced), 'must not have unknown fields'));
  }
  if (refused !== undefined) return [...found, refused];
  const embedded = embeddedViolations(coerced, schema, options.checkMetadata, path);
  return [...found, ...(embedded.length > 0 ? embedded : yield* bySchema())];
}

/** Evaluates the rules on a default twice, since it must be valid both as an unchanged value and as a new one. */
function* byRules(schema: Schema, value: Json, path: string, budget: Budget): Steps<readonly Violation[]> {
  if (!hasRules(schema)) return [];
  const evaluate = compileRules(schema, { isRoot: schema.embeddedResource === true });
  const { left } = budget;
  const { violations } = yield* evaluate(value, { previous: value, path, budget });
  if (violations.length > 0) return violations;
  const secondBudget: Budget = { left };
  const again = yield* evaluate(value, { path, budget: secondBudget });
  budget.left = Math.min(budget.left, secondBudget.left);
  return again.violations;
}

/** Returns the violations of metadata with this default; undefined if it is valid. */
function inMetadata(
  value: Json,
  path: string,
  { resource, surround }: NodeContext,
  { checkMetadata }: DefaultRuleOptions,
): readonly Violation[] | undefined {
  const embedding = surround(value);
  const result = (message: string): readonly Violation[] => [
    invalid(path, printable(value), `must result in valid metadata: ${message}`),
  ];
  const { refused, value: coerced } = coerceEmbedded(embedding, resource);
  const text = ({ field, body }: Violation): string => `${field}: ${body}`;
  if (refused !== undefined) return result(text(refused));
  const violations = embeddedViolations(coerced, resource, checkMetadata);
  if (violations.length === 0) return undefined;
  return result(aggregate(violations.map(text)));
}
