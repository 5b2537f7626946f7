import { itemsPerStep, type Steps } from '../api/steps.js';
import type { Call, Comprehension, Expr, ListLiteral, MapLiteral, Select, StructLiteral } from './ast.js';
import type { Checked } from './checker.js';
import {
  type EstimatedNode,
  listLiteralCost,
  mapLiteralCost,
  maxCost,
  messageCost,
  perByte,
  type Range,
} from './cost.js';
import type { Environment } from './environment.js';
import { appended, pathSteps } from './estimate-path.js';
import { SizeEstimates, type SizeOf, unionOfEntries } from './estimate-sizes.js';
import { anySize, exactly, plus, scaled, times, union } from './ranges.js';

/**
 * Estimates the cost of an expression as cel-go's checker and Kubernetes' function estimates do. Beyond 2^53 the
 * numbers are inexact.
 */
export function estimate(checked: Checked, environment: Environment, sizeOf: SizeOf): Steps<Range> {
  return new Estimator(checked, environment, sizeOf).cost(checked.expr);
}

const nothing: Range = exactly(0);
const one: Range = exactly(1);
const listCost = exactly(listLiteralCost);
const mapCost = exactly(mapLiteralCost);
const structCost = exactly(messageCost);
/** The assumed size of a named format in comparisons. */
const largestFormat = 64;

interface CallEstimate {
  readonly cost: Range;
  readonly size?: Range | undefined;
}

class Estimator {
  readonly #checked: Checked;
  readonly #environment: Environment;
  readonly #sizes: SizeEstimates;
  #seen = 0;

  constructor(checked: Checked, environment: Environment, sizeOf: SizeOf) {
    this.#checked = checked;
    this.#environment = environment;
    this.#sizes = new SizeEstimates(checked, sizeOf);
  }

  *cost(expr: Expr): Steps<Range> {
    if (++this.#seen % itemsPerStep === 0) yield;
    switch (expr.kind) {
      case 'literal':
        return nothing;
      case 'ident': {
        const local = this.#sizes.local(expr);
        this.#sizes.setPath(expr, local?.path ?? { steps: [expr.name], length: 1, room: 1 });
        return one;
      }
      case 'select':
        return yield* this.#select(expr);
      case 'call':
        return yield* this.#call(expr);
      case 'list':
        return yield* this.#list(expr);
      case 'map':
        return yield* this.#map(expr);
      case 'struct':
        return yield* this.#struct(expr);
      case 'comprehension':
        return yield* isBinding(expr) ? this.#binding(expr) : this.#comprehension(expr);
    }
  }

  *#select(expr: Select): Steps<Range> {
    const cost = yield* this.cost(expr.operand);
    if (expr.test) return cost;
    const { kind } = this.#sizes.typeOf(expr.operand);
    this.#sizes.setPath(expr, appended(this.#sizes.path(expr.operand), expr.field));
    return kind === 'map' || kind === 'struct' || kind === 'parameter' ? plus(cost, one) : cost;
  }

  *#list(expr: ListLiteral): Steps<Range> {
    let cost = nothing;
    let value: Range | undefined;
    for (const element of expr.elements) {
      cost = plus(cost, yield* this.cost(element));
      value = widened(value, this.#sizes.sizeOrAny(element));
    }
    this.#sizes.setEntries(expr, { of: 'list', key: one, value: value ?? nothing });
    return plus(cost, listCost);
  }

  *#map(expr: MapLiteral): Steps<Range> {
    let cost = nothing;
    let keys: Range | undefined;
    let values: Range | undefined;
    for (const { key, value } of expr.entries) {
      cost = plus(plus(cost, yield* this.cost(key)), yield* this.cost(value));
      keys = widened(keys, this.#sizes.sizeOrAny(key));
      values = widened(values, this.#sizes.sizeOrAny(value));
    }
    this.#sizes.setEntries(expr, { of: 'map', key: keys ?? nothing, value: values ?? nothing });
    return plus(cost, mapCost);
  }

  *#struct(expr: StructLiteral): Steps<Range> {
    let cost = structCost;
    for (const { value } of expr.fields) cost = plus(cost, yield* this.cost(value));
    return cost;
  }

