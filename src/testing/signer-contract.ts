import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { coversSigner } from '../api/signer-name.js';
import { tags } from '../pki/der.js';
import { derTrue, encode } from '../pki/der-writer.js';
import { spkiOf } from '../pki/key-pair.js';
import type { Signer, SigningRequest, SigningResult } from '../pki/signer.js';
import { type TestRequestOptions, type TestSigningRequestOptions, testKey, testRequest } from './certificates.js';
import type { ContractCase } from './contract-case.js';
import { type Chain, certificates, isAnchored, spki } from './issued-chain.js';
import { secondOpinion } from './second-opinion.js';
import { signingServer, type Verdict } from './signing-server.js';

/** A signer to examine, and the requests for it. */
export interface SignerUnderTest {
  readonly signer: Signer;
  /** A signer name that it serves. */
  readonly signerName: string;
  /** A request that it issues for. */
  readonly issues: AskedFor;
  /** A request that it refuses; absent if it refuses nothing. */
  readonly refuses?: AskedFor;
  /** The longest lifetime it grants. */
  readonly maxSeconds: number;
  /** The shortest lifetime it grants. Default: 600. */
  readonly minSeconds?: number;
  /** Replaces the CA that signs; absent if the CA cannot be replaced. */
  switchAuthority?(): Promise<void>;
}

/** A request for a signer. */
export interface AskedFor {
  readonly request?: TestRequestOptions;
  readonly usages: readonly string[];
}

/** Returns every promise of `Signer` as a case for any test runner. `make` returns a new signer for each case. */
export const signerContract = (make: () => SignerUnderTest | Promise<SignerUnderTest>): readonly ContractCase[] =>
  Object.entries(promises).map(([name, promise]) => ({ name, run: async () => promise(await make()) }));

/** The tolerance of lifetimes, for clocks that are set back a little. */
const toleranceMs = 10 * 60_000;
const oidPrefix = '1.3.6.1.5.5.7.3.';
const extendedKeyUsages: ReadonlyMap<string, string> = new Map([
  ['server auth', `${oidPrefix}1`],
  ['client auth', `${oidPrefix}2`],
  ['code signing', `${oidPrefix}3`],
  ['email protection', `${oidPrefix}4`],
]);

