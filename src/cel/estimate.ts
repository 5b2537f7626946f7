import { itemsInStep, type Steps } from '../api/steps.js';
import type { Call, Comprehension, Expr, ListLiteral, MapLiteral, Select, StructLiteral } from './ast.js';
import type { Checked } from './checker.js';
import { codePoints } from './code-points.js';
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
import { emptyPath, extended, type Path, stepsOf } from './estimate-path.js';
import { anySize, exactly, plus, scaled, times, union } from './ranges.js';
import { dyn, type Type } from './types.js';

/** How large the value at a path from a variable can be (`self`, `items`, `@items`); undefined when nothing is known. */
export type SizeOf = (path: readonly string[]) => Range | undefined;

/**
 * What the evaluation of an expression may cost, as cel-go's checker and Kubernetes' estimates of functions say it.
 * Beyond 2^53 the numbers are inexact.
 */
export function estimate(checked: Checked, environment: Environment, sizeOf: SizeOf): Steps<Range> {
  return new Estimator(checked, environment, sizeOf).cost(checked.expr);
}

const nothing: Range = exactly(0);
const one: Range = exactly(1);
const listCost = exactly(listLiteralCost);
const mapCost = exactly(mapLiteralCost);
const structCost = exactly(messageCost);
/** Of a format's name and a URL, where they are compared. */
const largestFormat = 64;

/** Sizes of what is within a list or map. */
interface Entries {
  readonly of: 'list' | 'map';
  readonly key: Range;
  readonly value: Range;
}

interface Local {
  readonly path: Path;
  readonly size: Range | undefined;
  readonly entries: Entries | undefined;
}

interface CallEstimate {
  readonly cost: Range;
  readonly size?: Range | undefined;
}

const unionOfEntries = (one: Entries | undefined, other: Entries | undefined): Entries | undefined =>
  one && other && { of: one.of, key: union(one.key, other.key), value: union(one.value, other.value) };

class Estimator {
  readonly #checked: Checked;
  readonly #environment: Environment;
  readonly #sizeOfPath: SizeOf;
  readonly #paths = new Map<number, Path>();
  readonly #locals = new Map<string, Local[]>();
  readonly #sizes = new Map<number, Range>();
  readonly #entries = new Map<number, Entries>();
  #seen = 0;

  constructor(checked: Checked, environment: Environment, sizeOf: SizeOf) {
    this.#checked = checked;
    this.#environment = environment;
    this.#sizeOfPath = sizeOf;
  }

  *cost(expr: Expr): Steps<Range> {
    if (++this.#seen % itemsInStep === 0) yield;
    switch (expr.kind) {
      case 'literal':
        return nothing;
      case 'ident': {
        const local = this.#local(expr);
        this.#paths.set(expr.id, local?.path ?? { steps: [expr.name], length: 1, room: 1 });
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

  #typeOf({ id }: Expr): Type {
    return this.#checked.types.get(id) ?? dyn;
  }

  #local(expr: Expr): Local | undefined {
    return expr.kind === 'ident' ? this.#locals.get(expr.name)?.at(-1) : undefined;
  }

  #push(name: string, local: Local): void {
    const locals = this.#locals.get(name);
    if (locals === undefined) this.#locals.set(name, [local]);
    else locals.push(local);
  }

  #pop(name: string): void {
    this.#locals.get(name)?.pop();
  }