  *#comprehension(expr: Comprehension): Steps<Range> {
    let cost = plus(yield* this.cost(expr.range), yield* this.cost(expr.start));
    const { start } = expr;
    this.#sizes.push(expr.accumulator, {
      path: this.#sizes.path(start),
      size: this.#sizes.size(start),
      entries: this.#sizes.entriesOf(start),
    });
    const entries = this.#sizes.entriesOf(expr.range);
    const container = entries?.of ?? this.#sizes.typeOf(expr.range).kind;
    const bind = (name: string, role: 'key' | 'value'): void => {
      const step =
        container === 'list' ? (role === 'key' ? '@indices' : '@items') : role === 'key' ? '@keys' : '@values';
      const path = appended(this.#sizes.path(expr.range), step);
      this.#sizes.push(name, { path, size: entries?.[role], entries: undefined });
    };
    if (expr.second === undefined) bind(expr.variable, container === 'list' ? 'value' : 'key');
    else {
      bind(expr.variable, 'key');
      bind(expr.second, 'value');
    }
    const condition = yield* this.cost(expr.condition);
    const step = yield* this.cost(expr.step);
    this.#sizes.pop(expr.variable);
    if (expr.second !== undefined) this.#sizes.pop(expr.second);
    cost = plus(cost, yield* this.cost(expr.result));
    this.#sizes.pop(expr.accumulator);

    const size = this.#sizes.sizeOrAny(expr.range);
    if (start.kind === 'literal') this.#sizes.setSize(expr, this.#sizes.size(start));
    else if (start.kind === 'list' || start.kind === 'map') {
      this.#sizes.setSize(expr, size);
      this.#sizes.setEntries(expr, this.#sizes.entriesOf(expr.step));
    }
    return plus(cost, times(size, plus(step, condition)));
  }

  *#binding(expr: Comprehension): Steps<Range> {
    const { range, start, accumulator, result } = expr;
    const cost = plus(yield* this.cost(range), yield* this.cost(start));
    this.#sizes.push(accumulator, {
      path: this.#sizes.path(start),
      size: this.#sizes.size(start),
      entries: this.#sizes.entriesOf(start),
    });
    const total = plus(cost, yield* this.cost(result));
    this.#sizes.pop(accumulator);
    this.#sizes.setSize(expr, this.#sizes.size(result));
    this.#sizes.setEntries(expr, this.#sizes.entriesOf(result));
    return total;
  }

  *#call(expr: Call): Steps<Range> {
    const [first] = expr.args;
    if (expr.name === 'dyn' && first !== undefined) {
      const cost = yield* this.cost(first);
      this.#sizes.setSize(expr, this.#sizes.size(first));
      this.#sizes.setEntries(expr, this.#sizes.entriesOf(first));
      return plus(one, cost);
    }
    const costs: Range[] = [];
    const args: EstimatedNode[] = [];
    for (const arg of expr.args) {
      costs.push(yield* this.cost(arg));
      args.push(this.#node(arg));
    }
    const overloads = this.#checked.references.get(expr.id)?.overloads ?? [];
    if (overloads.length === 0) return nothing;
    const targetCost = expr.target === undefined ? nothing : yield* this.cost(expr.target);
    const target = expr.target === undefined ? undefined : this.#node(expr.target);
    let cost: Range | undefined;
    let size: Range | undefined;
    for (const overload of overloads) {
      const estimated = this.#overload(expr, overload, target, args, costs);
      cost = widened(cost, estimated.cost);
      if (estimated.size !== undefined) size = widened(size, estimated.size);
      if (first !== undefined && (overload === 'index_list' || overload === 'index_map')) {
        size = this.#sizes.entriesOf(first)?.value;
        this.#sizes.setPath(expr, appended(this.#sizes.path(first), overload === 'index_list' ? '@items' : '@values'));
      }
      size ??= this.#sizes.size(expr);
    }
    this.#sizes.setSize(expr, size);
    return plus(targetCost, cost ?? nothing);
  }

  #node(expr: Expr): EstimatedNode {
    const path = this.#sizes.path(expr);
    const isKnown = path.length > 0 && path.steps[0] !== '@result' && path.steps[0] !== '__result__';
    const node = {
      size: this.#sizes.sizeOrAny(expr),
      literal: expr.kind === 'literal' ? expr.value : undefined,
      type: this.#sizes.typeOf(expr),
    };
    const items = isKnown ? this.#sizes.sizeAt([...pathSteps(path), '@items']) : undefined;
    return items === undefined ? node : { ...node, itemSize: items };
  }

  #overload(
    expr: Call,
    id: string,
    target: EstimatedNode | undefined,
    args: readonly EstimatedNode[],
    costs: readonly Range[],
  ): CallEstimate {
    const all = costs.reduce(plus, nothing);
    switch (id) {
      case 'logical_and':
      case 'logical_or': {
        const [left = nothing, right = nothing] = costs;
        return { cost: { min: left.min, max: plus(left, right).max } };
      }
      case 'conditional':
        return this.#conditional(expr, args, costs);
      case 'add_string':
      case 'add_bytes':
      case 'add_list':
        return this.#sum(expr, id, args, all);
      default: {
        const estimated = equality(expr.name, args) ?? this.#environment.overload(id)?.estimate?.(target, args);
        return { cost: plus(estimated?.cost ?? one, all), size: estimated?.resultSize };
      }
    }
  }

  #conditional(expr: Call, args: readonly EstimatedNode[], costs: readonly Range[]): CallEstimate {
    const [, chosen, otherwise] = expr.args;
    const [, chosenNode, otherwiseNode] = args;
    if (chosen !== undefined && otherwise !== undefined) {
      this.#sizes.setEntries(expr, unionOfEntries(this.#sizes.entriesOf(chosen), this.#sizes.entriesOf(otherwise)));
    }
    const [condition = nothing, chosenCost = nothing, otherwiseCost = nothing] = costs;
    return {
      cost: plus(condition, union(chosenCost, otherwiseCost)),
      size: union(chosenNode?.size ?? anySize, otherwiseNode?.size ?? anySize),
    };
  }

  #sum(expr: Call, id: string, args: readonly EstimatedNode[], all: Range): CallEstimate {
    const [left, right] = expr.args;
    const [leftNode, rightNode] = args;
    if (left !== undefined && right !== undefined) {
      this.#sizes.setEntries(expr, unionOfEntries(this.#sizes.entriesOf(left), this.#sizes.entriesOf(right)));
    }
    const size = plus(leftNode?.size ?? anySize, rightNode?.size ?? anySize);
    return { cost: plus(id === 'add_list' ? one : scaled(size, perByte), all), size };
  }
}

