import type { Comprehension, Expr } from './ast.js';
import type { Macro, MacroCall } from './tree-builder.js';

/** The name of the accumulator of folds, which no expression can contain. */
const accumulator = '@result';
/** Whether the name is reserved for accumulators, so that variables of folds may not have it. */
const isAccumulator = (name: string): boolean => name === accumulator || name === '__result__';
const unused = '#unused';

class MacroError {
  readonly refused: string;
  readonly at: number;
  constructor(refused: string, at: number) {
    this.refused = refused;
    this.at = at;
  }
}

type Fold = Pick<Comprehension, 'range' | 'variable' | 'second' | 'start' | 'condition' | 'step' | 'result'> & {
  readonly accumulator?: string;
};

/** Returns builders for the nodes of an expanded macro, all at the position of the call. */
function nodesOf({ builder, at }: MacroCall) {
  const call = (name: string, ...args: readonly Expr[]): Expr => builder.call(at, name, undefined, args);
  return {
    call,
    memberCall: (name: string, target: Expr): Expr => builder.call(at, name, target, []),
    literal: (value: boolean | bigint): Expr => builder.literal(at, value),
    ident: (name: string): Expr => builder.ident(at, name),
    list: (...elements: readonly Expr[]): Expr => builder.list(at, elements),
    map: (): Expr => builder.map(at, []),
    accumulated: (): Expr => builder.ident(at, accumulator),
    /** Returns `step` if the condition holds; otherwise the accumulator stays unchanged. */
    stepIf: (condition: Expr | undefined, step: Expr): Expr =>
      condition === undefined ? step : call('_?_:_', condition, step, builder.ident(at, accumulator)),
    fold: (parts: Fold): Expr => ({ kind: 'comprehension', id: builder.id(), at, accumulator, ...parts }),
  };
}

type Quantifier = (call: MacroCall, predicate: Expr) => Pick<Fold, 'start' | 'condition' | 'step' | 'result'>;

const everyOne: Quantifier = (macro, predicate) => {
  const { literal, call, accumulated } = nodesOf(macro);
  return {
    start: literal(true),
    condition: call('@not_strictly_false', accumulated()),
    step: call('_&&_', accumulated(), predicate),
    result: accumulated(),
  };
};

const anyOne: Quantifier = (macro, predicate) => {
  const { literal, call, accumulated } = nodesOf(macro);
  return {
    start: literal(false),
    condition: call('@not_strictly_false', call('!_', accumulated())),
    step: call('_||_', accumulated(), predicate),
    result: accumulated(),
  };
};

const onlyOne: Quantifier = (macro, predicate) => {
  const { literal, call, accumulated, stepIf } = nodesOf(macro);
  return {
    start: literal(0n),
    condition: literal(true),
    step: stepIf(predicate, call('_+_', accumulated(), literal(1n))),
    result: call('_==_', accumulated(), literal(1n)),
  };
};

const overwrites = 'iteration variable overwrites accumulator variable';

/** Returns the name of one variable, or the error if the expression is no simple name. */
function variableOf(expr: Expr, complaint: string): string | MacroError {
  if (expr.kind !== 'ident') return new MacroError(complaint, expr.at);
  return isAccumulator(expr.name) ? new MacroError(overwrites, expr.at) : expr.name;
}

/** Returns the names of two variables, or the error if an expression is no simple name. */
function variablesOf(first: Expr, second: Expr): readonly [string, string] | MacroError {
  const complaint = 'argument must be a simple name';
  if (first.kind !== 'ident') return new MacroError(complaint, first.at);
  if (second.kind !== 'ident') return new MacroError(complaint, second.at);
  if (first.name === second.name) return new MacroError(`duplicate variable name: ${first.name}`, second.at);
  if (isAccumulator(first.name)) return new MacroError(overwrites, first.at);
  if (isAccumulator(second.name)) return new MacroError(overwrites, second.at);
  return [first.name, second.name];
}

const quantifier = (name: string, parts: Quantifier): Macro => ({
  name,
  args: 2,
  member: true,
  expand: (macro) => {
    const variable = variableOf(macro.args[0]!, 'argument must be a simple name');
    if (variable instanceof MacroError) return variable;
    const range = macro.target!;
    return nodesOf(macro).fold({ range, variable, second: undefined, ...parts(macro, macro.args[1]!) });
  },
});

const quantifierOfTwo = (name: string, parts: Quantifier): Macro => ({
  name,
  args: 3,
  member: true,
  expand: (macro) => {
    const variables = variablesOf(macro.args[0]!, macro.args[1]!);
    if (variables instanceof MacroError) return variables;
    const [variable, second] = variables;
    return nodesOf(macro).fold({ range: macro.target!, variable, second, ...parts(macro, macro.args[2]!) });
  },
});

/** Declares a macro that makes a list from each item, or from each item that meets the predicate. */
const collecting = (
  name: string,
  args: 2 | 3,
  parts: (args: readonly [Expr, Expr, Expr]) => { readonly element: Expr; readonly predicate?: Expr },
): Macro => ({
  name,
  args,
  member: true,
  expand: (macro) => {
    const variable = variableOf(macro.args[0]!, 'argument is not an identifier');
    if (variable instanceof MacroError) return variable;
    const { fold, list, literal, call, accumulated, stepIf } = nodesOf(macro);
    const { element, predicate } = parts(macro.args as readonly [Expr, Expr, Expr]);
    return fold({
      range: macro.target!,
      variable,
      second: undefined,
      start: list(),
      condition: literal(true),
      step: stepIf(predicate, call('_+_', accumulated(), list(element))),
      result: accumulated(),
    });
  },
});

