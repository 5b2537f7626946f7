import { describe, expect, test } from 'vitest';
import { runSync } from '../../../src/api/steps.js';
import { listFrom } from '../../../src/cel/collections.js';
import { environmentOf } from '../../../src/cel/environment.js';
import { program } from '../../../src/cel/evaluator.js';
import { kubernetesLibraries } from '../../../src/cel/kubernetes.js';
import { dyn, listOf, string, type Type } from '../../../src/cel/types.js';
import type { Value } from '../../../src/cel/values.js';
import { expectShort } from '../../processor-time.js';
import { shown } from './outcome.js';

const types: readonly (readonly [string, Type])[] = [
  ['text', string],
  ['other', string],
  ['texts', listOf(string)],
  ['any', dyn],
];
const environment = environmentOf({ variables: new Map(types), libraries: kubernetesLibraries });

/** Returns the result, or `exceeded`. */
function evaluate(expression: string, variables: Readonly<Record<string, Value>>) {
  return prepared(expression, variables)();
}

function prepared(
  expression: string,
  variables: Readonly<Record<string, Value>>,
): () => { readonly value: Value | 'exceeded' } {
  const { checked, issues } = runSync(environment.compile(expression));
  if (checked === undefined) throw new Error(issues.map(String).join('\n'));
  return () => {
    const { value, isOverLimit } = runSync(program(checked, environment)).evaluate((name) => variables[name]);
    return { value: isOverLimit ? 'exceeded' : value };
  };
}

const long = 'a'.repeat(1_000_000);
const half = `${'a'.repeat(300_000)}b${'a'.repeat(300_000)}`;
const numbers = listFrom(Array.from({ length: 300_000 }, (_, at) => BigInt(at)));
const texts = listFrom(Array.from({ length: 100_000 }, (_, at) => `text ${at}`));
const deep = Array.from({ length: 5_000 }).reduce<Value>((inner) => listFrom([inner]), listFrom([]));

test.each([
  ['text.indexOf(other)', { text: long, other: half }],
  ['text.lastIndexOf(other)', { text: long, other: half }],
  ['text.contains(other)', { text: long, other: half }],
  ['text.split(other).size()', { text: long, other: half }],
  ['text.replace(other, "x").size()', { text: long, other: half }],
  ['text.replace("", other).size()', { text: long, other: half }],
  ['text.split("").size()', { text: long }],
  ['text.split("").join(other).size()', { text: long, other: half }],
  ['"%s%s".format([text, text]).format([text, text]).size()', { text: '%s'.repeat(1_000_000) }],
  ['text.format(any).size()', { text: '%.65535e'.repeat(100_000), any: listFrom(Array(100_000).fill(1.5)) }],
  ['"%s".format([any]).size()', { any: numbers }],
  ['"%s".format([any]).size()', { any: deep }],
  ['any.flatten(1000000).size()', { any: deep }],
  ['any.map(x, x).flatten().flatten().size()', { any: deep }],
  ['any.distinct().size()', { any: numbers }],
  ['texts.distinct().size()', { texts }],
  ['sets.equivalent(texts, texts)', { texts }],
  ['any.sort().size()', { any: numbers }],
  ['texts.sort().size()', { texts }],
  ['any.sum()', { any: numbers }],
  ['any.isSorted()', { any: deep }],
  [
    '[1].map(x, any + any).map(x, x + x).map(x, x + x).map(x, x + x).map(x, x + x).map(x, x + x).flatten().size()',
    { any: numbers },
  ],
  ['lists.range(9223372036854775807).size()', {}],
  ['texts.join(text).size()', { texts, text: long }],
  ['text.find("(a|b|ab){1000}c")', { text: long }],
  ['text.findAll("a.*b|a").size()', { text: long.slice(0, 30_000) }],
  ['texts.all(x, x.find("(a|t|ab){500}c") == "")', { texts }],
  ['text.trim().upperAscii().lowerAscii().substring(1).size()', { text: long }],
  ['url("https://" + text).getHost().size()', { text: long }],
  ['url("/?" + text).getQuery().size()', { text: '&a=b'.repeat(700_000) }],
  ['isQuantity(text)', { text: '9'.repeat(1_000_000) }],
  ['quantity(text).add(quantity("1n")).isInteger()', { text: '1e2147483647' }],
  ['quantity(text).isGreaterThan(quantity("1n"))', { text: '1e2147483647' }],
  ['quantity(text).isInteger()', { text: '1e-2147483648' }],
  ['quantity(text).isInteger()', { text: `${'9'.repeat(30)}e2147483647` }],
  ['isIP(text) || isCIDR(text)', { text: ':'.repeat(1_000_000) }],
  ['isSemver(text) || isSemver(text, true)', { text: `1.2.${'0'.repeat(1_000_000)}` }],
  [
    '["uri", "uuid", "byte", "date", "datetime"].all(x, format.named(x).value().validate(text).hasValue())',
    { text: long },
  ],
  [
    '["dns1123Label", "dns1123Subdomain", "qualifiedName"].all(x, format.named(x).value().validate(text).hasValue())',
    { text: `${'a.'.repeat(1_000_000)}_` },
  ],
])('%s ends in bounded time', async (expression, variables) => {
  await expectShort(5_000, prepared(expression, variables));
});

describe('a string with a lone surrogate', () => {
  test.each([
    ["text.indexOf('b')", '1'],
    ["text.lastIndexOf('b')", '1'],
    ['text.charAt(0)', '"\\ud800"'],
    ['text.substring(1)', '"b"'],
    ["text.split('')", '["\\ud800", "b"]'],
    ["text.replace('', '-')", '"-\\ud800-b-"'],
    ['strings.quote(text)', '"\\"\ufffdb\\""'],
    ["'%x'.format([text])", '"efbfbd62"'],
    ["'%s'.format([[text]])", '"[\\"\\\\ud800b\\"]"'],
    ["text.find('b$')", '"b"'],
    ['isURL(text)', 'false'],
    ["url('/' + text).getEscapedPath()", '"/%EF%BF%BDb"'],
    ['isIP(text)', 'false'],
    ['isCIDR(text)', 'false'],
    ['isQuantity(text)', 'false'],
    ['isSemver(text)', 'false'],
    ['format.dns1123Label().validate(text).hasValue()', 'true'],
  ])('%s returns %s', (expression, answer) => {
    expect(shown(evaluate(expression, { text: '\ud800b' }).value)).toBe(answer);
  });
});

test.each(['__proto__', 'constructor', 'toString'])('%s is an ordinary name', (text) => {
  expect(evaluate('format.named(text).hasValue()', { text }).value).toBe(false);
  expect(evaluate("url('/?' + text + '=1').getQuery()[text]", { text }).value).toMatchObject({ size: 1 });
  expect(evaluate('isQuantity("1" + text)', { text }).value).toBe(false);
});