  #path(expr: Expr): Path {
    return this.#local(expr)?.path ?? this.#paths.get(expr.id) ?? emptyPath;
  }

  #sizeAt(path: readonly string[]): Range | undefined {
    return path.length === 0 ? undefined : this.#sizeOfPath(path);
  }

  #size(expr: Expr): Range | undefined {
    const known = this.#sizes.get(expr.id) ?? literalSize(expr);
    if (known !== undefined) return known;
    const limited = this.#sizeAt(stepsOf(this.#path(expr)));
    if (limited !== undefined) this.#sizes.set(expr.id, limited);
    return limited ?? (isScalar(this.#typeOf(expr)) ? one : this.#local(expr)?.size);
  }

  #sizeOrAny(expr: Expr): Range {
    return this.#size(expr) ?? anySize;
  }

  #setSize(expr: Expr, size: Range | undefined): void {
    if (size !== undefined) this.#sizes.set(expr.id, size);
  }

  #entriesOf(expr: Expr): Entries | undefined {
    return this.#entries.get(expr.id) ?? this.#local(expr)?.entries;
  }

  #setEntries(expr: Expr, entries: Entries | undefined): void {
    if (entries !== undefined) this.#entries.set(expr.id, entries);
  }

  *#select(expr: Select): Steps<Range> {
    const cost = yield* this.cost(expr.operand);
    if (expr.test) return cost;
    const { kind } = this.#typeOf(expr.operand);
    this.#paths.set(expr.id, extended(this.#path(expr.operand), expr.field));
    return kind === 'map' || kind === 'struct' || kind === 'parameter' ? plus(cost, one) : cost;
  }

  *#list(expr: ListLiteral): Steps<Range> {
    let cost = nothing;
    let value: Range | undefined;
    for (const element of expr.elements) {
      cost = plus(cost, yield* this.cost(element));
      value = widened(value, this.#sizeOrAny(element));
    }
    this.#setEntries(expr, { of: 'list', key: one, value: value ?? nothing });
    return plus(cost, listCost);
  }

  *#map(expr: MapLiteral): Steps<Range> {
    let cost = nothing;
    let keys: Range | undefined;
    let values: Range | undefined;
    for (const { key, value } of expr.entries) {
      cost = plus(plus(cost, yield* this.cost(key)), yield* this.cost(value));
      keys = widened(keys, this.#sizeOrAny(key));
      values = widened(values, this.#sizeOrAny(value));
    }
    this.#setEntries(expr, { of: 'map', key: keys ?? nothing, value: values ?? nothing });
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
    this.#push(expr.accumulator, {
      path: this.#path(start),
      size: this.#size(start),
      entries: this.#entriesOf(start),
    });
    const entries = this.#entriesOf(expr.range);
    const container = entries?.of ?? this.#typeOf(expr.range).kind;
    const bind = (name: string, what: 'key' | 'value'): void => {
      const step =
        container === 'list' ? (what === 'key' ? '@indices' : '@items') : what === 'key' ? '@keys' : '@values';
      const path = extended(this.#path(expr.range), step);
      this.#push(name, { path, size: entries?.[what], entries: undefined });
    };
    if (expr.second === undefined) bind(expr.variable, container === 'list' ? 'value' : 'key');
    else {
      bind(expr.variable, 'key');
      bind(expr.second, 'value');
    }
    const condition = yield* this.cost(expr.condition);
    const step = yield* this.cost(expr.step);
    this.#pop(expr.variable);
    if (expr.second !== undefined) this.#pop(expr.second);
    cost = plus(cost, yield* this.cost(expr.result));
    this.#pop(expr.accumulator);

    const size = this.#sizeOrAny(expr.range);
    if (start.kind === 'literal') this.#setSize(expr, this.#size(start));
    else if (start.kind === 'list' || start.kind === 'map') {
      this.#setSize(expr, size);
      this.#setEntries(expr, this.#entriesOf(expr.step));
    }
    return plus(cost, times(size, plus(step, condition)));
  }

  *#binding(expr: Comprehension): Steps<Range> {
    const { range, start, accumulator, result } = expr;
    const cost = plus(yield* this.cost(range), yield* this.cost(start));
    this.#push(accumulator, { path: this.#path(start), size: this.#size(start), entries: this.#entriesOf(start) });
    const whole = plus(cost, yield* this.cost(result));
    this.#pop(accumulator);
    this.#setSize(expr, this.#size(result));
    this.#setEntries(expr, this.#entriesOf(result));
    return whole;
  }

  *#call(expr: Call): Steps<Range> {
    const [first] = expr.args;
    if (expr.name === 'dyn' && first !== undefined) {
      const cost = yield* this.cost(first);
      this.#setSize(expr, this.#size(first));
      this.#setEntries(expr, this.#entriesOf(first));
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
        size = this.#entriesOf(first)?.value;
        this.#paths.set(expr.id, extended(this.#path(first), overload === 'index_list' ? '@items' : '@values'));
      }
      size ??= this.#size(expr);
    }
    this.#setSize(expr, size);
    return plus(targetCost, cost ?? nothing);
  }

  #node(expr: Expr): EstimatedNode {
    const path = this.#path(expr);
    const isKnown = path.length > 0 && path.steps[0] !== '@result' && path.steps[0] !== '__result__';
    const node = {
      size: this.#sizeOrAny(expr),
      literal: expr.kind === 'literal' ? expr.value : undefined,
      type: this.#typeOf(expr),
    };
    const items = isKnown ? this.#sizeAt([...stepsOf(path), '@items']) : undefined;
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
      this.#setEntries(expr, unionOfEntries(this.#entriesOf(chosen), this.#entriesOf(otherwise)));
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
      this.#setEntries(expr, unionOfEntries(this.#entriesOf(left), this.#entriesOf(right)));
    }
    const size = plus(leftNode?.size ?? anySize, rightNode?.size ?? anySize);
    return { cost: plus(id === 'add_list' ? one : scaled(size, perByte), all), size };
  }
}

const widened = (before: Range | undefined, range: Range): Range =>
  before === undefined ? range : union(before, range);

/** `cel.bind` and `optMap` are folds over nothing. */
const isBinding = ({ range, condition, accumulator }: Comprehension): boolean =>
  range.kind === 'list' &&
  range.elements.length === 0 &&
  condition.kind === 'literal' &&
  condition.value === false &&
  accumulator !== '__result__';

/** Of what is written out. */
function literalSize(expr: Expr): Range | undefined {
  switch (expr.kind) {
    case 'literal':
      if (typeof expr.value === 'string') return exactly(codePoints(expr.value));
      return expr.value instanceof Uint8Array ? exactly(expr.value.length) : one;
    case 'list':
      return exactly(expr.elements.length);
    case 'map':
      return exactly(expr.entries.length);
    default:
      return undefined;
  }
}

function isScalar(type: Type): boolean {
  switch (type.kind) {
    case 'bool':
    case 'double':
    case 'duration':
    case 'int':
    case 'timestamp':
    case 'uint':
      return true;
    case 'opaque': {
      const [within] = type.parameters;
      return type.name === 'optional_type' && within !== undefined && isScalar(within);
    }
    default:
      return false;
  }
}

/** Values of Kubernetes' own types that are known to be equal or not at one glance. */
const glanced: ReadonlySet<string> = new Set([
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
  if (glanced.has(left.type.name)) return { cost: one };
  const { name: type } = left.type;
  if (type === 'kubernetes.NamedFormat') return { cost: scaled({ min: 1, max: largestFormat }, perByte) };
  if (type !== 'kubernetes.URL') return undefined;
  const size = right.size.max === maxCost && right.size.min === 0 ? 1 : right.size.max;
  return { cost: scaled({ min: 1, max: size }, perByte) };
}
