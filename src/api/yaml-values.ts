import { isInt64, maxUint64, minInt64 } from './go-integers.js';
import { quote } from './go-text.js';
import { type ExactJson, NumberLiteral } from './json-exact.js';
import { YamlError } from './yaml-error.js';
import type { YamlScalarNode } from './yaml-parser.js';
import { goFloat, resolveScalar, type YamlScalar } from './yaml-scalar.js';

/** Scalar values as Go represents them between YAML and JSON. */

/** Returns a whole number exactly if it fits in 64 bits, and as a float otherwise. */
export function wholeNumber(value: bigint): ExactJson {
  const number = Number(value);
  if (Number.isSafeInteger(number) || value > maxUint64 || value < minInt64) return number;
  return isInt64(value) ? value : new NumberLiteral(value.toString());
}

/**
 * Returns a float as JSON represents it: whole ones lose the distinction, and their shortest digits are read as a whole
 * number.
 */
export const floatNumber = (value: number): ExactJson =>
  Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63 ? wholeNumber(BigInt(String(value))) : value;

/** A value as Go holds it before the conversion to JSON. */
export interface GoValue {
  /** The value in JSON. Throws YamlError if it has none, which counts only if nothing else is wrong. */
  readonly json: ExactJson;
  /** The value as `%#v` prints it, which also identifies keys. */
  readonly go: string;
  /** The value as a member's name; undefined if it cannot be one. */
  readonly name: string | undefined;
}

export const nothing: GoValue = { json: null, go: 'interface {}(nil)', name: undefined };

export const tagPrefix = 'tag:yaml.org,2002:';

/** Tags that require a type of scalar. */
const kindsByTag = new Map<string, YamlScalar['kind']>([
  ['bool', 'boolean'],
  ['int', 'integer'],
  ['float', 'float'],
  ['null', 'null'],
  ['timestamp', 'timestamp'],
]);
const tagsByKind = new Map<YamlScalar['kind'], string>([
  ...[...kindsByTag].map(([tag, kind]) => [kind, tag] as const),
  ['text', 'str'],
  // Without a tag it stays a text.
  ['timestamp', 'str'],
]);

/** Returns the value of a scalar by its tag, or else by its text if it is plain. Throws YamlError. */
export function scalarValue({ value: text, tag: fullTag, isImplicit }: YamlScalarNode): GoValue {
  if (fullTag === undefined) return isImplicit ? goValue(resolveScalar(text)) : textValue(text);
  const tag = fullTag.startsWith(tagPrefix) ? fullTag.slice(tagPrefix.length) : fullTag;
  if (tag === 'binary') {
    const bytes = Buffer.from(text, 'base64');
    if (bytes.toString('base64') !== text.replaceAll('\n', '')) {
      throw new YamlError('yaml: !!binary value contains invalid base64 data');
    }
    return textValue(bytes.toString('utf8'));
  }
  const expected = kindsByTag.get(tag);
  if (expected === undefined) return textValue(text);
  const found = resolveScalar(text);
  if (found.kind === expected) return goValue(found);
  if (expected === 'float' && found.kind === 'integer') return goValue({ kind: 'float', value: Number(found.value) });
  throw new YamlError(`yaml: cannot decode !!${tagsByKind.get(found.kind)} \`${text}\` as a !!${tag}`);
}

const textValue = (text: string): GoValue => ({
  json: text,
  get go() {
    return quote(text);
  },
  name: text,
});

function goValue(scalar: YamlScalar): GoValue {
  switch (scalar.kind) {
    case 'null':
      return nothing;
    case 'boolean':
      return { json: scalar.value, go: String(scalar.value), name: String(scalar.value) };
    case 'integer':
      return { json: wholeNumber(scalar.value), go: String(scalar.value), name: String(scalar.value) };
    case 'float': {
      const { value } = scalar;
      const go = goFloat(value);
      return {
        // A non-finite number has no JSON form, but it can be a member's name.
        get json() {
          if (Number.isFinite(value)) return floatNumber(value);
          throw new YamlError(`json: unsupported value: ${nonFinite[go]}`);
        },
        go,
        name: goFloat(shortestOf32Bits(value)),
      };
    }
    default:
      return textValue(scalar.value);
  }
}

/** Rounds a float to the shortest decimal that identifies it as a 32-bit float, as names of members are written. */
function shortestOf32Bits(value: number): number {
  const rounded = Math.fround(value);
  if (!Number.isFinite(rounded)) return rounded;
  for (let digits = 1; digits < 9; digits++) {
    const shorter = Number(rounded.toPrecision(digits));
    if (Math.fround(shorter) === rounded) return shorter;
  }
  return Number(rounded.toPrecision(9));
}

const nonFinite: Readonly<Record<string, string>> = { '.nan': 'NaN', '.inf': '+Inf', '-.inf': '-Inf' };
