import { maxInt64, maxUint64, minInt64 } from './go-integers.js';
import { goFloatText } from './go-text.js';

/**
 * The meaning of an untagged plain scalar in Kubernetes' YAML (go-yaml v2): mostly YAML 1.1, so that `yes`, `no`, `on`,
 * `off`, `y` and `n` are booleans and `017` is octal, but numbers in base 60 are text.
 */
export type YamlScalar =
  | { readonly kind: 'text'; readonly value: string }
  /** Text that looks like a timestamp; it stays text when read, and is quoted when written. */
  | { readonly kind: 'timestamp'; readonly value: string }
  | { readonly kind: 'null'; readonly value: null }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'float'; readonly value: number };

const cases = (word: string): readonly string[] => [
  word,
  (word[0] ?? '').toUpperCase() + word.slice(1),
  word.toUpperCase(),
];
const words = new Map<string, YamlScalar>([
  ...['y', ...cases('yes'), 'Y', ...cases('true'), ...cases('on')].map(
    (word) => [word, { kind: 'boolean', value: true }] as const,
  ),
  ...['n', ...cases('no'), 'N', ...cases('false'), ...cases('off')].map(
    (word) => [word, { kind: 'boolean', value: false }] as const,
  ),
  ...['', '~', ...cases('null')].map((word) => [word, { kind: 'null', value: null }] as const),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, { kind: 'float', value: Number.NaN }] as const),
  ...['.inf', '.Inf', '.INF'].flatMap((word) => [
    [word, { kind: 'float', value: Number.POSITIVE_INFINITY }] as const,
    [`+${word}`, { kind: 'float', value: Number.POSITIVE_INFINITY }] as const,
    [`-${word}`, { kind: 'float', value: Number.NEGATIVE_INFINITY }] as const,
  ]),
]);

const floatText = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const integerText = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/;
const maxDigits = 64;

export function resolveScalar(text: string): YamlScalar {
  const word = words.get(text);
  if (word !== undefined) return word;
  const first = text.charCodeAt(0);
  const numeric = (first >= 0x30 && first <= 0x39) || first === 0x2b || first === 0x2d || first === 0x2e;
  if (!numeric) return { kind: 'text', value: text };
  if (isTimestamp(text)) return { kind: 'timestamp', value: text };
  // After a leading point, underscores count only between digits.
  const plain = first === 0x2e ? text.replace(/(\d)_(?=\d)/g, '$1') : text.replaceAll('_', '');
  const integer = first === 0x2e ? undefined : integerOf(plain);
  if (integer !== undefined) return { kind: 'integer', value: integer };
  const value = floatText.test(plain) ? Number(plain) : Number.NaN;
  return Number.isFinite(value) ? { kind: 'float', value } : { kind: 'text', value: text };
}

/** Parses an integer of 64 bits, signed or unsigned; undefined if it is none. */
function integerOf(text: string): bigint | undefined {
  const parts = text.length > maxDigits + 3 ? null : integerText.exec(text);
  if (parts === null) return undefined;
  const [, sign, hexadecimal, binary, octal, decimal] = parts;
  const magnitude =
    hexadecimal !== undefined
      ? BigInt(`0x${hexadecimal}`)
      : binary !== undefined
        ? BigInt(`0b${binary}`)
        : octal !== undefined
          ? BigInt(`0o${octal}`)
          : BigInt(decimal ?? 0);
  const value = sign === '-' ? -magnitude : magnitude;
  const unsigned = sign === '' && value <= maxUint64;
  return unsigned || (value >= minInt64 && value <= maxInt64) ? value : undefined;
}

const timestampText =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)| (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.\d+)?)?$/;

function isTimestamp(text: string): boolean {
  const parts = timestampText.exec(text);
  if (parts === null) return false;
  const [year = 0, month = 0, day = 0, ...clock] = parts.slice(1).map((part) => Number(part ?? 0));
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const [hour = 0, minute = 0, second = 0] = clock[0] || clock[1] || clock[2] ? clock : clock.slice(3);
  return month >= 1 && month <= 12 && day >= 1 && date.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
}

/** Formats a float as Go's `strconv` does in its shortest `%g` form. */
export function goFloat(value: number): string {
  if (Number.isNaN(value)) return '.nan';
  return Number.isFinite(value) ? goFloatText(value) : value > 0 ? '.inf' : '-.inf';
}
