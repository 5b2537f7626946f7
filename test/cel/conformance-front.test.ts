import { tests as checking } from '@bufbuild/cel-spec/testdata/checking.js';
import { tests as parsing } from '@bufbuild/cel-spec/testdata/parsing.js';
import type { SerializedIncrementalTest, SerializedIncrementalTestSuite } from '@bufbuild/cel-spec/testdata/tests.js';
import { expect, test } from 'vitest';
import { runSync } from '../../src/api/steps.js';
import type { Expr } from '../../src/cel/ast.js';
import type { Checked } from '../../src/cel/checker.js';
import { type Environment, environmentOf } from '../../src/cel/environment.js';
import type { FunctionDeclaration } from '../../src/cel/functions.js';
import { optionals } from '../../src/cel/library/optionals.js';
import { standard } from '../../src/cel/library/standard.js';
import { subexpressions } from '../../src/cel/subexpressions.js';
import { typeText } from '../../src/cel/type-text.js';
import {
  bool,
  bytes,
  double,
  dyn,
  int,
  listOf,
  mapOf,
  nullType,
  opaque,
  parameter,
  string,
  type Type,
  uint,
} from '../../src/cel/types.js';

/**
 * The expectations of cel-go's own tests of its parser and checker, as published with cel-spec. `comprehension.js` is
 * left out: its expectations are for an environment without the macros it is named after.
 */
const reasons: readonly (readonly [reason: string, applies: (test: SerializedIncrementalTest) => boolean])[] = [
  ['the container is always empty in Kubernetes', ({ original }) => (original['container'] ?? '') !== ''],
  [
    'Kubernetes has no protobuf messages, enums and wrappers',
    ({ original }) =>
      /messageType|wrapper/.test(JSON.stringify(original['typeEnv'] ?? [])) ||
      /google\.|TestAllTypes|pb2|fg_s|fi_s_s/.test(original.expr),
  ],
  [
    'limits are lower',
    ({ error = '' }) => /limit exceeded: (32|4)\n|limit exceeded: (32|4)$|max recursion/.test(error),
  ],
  ['names in backticks are refused', ({ error = '' }) => error.includes("unsupported syntax: '`'")],
  ['optionals are refused', ({ error = '' }) => /unsupported syntax '(\.\?|\[\?|\?)'/.test(error)],
  [
    'numbers of different types are not compared',
    ({ error = '' }) => /_[<>]=?_' applied to '\(int, double\)'/.test(error),
  ],
  [
    'Kubernetes refuses elements of different types',
    ({ original: { expr } }) =>
      ['[1, "A"]', '[1, 2u] + []', '{1:2u, 2u:3}', '{}.map(c,[c,type(c)])'].includes(expr) ||
      expr.startsWith('([[[1]], [[2]], [[3]]][0][0] + [2, 3, {'),
  ],
  ['existsOne takes two variables in Kubernetes', ({ original: { expr } }) => /existsOne\(\w+, \w+\)/.test(expr)],
];

type Json = Readonly<Record<string, unknown>>;
const known: ReadonlyMap<unknown, Type> = new Map([
  ['INT64', int],
  ['UINT64', uint],
  ['DOUBLE', double],
  ['STRING', string],
  ['BOOL', bool],
  ['BYTES', bytes],
]);

function typeFrom(given: Json): Type {
  const { primitive, listType, mapType, abstractType, typeParam } = given;
  if (primitive !== undefined) return known.get(primitive) ?? dyn;
  if (listType !== undefined) return listOf(typeFrom((listType as Json)['elemType'] as Json));
  if (mapType !== undefined) {
    const { keyType, valueType } = mapType as Record<string, Json>;
    return mapOf(typeFrom(keyType!), typeFrom(valueType!));
  }
  if (abstractType !== undefined) {
    const { name, parameterTypes } = abstractType as { name: string; parameterTypes: readonly Json[] };
    return opaque(name, ...parameterTypes.map(typeFrom));
  }
  return typeof typeParam === 'string' ? parameter(typeParam) : dyn;
}

function functionFrom(name: string, overloads: readonly Json[]): FunctionDeclaration {
  return {
    name,
    overloads: overloads.map((overload) => ({
      id: String(overload['overloadId']),
      member: overload['isInstanceFunction'] === true,
      parameters: (overload['params'] as readonly Json[]).map(typeFrom),
      result: typeFrom(overload['resultType'] as Json),
      evaluate: () => null,
    })),
  };
}

