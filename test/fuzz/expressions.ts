import type { Random } from './random.js';

/** Generates expressions from a small grammar: most parse, many have the right types, one in four is malformed. */

export interface ExpressionParts {
  /** The names of variables, and paths such as `self.spec`. */
  readonly names: readonly string[];
}

export const ruleParts: ExpressionParts = {
  names: ['self', 'self', 'self', 'oldSelf', 'self.a', 'self.b', 'self.spec'],
};
/** The parts for all places in which expressions are used. */
const anyParts: ExpressionParts = {
  names: [
    ...ruleParts.names,
    'object',
    'object.metadata.name',
    'object.spec',
    'oldObject',
    'request',
    'request.userInfo.groups',
    'request.operation',
    'namespaceObject',
    'authorizer',
    'authorizer.requestResource',
    'device',
    'device.driver',
    'device.attributes["a.b"].c',
    'device.capacity["a.b"].c',
  ],
};

/** The intended type of an expression. `any` may be anything. */
type Kind = 'bool' | 'int' | 'text' | 'list' | 'map' | 'any';
const kinds: readonly Kind[] = ['bool', 'int', 'text', 'list', 'map', 'any'];

const ends: Readonly<Record<Exclude<Kind, 'any'>, readonly string[]>> = {
  bool: ['true', 'false', 'has(self.a)', 'has(object.spec.a)', '"a" in self', 'oldSelf.hasValue()'],
  int: [
    '0',
    '1',
    '-1',
    '9223372036854775807',
    '-9223372036854775808',
    '0x7f',
    '1u',
    '18446744073709551615u',
    '1.5',
    '1e300',
    '0.0',
    '-0.0',
    '9223372036854775808',
  ],
  text: [
    '""',
    '"a"',
    "'abc'",
    'r"\\d+"',
    '"\\u00e9😀"',
    '"""a\nb"""',
    '"1Gi"',
    '"10.0.0.1"',
    '"::1/64"',
    '"1.2.3-rc.1"',
    '"https://a.b:1/c?d=e"',
    '"2026-01-01T00:00:00Z"',
    '"1h30m"',
    '"%s %d %.3f %x"',
    '"^(a|b)*$"',
    "b'\\xff'",
  ],
  list: [
    '[]',
    '[1, 2, 3]',
    '["a", "b", "a"]',
    '[[1], [2, [3]]]',
    '[null, 1, "a"]',
    '[?optional.none(), 1]',
    'lists.range(5)',
  ],
  map: ['{}', '{"a": 1}', '{1: "a", 2u: "b", 1.0: "c"}', '{true: null}', '{?"a": optional.of(1)}', '{"a": {"b": [1]}}'],
};

type Write = (one: (kind: Kind) => string, random: Random) => string;

const form =
  (text: string): Write =>
  (one) =>
    text.replace(/\$([bitlma])/g, (_, letter: string) => one(byLetter.get(letter) ?? 'any'));
const byLetter: ReadonlyMap<string, Kind> = new Map([
  ['b', 'bool'],
  ['i', 'int'],
  ['t', 'text'],
  ['l', 'list'],
  ['m', 'map'],
  ['a', 'any'],
]);
const forms = (...texts: readonly string[]): readonly Write[] => texts.map(form);

