import { many } from '../many.js';
import { bombDefinition, bombName } from './bomb-definition.js';
import { type FuzzRequest, requestTo } from './request.js';

/** Expressions that are meant to be expensive to parse and to evaluate. */

const times = (text: string, count: number): string => text.repeat(count);

/** Wraps `leaf` this many times. */
function within(levels: number, leaf: string, around: (inner: string, at: number) => string): string {
  let text = leaf;
  for (let level = 0; level < levels; level++) text = around(text, level);
  return text;
}

/** Expressions of up to 100,000 characters, the maximum length. */
export const hostileExpressions: Readonly<Record<string, string>> = {
  sums: `${times('1+', 49_000)}1 == 1`,
  'sums of names': `${times('a+', 49_000)}a`,
  products: `1${times('*1', 49_000)} == 1`,
  conjunctions: `true${times('&&true', 16_000)}`,
  'conjunctions and disjunctions': `true${times('&&true||true', 8_000)}`,
  equalities: `1${times('==1', 33_000)}`,
  comparisons: `1${times('<1', 49_000)}`,
  'in after in': `1${times(' in 1', 19_000)}`,
  'open brackets': times('(', 100_000),
  'brackets 49,000 deep': `${times('(', 49_000)}true${times(')', 49_000)}`,
  'brackets 249 deep': `${times('(', 249)}true${times(')', 249)}`,
  'brackets 250 deep': `${times('(', 250)}true${times(')', 250)}`,
  'broken brackets 240 deep': `${times('(', 240)}true +${times(')', 240)}`,
  'open lists': times('[', 100_000),
  'lists 240 deep': `${times('[', 240)}${times(']', 240)} == 1`,
  '150 lists 240 deep': `[${many(150, () => `${times('[', 240)}1${times(']', 240)}`).join()}] == 1`,
  'open maps': times('{', 100_000),
  'maps 240 deep': within(240, '1', (inner) => `{1: ${inner}}`),
  'maps as keys of maps': within(240, '1', (inner) => `{${inner}: 1}`),
  'all sorts of open brackets': times('([{', 33_000),
  'closing brackets': times(')', 100_000),
  members: `dyn(1)${times('.a', 49_000)}`,
  'optional members': `dyn(1)${times('.?a', 33_000)}`,
  'members of members of 240': `dyn(1)${times('.a', 240)} == 1`,
  indexes: `dyn(1)${times('[0]', 33_000)}`,
  'indexes in indexes': within(120, 'dyn(1)', (inner) => `dyn(1)[${inner}]`),
  'calls of members': `dyn(1)${times('.a()', 24_000)}`,
  'calls in calls': times('f(', 49_000),
  'sizes of sizes': within(240, '1', (inner) => `size(${inner})`),
  'choices after each other': `${times('true ? 1 : ', 9_000)}1 == 1`,
  'choices in choices': within(240, 'true', (inner) => `true ? ${inner} : true`),
  'choices without an end': times('true ?', 16_000),
  negations: `${times('!', 99_000)}true`,
  'negations apart': `${times('! ', 49_000)}true`,
  minuses: `${times('-', 99_000)}1 == 1`,
  'negations and minuses': `${times('!-', 49_000)}1`,
  '30 folds in each other': within(30, 'true', (inner, at) => `[1].all(x${at}, ${inner})`),
  '200 folds in each other': within(200, 'true', (inner, at) => `[1].all(x${at}, ${inner})`),
  '200 broken folds in each other': within(200, '1 +', (inner, at) => `[1].all(x${at}, ${inner})`),
  '200 filters in each other': within(200, 'true', (inner) => `[1].filter(x, ${inner}) == [1]`),
  '150 maps in each other': within(150, '1', (inner) => `[1].transformMap(i, v, ${inner})`),
  'folds over folds': `${within(200, '[1]', (inner) => `${inner}.map(x, x)`)} == [1]`,
  '12 folds that stand twice': `${within(12, '1', (inner) => `[1].map(x, ${inner} == 1, ${inner})`)} == 1`,
  '5,500 folds': `${times('[1].all(x, x == 1)&&', 4_900)}true`,
  '6,000 questions for members': `${times('has({"a": 1}.a)&&', 5_800)}true`,
  'optMap in optMap': `${within(30, '1', (inner) => `optional.of(1).optMap(x, ${inner})`)} == 1`,
  '200 optMap in each other': `${within(200, '1', (inner) => `optional.of(1).optMap(x, ${inner})`)} == 1`,
  '24 optMap after each other': `optional.of(1)${times('.optMap(x, x)', 24)} == optional.of(1)`,
  '120 optMap after each other': `optional.of(1)${times('.optMap(x, x)', 120)} == optional.of(1)`,
  '200 optional.of': `${within(200, '1', (inner) => `optional.of(${inner})`)} == 1`,
  'a text': `'${times('a', 99_000)}' == 'a'`,
  'a text without an end': `'${times('a', 99_000)}`,
  'a text without an end on each line': times("'a\n", 33_000),
  escapes: `'${times('\\x41', 24_000)}' == 'a'`,
  'wrong escapes': `'${times('\\q', 49_000)}'`,
  quotes: times("'", 99_999),
  'three quotes': `'''${times("''", 49_000)}`,
  'many texts': `${times("''+", 33_000)}'' == ''`,
  'a number': `${times('1', 99_000)} == 1`,
  'a broken number': `1.${times('1', 99_000)} == 1.0`,
  'a number with a long exponent': `1e${times('9', 99_000)} == 1.0`,
  'a number in base 16': `0x${times('f', 99_000)} == 1`,
  dots: times('.', 99_000),
  'numbers after each other': times('1 ', 49_000),
  'names after each other': times('a b ', 24_000),
  'signs that are none': times('#', 99_000),
  'signs that are none, apart': times('$ ', 49_000),
  backquotes: times('`', 99_999),
  'halves of characters': times('\ud800', 99_000),
  'characters of two halves': times('😀', 99_000),
  'empty lines': `${times('\n', 99_000)}+`,
  'an error on each line': times('+\n', 49_000),
  comments: `${times('//\n', 33_000)}true`,
  'an error far to the right': `${times(' ', 99_000)}+`,
  'an error far to the right of wide characters': `'${times('ä', 99_000)}' +`,
  '24,000 unknown names': `[${times('a,', 49_000)}a] == 1`,
  'unknown names on 24,000 lines': `${times('a||\n', 24_000)}b`,
  'an unknown name in a long line, often': `[${times('a+b,', 24_000)}1] == 1`,
  'unknown functions': `[${times('f(),', 24_000)}1] == 1`,
  '16,000 errors of types': `[${times('1+"a",', 16_000)}1] == 1`,
  '150 errors of types of deep lists': `[${many(150, () => `${times('[', 200)}1${times(']', 200)}+1`).join()}] == 1`,
  'a list of 49,000': `[${times('1,', 49_000)}1] == [1]`,
  'a list of unequal items': `[${times('1,"a",', 16_000)}1] == [1]`,
  'a map of 12,000': `{${many(12_000, (at) => `${at}:1`).join()}} == {}`,
  'a map of equal keys': `{${times('1:1,', 24_000)}1:1} == {}`,
  'a structure of many fields': `a{${times('b:1,', 24_000)}} == 1`,
  'many arguments': `size(${times('1,', 49_000)}1) == 1`,
  commas: times(',', 99_999),
  'question marks': times('?', 99_999),
  'a long name': times('a', 99_999),
  'reserved words': times('for ', 24_000),
  'folds with wrong names': `${times('[1].all(1,2)||', 7_000)}true`,
  '24,000 wrong folds in each other': times('has(', 24_000),
  'a format of 49,000 places': `'${times('%s', 49_000)}'.format([]) == ''`,
  '3,000 wrong formats': `${times(`'%d'.format(['a']) == ''||`, 3_000)}true`,
  '4,000 wrong patterns': `${times(`'a'.matches('(a')||`, 4_000)}true`,
  '2,000 patterns that repeat': `${times(`'a'.matches('[a-z]{1,1000}[0-9]{1,1000}')||`, 2_000)}true`,
  'a pattern of repeated repetitions': `'a'.matches('${times('(', 500)}a${times('){1,9}', 500)}')`,
  'a pattern of repeated thousands': `'a'.matches('((a{1,1000}){1,1000}){1,1000}')`,
  'a pattern of 49,000 alternatives': `'a'.matches('${times('a|', 49_000)}')`,
  'a pattern of 49,000 groups': `'a'.matches('${times('(', 49_000)}${times(')', 49_000)}')`,
  '2,500 durations': `${times(`duration('1h') == duration('1h')&&`, 2_500)}true`,
  'a huge quantity': `quantity('1e999999999') == quantity('1')`,
  'a long quantity': `quantity('${times('9', 90_000)}') == quantity('1')`,
  'a long version': `semver('${times('9', 90_000)}.1.1') == semver('1.1.1')`,
};

