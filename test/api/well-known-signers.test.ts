import { expect, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import { wellKnownSigner, wellKnownSigners } from '../../src/api/well-known-signers.js';

test.each([
  ['kubernetes.io/kube-apiserver-client', 'client'],
  ['kubernetes.io/apiserver-client', 'client'],
  ['kubernetes.io/kube-apiserver-client-kubelet', 'node-client'],
  ['kubernetes.io/apiserver-client-nodeagent', 'node-client'],
  ['kubernetes.io/kubelet-serving', 'node-serving'],
  ['kubernetes.io/nodeagent-serving', 'node-serving'],
  ['kubernetes.io/legacy-unknown', 'legacy-unknown'],
  ['kubernetes.io/other', undefined],
  ['example.com/kubelet-serving', undefined],
  ['kubelet-serving', undefined],
])('the signer %s is the well-known signer %s', (name, kind) => {
  expect(wellKnownSigner(name)).toBe(kind);
});

test('signer names follow the signer domain', () => {
  const domains = { ...defaultDomains, signer: 'example.com' };
  expect(wellKnownSigners(domains)['node-serving']).toEqual([
    'example.com/kubelet-serving',
    'example.com/nodeagent-serving',
  ]);
  expect(wellKnownSigner('kubernetes.io/kubelet-serving', domains)).toBeUndefined();
});