const variables = new Map<string, Type>([
  ['is', string],
  ['ii', int],
  ['iu', uint],
  ['iz', bool],
  ['id', double],
  ['ix', nullType],
  ['ib', bytes],
]);

function environmentFor({ original }: SerializedIncrementalTest): Environment {
  const declared = (original['typeEnv'] ?? []) as readonly Json[];
  const idents = declared.filter(({ ident }) => ident !== undefined);
  const functions = declared.filter((one) => one['function'] !== undefined);
  return environmentOf({
    variables: new Map([
      ...variables,
      ...idents.map(({ name, ident }) => [String(name), typeFrom((ident as Record<string, Json>)['type']!)] as const),
    ]),
    libraries: [
      standard,
      optionals,
      {
        functions: functions.map((one) => {
          const { overloads } = one['function'] as { overloads: readonly Json[] };
          return functionFrom(String(one['name']), overloads);
        }),
      },
    ],
  });
}

function said(one: SerializedIncrementalTest): string {
  const { checked, issues } = runSync(environmentFor(one).compile(one.original.expr));
  return issues === undefined ? typeText(checked.type) : issues.map(({ text }) => text).join('\n');
}

const all = (suite: SerializedIncrementalTestSuite): readonly SerializedIncrementalTest[] => [
  ...(suite.tests ?? []),
  ...(suite.suites ?? []).flatMap(all),
];

/**
 * Returns cel-go's annotations of each node, the inner ones first: its type, and the variable or the overloads it
 * refers to.
 */
function notesOf({ expr, types, references }: Checked): readonly string[] {
  const notes: string[] = [];
  const visit = (node: Expr): void => {
    for (const part of subexpressions(node)) visit(part);
    const { name, overloads } = references.get(node.id) ?? {};
    const reference = name ?? (overloads && [...overloads].sort().join('|'));
    notes.push(`~${typeText(types.get(node.id) ?? dyn)}${reference === undefined ? '' : `^${reference}`}`);
  };
  visit(expr);
  return notes;
}

/** Returns the notes that are not found in this order. */
function missingIn(noted: string, notes: readonly string[]): readonly string[] {
  let from = 0;
  return notes.filter((note) => {
    const at = noted.indexOf(note, from);
    if (at >= 0) from = at + note.length;
    return at < 0;
  });
}

/**
 * Whether a test has an expected result that can be checked here. A syntax tree alone only shows that the expression is
 * valid, and the variables it needs are not given.
 */
const isTold = ({ error, type }: SerializedIncrementalTest): boolean => error !== undefined || type !== undefined;
const expected = ({ error, type = '' }: SerializedIncrementalTest): string =>
  error?.replace(/^ERROR: :/gm, 'ERROR: <input>:') ?? type;

test.each([
  { name: 'parsing', suite: parsing, least: 150 },
  { name: 'checking', suite: checking, least: 67 },
])('cel-spec: $name', ({ suite, least }) => {
  const kept = all(suite).filter((one) => isTold(one) && !reasons.some(([, applies]) => applies(one)));
  expect(kept.length).toBeGreaterThanOrEqual(least);
  expect(kept.map((one) => [one.original.expr, said(one)])).toEqual(
    kept.map((one) => [one.original.expr, expected(one)]),
  );
});

test('cel-spec: types and overloads of all nodes', () => {
  const kept = all(checking).filter(
    (one) => one.checkedAst !== undefined && !reasons.some(([, applies]) => applies(one)),
  );
  expect(kept.length).toBeGreaterThanOrEqual(50);
  const missing = kept.flatMap((one) => {
    const { checked } = runSync(environmentFor(one).compile(one.original.expr));
    const missed = checked === undefined ? ['all'] : missingIn(one.checkedAst ?? '', notesOf(checked));
    return missed.length === 0 ? [] : [[one.original.expr, missed, one.checkedAst]];
  });
  expect(missing).toEqual([]);
});

test.each(reasons)('at least one case is excluded because %s', (_, applies) => {
  expect([parsing, checking].flatMap((suite) => all(suite)).some(applies)).toBe(true);
});
