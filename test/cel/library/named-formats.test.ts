import { expect, test } from 'vitest';
import { outcome } from './outcome.js';

/** Each with its actual and its estimated cost. */
test.each([
  [`format.dns1123Label().validate('my-label')`, 'optional.none', 9, 33],
  [
    `format.dns1123Label().validate('My-label')`,
    `optional(["a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"])`,
    9,
    33,
  ],
  [`format.dns1123Label().validate('a.b')`, 'optional(["must not contain dots"])', 9, 33],
  [
    `format.dns1123Label().validate('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')`,
    'optional(["must be no more than 63 characters"])',
    57,
    225,
  ],
  [`format.dns1123LabelPrefix().validate('a-')`, 'optional.none', 9, 33],
  [
    `format.dns1123Label().validate('a-')`,
    `optional(["a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"])`,
    9,
    33,
  ],
  [`format.dns1123Subdomain().validate('a.b')`, 'optional.none', 16, 33],
  [`format.dns1123SubdomainPrefix().validate('a.b-')`, 'optional.none', 16, 33],
  [
    `format.dns1035Label().validate('1a')`,
    `optional(["a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"])`,
    9,
    33,
  ],
  [`format.dns1035LabelPrefix().validate('a-')`, 'optional.none', 9, 33],
  [
    `format.qualifiedName().validate('a/b/c')`,
    `optional(["a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"])`,
    16,
    33,
  ],
  [`format.qualifiedName().validate('example.com/Name')`, 'optional.none', 31, 65],
  [
    `format.labelValue().validate('-a')`,
    `optional(["a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"])`,
    11,
    33,
  ],
  [
    `format.uri().validate('http://h/%zz')`,
    'optional(["parse \\"http://h/%zz\\": invalid URL escape \\"%zz\\""])',
    553,
    65,
  ],
  [`format.uri().validate('no')`, 'optional(["parse \\"no\\": invalid URI for request"])', 277, 33],
  [`format.uuid().validate('123e4567-e89b-12d3-a456-426614174000')`, 'optional.none', 73, 129],
  [`format.uuid().validate('x')`, 'optional(["does not match the UUID format"])', 19, 33],
  [`format.byte().validate('aGVsbG8=')`, 'optional.none', 22, 33],
  [`format.byte().validate('aGVsbG8')`, 'optional(["invalid base64"])', 22, 33],
  [`format.date().validate('2021-02-29')`, 'optional(["invalid date"])', 37, 33],
  [`format.datetime().validate('2021-01-01T00:00:00Z')`, 'optional.none', 55, 65],
  [`format.datetime().validate('2021-01-01 00:00:00Z')`, 'optional(["invalid datetime"])', 55, 65],
  [`format.named('dns1123Label').value().validate('A').hasValue()`, 'true', 11, 35],
  [`format.named('unknown')`, 'optional.none', 1, 1],
  [`format.named('constructor')`, 'optional.none', 1, 1],
  [`dyn(1).validate('x')`, '! no such overload: validate(int, string)', 1, 33],
  [`null.validate('x')`, '! no such overload: validate(null_type, string)', 1, 32],
  [`format.date() == format.named('date').value()`, 'true', 4, '4..10'],
  ['format.date() == format.uri()', 'false', 3, '3..9'],
] as const)('%s returns %s at cost %i', (expression, answer, cost, estimate) => {
  expect(outcome(expression)).toEqual({ answer, cost, estimate });
});
