import { tests } from '@bufbuild/cel-spec/testdata/conformance.js';
import { expect, test } from 'vitest';
import { runSync } from '../../src/api/steps.js';
import { listFrom, mapFrom } from '../../src/cel/collections.js';
import { environmentOf } from '../../src/cel/environment.js';
import { equal } from '../../src/cel/equality.js';
import { ProgramFailed, program } from '../../src/cel/evaluator.js';
import { lists } from '../../src/cel/library/lists.js';
import { mapInsert } from '../../src/cel/library/map-insert.js';
import { optionals } from '../../src/cel/library/optionals.js';
import { standard } from '../../src/cel/library/standard.js';
import { strings } from '../../src/cel/library/strings.js';
import {
  bool,
  bytes,
  double,
  duration,
  dyn,
  int,
  listOf,
  mapOf,
  nullType,
  opaque,
  string,
  type Type,
  timestamp,
  uint,
} from '../../src/cel/types.js';
import { Failure, TypeValue, Uint, type Value } from '../../src/cel/values.js';

/**
 * The conformance tests of cel-spec, except those for features that expressions in Kubernetes do not have. An
 * expression that a test evaluates unchecked may be rejected by the checker instead.
 */

/** Suites, and sections of suites, that are left out. */
const leftOutSections: Readonly<Record<string, string>> = {
  block_ext: 'cel.block is not among the macros',
  encoders_ext: 'base64 is not among the libraries',
  math_ext: 'math is not among the libraries',
  enums: 'protobuf enums',
  proto2: 'protobuf messages',
  proto2_ext: 'protobuf messages',
  proto3: 'protobuf messages',
  wrappers: 'protobuf messages',
  dynamic: 'protobuf messages',
  namespace: 'names are looked up in no namespace',
  'type_deductions/wrappers': 'protobuf messages',
  'comparisons/eq_wrapper': 'protobuf messages',
};