const hooks = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
const classes = '/apis/resource.k8s.io/v1/deviceclasses';
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const withConditions = (matchConditions: readonly object[], more: object = {}): object => ({
  name: 'a.bomb.example.com',
  clientConfig: { url: 'https://127.0.0.1:1/' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  failurePolicy: 'Ignore',
  timeoutSeconds: 1,
  rules: [{ apiGroups: ['none.example.com'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }],
  matchConditions,
  ...more,
});
const configuration = (webhooks: readonly object[], name = 'bomb'): object => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name },
  webhooks,
});
const deviceClass = (expressions: readonly string[]): object => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'DeviceClass',
  metadata: { name: 'bomb' },
  spec: { selectors: expressions.map((expression) => ({ cel: { expression } })) },
});

const spec = (properties: object): object => ({ type: 'object', properties });
const text = { type: 'string' };
const rule = (expression: string, more: object = {}): object => ({ rule: expression, ...more });
const ruled = (schema: object, ...rules: readonly object[]): object => ({
  ...schema,
  'x-kubernetes-validations': rules,
});
const dry = `${crds}?dryRun=All`;
const define = (schema: object): FuzzRequest => requestTo('POST', dry, { body: bombDefinition(schema) });

/** Requests with expressions in definitions. */
const ofDefinitions: Readonly<Record<string, () => FuzzRequest>> = {
  '20,000 rules': () => define(spec({ a: ruled(text, ...many(20_000, () => rule('self == ""'))) })),
  '20,000 wrong rules': () => define(spec({ a: ruled(text, ...many(20_000, () => rule('self +'))) })),
  '500 wrong rules of 5,000 characters': () =>
    define(spec({ a: ruled(text, ...many(500, () => rule(`[${times('a,', 2_500)}1`))) })),
  'rules in 5,000 places': () =>
    define(spec(Object.fromEntries(many(5_000, (at) => [`p${at}`, ruled(text, rule('self == ""'))])))),
  'rules about 5,000 fields in 200 places': () =>
    define(
      ruled(
        spec({
          ...Object.fromEntries(many(5_000, (at) => [`p${at}`, text])),
          q: spec(Object.fromEntries(many(200, (at) => [`q${at}`, ruled(text, rule('self == ""'))]))),
        }),
        ...many(200, (at) => rule(`self.p${at} == ""`)),
      ),
    ),
  '400 rules about a field that is not there': () =>
    define(
      ruled(
        spec(Object.fromEntries(many(5_000, (at) => [`p${at}`, text]))),
        ...many(400, () => rule('self.q == ""', { messageExpression: 'self.q' })),
      ),
    ),
  'a rule 60 deep': () => {
    let schema: object = text;
    for (let level = 0; level < 60; level++) schema = ruled(spec({ a: schema }), rule('self.a == self.a'));
    return define(schema);
  },
  'a message of 1 MB': () => define(spec({ a: ruled(text, rule('self == ""', { message: times('a', 1_000_000) })) })),
  'a message of 1 MB of lines': () =>
    define(spec({ a: ruled(text, rule('self == ""', { message: times('a\n', 500_000) })) })),
  'a rule of 1 MB': () => define(spec({ a: ruled(text, rule(times('a', 1_000_000))) })),
  'a rule of 3 MB of spaces': () => define(spec({ a: ruled(text, rule(times(' ', 3_000_000))) })),
  'a field path of 1 MB': () => define(ruled(spec({ a: text }), rule('true', { fieldPath: times('.a', 500_000) }))),
  'a field path of open brackets': () =>
    define(ruled(spec({ a: text }), rule('true', { fieldPath: `.a${times("['", 500_000)}` }))),
  '5,000 field paths': () => define(ruled(spec({ a: text }), ...many(5_000, () => rule('true', { fieldPath: '.b' })))),
  'a rule in each of 30,000 defaults': () =>
    define(
      spec({
        a: {
          type: 'array',
          maxItems: 30_000,
          items: ruled(text, rule('self != "a"')),
          default: many(30_000, () => 'a'),
        },
      }),
    ),
  'a default that costs much': () =>
    define(
      spec({
        a: ruled(
          { type: 'array', maxItems: 900, items: { type: 'integer' }, default: many(900, (at) => at) },
          rule('self.all(x, self.all(y, x <= y || x >= y))'),
        ),
      }),
    ),
  'a message expression that grows': () =>
    define(
      spec({
        a: ruled(
          { ...text, maxLength: 1_000, default: times('a', 1_000) },
          rule('false', { messageExpression: within(9, 'self', (inner) => `(${inner} + ${inner})`) }),
        ),
      }),
    ),
  'expressions about versions without end': () =>
    define(
      spec({ a: ruled({ ...text, format: 'date-time' }, ...many(3_000, (at) => rule(`self.getFullYear() > ${at}`))) }),
    ),
};

