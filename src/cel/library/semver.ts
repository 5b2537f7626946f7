import {
  compareSemanticVersions,
  parseSemanticVersion,
  parseTolerantVersion,
  type SemanticVersion,
} from '../../api/semantic-version.js';
import type { Library } from '../functions.js';
import { bool, int, opaque, string } from '../types.js';
import { Failure, type OpaqueValue } from '../values.js';
import { parsing } from './call-costs.js';
import { global, member } from './declarations.js';

/** Semantic versions: Kubernetes' `semver` library, version 1. */

const semverType = opaque('kubernetes.Semver');

interface SemverValue extends OpaqueValue {
  readonly version: SemanticVersion;
}

const read = (text: string, normalize = false) => (normalize ? parseTolerantVersion(text) : parseSemanticVersion(text));

function semverOf(text: string, normalize?: boolean): SemverValue | Failure {
  const version = read(text, normalize);
  if ('wrong' in version) return new Failure(version.wrong);
  return {
    kind: 'opaque',
    name: 'kubernetes.Semver',
    version,
    equals: (other) => 'version' in other && compareSemanticVersions(version, (other as SemverValue).version) === 0,
  };
}

const isSemver = (text: string, normalize?: boolean): boolean => !('wrong' in read(text, normalize));

const order = (a: SemverValue, b: SemverValue): -1 | 0 | 1 => compareSemanticVersions(a.version, b.version);

const part = (name: 'major' | 'minor' | 'patch') => ({
  name,
  overloads: [
    member(`semver_${name}`, [semverType], int, ({ version }: SemverValue) => BigInt.asIntN(64, version[name])),
  ],
});

export const semver: Library = {
  functions: [
    {
      name: 'semver',
      overloads: [
        global('string_to_semver', [string], semverType, (text: string) => semverOf(text), parsing()),
        global('string_bool_to_semver', [string, bool], semverType, semverOf, parsing()),
      ],
    },
    {
      name: 'isSemver',
      overloads: [
        global('is_semver_string', [string], bool, (text: string) => isSemver(text), parsing()),
        global('is_semver_string_bool', [string, bool], bool, isSemver, parsing()),
      ],
    },
    {
      name: 'isGreaterThan',
      overloads: [
        member(
          'semver_is_greater_than',
          [semverType, semverType],
          bool,
          (a: SemverValue, b: SemverValue) => order(a, b) > 0,
        ),
      ],
    },
    {
      name: 'isLessThan',
      overloads: [
        member(
          'semver_is_less_than',
          [semverType, semverType],
          bool,
          (a: SemverValue, b: SemverValue) => order(a, b) < 0,
        ),
      ],
    },
    {
      name: 'compareTo',
      overloads: [
        member('semver_compare_to', [semverType, semverType], int, (a: SemverValue, b: SemverValue) =>
          BigInt(order(a, b)),
        ),
      ],
    },
    part('major'),
    part('minor'),
    part('patch'),
  ],
};