const oneType = 'elements, keys and values of literals are of one type in Kubernetes';
const presence = 'cel-go takes values without fields for empty ones unless told otherwise';
const olderFormat = 'version 2 of the library formats so';
const ownFunctions = 'functions that only the test knows';
/** Tests that are left out. */
const leftOut: Readonly<Record<string, string>> = {
  'fields/quoted_map_fields/field_access_dash': oneType,
  'fields/quoted_map_fields/has_field_dash': oneType,
  'comparisons/eq_literal/not_eq_list_null': oneType,
  'comparisons/eq_literal/eq_list_mixed_type_numbers': oneType,
  'comparisons/eq_literal/not_eq_list_mixed_type_numbers': oneType,
  'comparisons/eq_literal/not_eq_list_false_vs_types': oneType,
  'comparisons/eq_literal/not_eq_map_null': oneType,
  'comparisons/eq_literal/eq_map_mixed_type_numbers': oneType,
  'comparisons/eq_literal/not_eq_map_false_vs_types': oneType,
  'comparisons/eq_literal/eq_map_value_mixed_types': oneType,
  'comparisons/eq_literal/not_eq_list_elem_null': oneType,
  'comparisons/eq_literal/not_eq_map_value_null': oneType,
  'comparisons/in_list_literal/elem_in_mixed_type_list': oneType,
  'comparisons/in_list_literal/elem_in_mixed_type_list_cross_type': oneType,
  'comparisons/in_map_literal/key_in_mixed_key_type_map': oneType,
  'comparisons/in_map_literal/key_in_mixed_key_type_map_cross_type': oneType,
  'conversions/dyn/dyn_heterogeneous_list': oneType,
  'fields/map_fields/map_key_int64': oneType,
  'fields/map_fields/map_key_uint64': oneType,
  'fields/map_fields/map_key_mixed_type': oneType,
  'fields/map_fields/map_key_mixed_numbers_double_key': oneType,
  'fields/map_fields/map_key_mixed_numbers_uint_key': oneType,
  'fields/map_fields/map_key_mixed_numbers_int_key': oneType,
  'fields/map_fields/map_bad_key_type_or_true': 'a constant that cannot be a key fails before the evaluation',
  'fields/map_fields/map_bad_key_type_and_false': 'a constant that cannot be a key fails before the evaluation',
  'fields/map_fields/map_value_mix_type': oneType,
  'fields/qualified_identifier_resolution/map_value_repeat_key': 'cel-go lets the last entry of a key count',
  'fields/in/mixed_numbers_and_keys_present': oneType,
  'fields/in/mixed_numbers_and_keys_absent': oneType,
  'macros/exists/list_elem_type_shortcircuit': oneType,
  'macros/exists/list_elem_type_exhaustive': oneType,
  'macros/exists/map_key_type_shortcircuit': oneType,
  'macros/exists/map_key_type_exhaustive': oneType,
  'macros/all/list_elem_type_shortcircuit': oneType,
  'macros2/exists/list_elem_type_shortcircuit': oneType,
  'macros2/exists/list_elem_type_exhaustive': oneType,
  'macros2/exists/map_key_type_shortcircuit': oneType,
  'macros2/exists/map_key_type_exhaustive': oneType,
  'macros2/all/list_elem_type_shortcircuit': oneType,
  'macros2/all/list_elem_type_exhaustive': oneType,
  'optionals/optionals/map_null_entry_no_such_key': presence,
  'optionals/optionals/map_present_key_invalid_field': presence,
  'optionals/optionals/optional_chaining_13': oneType,
  'optionals/optionals/map_key_mixed_type_optindex_value': oneType,
  'optionals/optionals/map_key_mixed_numbers_double_key_optindex_value': oneType,
  'optionals/optionals/map_key_mixed_numbers_uint_key_optindex_value': oneType,
  'optionals/optionals/map_key_mixed_numbers_int_key_optindex_value': oneType,
  'string_ext/format/scientific notation formatting clause': olderFormat,
  'string_ext/format/default precision for scientific notation': olderFormat,
  'string_ext/format/NaN support for scientific notation': olderFormat,
  'string_ext/format/positive infinity support for scientific notation': olderFormat,
  'string_ext/format/negative infinity support for scientific notation': olderFormat,
  'string_ext/format/NaN support for decimal': olderFormat,
  'string_ext/format/positive infinity support for decimal': olderFormat,
  'string_ext/format/negative infinity support for decimal': olderFormat,
  'string_ext/format/positive infinity support for fixed-point': olderFormat,
  'string_ext/format/negative infinity support for fixed-point': olderFormat,
  'string_ext/format/list support for string': olderFormat,
  'string_ext/format/map support for string': olderFormat,
  'string_ext/format/map support (all key types)': olderFormat,
  'string_ext/format/dyntype support for scientific notation': olderFormat,
  'string_ext/format/dyntype NaN/infinity support': olderFormat,
  'string_ext/format/dyntype support for lists': olderFormat,
  'string_ext/format/dyntype support for maps': olderFormat,
  'string_ext/format/scientific notation formatting clause in a string variable': olderFormat,
  'string_ext/value_errors/indexof_out_of_range': 'places behind the end are none, not failures',
  'string_ext/value_errors/lastindexof_out_of_range': 'places behind the end are none, not failures',
  'timestamps/duration_converters/get_milliseconds': 'cel-go gives all of the duration in milliseconds',
  'type_deductions/functions/function_result_type': ownFunctions,
  'type_deductions/type_parameters/multiple_parameters_generality': ownFunctions,
  'type_deductions/type_parameters/multiple_parameters_generality_2': ownFunctions,
  'type_deductions/type_parameters/multiple_parameters_parameterized_ovl': ownFunctions,
  'type_deductions/type_parameters/multiple_parameters_parameterized_ovl_2': ownFunctions,
  'type_deductions/flexible_type_parameter_assignment/optional_dyn_promotion': oneType,
  'type_deductions/flexible_type_parameter_assignment/optional_dyn_promotion_2': oneType,
  'type_deductions/legacy_nullable_types/null_assignable_to_abstract_parameter_candidate': oneType,
};

interface Case {
  readonly path: string;
  readonly expr: string;
  readonly container?: string;
  readonly disableCheck?: boolean;
  readonly disableMacros?: boolean;
  readonly checkOnly?: boolean;
  readonly typeEnv?: readonly {
    readonly name: string;
    readonly ident?: { readonly type: TypeJson };
    readonly function?: object;
  }[];
  readonly bindings?: Readonly<Record<string, { readonly value?: ValueJson }>>;
  readonly value?: ValueJson;
  readonly typedResult?: { readonly result?: ValueJson; readonly deducedType?: TypeJson };
  readonly evalError?: object;
}
type TypeJson = Readonly<Record<string, unknown>>;
type ValueJson = Readonly<Record<string, unknown>>;

const primitives: Readonly<Record<string, Type>> = {
  BOOL: bool,
  INT64: int,
  UINT64: uint,
  DOUBLE: double,
  STRING: string,
  BYTES: bytes,
};
const wellKnown: Readonly<Record<string, Type>> = { TIMESTAMP: timestamp, DURATION: duration };

function typeFrom(json: TypeJson): Type {
  const [kind, what] = Object.entries(json)[0] as [string, never];
  switch (kind) {
    case 'primitive':
      return primitives[what] as Type;
    case 'null':
      return nullType;
    case 'dyn':
      return dyn;
    case 'listType':
      return listOf(typeFrom((what as { elemType: TypeJson }).elemType));
    case 'mapType': {
      const { keyType, valueType } = what as { keyType: TypeJson; valueType: TypeJson };
      return mapOf(typeFrom(keyType), typeFrom(valueType));
    }
    case 'abstractType': {
      const { name, parameterTypes = [] } = what as { name: string; parameterTypes?: readonly TypeJson[] };
      return opaque(name, ...parameterTypes.map(typeFrom));
    }
    case 'wellKnown':
      if (wellKnown[what] !== undefined) return wellKnown[what];
  }
  throw new Error(`type ${JSON.stringify(json)}`);
}

