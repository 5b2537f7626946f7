import { itemsPerStep, type Steps } from '../../api/steps.js';
import type { Call, Comprehension, Expr, ListLiteral, MapLiteral, Select, StructLiteral } from '../ast.js';
import type { Checked } from '../checker.js';
import { GrowingList, GrowingMap, listFrom } from '../collections.js';
import { listLiteralCost, mapLiteralCost, messageCost } from '../cost.js';
import type { Overload } from '../functions.js';
import { messageOf } from '../messages.js';
import { fullName } from '../qualified-names.js';
import { Failure, isList, type ListValue, Optional, TypeValue, type Value } from '../values.js';
import { type Attribute, addQualifier, invalidKey, path, resolve } from './attributes.js';
import { callStep } from './calls.js';
import { localStep, loop } from './folds.js';
import { Frame, ProgramFailed, type Step } from './frame.js';
import { type FieldSteps, listOfSteps, mapOfSteps, messageOfSteps } from './literals.js';
import { alternative, connective, equality, membership } from './logic.js';

/** The functions and types that an expression can refer to. */
export interface Names {
  overload(id: string): Overload | undefined;
  overloadsOf(name: string): readonly Overload[];
  hasType(name: string): boolean;
}

/** The plan of a part of an expression; paths stay open for further qualifiers. */
type Plan =
  | { readonly kind: 'constant'; readonly value: Value }
  | { readonly kind: 'path'; readonly attribute: Attribute }
  /** `has(...)` */
  | { readonly kind: 'test'; readonly attribute: Attribute }
  | { readonly kind: 'step'; readonly step: Step };

export function stepOf(plan: Plan): Step {
  switch (plan.kind) {
    case 'constant': {
      const { value } = plan;
      return () => value;
    }
    case 'path':
      return pathStep(plan.attribute);
    case 'test': {
      const { attribute } = plan;
      return (frame) => {
        const value = resolve(attribute, frame);
        return value instanceof Optional ? value.value !== undefined : value;
      };
    }
    case 'step':
      return plan.step;
  }
}

/** Returns the step of a path, which charges one unit for the root; a conditional charges nothing more. */
function pathStep(attribute: Attribute): Step {
  if (attribute.kind === 'choice') return (frame) => resolve(attribute, frame);
  const { root, qualifiers } = attribute;
  if (qualifiers.length === 0) {
    return (frame) => {
      const value = root(frame);
      frame.charge(1);
      return value;
    };
  }
  return (frame) => {
    const value = resolve(attribute, frame);
    frame.charge(1);
    return value;
  };
}

/**
 * The variables of folds visible to a part of an expression: their indexes, and the initial value of the accumulator.
 */
interface Scope {
  readonly name: string;
  readonly place: number;
  readonly start: Step | undefined;
  readonly outer: Scope | undefined;
}

const conversionNames: ReadonlySet<string> = new Set([
  'bool',
  'bytes',
  'double',
  'duration',
  'dyn',
  'int',
  'string',
  'timestamp',
  'type',
  'uint',
]);

/** Plans the parts of an expression as steps. Each instance plans one expression. */
export class Planner {
  readonly #checked: Checked;
  readonly #environment: Names;
  readonly #places = new Map<string, number>();
  #seen = 0;
  /** The number of indexes for variables of folds assigned so far. */
  locals = 0;

  constructor(checked: Checked, environment: Names) {
    this.#checked = checked;
    this.#environment = environment;
  }

