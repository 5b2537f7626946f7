import { maxUint64 } from './go-integers.js';
import { quote } from './go-text.js';

/** A version by semver.org, parsed with the errors of the Go package that Kubernetes uses (`blang/semver`). */
export interface SemanticVersion {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  /** In comparisons, numbers precede texts. */
  readonly prerelease: readonly (bigint | string)[];
}

type ParseError = { readonly wrong: string };

const digits = /^[0-9]*$/;
const identifier = /^[0-9A-Za-z-]*$/;

function number(text: string, kind: 'major' | 'minor' | 'patch'): bigint | ParseError {
  if (!digits.test(text)) return { wrong: `Invalid character(s) found in ${kind} number ${quote(text)}` };
  const name = kind.charAt(0).toUpperCase() + kind.slice(1);
  if (hasLeadingZero(text)) return { wrong: `${name} number must not contain leading zeroes ${quote(text)}` };
  return unsigned(text);
}

const hasLeadingZero = (text: string): boolean => text.length > 1 && text.startsWith('0');

function unsigned(text: string): bigint | ParseError {
  const complain = (problem: string): ParseError => ({
    wrong: `strconv.ParseUint: parsing ${quote(text)}: ${problem}`,
  });
  if (text === '') return complain('invalid syntax');
  const value = text.length > 20 ? maxUint64 + 1n : BigInt(text);
  return value > maxUint64 ? complain('value out of range') : value;
}

/** Splits a text at its first two dots. */
function threeParts(text: string): readonly string[] {
  const [major = '', minor, ...rest] = text.split('.');
  if (minor === undefined) return [major];
  return rest.length === 0 ? [major, minor] : [major, minor, rest.join('.')];
}

/** Parses a complete version, or returns the error. */
export function parseSemanticVersion(text: string): SemanticVersion | ParseError {
  if (text === '') return { wrong: 'Version string empty' };
  const [majorText = '', minorText = '', patchAndLabels] = threeParts(text);
  if (patchAndLabels === undefined) return { wrong: 'No Major.Minor.Patch elements found' };
  const major = number(majorText, 'major');
  if (typeof major !== 'bigint') return major;
  const minor = number(minorText, 'minor');
  if (typeof minor !== 'bigint') return minor;
  const [beforeBuild, build] = cut(patchAndLabels, '+');
  const [patchText, prereleaseText] = cut(beforeBuild, '-');
  const patch = number(patchText, 'patch');
  if (typeof patch !== 'bigint') return patch;
  const prerelease: (bigint | string)[] = [];
  for (const part of prereleaseText?.split('.') ?? []) {
    const read = prereleasePart(part);
    if (typeof read === 'object') return read;
    prerelease.push(read);
  }
  for (const part of build?.split('.') ?? []) {
    if (part === '') return { wrong: 'Build meta data is empty' };
    if (!identifier.test(part)) return { wrong: `Invalid character(s) found in build meta data ${quote(part)}` };
  }
  return { major, minor, patch, prerelease };
}

function prereleasePart(text: string): bigint | string | ParseError {
  if (text === '') return { wrong: 'Prerelease is empty' };
  if (!digits.test(text)) {
    return identifier.test(text) ? text : { wrong: `Invalid character(s) found in prerelease ${quote(text)}` };
  }
  if (!hasLeadingZero(text)) return unsigned(text);
  return { wrong: `Numeric PreRelease version must not contain leading zeroes ${quote(text)}` };
}

const cut = (text: string, separator: string): readonly [string, string | undefined] => {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
};

/** Like `parseSemanticVersion`, but also accepts `v1`, `1.2` and `01.02.03`, which are completed. */
export function parseTolerantVersion(text: string): SemanticVersion | ParseError {
  const parts = threeParts(text.startsWith('v') ? text.slice(1) : text).map((part) => {
    if (Buffer.byteLength(part) < 2) return part;
    const trimmed = part.replace(/^0+/, '');
    return /^[0-9]/.test(trimmed) ? trimmed : `0${trimmed}`;
  });
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? '')) {
    return { wrong: 'short version cannot contain PreRelease/Build meta data' };
  }
  while (parts.length < 3) parts.push('0');
  return parseSemanticVersion(parts.join('.'));
}

const order = (a: bigint | string, b: bigint | string): -1 | 0 | 1 => (a < b ? -1 : a > b ? 1 : 0);

/** Compares two versions; negative if the first is older. A prerelease is older than its version. */
export function compareSemanticVersions(a: SemanticVersion, b: SemanticVersion): -1 | 0 | 1 {
  const numbers = order(a.major, b.major) || order(a.minor, b.minor) || order(a.patch, b.patch);
  if (numbers !== 0) return numbers;
  if (a.prerelease.length === 0 || b.prerelease.length === 0) {
    return a.prerelease.length === b.prerelease.length ? 0 : a.prerelease.length === 0 ? 1 : -1;
  }
  for (const [at, left] of a.prerelease.entries()) {
    const right = b.prerelease[at];
    if (right === undefined) return 1;
    const difference = typeof left === typeof right ? order(left, right) : typeof left === 'bigint' ? -1 : 1;
    if (difference !== 0) return difference;
  }
  return a.prerelease.length < b.prerelease.length ? -1 : 0;
}