interface Judged {
  readonly schema: object;
  readonly rules: readonly object[];
  readonly value: () => unknown;
  /** Returns the previous value. */
  readonly stored?: () => unknown;
}

const integers = (maxItems: number): object => ({ type: 'array', maxItems, items: { type: 'integer' } });
const texts = (maxItems: number, maxLength: number): object => ({
  type: 'array',
  maxItems,
  items: { type: 'string', maxLength },
});
const long = (maxLength: number): object => ({ type: 'string', maxLength });
const letters = (count: number): string => times('a', count);
const numbers = (count: number): readonly number[] => many(count, (at) => (at * 7_919) % 1_000_003);

/** Objects that are validated against the rules of their definitions. */
const judged: Readonly<Record<string, Judged>> = {
  'pairs of 900': {
    schema: integers(900),
    rules: [rule('self.all(x, self.all(y, x <= y || x >= y))')],
    value: () => numbers(900),
  },
  'triples of 60': {
    schema: integers(60),
    rules: [rule('self.all(x, self.all(y, self.all(z, x + y + z >= 0)))')],
    value: () => numbers(60),
  },
  'ten rules about pairs of 400': {
    schema: integers(400),
    rules: many(10, (at) => rule(`self.all(x, self.exists(y, x == y || x == ${at}))`)),
    value: () => numbers(400),
  },
  'a list that is mapped to lists': {
    schema: integers(600),
    rules: [rule('self.map(x, self.map(y, x + y)).size() >= 0')],
    value: () => numbers(600),
  },
  'lists that are added': {
    schema: integers(1_000),
    rules: [rule('self.map(x, self + self).map(y, y + y).size() >= 0')],
    value: () => numbers(1_000),
  },
  'filters of lists of texts': {
    schema: texts(100, 1_000),
    rules: [rule('self.filter(x, self.filter(y, x == y).size() > 0).size() >= 0')],
    value: () => many(100, () => letters(1_000)),
  },
  'a text that doubles': {
    schema: long(1_000),
    rules: [rule(`${within(9, 'self', (inner) => `(${inner} + ${inner})`)}.size() > 0`)],
    value: () => letters(1_000),
  },
  'a text that is replaced by longer ones': {
    schema: long(10_000),
    rules: [rule(`self.replace('a', 'bbbbbbbbbb').replace('b', 'cc').size() > 0`)],
    value: () => letters(10_000),
  },
  'a text whose every letter becomes the text': {
    schema: long(1_000),
    rules: [rule('self.replace("a", self).size() > 0')],
    value: () => letters(1_000),
  },
  'a text that is replaced for nothing': {
    schema: long(100_000),
    rules: [rule(`self.replace('', 'bb').size() > 0`)],
    value: () => letters(100_000),
  },
  'a text that is split': {
    schema: long(5_000),
    rules: [rule(`self.split('').size() > 0`)],
    value: () => letters(5_000),
  },
  'a text that is changed': {
    schema: long(50_000),
    rules: [rule('self.lowerAscii().upperAscii().trim().size() > 0')],
    value: () => letters(50_000),
  },
  'places in a text': {
    schema: long(100_000),
    rules: [rule(`self.indexOf('aaaaaaaaaaaaaaaaaaaaaaaaaaaab') < 0 && self.lastIndexOf('baaaaaaaaaaaaaaaaaaa') < 0`)],
    value: () => letters(100_000),
  },
  'a part of a text in a text': {
    schema: spec({ a: long(10_000), b: long(5_000) }),
    rules: [rule(`!self.a.contains(self.b)`)],
    value: () => ({ a: letters(10_000), b: `${letters(4_900)}b` }),
  },
  'a format of a large list': {
    schema: texts(1_000, 100),
    rules: [rule(`'%s %s %s %s'.format([self, self, self, self]).size() > 0`)],
    value: () => many(1_000, () => letters(100)),
  },
  'a format in a fold': {
    schema: texts(300, 30),
    rules: [rule(`self.all(x, '%s'.format([self]).size() > 0)`)],
    value: () => many(300, () => letters(30)),
  },
  'patterns against a long text': {
    schema: long(100_000),
    rules: [rule(`self.matches('^(a|aa)+$') || self.matches('(a*)*b')`)],
    value: () => letters(100_000),
  },
  'a pattern with many states against a text': {
    schema: long(10_000),
    rules: [rule(`self.matches('a[ab]{900}[cd]')`)],
    value: () => times('ab', 5_000),
  },
  'patterns that are made of a text': {
    schema: long(40),
    rules: [rule(`self.split('').all(x, self.matches(x + '{1,900}b') || true)`)],
    value: () => letters(40),
  },
  'different patterns in a fold': {
    schema: texts(40, 10),
    rules: [rule(`self.all(x, self.all(y, x.matches(y + '{1,500}') || true))`)],
    value: () => many(40, (at) => `a${at}`),
  },
  'all finds of a pattern': {
    schema: long(20_000),
    rules: [rule(`self.findAll('a').size() > 0`)],
    value: () => letters(20_000),
  },
  'ranges of lists': {
    schema: integers(30),
    rules: [rule('self.all(x, lists.range(50000).size() > x)')],
    value: () => numbers(30).map(() => 1),
  },
  'flattened lists': {
    schema: integers(500),
    rules: [
      rule('[[[self, self], [self]], [[self]]].flatten(3).size() >= 0 && self.map(x, [self]).flatten(2).size() > 0'),
    ],
    value: () => numbers(500),
  },
  'sorted lists': {
    schema: texts(400, 20),
    rules: [rule('self.sort().size() > 0 && self.sortBy(x, x).size() > 0')],
    value: () => many(400, (at) => `${letters(15)}${at}`),
  },
  'a list that is sorted for each of its items': {
    schema: integers(60),
    rules: [rule('self.all(x, self.sort()[0] <= x)')],
    value: () => numbers(60),
  },
  'distinct lists': {
    schema: { type: 'array', maxItems: 300, items: integers(30) },
    rules: [rule('self.distinct().size() > 0')],
    value: () => many(300, (at) => [...numbers(29), at]),
  },
  sets: {
    schema: texts(900, 50),
    rules: [
      rule('sets.equivalent(self, self) && sets.contains(self, self) && sets.intersects(self, self.map(x, x + "b"))'),
    ],
    value: () => many(900, (at) => `${letters(40)}${at}`),
  },
  'sums, least and most': {
    schema: integers(5_000),
    rules: [rule('self.sum() > 0 && self.min() >= 0 && self.max() > 0 && self.isSorted() || self.indexOf(-1) < 0')],
    value: () => numbers(5_000),
  },
  '30,000 items with a rule': {
    schema: { type: 'array', maxItems: 30_000, items: ruled(long(10), rule('self != "b"')) },
    rules: [],
    value: () => many(30_000, () => 'a'),
  },
  '30,000 items that break a rule': {
    schema: { type: 'array', maxItems: 30_000, items: ruled(long(10), rule('self != "a"')) },
    rules: [],
    value: () => many(30_000, () => 'a'),
  },
  '30,000 items whose messages are long': {
    schema: {
      type: 'array',
      maxItems: 30_000,
      items: ruled(long(10), rule('self != "a"', { message: letters(5_000) })),
    },
    rules: [],
    value: () => many(30_000, () => 'a'),
  },
  '30,000 items whose messages are made': {
    schema: {
      type: 'array',
      maxItems: 30_000,
      items: ruled(long(10), rule('self != "a"', { messageExpression: `'${letters(5_000)}' + self` })),
    },
    rules: [],
    value: () => many(30_000, () => 'a'),
  },
  '1,000 items with 20 rules': {
    schema: {
      type: 'array',
      maxItems: 1_000,
      items: ruled(long(10), ...many(20, (at) => rule(`self != "a${at}"`))),
    },
    rules: [],
    value: () => many(1_000, () => 'a'),
  },
  '30,000 wrong quantities': {
    schema: { type: 'array', maxItems: 30_000, items: ruled(long(20), rule('isQuantity(self)')) },
    rules: [],
    value: () => many(30_000, () => '1e999999999'),
  },
  'a quantity with a huge exponent': {
    schema: long(20),
    rules: [rule(`quantity(self).asApproximateFloat() > 1.0 && quantity(self).add(1).isGreaterThan(quantity('1'))`)],
    value: () => '1e999999999',
  },
  'a quantity with a huge negative exponent': {
    schema: long(20),
    rules: [rule(`quantity(self).add(quantity('1e999999999')).sub(1).isInteger()`)],
    value: () => '1e-999999999',
  },
  'a quantity of 100,000 digits': {
    schema: long(100_000),
    rules: [rule('quantity(self).add(quantity(self)).isGreaterThan(quantity("1"))')],
    value: () => times('9', 100_000),
  },
  'numbers of 100,000 digits': {
    schema: long(100_000),
    rules: [rule('int(self) > 1'), rule('double(self) > 1.0'), rule('uint(self) > 1u'), rule('isSemver(self)')],
    value: () => times('9', 100_000),
  },
  'addresses, times and URLs of 100,000 characters': {
    schema: long(100_000),
    rules: [
      'isIP(self)',
      'isCIDR(self)',
      'isURL(self)',
      'timestamp(self) > timestamp("2026-01-01T00:00:00Z")',
      'duration(self) > duration("1h")',
      'format.dns1123Label().validate(self).hasValue()',
      'isQuantity(self)',
    ].map((one) => rule(one)),
    value: () => times('1:', 50_000),
  },
  'equality of large values': {
    schema: { type: 'array', maxItems: 2_000, items: spec({ a: long(100), b: integers(3) }) },
    rules: [rule('self == self && self.map(x, x) == self && !(self != self)')],
    value: () => many(2_000, (at) => ({ a: letters(100), b: [at, 1, 2] })),
  },
  'equality of large values in a fold': {
    schema: { type: 'array', maxItems: 300, items: integers(20) },
    rules: [rule('self.all(x, self == self)')],
    value: () => many(300, () => numbers(20)),
  },
  'equality of large sets': {
    schema: { ...texts(2_000, 20), 'x-kubernetes-list-type': 'set' },
    rules: [rule('self == self + self && (self + self + self + self).size() > 0')],
    value: () => many(2_000, (at) => `a${at}`),
  },
  'equality of keyed lists in a fold': {
    schema: {
      type: 'array',
      maxItems: 200,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a'],
      items: { ...spec({ a: long(20), b: long(20) }), required: ['a'] },
    },
    rules: [rule('self.all(x, self == self + self)')],
    value: () => many(200, (at) => ({ a: `a${at}`, b: 'b' })),
  },
  'names of 1 MB of a map with a rule': {
    schema: { type: 'object', maxProperties: 3, additionalProperties: ruled(long(5), rule('self != "a"')) },
    rules: [rule('self.all(k, k.size() > 0)')],
    value: () => ({ [times('a', 1_000_000)]: 'a', [times('b', 1_000_000)]: 'a' }),
  },
  '30,000 members that break a rule under a name of 1 MB': {
    schema: {
      type: 'object',
      maxProperties: 3,
      additionalProperties: {
        type: 'object',
        maxProperties: 30_000,
        additionalProperties: ruled(long(5), rule('self != "a"')),
      },
    },
    rules: [],
    value: () => ({ [times('a', 1_000_000)]: Object.fromEntries(many(30_000, (at) => [`k${at}`, 'a'])) }),
  },
  'a map of 20,000': {
    schema: { type: 'object', maxProperties: 20_000, additionalProperties: long(5) },
    rules: [rule('self.all(k, k in self && self[k] == "a") && self == self && self.map(k, k).size() > 0')],
    value: () => Object.fromEntries(many(20_000, (at) => [`k${at}`, 'a'])),
  },
  'a map that is made of a map': {
    schema: { type: 'object', maxProperties: 900, additionalProperties: long(5) },
    rules: [
      rule(
        'self.transformMap(k, v, self.transformMap(l, w, v + w)).size() >= 0 && self.transformMapEntry(k, v, {v + k: k}).size() > 0',
      ),
    ],
    value: () => Object.fromEntries(many(900, (at) => [`k${at}`, 'a'])),
  },
  'bytes of 1 MB': {
    schema: { type: 'string', format: 'byte', maxLength: 1_400_000 },
    rules: [rule('self.size() > 0 && self == self && self + self != b"a"')],
    value: () => times('YWFh', 330_000),
  },
  '30,000 items as they were stored': {
    schema: {
      type: 'array',
      maxItems: 30_000,
      items: ruled(long(10), rule('self != "c"')),
      'x-kubernetes-list-type': 'set',
    },
    rules: [],
    stored: () => many(30_000, (at) => `a${at}`),
    value: () => many(30_000, (at) => `a${(at * 7) % 30_000}`),
  },
  'a large object that broke its rules before': {
    schema: {
      type: 'array',
      maxItems: 5_000,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a'],
      items: {
        ...ruled(spec({ a: long(20), b: ruled(long(20), rule('self != "c"')) }), rule('self.b != "c"')),
        required: ['a'],
      },
    },
    rules: [rule('self.all(x, x.b != "d")')],
    stored: () => many(5_000, (at) => ({ a: `a${at}`, b: 'b' })),
    value: () => many(5_000, (at) => ({ a: `a${4_999 - at}`, b: at % 5 === 0 ? 'c' : 'b' })),
  },
  'rules about changes of a large list': {
    schema: texts(900, 20),
    rules: [rule('self.all(x, x in oldSelf) && oldSelf.all(x, x in self)')],
    stored: () => many(900, (at) => `a${at}`),
    value: () => many(900, (at) => `a${899 - at}`),
  },
};

