import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ClusterTrustBundle } from '../../../src/api/kinds/cluster-trust-bundle.js';
import { createViolations, updateViolations } from '../../../src/apiserver/write/violations.js';
import type { RequestContext, ResourceDefinition } from '../../../src/registry/resource-definition.js';
import { anchorViolations } from '../../../src/resources/clustertrustbundles/anchors.js';
import { clusterTrustBundleDefinition } from '../../../src/resources/clustertrustbundles/definition.js';
import { testAuthority } from '../../../src/testing/certificates.js';
import { countSteps } from '../../count-steps.js';
import { found } from '../write.js';

const clusterTrustBundles = clusterTrustBundleDefinition();

interface Recorded {
  readonly name: string;
  readonly object: Pick<ClusterTrustBundle, 'metadata' | 'spec'>;
  /** The field and the message of each cause. */
  readonly causes: readonly (readonly [string, string])[];
}
const recorded: readonly Recorded[] = JSON.parse(
  readFileSync(join(import.meta.dirname, 'recorded-bundles.json'), 'utf8'),
);

const context: RequestContext = {
  user: { username: 'u', groups: [] },
  key: {},
  subresource: undefined,
  now: 0,
  warn: () => {},
};
const bundle = (given: Pick<ClusterTrustBundle, 'metadata' | 'spec'>): ClusterTrustBundle => ({
  apiVersion: 'certificates.k8s.io/v1beta1',
  kind: 'ClusterTrustBundle',
  ...given,
});
const judged = { definition: clusterTrustBundles as unknown as ResourceDefinition, context };
const causes = (next: ClusterTrustBundle, previous?: ClusterTrustBundle) =>
  found(previous === undefined ? createViolations(judged, next) : updateViolations(judged, next, previous)).map(
    ({ field, body }) => [field, body],
  );

describe('bundles that Kubernetes answered', () => {
  test.each(recorded.map((one) => [one.name, one] as const))('%s', (_, one) => {
    expect(causes(bundle(one.object))).toEqual(one.causes);
  });
});

const trustBundle = (await testAuthority()).anchors;
const other = (await testAuthority()).anchors;

test('the contents of a bundle larger than a megabyte are not checked', () => {
  const huge = bundle({ metadata: { name: 'a' }, spec: { trustBundle: `${trustBundle}${'x'.repeat(1_048_576)}` } });
  expect(causes(huge)).toEqual([['spec.trustBundle', 'Too long: may not be more than 1048576 bytes']]);
});

test('the check yields between any two anchors', () => {
  expect(countSteps(anchorViolations(trustBundle + other)).pauses).toBeGreaterThan(2);
});

test('each pair of equal anchors is reported', () => {
  const twice = bundle({ metadata: { name: 'a' }, spec: { trustBundle: trustBundle + other + other + trustBundle } });
  expect(
    causes(twice)
      .map(([, body]) => body?.slice(-33))
      .sort(),
  ).toEqual(
    ['icate trust anchor (indices [0 3])', 'icate trust anchor (indices [1 2])'].map((text) => text.slice(-33)),
  );
});

test('an unchanged bundle is not validated again', () => {
  const stored = bundle({ metadata: { name: 'a' }, spec: { trustBundle: 'junk' } });
  expect(causes({ ...stored, metadata: { name: 'a', labels: { a: 'b' } } }, stored)).toEqual([]);
});

test('the signer is immutable', () => {
  const stored = bundle({ metadata: { name: 'a.b:c:d' }, spec: { signerName: 'a.b/c', trustBundle } });
  expect(causes({ ...stored, spec: { signerName: 'a.b/e', trustBundle } }, stored)).toEqual([
    [
      'metadata.name',
      'Invalid value: "a.b:c:d": ClusterTrustBundle for signerName a.b/e must be named with prefix a.b:e:',
    ],
    ['spec.signerName', 'Invalid value: "a.b/e": field is immutable'],
  ]);
});

test.each([
  ['a.b:c:x-', 'a.b:c:x-12345', []],
  ['a.b:c:', 'a.b:c:12345', ['metadata.generateName']],
  ['x-', 'x-12345', ['metadata.generateName', 'metadata.name']],
])('generateName %s', (generateName, name, fields) => {
  const made = bundle({ metadata: { generateName, name }, spec: { signerName: 'a.b/c', trustBundle } });
  expect(causes(made).map(([field]) => field)).toEqual(fields);
});

test('violations of the name come before those of other metadata', () => {
  const metadata = { name: 'x', labels: { ',': 'b' } };
  const made = bundle({ metadata, spec: { signerName: 'a.b/c', trustBundle } });
  expect(causes(made).map(([field]) => field)).toEqual(['metadata.name', 'metadata.labels']);
});

test('on update, metadata is validated again after the anchors', () => {
  const stored = bundle({ metadata: { name: 'a.b:c:d' }, spec: { signerName: 'a.b/c', trustBundle } });
  const metadata = { name: 'a.b:c:d', labels: { 'a b': 'c' } };
  const changed = bundle({ metadata, spec: { signerName: 'a.b/e', trustBundle: 'x' } });
  // The rules for all kinds, the rules for a new object of this kind, and those for an update.
  const all = ['metadata.labels', 'metadata.labels'];
  const own = ['metadata.name', 'metadata.labels', 'spec.trustBundle', 'metadata.labels', 'spec.signerName'];
  expect(causes(changed, stored).map(([field]) => field)).toEqual([...all, ...own]);
});

test('v1 differs in its version only', () => {
  const v1 = clusterTrustBundleDefinition({ version: 'v1' });
  expect(v1.version).toBe('v1');
  expect(v1.schema.wire?.component).toBe('io.k8s.api.certificates.v1.ClusterTrustBundle');
});