  *plan(expr: Expr, scope: Scope | undefined): Steps<Plan> {
    if (++this.#seen % itemsPerStep === 0) yield;
    switch (expr.kind) {
      case 'literal':
        return { kind: 'constant', value: expr.value };
      case 'ident':
        return this.#name(expr.id, expr.name, scope);
      case 'select':
        return yield* this.#select(expr, scope);
      case 'call':
        return yield* this.#call(expr, scope);
      case 'list':
        return yield* this.#list(expr, scope);
      case 'map':
        return yield* this.#map(expr, scope);
      case 'comprehension':
        return { kind: 'step', step: yield* this.#fold(expr, scope) };
      case 'struct':
        return { kind: 'step', step: yield* this.#message(expr, scope) };
    }
  }

  *#step(expr: Expr, scope: Scope | undefined): Steps<Step> {
    return stepOf(yield* this.plan(expr, scope));
  }

  #name(id: number, written: string, scope: Scope | undefined): Plan {
    const reference = this.#checked.references.get(id);
    if (reference?.value !== undefined) return { kind: 'constant', value: reference.value };
    const type = this.#checked.types.get(id);
    const name = reference?.name ?? written;
    if (type?.kind === 'type') {
      // As in cel-go, a type is identified by its name, also where a macro uses it.
      if (!this.#environment.hasType(name)) throw new ProgramFailed(`reference to undefined type: ${name}`);
      return { kind: 'constant', value: new TypeValue(name) };
    }
    for (let next = scope; next !== undefined; next = next.outer) {
      if (next.name === name) return { kind: 'path', attribute: path(localStep(next.place, next.start)) };
    }
    const full = fullName(name);
    const place = this.#place(full);
    return {
      kind: 'path',
      attribute: path((frame) => {
        const value = frame.variable(full, place);
        return value === undefined ? new Failure(`no such attribute(s): ${full}`) : value;
      }),
    };
  }

  /** Returns the index at which a frame keeps a variable. */
  #place(name: string): number {
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    this.#places.set(name, this.#places.size);
    return this.#places.size - 1;
  }

  *#select(expr: Select, scope: Scope | undefined): Steps<Plan> {
    if (this.#checked.references.has(expr.id)) return this.#name(expr.id, expr.field, scope);
    const attribute = openPath(yield* this.plan(expr.operand, scope));
    addQualifier(attribute, { key: expr.field, keyStep: undefined, optional: false, test: expr.test });
    return { kind: expr.test ? 'test' : 'path', attribute };
  }

  *#plans(exprs: readonly Expr[], scope: Scope | undefined): Steps<readonly Plan[]> {
    const plans: Plan[] = [];
    for (const expr of exprs) plans.push(yield* this.plan(expr, scope));
    return plans;
  }

  *#call(expr: Call, scope: Scope | undefined): Steps<Plan> {
    const operands = expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    const plans = yield* this.#plans(operands, scope);
    switch (expr.name) {
      case '_?_:_':
        return choice(plans);
      case '_[_]':
        return index(plans, false);
      case '_[?_]':
      case '_?._':
        return index(plans, true);
    }
    const overloads = (this.#checked.references.get(expr.id)?.overloads ?? []).flatMap(
      (id) => this.#environment.overload(id) ?? [],
    );
    const steps = plans.map(stepOf);
    const [only, second] = plans;
    const [overload] = overloads;
    if (expr.name === '@in' && overload?.id === 'in_list' && overloads.length === 1 && isConstantList(second)) {
      if (second.value.size === 0) return { kind: 'constant', value: false };
      const step = membership(second.value, steps[0] as Step);
      if (step !== undefined) return { kind: 'step', step };
    }
    const pattern = second?.kind === 'constant' ? second.value : undefined;
    const step =
      operatorStep(expr.name, steps, overloads) ??
      callStep(expr.name, steps, overloads, this.#environment.overloadsOf(expr.name), pattern);
    if (plans.length === 1 && only?.kind === 'constant' && conversionNames.has(expr.name)) {
      const value = step(new Frame(() => undefined, Number.POSITIVE_INFINITY, 0));
      if (value instanceof Failure) throw new ProgramFailed(value.message);
      return { kind: 'constant', value };
    }
    return { kind: 'step', step };
  }

