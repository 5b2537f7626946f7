import type { DeclType } from '../../cel/decl-type.js';
import { escapeField } from '../../cel/field-names.js';
import type { Schema } from '../schema.js';
import { type NodeRule, nodeRules } from './compile.js';
import { declareSchema } from './declare.js';

/** The nodes of a schema that have rules. */

/** A node of a schema that has rules, or contains nodes that have some. */
export interface RuleNode {
  readonly schema: Schema;
  readonly isRoot: boolean;
  readonly rules: readonly NodeRule[];
  /** Whether the node has rules although expressions cannot see its values. */
  readonly unseen: boolean;
  readonly items: RuleNode | undefined;
  readonly values: RuleNode | undefined;
  readonly properties: ReadonlyMap<string, RuleNode>;
  /** The branches of `allOf`, whose rules apply to the values of this node. */
  readonly allOf: readonly RuleNode[];
}

/**
 * Returns the node of a schema; undefined if there are no rules. `ruled` is the schema with the rules: the schema
 * itself or a branch of its `allOf`.
 */
export function ruleNodeOf(
  ruled: Schema,
  schema: Schema,
  { isRoot, declared }: { readonly isRoot: boolean; readonly declared: DeclType | undefined },
): RuleNode | undefined {
  const below = (inner: Schema | boolean | undefined, at: Schema | boolean | undefined): RuleNode | undefined =>
    typeof inner === 'object' && typeof at === 'object'
      ? ruleNodeOf(inner, at, { isRoot: at.embeddedResource === true, declared: declared?.element })
      : undefined;
  const properties = new Map<string, RuleNode>();
  for (const [name, inner] of ruled.properties ?? []) {
    const at = schema.properties?.get(name);
    if (at === undefined) continue;
    const escaped = escapeField(name);
    const declaredThere = escaped === undefined ? declareSchema(at) : declared?.fields?.get(escaped);
    // Members that expressions cannot see are skipped.
    if (declaredThere === undefined) continue;
    const node = ruleNodeOf(inner, at, { isRoot: at.embeddedResource === true, declared: declaredThere });
    if (node !== undefined) properties.set(name, node);
  }
  const { validations = [] } = ruled;
  const node: RuleNode = {
    schema,
    isRoot,
    rules: declared === undefined ? [] : nodeRules({ ...schema, validations }, declared),
    unseen: declared === undefined && validations.length > 0,
    items: below(ruled.items, schema.items),
    values: below(ruled.additionalProperties, schema.additionalProperties),
    properties,
    allOf: (ruled.allOf ?? []).flatMap((branch) => ruleNodeOf(branch, schema, { isRoot, declared }) ?? []),
  };
  const isEmpty =
    node.rules.length === 0 &&
    !node.unseen &&
    node.items === undefined &&
    node.values === undefined &&
    properties.size === 0 &&
    node.allOf.length === 0;
  return isEmpty ? undefined : node;
}