function valueFrom(json: ValueJson): Value {
  const [kind, what] = Object.entries(json)[0] as [string, never];
  switch (kind) {
    case 'nullValue':
      return null;
    case 'boolValue':
    case 'stringValue':
      return what;
    case 'int64Value':
      return BigInt(what);
    case 'uint64Value':
      return new Uint(BigInt(what));
    case 'doubleValue':
      return Number(what);
    case 'bytesValue':
      return Buffer.from(what, 'base64');
    case 'typeValue':
      return new TypeValue(what);
    case 'listValue':
      return listFrom(((what as { values?: ValueJson[] }).values ?? []).map(valueFrom));
    case 'mapValue': {
      const { entries = [] } = what as { entries?: { key: ValueJson; value: ValueJson }[] };
      return mapFrom(entries.map(({ key, value }) => [valueFrom(key), valueFrom(value)] as const));
    }
  }
  throw new Error(`value ${JSON.stringify(json)}`);
}

interface Suite {
  readonly name: string;
  readonly suites?: readonly Suite[];
  readonly tests?: readonly { readonly original: object }[];
}
const casesOf = (suite: Suite, path: string): readonly Case[] => [
  ...(suite.tests ?? []).map(({ original }, index) => {
    const one = original as Omit<Case, 'path'> & { readonly name?: string };
    return { ...one, path: `${path}/${one.name ?? index}` };
  }),
  ...(suite.suites ?? []).flatMap((inner) => casesOf(inner, `${path}/${inner.name}`)),
];

const libraries = [standard, optionals, mapInsert, strings, lists];

const needsMessages = ({ expr, typeEnv = [] }: Case): boolean =>
  /TestAllTypes|google\.protobuf\.(?!Duration|Timestamp)/.test(expr) ||
  typeEnv.some(({ ident }) => JSON.stringify(ident ?? {}).includes('"messageType"'));

function isLeftOut(one: Case): boolean {
  const sections = Object.keys(leftOutSections);
  return (
    leftOut[one.path] !== undefined || sections.some((path) => one.path.startsWith(`${path}/`)) || needsMessages(one)
  );
}

/** Returns the value, or `failed`, or `refused`. */
function outcome(one: Case): Value | 'failed' | 'refused' {
  const values = new Map(Object.entries(one.bindings ?? {}).map(([name, { value }]) => [name, valueFrom(value ?? {})]));
  const declared = (one.typeEnv ?? []).map(({ name, ident }) => [name, typeFrom(ident?.type ?? {})] as const);
  const variables = new Map([...[...values.keys()].map((name) => [name, dyn] as const), ...declared]);
  const environment = environmentOf({ variables, libraries, bindings: true });
  const { checked } = runSync(environment.compile(one.expr));
  if (checked === undefined) return 'refused';
  const type = one.typedResult?.deducedType;
  if (type !== undefined) expect(checked.type).toEqual(typeFrom(type));
  if (one.checkOnly === true) return 'failed';
  try {
    const { value } = runSync(program(checked, environment)).evaluate((name) => values.get(name), { limit: 1e9 });
    return value instanceof Failure ? 'failed' : value;
  } catch (error) {
    if (error instanceof ProgramFailed) return 'failed';
    throw error;
  }
}

const same = (a: Value, b: Value): boolean =>
  typeof a === 'number' && typeof b === 'number' ? Object.is(a, b) || a === b : typeof a === typeof b && equal(a, b);

const all = (tests.suites ?? []).flatMap((suite) => casesOf(suite, suite.name));

test.each(all.filter((one) => !isLeftOut(one)).map((one) => [`${one.path}: ${one.expr}`, one] as const))(
  '%s',
  (_, one) => {
    const found = outcome(one);
    if (found === 'refused' && (one.disableCheck === true || one.evalError !== undefined)) return;
    if (one.evalError !== undefined || one.checkOnly === true) return expect(found).toBe('failed');
    const expected = valueFrom(one.value ?? one.typedResult?.result ?? { boolValue: true });
    expect([found, same(found, expected)]).toEqual([found, true]);
  },
);

test('excluded cases and sections exist', () => {
  const paths = all.map(({ path }) => path);
  const stale = Object.keys(leftOut).filter((path) => !paths.includes(path));
  const staleSections = Object.keys(leftOutSections).filter(
    (section) => !paths.some((path) => path.startsWith(`${section}/`)),
  );
  expect([...stale, ...staleSections]).toEqual([]);
});