  *#list({ elements, optional }: ListLiteral, scope: Scope | undefined): Steps<Plan> {
    const plans = yield* this.#plans(elements, scope);
    if (optional.size === 0 && plans.every(isConstant)) {
      return { kind: 'constant', value: listFrom(plans.map(({ value }) => value)) };
    }
    const steps = plans.map(stepOf);
    return {
      kind: 'step',
      step: (frame) => {
        const value = listOfSteps(steps, optional, frame);
        frame.charge(listLiteralCost);
        return value;
      },
    };
  }

  *#map({ entries }: MapLiteral, scope: Scope | undefined): Steps<Plan> {
    const plans: { readonly key: Plan; readonly value: Plan; readonly optional: boolean }[] = [];
    for (const { key, value, optional } of entries) {
      plans.push({ key: yield* this.plan(key, scope), value: yield* this.plan(value, scope), optional });
    }
    const steps = plans.map(({ key, value, optional }) => ({ key: stepOf(key), value: stepOf(value), optional }));
    if (plans.every(({ key, value, optional }) => !optional && isConstant(key) && isConstant(value))) {
      return { kind: 'constant', value: mapOfSteps(steps, new Frame(() => undefined, Number.POSITIVE_INFINITY, 0)) };
    }
    return {
      kind: 'step',
      step: (frame) => {
        const value = mapOfSteps(steps, frame);
        frame.charge(mapLiteralCost);
        return value;
      },
    };
  }

  *#message(expr: StructLiteral, scope: Scope | undefined): Steps<Step> {
    const message = messageOf(this.#checked.types.get(expr.id));
    if (message === undefined) throw new ProgramFailed(`unknown type: ${expr.name}`);
    const fields: FieldSteps[] = [];
    for (const { name, value, optional } of expr.fields) {
      fields.push({ name, value: yield* this.#step(value, scope), optional });
    }
    return (frame) => {
      const value = messageOfSteps(message, fields, frame);
      frame.charge(messageCost);
      return value;
    };
  }

  *#fold(expr: Comprehension, scope: Scope | undefined): Steps<Step> {
    const range = yield* this.#step(expr.range, scope);
    const start = yield* this.#step(expr.start, scope);
    const sumPlace = this.locals++;
    const firstPlace = this.locals++;
    const secondPlace = expr.second === undefined ? undefined : this.locals++;
    const beginning: Step = (frame) => {
      const value = start(frame);
      if (typeof value !== 'object' || value === null || !('kind' in value)) return value;
      if (value.kind === 'list') return value.size === 0 ? new GrowingList() : value;
      return value.kind === 'map' && value.size === 0 ? new GrowingMap() : value;
    };
    const inner = (name: string, place: number, outer: Scope | undefined): Scope => ({
      name,
      place,
      start: undefined,
      outer,
    });
    const withSum = (outer: Scope | undefined): Scope => ({
      name: expr.accumulator,
      place: sumPlace,
      start: beginning,
      outer,
    });
    const outside =
      expr.second === undefined || secondPlace === undefined ? scope : inner(expr.second, secondPlace, scope);
    const around = inner(expr.variable, firstPlace, outside);
    const condition = yield* this.#step(expr.condition, withSum(around));
    const step = yield* this.#step(expr.step, withSum(around));
    const result = yield* this.#step(expr.result, withSum(scope));
    const runLoop = loop(condition, step, sumPlace, firstPlace, secondPlace);
    return (frame) => {
      const values = range(frame);
      if (values instanceof Failure) return values;
      const { locals } = frame;
      locals[sumPlace] = undefined;
      const wrong = runLoop(frame, values);
      if (wrong !== undefined) return wrong;
      const value = result(frame);
      return value instanceof GrowingList || value instanceof GrowingMap ? value.finished() : value;
    };
  }
}

/** Plans the operators with an evaluation of their own; returns undefined for others. */
function operatorStep(name: string, steps: readonly Step[], overloads: readonly Overload[]): Step | undefined {
  const [first, second] = steps as [Step, Step];
  switch (name) {
    case '_&&_':
      return connective(steps, false);
    case '_||_':
      return connective(steps, true);
    case '_==_':
      return equality(first, second, true);
    case '_!=_':
      return equality(first, second, false);
    case '@not_strictly_false':
      return (frame) => {
        const value = first(frame);
        frame.charge(1);
        return typeof value === 'boolean' ? value : true;
      };
    case 'or':
    case 'orValue':
      return overloads[0]?.id.startsWith('optional_or') === true
        ? alternative(first, second, name === 'orValue')
        : undefined;
    default:
      return undefined;
  }
}

const isConstantList = (plan: Plan | undefined): plan is { readonly kind: 'constant'; readonly value: ListValue } =>
  plan?.kind === 'constant' && isList(plan.value);

const isConstant = (plan: Plan): plan is Plan & { readonly kind: 'constant' } => plan.kind === 'constant';

/** Returns the open path of a plan, or a new one with the value as its root. */
function openPath(plan: Plan): Attribute {
  return plan.kind === 'path' || plan.kind === 'test' ? plan.attribute : path(stepOf(plan));
}

function choice(plans: readonly Plan[]): Plan {
  const [condition, truthy, falsy] = plans as [Plan, Plan, Plan];
  return {
    kind: 'path',
    attribute: { kind: 'choice', condition: stepOf(condition), truthy: openPath(truthy), falsy: openPath(falsy) },
  };
}

function index(plans: readonly Plan[], optional: boolean): Plan {
  const [operand, key] = plans as [Plan, Plan];
  const attribute = openPath(operand);
  if (key.kind === 'constant') {
    const { value } = key;
    const wrong = invalidKey(value);
    if (wrong !== undefined) throw new ProgramFailed(wrong.message);
    addQualifier(attribute, { key: value, keyStep: undefined, optional, test: false });
    return { kind: 'path', attribute };
  }
  // A path used as a key costs one unit less, because its root is not charged.
  const keyAttribute = key.kind === 'path' || key.kind === 'test' ? key.attribute : undefined;
  const keyStep: Step = keyAttribute === undefined ? stepOf(key) : (frame) => resolve(keyAttribute, frame);
  addQualifier(attribute, { key: null, keyStep, optional, test: false });
  return { kind: 'path', attribute };
}