const widened = (before: Range | undefined, range: Range): Range =>
  before === undefined ? range : union(before, range);

/** Whether the fold is the expansion of `cel.bind` or `optMap`, which iterates over nothing. */
const isBinding = ({ range, condition, accumulator }: Comprehension): boolean =>
  range.kind === 'list' &&
  range.elements.length === 0 &&
  condition.kind === 'literal' &&
  condition.value === false &&
  accumulator !== '__result__';

/** Kubernetes types whose values are compared at a fixed cost. */
const fixedCostTypes: ReadonlySet<string> = new Set([
  'net.IP',
  'net.CIDR',
  'kubernetes.Quantity',
  'kubernetes.Semver',
  'kubernetes.authorization.Authorizer',
  'kubernetes.authorization.PathCheck',
  'kubernetes.authorization.GroupCheck',
  'kubernetes.authorization.ResourceCheck',
  'kubernetes.authorization.Decision',
]);

function equality(
  name: string,
  [left, right]: readonly EstimatedNode[],
): { readonly cost: Range; readonly resultSize?: Range } | undefined {
  if (name !== '_==_' || left?.type.kind !== 'opaque' || right?.type.kind !== 'opaque') return undefined;
  if (left.type.name !== right.type.name) return undefined;
  if (fixedCostTypes.has(left.type.name)) return { cost: one };
  const { name: type } = left.type;
  if (type === 'kubernetes.NamedFormat') return { cost: scaled({ min: 1, max: largestFormat }, perByte) };
  if (type !== 'kubernetes.URL') return undefined;
  const size = right.size.max === maxCost && right.size.min === 0 ? 1 : right.size.max;
  return { cost: scaled({ min: 1, max: size }, perByte) };
}