const mapping = collecting('map', 2, ([, element]) => ({ element }));
const mappingSome = collecting('map', 3, ([, predicate, element]) => ({ element, predicate }));
const filtering = collecting('filter', 2, ([element, predicate]) => ({ element, predicate }));

const presence: Macro = {
  name: 'has',
  args: 1,
  member: false,
  expand: ({ builder, at, args: [operand] }) =>
    operand?.kind === 'select'
      ? builder.select(at, operand.operand, operand.field, true)
      : new MacroError('invalid argument to has() macro', operand!.at),
};

type Transformation = (macro: MacroCall, key: string, transformed: Expr) => Pick<Fold, 'start' | 'step'>;

const intoList: Transformation = (macro, _key, transformed) => {
  const { list, call, accumulated } = nodesOf(macro);
  return { start: list(), step: call('_+_', accumulated(), list(transformed)) };
};

const intoMap: Transformation = (macro, key, transformed) => {
  const { map, ident, call, accumulated } = nodesOf(macro);
  return { start: map(), step: call('cel.@mapInsert', accumulated(), ident(key), transformed) };
};

const intoEntries: Transformation = (macro, _key, transformed) => {
  const { map, call, accumulated } = nodesOf(macro);
  return { start: map(), step: call('cel.@mapInsert', accumulated(), transformed) };
};

const transforming = (name: string, args: 3 | 4, into: Transformation): Macro => ({
  name,
  args,
  member: true,
  expand: (macro) => {
    const variables = variablesOf(macro.args[0]!, macro.args[1]!);
    if (variables instanceof MacroError) return variables;
    const { fold, literal, stepIf, accumulated } = nodesOf(macro);
    const [variable, second] = variables;
    const { start, step } = into(macro, variable, macro.args[args - 1]!);
    return fold({
      range: macro.target!,
      variable,
      second,
      start,
      condition: literal(true),
      step: stepIf(args === 4 ? macro.args[2] : undefined, step),
      result: accumulated(),
    });
  },
});

/** Binds a name to a value by a fold over nothing, as the fold's accumulator. */
const binding = (macro: MacroCall, name: string, value: Expr, result: Expr): Expr => {
  const { fold, list, literal, ident } = nodesOf(macro);
  return fold({
    range: list(),
    variable: unused,
    second: undefined,
    accumulator: name,
    start: value,
    condition: literal(false),
    step: ident(name),
    result,
  });
};

const ofOptional = (name: string, wrap: boolean): Macro => ({
  name,
  args: 2,
  member: true,
  copiesTarget: true,
  expand: (macro) => {
    const [variable, mapped] = macro.args as readonly [Expr, Expr];
    if (variable.kind !== 'ident')
      return new MacroError(`${name}() variable name must be a simple identifier`, variable.at);
    const { call, memberCall } = nodesOf(macro);
    const bound = binding(macro, variable.name, memberCall('value', macro.copied!), mapped);
    const found = wrap ? call('optional.of', bound) : bound;
    return call('_?_:_', memberCall('hasValue', macro.target!), found, call('optional.none'));
  },
});

const bind: Macro = {
  name: 'bind',
  args: 3,
  member: true,
  expand: (macro) => {
    if (macro.target?.kind !== 'ident' || macro.target.name !== 'cel') return undefined;
    const [variable, value, result] = macro.args as readonly [Expr, Expr, Expr];
    if (variable.kind !== 'ident') {
      return new MacroError('cel.bind() variable names must be simple identifiers', variable.at);
    }
    return binding(macro, variable.name, value, result);
  },
};

const sorted = '@__sortBy_input__';
const sortable: ReadonlySet<Expr['kind']> = new Set(['list', 'select', 'ident', 'comprehension', 'call']);

/** The macro `sortBy`: sorts a list by a key computed from each element. */
const sorting: Macro = {
  name: 'sortBy',
  args: 2,
  member: true,
  expand: (macro) => {
    const target = macro.target!;
    if (!sortable.has(target.kind)) {
      const takes = 'a list, identifier, comprehension, call or select expression';
      return new MacroError(`sortBy can only be applied to ${takes}`, target.at);
    }
    const { ident } = nodesOf(macro);
    const keys = mapping.expand({ ...macro, target: ident(sorted) });
    if (keys === undefined || 'refused' in keys) return keys;
    const ordered = macro.builder.call(macro.at, '@sortByAssociatedKeys', ident(sorted), [keys]);
    return binding(macro, sorted, target, ordered);
  },
};

/** The macros of the language itself. */
export const standardMacros: readonly Macro[] = [
  presence,
  quantifier('all', everyOne),
  quantifier('exists', anyOne),
  quantifier('exists_one', onlyOne),
  mapping,
  mappingSome,
  filtering,
];

/** The macros with one variable for the index or key and one for the value. */
export const twoVariableMacros: readonly Macro[] = [
  quantifierOfTwo('all', everyOne),
  quantifierOfTwo('exists', anyOne),
  quantifierOfTwo('existsOne', onlyOne),
  quantifierOfTwo('exists_one', onlyOne),
  transforming('transformList', 3, intoList),
  transforming('transformList', 4, intoList),
  transforming('transformMap', 3, intoMap),
  transforming('transformMap', 4, intoMap),
  transforming('transformMapEntry', 3, intoEntries),
  transforming('transformMapEntry', 4, intoEntries),
];

/** The macros `optMap` and `optFlatMap`. */
export const optionalMacros: readonly Macro[] = [ofOptional('optMap', true), ofOptional('optFlatMap', false)];

/** The macro `sortBy` of the extension for lists. */
export const listMacros: readonly Macro[] = [sorting];

/** The macro `cel.bind(name, value, result)`. */
export const bindMacros: readonly Macro[] = [bind];
