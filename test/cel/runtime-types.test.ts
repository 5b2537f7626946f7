import { expect, test } from 'vitest';
import { outcome } from './library/outcome.js';

/** The messages of kube-apiserver 1.36. */
test.each([
  ['{}[quantity("1")]', 'cel.Quantity'],
  ['{}[url("http://a")]', 'cel.URL'],
  ['{}[semver("1.0.0")]', 'cel.Semver'],
  ['{}[ip("1.1.1.1")]', 'cel.IP'],
  ['{}[cidr("1.1.1.0/24")]', 'cel.CIDR'],
  ['dyn([1])[?dyn(format.uri())]', 'cel.Format'],
])('%s fails with a key of the type %s', (expression, type) => {
  expect(outcome(expression).answer).toBe(`! invalid qualifier type: ${type}`);
});

test.each([
  ['dyn(quantity("1")).map(x, x)', `got 'cel.Quantity', expected iterable type`],
  ['dyn(ip("1.1.1.1")).all(x, true)', `got 'cel.IP', expected iterable type`],
  ['dyn(format.uri()).transformList(i, v, v)', 'unsupported comprehension range type: cel.Format'],
])('%s fails because it cannot be iterated', (expression, failure) => {
  expect(outcome(expression).answer).toBe(`! ${failure}`);
});

test.each([
  ['dyn(b"a") in {"a": 1}', 'types.Bytes'],
  ['dyn(b"a") in {"a": 1} || true', 'types.Bytes'],
  ['dyn(b"a") in url("http://a?b=c").getQuery()', 'types.Bytes'],
  ['dyn(b"a") in {"a": 1}.transformMap(k, v, v)', 'types.Bytes'],
  ['dyn(b"a") in ["x"]', 'types.Bytes'],
  ['dyn(semver("1.2.3")) in {"a": 1}', 'cel.Semver'],
  ['dyn(semver("1.2.3")) in [1, 2]', 'cel.Semver'],
  ['{semver("1.2.3"): 1}', 'cel.Semver'],
  ['dyn(format.uri()) in {"a": 1}', 'cel.Format'],
  ['{dyn(format.uri()): 1}', 'cel.Format'],
  ['{?dyn(b"a"): optional.of(1)}', 'types.Bytes'],
  ['{dyn(b"a"): 1}', 'types.Bytes'],
  ['true || {dyn(b"a"): 1} == {}', 'types.Bytes'],
])('%s aborts the evaluation, as %s is not hashable', (expression, type) => {
  expect(outcome(expression).answer).toBe(`! internal error: runtime error: hash of unhashable type ${type}`);
});

test.each([
  ['dyn(b"a") in {}', 'false'],
  ['dyn(b"a") in []', 'false'],
  ['dyn(b"a") in {"a": 1}.transformMap(k, v, k == "b", v)', 'false'],
  ['true || dyn(b"a") in {"a": 1}', 'true'],
  ['dyn([1]) in {"a": 1}', 'false'],
  ['dyn(optional.of(1)) in {"a": 1}', 'false'],
  ['{quantity("1"): 1}.size()', '1'],
  ['{?dyn(b"a"): dyn(1)}', "! cannot initialize optional entry '[97]' from non-optional value 1"],
])('%s is %s', (expression, answer) => {
  expect(outcome(expression).answer).toBe(answer);
});