/** All macros, operators and functions that Kubernetes has, by the type of their result. */
const writers: Readonly<Record<Exclude<Kind, 'any'>, readonly Write[]>> = {
  bool: forms(
    '$b && $b',
    '$b || $b',
    '!$b',
    '$a == $a',
    '$a != $a',
    '$i < $i',
    '$t <= $t',
    '$a in $l',
    '$t in $m',
    '$b ? $b : $b',
    '($b)',
    '$l.all(x, $b)',
    '$l.all(i, x, $b && x == i)',
    '$l.exists(x, x == $a)',
    '$l.exists_one(x, $b)',
    '$l.existsOne(i, x, i == x)',
    '$m.all(k, v, k == v || $b)',
    '$m.exists(k, k == $t)',
    '$t.contains($t)',
    '$t.startsWith($t)',
    '$t.endsWith($t)',
    '$t.matches($t)',
    'sets.contains($l, $l)',
    'sets.equivalent($l, $l)',
    'sets.intersects($l, $l)',
    '$l.isSorted()',
    'isURL($t)',
    'url($t).getHost() == $t',
    'isQuantity($t)',
    'quantity($t).isGreaterThan(quantity($t))',
    'quantity($t).add($i).isInteger()',
    'isIP($t)',
    'ip($t).isLoopback()',
    'ip.isCanonical($t)',
    'isCIDR($t)',
    'cidr($t).containsIP($t)',
    'cidr($t).masked() == cidr($t)',
    'isSemver($t)',
    'semver($t).isLessThan(semver($t, true))',
    'format.dns1123Label().validate($t).hasValue()',
    '!format.named($t).hasValue()',
    'timestamp($t) > timestamp($t)',
    'duration($t) == duration($t)',
    'timestamp($t) - timestamp($t) < duration($t)',
    'type($a) == type($a)',
    'dyn($a) == dyn($a)',
    'bool($t)',
    'has($a.a)',
    'optional.of($a).hasValue()',
    '$m[?$t].hasValue()',
    'self.?a.orValue($b)',
    'authorizer.group($t).resource($t).namespace($t).check($t).allowed()',
    'authorizer.path($t).check("get").reason() == $t',
    'authorizer.serviceAccount($t, $t).group("").resource("pods").fieldSelector($t).labelSelector($t).check("list").errored()',
    'oldSelf.optMap(o, o == self).orValue($b)',
    'request.userInfo.groups.exists(g, g == $t)',
    'device.attributes[$t].?a.hasValue()',
    'device.capacity["a.b"].c.compareTo(quantity($t)) >= 0',
    'cel.bind(x, $a, x == x)',
  ),
  int: forms(
    '$i + $i',
    '$i - $i',
    '$i * $i',
    '$i / $i',
    '$i % $i',
    '-$i',
    'size($a)',
    '$a.size()',
    'int($a)',
    'uint($a)',
    'double($a)',
    '$l[$i]',
    '$l.sum()',
    '$l.min()',
    '$l.max()',
    '$l.indexOf($a)',
    '$l.lastIndexOf($a)',
    '$t.indexOf($t)',
    '$t.indexOf($t, $i)',
    '$t.lastIndexOf($t, $i)',
    'timestamp($t).getFullYear()',
    'timestamp($t).getHours("Europe/Berlin")',
    'duration($t).getMilliseconds()',
    'quantity($t).asInteger()',
    'quantity($t).asApproximateFloat()',
    'quantity($t).sign()',
    'quantity($t).compareTo(quantity($t))',
    'semver($t).major()',
    'ip($t).family()',
    'cidr($t).prefixLength()',
    '$b ? $i : $i',
  ),
  text: forms(
    '$t + $t',
    'string($a)',
    'bytes($t)',
    '$t.charAt($i)',
    '$t.lowerAscii()',
    '$t.upperAscii()',
    '$t.replace($t, $t)',
    '$t.replace($t, $t, $i)',
    '$t.substring($i)',
    '$t.substring($i, $i)',
    '$t.trim()',
    '$t.reverse()',
    '$t.find($t)',
    '$t.split($t).join($t)',
    '$l.join($t)',
    '$t.format($l)',
    '$t.format([$a, $i, $i])',
    'strings.quote($t)',
    'url($t).getEscapedPath()',
    'string(ip($t))',
    'string(cidr($t).ip())',
    'string(timestamp($t))',
    'string(duration($t))',
    '$m[$t]',
    '$b ? $t : $t',
    '$t[$i]',
  ),
  list: forms(
    '[$a, $a]',
    '[$i, $i, $i]',
    '[$t, $t]',
    '$l + $l',
    '$l.map(x, $a)',
    '$l.map(x, $b, x)',
    '$l.filter(x, $b)',
    '$l.transformList(i, x, x)',
    '$l.transformList(i, x, $b, i)',
    '$m.map(k, k)',
    '$m.transformList(k, v, v)',
    '$l.flatten()',
    '$l.flatten($i)',
    '$l.slice($i, $i)',
    '$l.sort()',
    '$l.sortBy(x, $i)',
    '$l.sortBy(x, x)',
    '$l.distinct()',
    '$l.reverse()',
    '$l.first().orValue($l)',
    'lists.range($i)',
    '$t.split($t)',
    '$t.split($t, $i)',
    '$t.findAll($t)',
    '$t.findAll($t, $i)',
    'optional.unwrap([optional.of($a)])',
    '[optional.of($a), optional.none()].unwrapOpt()',
    '$b ? $l : $l',
  ),
  map: forms(
    '{$t: $a}',
    '{$t: $a, $t: $a}',
    '{$i: $a}',
    '$m.transformMap(k, v, v)',
    '$m.transformMap(k, v, $b, k)',
    '$m.transformMapEntry(k, v, {v: k})',
    '$l.transformMapEntry(i, v, {v: i})',
    'url($t).getQuery()',
    '$b ? $m : $m',
  ),
};

function write(kind: Kind, depth: number, random: Random, { names }: ExpressionParts): string {
  const wanted = kind === 'any' ? random.pick(kinds.slice(0, -1)) : kind;
  if (wanted === 'any') return 'null';
  // One part in twenty has another type than it should.
  if (random.oneIn(20)) return write(random.pick(kinds), depth - 1, random, { names });
  if (depth <= 0 || random.oneIn(5)) return random.oneIn(3) ? random.pick(names) : random.pick(ends[wanted]);
  if (random.oneIn(12))
    return `${random.pick(names)}${random.pick(['.a', '.?a', '["a"]', '[?0]', '.a.b', '.__namespace__', '.`a-b`', '.__proto__', '.constructor'])}`;
  const one = (inner: Kind): string => write(inner, depth - 1, random, { names });
  return random.pick(writers[wanted])(one, random);
}

const pieces = [
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  '"',
  "'",
  '`',
  '\\',
  '.',
  ',',
  '?',
  ':',
  '!',
  '-',
  '&&',
  '|',
  '==',
  ' in ',
  '\n',
  '//',
  '\0',
  '\ud800',
  'é',
  '😀',
  '1e',
  '0x',
  '9'.repeat(30),
  'b"',
  "r'",
  '"""',
  '__result__',
  '@result',
  'null',
  'if',
  '.all(x, ',
];

/** Changes one to four places of a text. */
function garbled(text: string, random: Random): string {
  let result = text;
  for (let left = 1 + random.below(4); left > 0; left--) {
    const at = random.below(result.length + 1);
    const removed = random.oneIn(2) ? random.below(5) : 0;
    const added = random.oneIn(3)
      ? result.slice(at, at + random.below(20)).repeat(1 + random.below(4))
      : random.pick(pieces);
    result = `${result.slice(0, at)}${added}${result.slice(at + removed)}`;
  }
  return result;
}

/** Generates an expression; `kind` is its intended type. */
export function expression(random: Random, parts: ExpressionParts = anyParts, kind: Kind = 'bool'): string {
  const text = write(kind, 1 + random.below(5), random, parts).slice(0, 4_000);
  return random.oneIn(4) ? garbled(text, random) : text;
}