const promises: Readonly<Record<string, (under: SignerUnderTest) => Promise<void>>> = {
  async 'the served name is a signer name or a pattern for a domain'({ signer, signerName }) {
    assert.ok(coversSigner(signer.serves, signerName), `${signer.serves} does not serve ${signerName}`);
  },

  async 'certificates are for the requested key and subject'(under) {
    const { key, chain } = await issue(under);
    const [leaf] = chain;
    assert.equal(
      spki(leaf),
      createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'der' }).toString('hex'),
    );
    const commonName = under.issues.request?.commonName ?? 'someone';
    assert.ok(leaf.subject?.split('\n').includes(`CN=${commonName}`), `subject is ${leaf.subject}`);
  },

  async 'the chain is the certificate, then intermediates, without a root'(under) {
    const { chain } = await issue(under);
    for (const [at, issuer] of chain.slice(1).entries()) {
      assert.ok(chain[at]?.verify(issuer.publicKey), `certificate ${at + 1} did not issue certificate ${at}`);
    }
    assert.ok(
      chain.every((certificate) => certificate.subject !== certificate.issuer),
      'the chain contains a root',
    );
  },

  async 'issued certificates verify against the trust anchors'(under) {
    if (under.signer.trustAnchors === undefined) return;
    const { chain } = await issue(under);
    assert.ok(isAnchored(chain, certificates(await under.signer.trustAnchors())), 'no anchor verifies the chain');
  },

  async 'issued certificates verify in another X.509 library'(under) {
    if (under.signer.trustAnchors === undefined) return;
    const { result } = await signRequest(under, {});
    assert.ok('issued' in result, 'it was refused');
    const opinions = await secondOpinion(result.issued, await under.signer.trustAnchors());
    assert.ok(opinions === undefined || opinions.every(({ verified }) => verified), JSON.stringify(opinions));
  },

  async 'an unsuitable request is refused with a reason and a message'(under) {
    if (under.refuses === undefined) return;
    const { result } = await signRequest(under, { asked: under.refuses });
    assert.ok('refused' in result, 'it was issued');
    assert.match(result.reason, /^[A-Z][A-Za-z0-9]*$/);
    assert.notEqual(result.refused, '');
  },

  async 'the requested lifetime is granted, within bounds'(under) {
    const { maxSeconds, minSeconds = 600 } = under;
    for (const [requested, granted] of [
      [minSeconds, minSeconds],
      [Math.max(minSeconds, Math.floor(maxSeconds / 2)), Math.max(minSeconds, Math.floor(maxSeconds / 2))],
      [maxSeconds * 10, maxSeconds],
      [undefined, maxSeconds],
    ] as const) {
      const { chain } = await issue(under, { expirationSeconds: requested });
      const lifetimeMs = Date.parse(chain[0].validTo) - Date.parse(chain[0].validFrom);
      const excess = lifetimeMs - granted * 1_000;
      assert.ok(
        excess <= toleranceMs && excess >= -toleranceMs,
        `asked for ${requested} s, got ${lifetimeMs / 1_000} s`,
      );
    }
  },

  async 'the usages are the requested ones'(under) {
    const { chain } = await issue(under);
    const expected = under.issues.usages.flatMap((usage) => extendedKeyUsages.get(usage) ?? []);
    assert.deepEqual([...(chain[0].keyUsage ?? [])].sort(), expected.sort());
  },

  async 'a request for a CA certificate does not get one'(under) {
    const authority = { oid: '2.5.29.19', critical: true, value: encode(tags.sequence, derTrue) };
    const { issues } = under;
    const asked = { ...issues, request: { ...issues.request, extensions: [authority] } };
    const { result } = await signRequest(under, { asked });
    if ('refused' in result) return;
    assert.equal(certificates(result.issued)[0].ca, false);
  },

  async 'signing the same request again works'(under) {
    const request = await testRequest(under.issues.request);
    const [first, second] = [await issue(under, { request }), await issue(under, { request })];
    assert.equal(spki(first.chain[0]), spki(second.chain[0]));
    assert.equal(first.chain[0].subject, second.chain[0].subject);
  },

  async 'an unreadable request is an error, not a refusal'(under) {
    const garbled = { pem: '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n', key: '' };
    await assert.rejects(signRequest(under, { request: garbled }));
  },

  async 'replacing the CA while signing leaves no certificate without its anchor'(under) {
    const { signer, switchAuthority } = under;
    if (switchAuthority === undefined || signer.trustAnchors === undefined) return;
    const before = certificates(await signer.trustAnchors());
    const underWay = Array.from({ length: 8 }, () => issue(under));
    await switchAuthority();
    const after = certificates(await signer.trustAnchors());
    for (const { chain } of await Promise.all(underWay)) {
      assert.ok(isAnchored(chain, before) || isAnchored(chain, after), 'neither CA verifies the chain');
    }
    assert.ok(isAnchored((await issue(under)).chain, after), 'the new CA does not sign');
  },

  async 'it is called only for approved requests with its name'(under) {
    const reached: string[] = [];
    const server = await signingServer();
    const create = (name: string, verdicts: readonly Verdict[], more: { readonly signerName?: string } = {}) =>
      server.create({ ...requestOf(under, name), ...more }, verdicts);
    try {
      await create('undecided', []);
      await create('denied', ['Denied']);
      await create('failed', ['Approved', 'Failed']);
      await create('of-others', ['Approved'], { signerName: 'others.example/signer' });
      const own = await create('ours', ['Approved']);
      server.start(listened(under.signer, reached));
      await server.issued('ours');
      assert.deepEqual(reached, [own.metadata.uid]);
    } finally {
      await server.stop();
    }
  },

  async 'a request whose certificate was lost in a crash is signed again'(under) {
    const server = await signingServer();
    try {
      const { metadata } = await server.create(requestOf(under, 'crashed'), ['Approved']);
      const uids: string[] = [];
      const signer = listened(under.signer, uids);
      await new Promise<void>((crashed) => {
        const crash = server.start({
          serves: signer.serves,
          async sign(request, signal) {
            await signer.sign(request, signal);
            crashed(crash());
            throw new Error('the answer is lost in the crash');
          },
        });
      });
      server.start(signer);
      const [leaf] = certificates(await server.issued('crashed'));
      assert.deepEqual(uids, [metadata.uid, metadata.uid]);
      const key = await testKey(under.issues.request?.keyType);
      assert.equal(spki(leaf), spkiOf(key).toString('hex'));
    } finally {
      await server.stop();
    }
  },

  async 'a cancelled request is not signed'(under) {
    await assert.rejects(signRequest(under, { signal: AbortSignal.abort() }));
  },
};

const requestOf = ({ signerName, issues }: SignerUnderTest, name: string): TestSigningRequestOptions => ({
  ...issues.request,
  name,
  signerName,
  usages: issues.usages,
});

/** Returns a signer that records the uids of the requests it is called for. */
const listened = (signer: Signer, uids: string[]): Signer => ({
  serves: signer.serves,
  sign(request, signal) {
    uids.push(request.uid);
    return signer.sign(request, signal);
  },
});

interface SigningOptions {
  readonly asked?: AskedFor;
  readonly request?: { readonly pem: string; readonly key: string };
  readonly expirationSeconds?: number | undefined;
  readonly signal?: AbortSignal;
}

async function signRequest(
  { signer, signerName, issues }: SignerUnderTest,
  asking: SigningOptions,
): Promise<{ readonly result: SigningResult; readonly key: string }> {
  const { asked: requested = issues, signal = new AbortController().signal } = asking;
  const request = asking.request ?? (await testRequest(requested.request));
  const signing: SigningRequest = {
    signerName,
    request: request.pem,
    usages: requested.usages,
    requester: { username: 'tester', groups: ['system:authenticated'] },
    expirationSeconds: asking.expirationSeconds,
    uid: '6a1f2c6e-0000-4000-8000-000000000001',
  };
  return { result: await signer.sign(signing, signal), key: request.key };
}

async function issue(
  under: SignerUnderTest,
  asking: SigningOptions = {},
): Promise<{ readonly chain: Chain; readonly key: string }> {
  const { result, key } = await signRequest(under, asking);
  assert.ok('issued' in result, `refused: ${JSON.stringify(result)}`);
  return { chain: certificates(result.issued), key };
}
