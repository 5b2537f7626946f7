import { csrSigners } from '../../../controllers/csr-signer/csr-signer.js';
import { trustBundlePublisher } from '../../../controllers/trust-bundle-publisher/trust-bundle-publisher.js';
import {
  type CertificateSigningRequest,
  CertificateSigningRequests,
  certificatePem,
  isDenied,
  isIssued,
  isSettled,
} from '../../api/kinds/certificate-signing-request.js';
import {
  bundleNamePrefix,
  type ClusterTrustBundle,
  ClusterTrustBundles,
} from '../../api/kinds/cluster-trust-bundle.js';
import type { PolicyRule } from '../../api/kinds/role.js';
import { SelfSubjectReviews } from '../../api/kinds/self-subject-review.js';
import { groupVersion, keyOf } from '../../api/object.js';
import { timestamp } from '../../api/time.js';
import type { Client } from '../../client/client.js';
import { createManager } from '../../controller/manager.js';
import { createCertificateAuthority } from '../../pki/certificate-authority.js';
import { generateKey, privateKeyPem } from '../../pki/key-pair.js';
import { createCertificateRequest } from '../../pki/request-writer.js';
import { caSigner } from '../../pki/signers/ca-signer.js';
import { systemClock } from '../../runtime/clock.js';
import { eventually, until } from '../../testing/until.js';
import type { Access } from './access.js';
import { type Accounts, openAccounts } from './accounts.js';
import { type CertificateFacts, verifyIssued } from './issued-certificate.js';
import type { Narrator } from './narrator.js';

export interface Story {
  readonly access: Access;
  readonly narrator: Narrator;
  /** The suffix of every name, so that the story can be played repeatedly on the same server. */
  readonly run: string;
}

const nodeSigner = 'kubernetes.io/kube-apiserver-client-kubelet';
const clientSigner = 'kubernetes.io/kube-apiserver-client';
const ciSigner = 'example.com/ci';
const hour = 3_600;

/** Plays the story. Removes everything created for it, except for the requests. */
export async function playStory(story: Story): Promise<void> {
  const { access, narrator, run } = story;
  try {
    const accounts = await openAccounts(access.admin, `kedge-demo-${run}`);
    try {
      const node = await nodeAsksForItsFirstCertificate(story, accounts);
      await administratorDecides(story);
      await ownSignerServes(story, accounts);
      await callWith(story, node);
    } finally {
      await accounts.remove();
    }
  } finally {
    access.close();
  }
  narrator.say('\nDone.');
}

interface Issued {
  readonly certificate: string;
  readonly key: string;
}

async function nodeAsksForItsFirstCertificate({ access, narrator, run }: Story, accounts: Accounts): Promise<Issued> {
  const clusterRoles = ['system:node-bootstrapper', 'system:certificates.k8s.io:certificatesigningrequests:nodeclient'];
  narrator.step('A node agent asks for its first certificate');
  const token = await accounts.create('node-bootstrap', { clusterRoles });
  narrator.fact('identity', `service account ${accounts.namespace}/node-bootstrap, by token`);
  narrator.fact('may', clusterRoles.join(', '));
  const agent = access.as({ authorization: `Bearer ${token}` });
  const request = await newRequest({
    name: `node-${run}`,
    signerName: nodeSigner,
    commonName: `system:node:demo-${run}`,
    organizations: ['system:nodes'],
  });
  const csr = await create(agent, request.csr, narrator);
  const decided = await untilDecided(access.admin, csr);
  tellConditions(decided, narrator);
  const certificate = issuedOf(decided);
  tellCertificate(
    verifyIssued(certificate, {
      anchors: await anchorsOf(access.admin, nodeSigner),
      key: request.key,
      now: Date.now(),
    }),
    narrator,
  );
  return { certificate, key: request.key };
}