function judgedBomb(name: string, { schema, rules, value, stored }: Judged): () => FuzzRequest {
  const plural = `j${Object.keys(judged).indexOf(name)}`;
  const collection = `/apis/bomb.example.com/v1/${plural}`;
  const own = (schema as { readonly 'x-kubernetes-validations'?: readonly object[] })['x-kubernetes-validations'] ?? [];
  const definition = bombDefinition(ruled(schema, ...own, ...rules), plural);
  const object = (made: unknown): object => ({
    apiVersion: 'bomb.example.com/v1',
    kind: bombName(plural),
    metadata: { name: 'o' },
    spec: made,
  });
  return () => ({
    ...(stored === undefined
      ? requestTo('POST', `${collection}?dryRun=All`, { body: object(value()) })
      : requestTo('PUT', `${collection}/o?dryRun=All`, { body: object(value()) })),
    before: [
      requestTo('POST', crds, { body: definition }),
      ...(stored === undefined ? [] : [requestTo('POST', collection, { body: object(stored()) })]),
    ],
    after: [requestTo('DELETE', `${crds}/${plural}.bomb.example.com`)],
  });
}

const maps = '/api/v1/namespaces/default/configmaps';

/** Match conditions that are evaluated, by name. */
const conditions: Readonly<Record<string, readonly object[]>> = {
  '64 conditions of the highest cost together': [
    withConditions(
      many(64, (at) => ({ name: `c${at}`, expression: 'lists.range(5000).all(x, x >= 0) || object.data.size() >= 0' })),
    ),
  ],
  '100 webhooks with 10 conditions': many(100, (hook) =>
    withConditions(
      many(10, (at) => ({ name: `c${at}`, expression: 'lists.range(5000).all(x, x >= 0)' })),
      { name: `h${hook}.bomb.example.com` },
    ),
  ),
  '100 webhooks with one condition about a large object': many(100, (hook) =>
    withConditions([{ name: 'c', expression: 'object == object && object.data.all(k, object.data[k] != "b")' }], {
      name: `h${hook}.bomb.example.com`,
    }),
  ),
  '64 conditions of 30,000 characters that are asked': [
    withConditions(
      many(64, (at) => ({ name: `c${at}`, expression: `${times('1 == 2||', 3_700)}object.data.size() != ${at}` })),
    ),
  ],
  'a condition about pairs': [
    withConditions([{ name: 'c', expression: 'object.data.all(k, object.data.all(l, k == l || true))' }]),
  ],
  'a condition that doubles': [
    withConditions([
      {
        name: 'c',
        expression: `${within(10, '(object.data["k1"] + "aaaaaaaa")', (inner) => `(${inner} + ${inner})`).slice(0, 99_000)} == ''`,
      },
    ]),
  ],
  'a condition that asks the authorizer': [
    withConditions([
      {
        name: 'c',
        expression: `lists.range(2000).all(x, authorizer.group('a').resource('b').namespace('n' + string(x)).check('get').allowed() || true)`,
      },
    ]),
  ],
  'a condition about a range without end': [
    withConditions([
      { name: 'c', expression: 'lists.range(9000000000000).size() > 0 || lists.range(900000).size() > 0' },
    ]),
  ],
  'a condition that asks for the size of a map': [
    withConditions([
      { name: 'c', expression: 'lists.range(20000).all(x, object.data.size() > 0 && "k1" in object.data)' },
    ]),
  ],
  'a condition that compares lists of lists': [
    withConditions([
      {
        name: 'c',
        expression: 'lists.range(900).map(x, lists.range(900)) == lists.range(900).map(x, lists.range(900))',
      },
    ]),
  ],
};

