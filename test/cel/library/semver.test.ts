import { expect, test } from 'vitest';
import { outcome } from './outcome.js';

/** Each with its actual and its estimated cost. */
test.each([
  [`semver('1.2.3').major()`, '1', 2, 2],
  [`semver('1.2.3').minor()`, '2', 2, 2],
  [`semver('1.2.3').patch()`, '3', 2, 2],
  [`semver('v1.2', true).patch()`, '0', 2, 2],
  [`semver('01.002.0003-rc.1', true).minor()`, '2', 3, 3],
  [`semver('18446744073709551615.0.0').major()`, '-1', 4, 4],
  [`semver('')`, '! Version string empty', 0, 0],
  [`semver('1.2')`, '! No Major.Minor.Patch elements found', 1, 1],
  [`semver('a.2.3')`, '! Invalid character(s) found in major number "a"', 1, 1],
  [`semver('01.2.3')`, '! Major number must not contain leading zeroes "01"', 1, 1],
  [`semver('1..3')`, '! strconv.ParseUint: parsing "": invalid syntax', 1, 1],
  [
    `semver('1.99999999999999999999.3')`,
    '! strconv.ParseUint: parsing "99999999999999999999": value out of range',
    3,
    3,
  ],
  [`semver('1.2.3-')`, '! Prerelease is empty', 1, 1],
  [`semver('1.2.3-01')`, '! Numeric PreRelease version must not contain leading zeroes "01"', 1, 1],
  [`semver('é.1.2', true)`, '! Invalid character(s) found in major number "0é"', 1, 1],
  [`semver('a.1.2', true)`, '! Invalid character(s) found in major number "a"', 1, 1],
  [`semver('1.2.3-é')`, '! Invalid character(s) found in prerelease "é"', 1, 1],
  [`semver('1.2.3+')`, '! Build meta data is empty', 1, 1],
  [`semver('1.2.3+a_b')`, '! Invalid character(s) found in build meta data "a_b"', 1, 1],
  [`semver('1.2-rc', true)`, '! short version cannot contain PreRelease/Build meta data', 1, 1],
  [`isSemver('1.2.3-alpha.1+build')`, 'true', 2, 2],
  [`isSemver('v1.2.3')`, 'false', 1, 1],
  [`isSemver('v1.2.3', true)`, 'true', 1, 1],
  [`semver('1.0.0-alpha').isLessThan(semver('1.0.0-alpha.1'))`, 'true', 5, 5],
  [`semver('1.0.0-alpha.1').isLessThan(semver('1.0.0-alpha.beta'))`, 'true', 5, 5],
  [`semver('1.0.0-2').isLessThan(semver('1.0.0-11'))`, 'true', 3, 3],
  [`semver('1.0.0-rc').isGreaterThan(semver('1.0.0'))`, 'false', 3, 3],
  [`semver('1.10.0').compareTo(semver('1.9.0'))`, '1', 3, 3],
  [`semver('1.0.0+a') == semver('1.0.0+b')`, 'true', 3, 3],
] as const)('%s returns %s at cost %i', (expression, answer, cost, estimate) => {
  expect(outcome(expression)).toEqual({ answer, cost, estimate });
});