async function administratorDecides({ access, narrator, run }: Story): Promise<void> {
  const { admin } = access;
  narrator.step('A person asks for a client certificate; an administrator approves');
  const alice = await newRequest({ name: `alice-${run}`, signerName: clientSigner, commonName: 'alice' });
  const pending = await create(admin, alice.csr, narrator);
  narrator.fact('decision', 'Pending: only an administrator approves for this signer');
  await decide(admin, pending, { type: 'Approved', reason: 'KnownPerson', message: 'alice is a known user' });
  const approved = await untilDecided(admin, pending);
  tellConditions(approved, narrator);
  const anchors = await anchorsOf(admin, clientSigner);
  tellCertificate(verifyIssued(issuedOf(approved), { anchors, key: alice.key, now: Date.now() }), narrator);

  narrator.step('An unknown user asks, and is denied');
  const mallory = await newRequest({ name: `mallory-${run}`, signerName: clientSigner, commonName: 'mallory' });
  const second = await create(admin, mallory.csr, narrator);
  await decide(admin, second, { type: 'Denied', reason: 'NotKnown', message: 'mallory is unknown' });
  const denied = await untilDecided(admin, second);
  if (!isDenied(denied) || isIssued(denied)) throw new Error(`${denied.metadata.name} was to be denied`);
  tellConditions(denied, narrator);
  narrator.fact('certificate', 'none');
}

const ciSignerRules: readonly PolicyRule[] = [
  {
    apiGroups: ['certificates.k8s.io'],
    resources: ['certificatesigningrequests'],
    verbs: ['get', 'list', 'watch'],
  },
  { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests/status'], verbs: ['update'] },
  {
    apiGroups: ['certificates.k8s.io'],
    resources: ['clustertrustbundles'],
    verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  },
  {
    apiGroups: ['certificates.k8s.io'],
    resources: ['signers'],
    resourceNames: [ciSigner],
    verbs: ['attest', 'sign'],
  },
];

async function ownSignerServes({ access, narrator, run }: Story, accounts: Accounts): Promise<void> {
  const { admin } = access;
  narrator.step(`A custom signer serves ${ciSigner}`);
  const token = await accounts.create('ci-signer', { rules: ciSignerRules });
  narrator.fact('identity', `service account ${accounts.namespace}/ci-signer, which may sign for this name only`);
  const authority = await createCertificateAuthority({ commonName: `demo CI ${run}` });
  const signer = caSigner({ serves: ciSigner, authority: () => authority, maxSeconds: hour });
  const anchors = async (): Promise<string> => authority.anchors;
  const stop = new AbortController();
  const running = createManager({ client: access.as({ authorization: `Bearer ${token}` }) })
    .add(...csrSigners({ signers: [signer] }), trustBundlePublisher({ sources: [{ signerName: ciSigner, anchors }] }))
    .run(stop.signal);
  const work = async (): Promise<void> => {
    const job = await newRequest({ name: `ci-${run}`, signerName: ciSigner, commonName: `build-${run}` });
    const pending = await create(admin, job.csr, narrator);
    await decide(admin, pending, { type: 'Approved', reason: 'KnownJob', message: 'a known job' });
    const done = await untilDecided(admin, pending);
    tellConditions(done, narrator);
    const bundle = await bundleOf(admin, ciSigner, (text) => text.includes(authority.anchors.trim()));
    narrator.fact('trust', `ClusterTrustBundle ${bundle.metadata.name}`);
    const published = bundle.spec.trustBundle ?? '';
    tellCertificate(verifyIssued(issuedOf(done), { anchors: published, key: job.key, now: Date.now() }), narrator);
  };
  try {
    // A failing signer ends the story at once, without waiting for a timeout.
    await Promise.race([work(), running.then(() => Promise.reject(new Error('the signer stopped')))]);
  } finally {
    stop.abort();
    await running.catch(() => {});
  }
  const bundle = await bundleOf(admin, ciSigner, () => true);
  await admin.resource<ClusterTrustBundle>(ClusterTrustBundles).delete(keyOf(bundle));
}

async function callWith({ access, narrator }: Story, { certificate, key }: Issued): Promise<void> {
  narrator.step('The node calls the API with the certificate just issued');
  const { status } = await access
    .as({ certificate, key })
    .resource(SelfSubjectReviews)
    .create({ apiVersion: groupVersion(SelfSubjectReviews), kind: SelfSubjectReviews.kind, metadata: {} });
  const { username = '', groups = [] } = status?.userInfo ?? {};
  narrator.fact('server says', `you are ${username}`);
  narrator.fact('groups', groups.join(', '));
  if (!username.startsWith('system:node:')) throw new Error(`the certificate was authenticated as ${username}`);
}

interface Wanted {
  readonly name: string;
  readonly signerName: string;
  readonly commonName: string;
  readonly organizations?: readonly string[];
}

async function newRequest({ name, signerName, commonName, organizations = [] }: Wanted): Promise<{
  readonly csr: CertificateSigningRequest;
  /** The private key as PEM, which never leaves this process. */
  readonly key: string;
}> {
  const key = await generateKey('P-256');
  const pem = await createCertificateRequest({ subject: { commonName, organizations }, key });
  const csr: CertificateSigningRequest = {
    apiVersion: groupVersion(CertificateSigningRequests),
    kind: CertificateSigningRequests.kind,
    metadata: { name },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName,
      expirationSeconds: hour,
      usages: ['digital signature', 'client auth'],
    },
  };
  return { csr, key: privateKeyPem(key) };
}

