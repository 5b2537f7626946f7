import { generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { PodCertificateRequest } from '../../../src/api/kinds/pod-certificate-request.js';
import { updateViolations } from '../../../src/apiserver/write/violations.js';
import type { ResourceDefinition, SubresourceView } from '../../../src/registry/resource-definition.js';
import { podCertificateRequestDefinition } from '../../../src/resources/podcertificaterequests/definition.js';
import { issuedViolations } from '../../../src/resources/podcertificaterequests/issued-rules.js';
import { keyViolations } from '../../../src/resources/podcertificaterequests/key-rules.js';
import { countSteps } from '../../count-steps.js';
import { context, found, texts } from '../write.js';

const definition = podCertificateRequestDefinition();

interface Recorded {
  readonly now: string;
  readonly outcomes: readonly {
    readonly name: string;
    readonly spec: PodCertificateRequest['spec'];
    readonly status: PodCertificateRequest['status'];
    /** The field and the message of each cause. */
    readonly causes: readonly (readonly [string, string])[];
  }[];
}
const recorded: Recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'recorded-outcomes.json.txt'), 'utf8'));

const request = ({
  spec,
  status = {},
}: {
  readonly spec: PodCertificateRequest['spec'];
  readonly status?: PodCertificateRequest['status'] | undefined;
}): PodCertificateRequest => ({
  apiVersion: 'certificates.k8s.io/v1beta1',
  kind: 'PodCertificateRequest',
  metadata: { name: 'a', namespace: 'default', uid: 'u' },
  spec,
  status,
});

/** Returns the causes of a status, as responses mask them. */
function causesOf(next: PodCertificateRequest, previous: PodCertificateRequest, now: number) {
  const judged = {
    definition: definition as unknown as ResourceDefinition,
    view: definition.subresources?.['status'] as SubresourceView<PodCertificateRequest> as never,
    context: { ...context, now },
  };
  return found(updateViolations(judged, next, previous)).map(({ field, body }) => [
    field,
    body.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<time>'),
  ]);
}

describe('outcomes that Kubernetes answered', () => {
  test.each(recorded.outcomes.map((one) => [one.name, one] as const))('%s', (_, { spec, status, causes }) => {
    const before = request({ spec });
    expect(causesOf({ ...before, ...(status && { status }) }, before, Date.parse(recorded.now))).toEqual(causes);
  });
});

const issued = recorded.outcomes.find(({ name }) => name === '02 first-refresh');
if (issued === undefined) throw new Error('nothing was issued');

test('a certificate is accepted within five minutes around its start, exclusive', () => {
  const before = request({ spec: issued.spec });
  const after = request(issued);
  const start = Date.parse(issued.status?.notBefore ?? '');
  const at = (ms: number) => causesOf(after, before, start + ms).length;
  expect([-300_000, -299_999, 299_999, 300_000].map(at)).toEqual([1, 0, 0, 1]);
});

test('the check yields between any two certificates', () => {
  const chain = (issued.status?.certificateChain ?? '').repeat(100);
  const steps = countSteps(
    issuedViolations({ ...issued.status, certificateChain: chain }, issued.spec, Date.parse(recorded.now)),
  );
  expect(steps.pauses).toBeGreaterThan(99);
});

test('a key of 16,384 bits is refused before it verifies anything', () => {
  // The largest modulus that is accepted; the signature is not by its key.
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const { n = '', e = '' } = publicKey.export({ format: 'jwk' });
  const modulus = Buffer.concat([Buffer.from(n, 'base64url'), Buffer.alloc(2_048 - 128, 0xff)]);
  const der = (tag: number, ...parts: readonly Buffer[]): Buffer => {
    const contents = Buffer.concat(parts);
    return Buffer.concat([Buffer.from([tag, 0x82, contents.length >> 8, contents.length & 255]), contents]);
  };
  const zero = Buffer.from([0]);
  const key = der(0x30, der(0x02, zero, modulus), Buffer.from([2, 3, ...Buffer.from(e, 'base64url')]));
  const algorithm = Buffer.from('300d06092a864886f70d0101010500', 'hex');
  const spki = der(0x30, algorithm, der(0x03, zero, key));
  const given = { podUID: 'u', pkixPublicKey: spki.toString('base64'), proofOfPossession: 'AAAA' };
  expect(texts(keyViolations(given))).toEqual([
    'spec.pkixPublicKey: Invalid value: "16384-bit modulus": RSA keys must have modulus size 3072 or 4096',
  ]);
});

test('a proof is a signature over the bytes of the UID', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pkixPublicKey = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  const proof = (of: string) => sign('sha256', Buffer.from(of), privateKey).toString('base64');
  const violations = (podUID: string, of: string) =>
    texts(keyViolations({ podUID, pkixPublicKey, proofOfPossession: proof(of) })).length;
  expect([violations('ä', 'ä'), violations('ä', 'a')]).toEqual([0, 1]);
});
