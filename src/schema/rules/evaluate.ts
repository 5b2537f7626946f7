import { quote, trimSpace } from '../../api/go-text.js';
import { isList, type Json, type JsonObject } from '../../api/object.js';
import { once } from '../../api/once.js';
import type { Steps } from '../../api/steps.js';
import {
  child,
  index,
  invalid,
  mapKey,
  maxViolationChars,
  maxViolations,
  type Violation,
} from '../../api/violations.js';
import { overBudget, perCallLimit } from '../../cel/cost.js';
import { tooCostly } from '../../cel/effort.js';
import type { Program } from '../../cel/evaluator.js';
import { jsonValue } from '../../cel/json-values.js';
import { Failure, Optional, type Value } from '../../cel/values.js';
import { noOldValue, oldItems, oldMember, Ratchet } from '../ratchet.js';
import type { Schema, ValidationRule } from '../schema.js';
import type { CompiledRule } from './compile.js';
import { type Correlation, memberOf } from './correlation.js';
import { declareSchema } from './declare.js';
import { type RuleNode, ruleNodeOf } from './node.js';
import { brokenRule, evaluationFailure, ruleText } from './rule-messages.js';
import { celResource, celValue } from './values.js';

/** The results of a schema's rules; warnings are about unchanged values (ratcheting). */
export interface RuleFindings {
  readonly violations: readonly Violation[];
  readonly warnings: readonly string[];
}

/** Evaluates the rules of a schema (KEP-2876) for a value. */
export type EvaluateRules = (value: Json, options?: EvaluationOptions) => Steps<RuleFindings>;

interface EvaluationOptions {
  /** The previous value, for transition rules. */
  readonly previous?: Json | undefined;
  /** Whether violations in unchanged values only cause warnings (KEP-4008). */
  readonly ratcheting?: boolean;
  /** The prefix of the fields of violations. */
  readonly path?: string;
  /** The budget, which is shared by all evaluations of one request. */
  readonly budget?: Budget;
}

/** The remaining cost budget for all expressions of one request; negative once exceeded. */
export interface Budget {
  left: number;
}

/** The number of cost units that all expressions of one request may use. */
const perRequest = 10_000_000;
export const requestBudget = (): Budget => ({ left: perRequest });
/** The number of cost units per step. */
const unitsInStep = 20_000;
/** The number of cost units for the overhead of running a program. */
const unitsOfCall = 20;
const unitsOfCompiling = 20;
/** The maximum length of the result of a messageExpression in bytes. */
const longestMessage = 5_120;

/** Compiles the rules of a schema. `isRoot`: the schema is that of a whole resource. */
export function compileRules(schema: Schema, { isRoot }: { readonly isRoot: boolean }): EvaluateRules {
  const root = once(() => ruleNodeOf(schema, schema, { isRoot, declared: declareSchema(schema, isRoot) }));
  return function* (value, { previous, ratcheting = false, path = '', budget = requestBudget() } = {}) {
    const evaluation = new Evaluation(budget);
    const node = root();
    if (node !== undefined) {
      const current = ratcheting && previous !== undefined ? { value, old: previous, schema } : undefined;
      yield* evaluation.node(node, path, value, previous, { current, ancestor: undefined });
    }
    return evaluation;
  };
}

