import assert from 'node:assert/strict';
import { podCertificateSigners } from '../../controllers/pod-certificate-signer/pod-certificate-signer.js';
import { podSigningRequest } from '../../controllers/pod-certificate-signer/pod-signing-request.js';
import { findCondition } from '../api/conditions.js';
import {
  type PodCertificateRequest,
  type PodCertificateRequestStatus,
  PodCertificateRequests,
  podCertificateEnding,
  podCertificateRange,
} from '../api/kinds/pod-certificate-request.js';
import { coversSigner } from '../api/signer-name.js';
import { spkiOf } from '../pki/key-pair.js';
import { podRefusals } from '../pki/pod-signing.js';
import type { Signer } from '../pki/signer.js';
import { type TestPodRequestOptions, testKey, testPodRequest } from './certificates.js';
import type { ContractCase } from './contract-case.js';
import { certificates, isAnchored, spki } from './issued-chain.js';
import { testServer } from './test-server.js';
import { until } from './until.js';

/** A signer of pod certificates to examine, and the requests for it. */
export interface PodSignerUnderTest {
  readonly signer: Signer;
  /** A signer name that it serves. */
  readonly signerName: string;
  /** A request that it issues for. Default: any request. */
  readonly issues?: AskedForPod;
  /** A request that it refuses; absent if it refuses nothing. */
  readonly refuses?: AskedForPod;
  /** The longest lifetime it grants. */
  readonly maxSeconds: number;
}

/** A request for a pod certificate. */
export type AskedForPod = Omit<TestPodRequestOptions, 'name' | 'signerName' | 'maxExpirationSeconds'>;

/**
 * Returns every promise of `signPod` as a case for any test runner, each with a server of its own that checks what is
 * issued. `make` returns a new signer for each case.
 */
export const podSignerContract = (
  make: () => PodSignerUnderTest | Promise<PodSignerUnderTest>,
): readonly ContractCase[] =>
  Object.entries(promises).map(([name, promise]) => ({ name, run: async () => promise(await make()) }));

const promises: Readonly<Record<string, (under: PodSignerUnderTest) => Promise<void>>> = {
  async 'the served name is a signer name or a pattern for a domain'({ signer, signerName }) {
    assert.ok(coversSigner(signer.serves, signerName), `${signer.serves} does not serve ${signerName}`);
  },

  async 'certificates are for the requested key and verify against the trust anchors'(under) {
    const chain = certificates((await answer(under)).certificateChain ?? '');
    const key = await testKey(under.issues?.keyType);
    assert.equal(spki(chain[0]), spkiOf(under.issues?.key ?? key).toString('hex'));
    assert.equal(chain[0].ca, false);
    if (under.signer.trustAnchors === undefined) return;
    assert.ok(isAnchored(chain, certificates(await under.signer.trustAnchors())), 'no anchor verifies the chain');
  },

  async 'the requested lifetime is granted, within bounds'(under) {
    const { least, most } = podCertificateRange(under.signerName);
    for (const requested of [least, 2 * least, most]) {
      const { notBefore, notAfter } = await answer(under, { maxExpirationSeconds: requested });
      const seconds = (Date.parse(notAfter ?? '') - Date.parse(notBefore ?? '')) / 1_000;
      assert.ok(seconds <= Math.min(requested, under.maxSeconds), `asked for ${requested} s, got ${seconds} s`);
    }
  },

  async 'an unknown annotation is denied'(under) {
    const annotations = { 'nobody.example/knows': 'this' };
    const denied = findCondition((await answer(under, { annotations })).conditions, 'Denied');
    assert.equal(denied?.reason, podRefusals.annotations);
  },

  async 'an unsuitable request is denied with a message'(under) {
    if (under.refuses === undefined) return;
    const denied = findCondition((await answer(under, under.refuses)).conditions, 'Denied');
    assert.ok(denied?.message, 'it was not denied');
  },

  async 'a cancelled request is not signed'({ signer, signerName, issues }) {
    const request = podSigningRequest(await testPodRequest({ ...issues, name: 'cancelled', signerName }));
    await assert.rejects(async () => signer.signPod?.(request, AbortSignal.abort()));
  },
};

/** The timeout for signers, which may take longer than other parts of a test. */
const patienceMs = 10_000;

/** Returns the outcome of a request to a server that calls the signer as in production. */
async function answer(
  { signer, signerName, issues }: PodSignerUnderTest,
  options: Partial<TestPodRequestOptions> = {},
): Promise<PodCertificateRequestStatus> {
  assert.ok(signer.signPod, 'it issues no pod certificates');
  const { client, stop } = await testServer({
    controllers: [],
    runnables: podCertificateSigners({ signers: [signer] }),
  });
  try {
    const requests = client.resource(PodCertificateRequests);
    const { metadata } = await requests.create(
      await testPodRequest({ ...issues, ...options, name: 'asked', signerName }),
    );
    const key = { namespace: metadata.namespace, name: 'asked' };
    return (await until(requests, key, hasEnded, { timeoutMs: patienceMs })).status ?? {};
  } finally {
    await stop();
  }
}

const hasEnded = (request: PodCertificateRequest | undefined): request is PodCertificateRequest =>
  request !== undefined && podCertificateEnding(request) !== undefined;
