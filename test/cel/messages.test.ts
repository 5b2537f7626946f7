import { expect, test } from 'vitest';
import { runSync } from '../../src/api/steps.js';
import { environmentOf } from '../../src/cel/environment.js';
import { kubernetesLibraries } from '../../src/cel/kubernetes.js';
import { outcome } from './library/outcome.js';

const environment = environmentOf({ variables: new Map(), libraries: kubernetesLibraries });
const duration = (fields: string): string => `google.protobuf.Duration{${fields}}`;
const timestamp = (fields: string): string => `google.protobuf.Timestamp{${fields}}`;
const refused = (field: string, why: string): string =>
  `! field type conversion error for google.protobuf.${field} value type: ${why}`;

/** Values, failures and costs are those of cel-go 0.26 in Kubernetes' environment. */
test.each([
  [duration('seconds: 1, nanos: 5'), 'duration(1000000005)', 40, 40],
  [duration('seconds: 1, nanos: -5'), 'duration(999999995)', 40, 40],
  [duration(''), 'duration(0)', 40, 40],
  [duration('seconds: 1, seconds: 2'), 'duration(2000000000)', 40, 40],
  [duration('seconds: 9223372036854775807'), 'duration(9223372036854775807)', 40, 40],
  [duration('seconds: -9223372036854775807'), 'duration(-9223372036854775808)', 40, 40],
  [duration('?seconds: optional.of(3)'), 'duration(3000000000)', 41, 41],
  [duration('?seconds: optional.none()'), 'duration(0)', 41, 41],
  [duration('seconds: dyn(optional.of(1))'), 'duration(1000000000)', 42, 42],
  [`${duration('seconds: 1')} == duration('1s')`, 'true', 41, 42],
  [`string(${duration('seconds: 61')})`, '"61s"', 41, 41],
  [`.${duration('seconds: 1')}.getSeconds()`, '1', 41, 41],
  [timestamp('seconds: 1, nanos: 2000000000'), 'timestamp(1970-01-01T00:00:03Z)', 40, 40],
  [`${timestamp('seconds: 1')} - ${timestamp('')}`, 'duration(1000000000)', 81, 81],
  [duration('seconds: 1/0'), '! division by zero', 41, 41],
  [duration('nanos: 2147483648'), refused('Duration.nanos', 'integer overflow'), 40, 40],
  [
    duration("seconds: dyn('1')"),
    refused('Duration.seconds', "unsupported native conversion from string to 'int64'"),
    40,
    41,
  ],
  [duration('seconds: dyn(1.0)'), refused('Duration.seconds', "type conversion error from Double to 'int64'"), 40, 41],
  [
    duration('seconds: dyn(1u)'),
    refused('Duration.seconds', "unsupported type conversion from 'uint' to int64"),
    40,
    41,
  ],
  [
    duration('seconds: dyn(null)'),
    refused('Duration.seconds', "type conversion error from 'null_type' to 'int64'"),
    40,
    41,
  ],
  [timestamp('nanos: dyn(true)'), refused('Timestamp.nanos', "type conversion error from bool to 'int32'"), 40, 41],
  [timestamp("nanos: dyn(b'a')"), refused('Timestamp.nanos', "type conversion error from Bytes to 'int32'"), 40, 41],
  [timestamp('nanos: dyn([1])'), refused('Timestamp.nanos', "type conversion error from list to 'int32'"), 40, 51],
  [timestamp('nanos: dyn({1: 2})'), refused('Timestamp.nanos', "type conversion error from map to 'int32'"), 40, 71],
  [
    timestamp("nanos: dyn(duration('1s'))"),
    refused('Timestamp.nanos', "type conversion error from 'Duration' to 'int32'"),
    40,
    42,
  ],
  [timestamp('nanos: dyn(int)'), refused('Timestamp.nanos', "type conversion not supported for 'type'"), 40, 42],
  [duration('?nanos: dyn(true)'), "! cannot initialize optional entry 'nanos' from non-optional value true", 40, 41],
  // Beyond the range of a JavaScript Date.
  [timestamp('seconds: 99999999999999'), '! timestamp out of range', 40, 40],
])('%s is evaluated', (expression, answer, cost, estimate) => {
  expect(outcome(expression)).toEqual({ answer, cost, estimate });
});

test.each([
  [duration('secs: 1'), "undefined field 'secs'"],
  [duration("seconds: '1'"), "expected type of field 'seconds' is 'int' but provided type is 'string'"],
  [duration('seconds: null'), "expected type of field 'seconds' is 'int' but provided type is 'null'"],
  [duration('?seconds: 1'), "expected type 'optional_type(int)' but found 'int'"],
  [`${duration('seconds: 1')}.seconds`, "type 'duration' does not support field selection"],
  ['int{}', "'int' is not a message type"],
  ['net.IP{}', "'net.IP' is not a message type"],
  ['google.protobuf.Nope{}', "undeclared reference to 'google.protobuf.Nope' (in container '')"],
])('%s does not compile', (expression, message) => {
  expect(runSync(environment.compile(expression)).issues?.map((issue) => issue.message)).toEqual([message]);
});