class Evaluation implements RuleFindings {
  readonly violations: Violation[] = [];
  readonly warnings: string[] = [];
  readonly #ratchet = new Ratchet();
  readonly #budget: Budget;
  #isOver = false;
  #reportedChars = 0;
  #sinceStep = 0;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  *node(
    node: RuleNode,
    path: string,
    value: Json | undefined,
    old: Json | undefined,
    correlation: Correlation,
  ): Steps<void> {
    if (value === null || value === undefined) return;
    yield* this.#rules(node, path, value, old, correlation);
    for (const branch of node.allOf) {
      if (this.#isOver) return;
      yield* this.node(branch, path, value, old, { current: undefined, ancestor: correlation.ancestor });
    }
    if (this.#isOver || typeof value !== 'object') return;
    yield* isList(value)
      ? this.#items(node, path, value, old, correlation)
      : this.#members(node, path, value, old, correlation);
  }

  *#items(
    node: RuleNode,
    path: string,
    value: readonly Json[],
    old: Json | undefined,
    { current, ancestor }: Correlation,
  ): Steps<void> {
    const { items, schema } = node;
    if (items === undefined) return;
    const oldItem = oldItems(old, schema);
    const correlatedItem = current && oldItems(current.old, schema);
    for (const [at, item] of value.entries()) {
      if (this.#isOver) return;
      const before = oldItem(item);
      const counterpart = correlatedItem?.(item) ?? noOldValue;
      yield* this.node(items, index(path, at), item, before === noOldValue ? undefined : (before as Json), {
        current: counterpart === noOldValue ? undefined : { value: item, old: counterpart, schema: items.schema },
        ancestor: current ?? ancestor,
      });
    }
  }

  *#members(
    node: RuleNode,
    path: string,
    value: JsonObject,
    old: Json | undefined,
    correlation: Correlation,
  ): Steps<void> {
    const { values, properties } = node;
    if (values === undefined && properties.size === 0) return;
    for (const [name, member] of Object.entries(value)) {
      if (this.#isOver) return;
      const inner = properties.get(name) ?? values;
      if (inner === undefined) continue;
      const before = oldMember(old, name);
      yield* this.node(
        inner,
        inner === values ? mapKey(path, name) : child(path, name),
        member,
        before === noOldValue ? undefined : (before as Json),
        memberOf(correlation, name, inner.schema),
      );
    }
  }

  *#rules(node: RuleNode, path: string, value: Json, old: Json | undefined, correlation: Correlation): Steps<void> {
    const type = node.schema.type ?? '';
    const field = path || '<nil>';
    const complain = (detail: string): void => this.#note(invalid(field, type, detail));
    if (node.unseen) {
      complain('rule compiler initialization error: failed to convert to declType for CEL validation rules');
      return;
    }
    if (node.rules.length === 0) return;
    if (this.#budget.left <= 0) return this.#stop(field, type);
    const makeValue = node.isRoot ? celResource : celValue;
    const self = makeValue(value, node.schema);
    const before = old === undefined || old === null ? undefined : makeValue(old, node.schema);
    const rules: CompiledRule[] = [];
    for (const rule of node.rules) {
      rules.push(yield* rule.compiled());
      if (this.#isStep(unitsOfCompiling)) yield;
    }
    const seesOld = rules.some(({ usesOldSelf }) => usesOldSelf);
    const plain = variables(self, seesOld ? before : undefined);
    const optional = variables(self, seesOld ? optionalOf(old) : undefined);

    for (const compiled of rules) {
      const { rule, expression, usesOldSelf } = compiled;
      if (expression === undefined) continue;
      if (expression.wrong !== undefined) {
        complain(`rule compile error: ${expression.wrong}`);
        continue;
      }
      const isOptional = rule.optionalOldSelf === true;
      if (usesOldSelf && before === undefined && !isOptional) continue;
      const answer = this.#evaluate(expression.program, isOptional ? optional : plain);
      if (answer.cost > this.#budget.left) return this.#stop(field, type);
      this.#budget.left -= answer.cost;
      if (answer.value === undefined) {
        complain(
          `'${tooCostly}': no further validation rules will be run due to call cost exceeds limit for rule: ${ruleText(rule)}`,
        );
        this.#budget.left = -1;
        this.#isOver = true;
        return;
      }
      if (answer.value instanceof Failure) complain(evaluationFailure(answer.value, rule));
      else if (answer.value !== true && !this.#failed(node, compiled, { field: path, value, type, plain, correlation }))
        return;
      if (this.#isStep(answer.cost + unitsOfCall)) yield;
      if (this.#isOver) return;
    }
  }

  /** Records that a rule is broken. Returns whether to continue. */
  #failed(
    { schema }: RuleNode,
    { rule, message, fieldPath, usesOldSelf }: CompiledRule,
    at: {
      readonly field: string;
      readonly value: Json;
      readonly type: string;
      readonly plain: Variables;
      readonly correlation: Correlation;
    },
  ): boolean {
    const field = (fieldPath === undefined ? at.field : child(at.field, fieldPath)) || '<nil>';
    const add = (violation: Violation): void => {
      if (!usesOldSelf && this.#isRatcheted(at.correlation)) this.#warn(violation);
      else this.#note(violation);
    };
    const evaluated =
      message && message.wrong === undefined ? this.#message(message.program, rule, at.plain) : undefined;
    if (evaluated?.over !== undefined) {
      add(invalid(field, at.type, evaluated.over));
      this.#budget.left = -1;
      this.#isOver = true;
      return false;
    }
    const detail = evaluated?.text ?? (rule.message ? trimSpace(rule.message) : `failed rule: ${ruleText(rule)}`);
    const isContainer = schema.type === 'object' || schema.type === 'array';
    add(brokenRule(field, { quoted: isContainer ? undefined : { value: at.value }, detail, reason: rule.reason }));
    return true;
  }

  /** Evaluates the messageExpression of a rule; `over` is set if no further rules may run. */
  #message(
    program: Program,
    { messageExpression = '' }: ValidationRule,
    plain: Variables,
  ): { readonly text?: string; readonly over?: string } {
    const { value, cost } = this.#evaluate(program, plain);
    if (cost > this.#budget.left) {
      return {
        over: 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
      };
    }
    if (value === undefined) {
      return {
        over: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${quote(messageExpression)}`,
      };
    }
    this.#budget.left -= cost;
    if (typeof value !== 'string') return {};
    const text = trimSpace(value);
    return text === '' || text.includes('\n') || Buffer.byteLength(text) > longestMessage ? {} : { text };
  }

  /** Evaluates a program. The `value` is undefined if the evaluation exceeded the cost limit of one expression. */
  #evaluate(program: Program, variables: Variables): { readonly value: Value | undefined; readonly cost: number } {
    const { value, cost, isOverLimit = false } = program.evaluate(variables);
    return isOverLimit ? { value: undefined, cost: perCallLimit } : { value, cost };
  }

  /** Adds cost units. Returns whether it is time for a step. */
  #isStep(units: number): boolean {
    this.#sinceStep += units;
    if (this.#sinceStep < unitsInStep) return false;
    this.#sinceStep = 0;
    return true;
  }

  #isRatcheted({ current, ancestor }: Correlation): boolean {
    const compared = current ?? ancestor;
    return compared !== undefined && this.#ratchet.unchanged(compared.value, compared.old, compared.schema);
  }

  #stop(field: string, type: string): void {
    this.#note(invalid(field, type, overBudget));
    this.#budget.left = -1;
    this.#isOver = true;
  }

  #note(violation: Violation): void {
    this.violations.push(violation);
    this.#count(violation);
  }

  #warn(violation: Violation): void {
    this.warnings.push(`${violation.field}: ${violation.body}`);
    this.#count(violation);
  }

  /** Counts a finding; once the limit on findings in one response is reached, the evaluation ends. */
  #count({ field, body }: Violation): void {
    this.#reportedChars += field.length + body.length;
    if (this.#reportedChars > maxViolationChars || this.violations.length + this.warnings.length >= maxViolations)
      this.#isOver = true;
  }
}

type Variables = (name: string) => Value | undefined;
const variables =
  (self: Value, oldSelf: Value | undefined): Variables =>
  (name) =>
    name === 'self' ? self : name === 'oldSelf' ? oldSelf : undefined;

/**
 * Wraps the stored value for optionalOldSelf. As in kube-apiserver, it is plain JSON there, regardless of the schema.
 */
const optionalOf = (old: Json | undefined): Optional =>
  old === undefined || old === null ? new Optional() : new Optional(jsonValue(old) as Exclude<Value, Failure>);