function conditionBomb(webhooks: readonly object[]): () => FuzzRequest {
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }];
  return () => ({
    ...requestTo('POST', `${maps}?dryRun=All`, {
      body: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'bomb' },
        data: Object.fromEntries(many(5_000, (at) => [`k${at}`, 'a'])),
      },
    }),
    before: [
      requestTo('POST', hooks, {
        body: configuration(
          webhooks.map((one) => ({ ...one, rules })),
          'conditions',
        ),
      }),
    ],
    after: [requestTo('DELETE', `${hooks}/conditions`)],
  });
}

const named = <T>(
  prefix: string,
  all: Readonly<Record<string, T>>,
  make: (one: T, name: string) => () => FuzzRequest,
) => Object.fromEntries(Object.entries(all).map(([name, one]) => [`${prefix}: ${name}`, make(one, name)]));

export const expressionBombs: Readonly<Record<string, () => FuzzRequest>> = {
  ...named('rule', hostileExpressions, (expression) => () => define(ruled(spec({ a: text }), rule(expression)))),
  ...named(
    'selector',
    hostileExpressions,
    (expression) => () => requestTo('POST', `${classes}?dryRun=All`, { body: deviceClass([expression]) }),
  ),
  ...named('definition', ofDefinitions, (make) => make),
  ...named('object', judged, (one, name) => judgedBomb(name, one)),
  ...named('condition', conditions, conditionBomb),
  '32 selectors of 10,000 characters': () =>
    requestTo('POST', `${classes}?dryRun=All`, {
      body: deviceClass(many(32, () => `${times('device.driver == "a"||', 400)}true`)),
    }),
  '64 conditions of 30,000 characters': () =>
    requestTo('POST', `${hooks}?dryRun=All`, {
      body: configuration([
        withConditions(many(64, (at) => ({ name: `c${at}`, expression: `${times('object.a == 1||', 2_000)}true` }))),
      ]),
    }),
  '10,000 conditions': () =>
    requestTo('POST', `${hooks}?dryRun=All`, {
      body: configuration([withConditions(many(10_000, (at) => ({ name: `c${at}`, expression: 'object.a ==' })))]),
    }),
  '200 webhooks with 60 conditions': () =>
    requestTo('POST', `${hooks}?dryRun=All`, {
      body: configuration(
        many(200, (hook) =>
          withConditions(
            many(60, (at) => ({ name: `c${at}`, expression: `object.a == ${at}` })),
            {
              name: `h${hook}.bomb.example.com`,
            },
          ),
        ),
      ),
    }),
};