async function create(
  client: Client,
  csr: CertificateSigningRequest,
  narrator: Narrator,
): Promise<CertificateSigningRequest> {
  const created = await client.resource(CertificateSigningRequests).create(csr);
  narrator.fact('request', `${created.metadata.name} for ${created.spec.signerName}`);
  narrator.fact('requested by', created.spec.username ?? '');
  return created;
}

const patienceMs = 15_000;

async function untilDecided(client: Client, csr: CertificateSigningRequest): Promise<CertificateSigningRequest> {
  const found = await until(
    client.resource(CertificateSigningRequests),
    keyOf(csr),
    (now) => now === undefined || isSettled(now),
    { timeoutMs: patienceMs, what: `a decision about ${csr.metadata.name}` },
  );
  if (found === undefined) throw new Error(`${csr.metadata.name} was deleted by someone else`);
  return found;
}

/** Appends a condition as a user's tool does. */
async function decide(
  client: Client,
  csr: CertificateSigningRequest,
  {
    type,
    reason,
    message,
  }: { readonly type: 'Approved' | 'Denied'; readonly reason: string; readonly message: string },
): Promise<void> {
  const condition = { type, status: 'True', reason, message, lastUpdateTime: timestamp(systemClock.now()) };
  await client
    .resource(CertificateSigningRequests)
    .subresource('approval')
    .update({ ...csr, status: { ...csr.status, conditions: [...(csr.status?.conditions ?? []), condition] } });
}

function issuedOf(csr: CertificateSigningRequest): string {
  const certificate = certificatePem(csr);
  if (certificate !== undefined) return certificate;
  const reasons = (csr.status?.conditions ?? []).map(({ type, message }) => `${type}: ${message ?? ''}`).join('; ');
  throw new Error(`no certificate was issued for ${csr.metadata.name} (${reasons})`);
}

async function bundleOf(
  client: Client,
  signerName: string,
  holds: (anchors: string) => boolean,
): Promise<ClusterTrustBundle> {
  const bundles = client.resource<ClusterTrustBundle>(ClusterTrustBundles);
  const findBundle = async (): Promise<ClusterTrustBundle | undefined> => {
    const { items } = await bundles.list({ fieldSelector: `spec.signerName=${signerName}` });
    return items.find(
      ({ metadata, spec }) =>
        metadata.name?.startsWith(bundleNamePrefix(signerName)) === true && holds(spec.trustBundle ?? ''),
    );
  };
  const found = await eventually(findBundle, (bundle) => bundle !== undefined, {
    timeoutMs: patienceMs,
    what: `a ClusterTrustBundle of ${signerName}`,
  });
  if (found === undefined) throw new Error(`no ClusterTrustBundle of ${signerName}`);
  return found;
}

const anchorsOf = async (client: Client, signerName: string): Promise<string> =>
  (await bundleOf(client, signerName, () => true)).spec.trustBundle ?? '';

function tellConditions({ status }: CertificateSigningRequest, narrator: Narrator): void {
  for (const { type, reason, message } of status?.conditions ?? []) {
    narrator.fact('decision', `${type} (${reason ?? ''}): ${message ?? ''}`);
  }
}

function tellCertificate(facts: CertificateFacts, narrator: Narrator): void {
  narrator.fact('certificate', `${facts.subject}, for ${facts.purposes.join(' and ')}`);
  narrator.fact('valid', `${facts.notBefore.toISOString()} to ${facts.notAfter.toISOString()}`);
  narrator.fact('serial', facts.serial);
  narrator.fact('verified', `signed by ${facts.issuer}, as published; the key matches`);
}
