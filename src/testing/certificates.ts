import type { KeyObject } from 'node:crypto';
import {
  type CertificateSigningRequest,
  CertificateSigningRequests,
} from '../api/kinds/certificate-signing-request.js';
import { type PodCertificateRequest, PodCertificateRequests } from '../api/kinds/pod-certificate-request.js';
import { groupVersion } from '../api/object.js';
import type { AlternativeNames } from '../pki/alternative-names.js';
import {
  type AuthorityOptions,
  type CertificateAuthority,
  createCertificateAuthority,
} from '../pki/certificate-authority.js';
import type { CertificateExtension } from '../pki/certificate-extensions.js';
import { generateKey, type KeyType, privateKeyPem } from '../pki/key-pair.js';
import { firstPemBlock } from '../pki/pem.js';
import type { NamedObject } from '../pki/pod-signing.js';
import { createCertificateRequest } from '../pki/request-writer.js';
import type { Clock } from '../runtime/clock.js';

/** Keys, requests and certificate authorities for tests, each made in one call. */

const keys = new Map<KeyType, Promise<KeyObject>>();

/** Returns a private key of this type; always the same one in a process, because generating RSA keys is slow. */
export function testKey(type: KeyType = 'P-256'): Promise<KeyObject> {
  const known = keys.get(type);
  if (known) return known;
  const created = generateKey(type);
  keys.set(type, created);
  return created;
}

/** The contents of a certificate request for tests. */
export interface TestRequestOptions extends Partial<AlternativeNames> {
  /** Common name of the subject; `someone` by default. */
  readonly commonName?: string;
  readonly organizations?: readonly string[];
  /** Type of the key; P-256 by default. */
  readonly keyType?: KeyType;
  /** Key of the request; by default one of type `keyType` that is shared by the whole process. */
  readonly key?: KeyObject;
  readonly extensions?: readonly CertificateExtension[];
}

/** A certificate request (PKCS#10) with its key. */
export interface TestRequest {
  readonly pem: string;
  /** The value of `spec.request`. */
  readonly base64: string;
  /** The private key in PEM. */
  readonly key: string;
}

/** Returns a PKCS#10 request with its key. */
export async function testRequest(options: TestRequestOptions = {}): Promise<TestRequest> {
  const { commonName = 'someone', organizations = [], keyType = 'P-256', key: givenKey, ...rest } = options;
  const key = givenKey ?? (await testKey(keyType));
  const pem = await createCertificateRequest({ ...rest, subject: { commonName, organizations }, key });
  return { pem, base64: Buffer.from(pem).toString('base64'), key: privateKeyPem(key) };
}

/** The contents of a CertificateSigningRequest for tests. */
export interface TestSigningRequestOptions extends TestRequestOptions {
  readonly name: string;
  /** Name of the requested signer; `example.test/clients` by default. */
  readonly signerName?: string;
  /** Requested usages; by default those of a TLS client. */
  readonly usages?: readonly string[];
  readonly expirationSeconds?: number;
}

/** Returns a CertificateSigningRequest to be created. */
export async function testSigningRequest(options: TestSigningRequestOptions): Promise<CertificateSigningRequest> {
  const {
    name,
    signerName = 'example.test/clients',
    usages = ['digital signature', 'client auth'],
    expirationSeconds,
    ...rest
  } = options;
  const { base64 } = await testRequest(rest);
  return {
    apiVersion: groupVersion(CertificateSigningRequests),
    kind: CertificateSigningRequests.kind,
    metadata: { name },
    spec: { request: base64, signerName, usages, ...(expirationSeconds === undefined ? {} : { expirationSeconds }) },
  };
}

/** Returns a new CA in memory, with a key of its own. */
export const testAuthority = (
  options: Partial<AuthorityOptions> & { readonly clock?: Pick<Clock, 'now'> } = {},
): Promise<CertificateAuthority> =>
  createCertificateAuthority({ ...options, commonName: options.commonName ?? 'test CA' });

/** The contents of a PodCertificateRequest for tests. */
export interface TestPodRequestOptions {
  readonly name: string;
  /** Namespace of the request; `default` by default. */
  readonly namespace?: string;
  /** Name of the requested signer; `example.test/pods` by default. */
  readonly signerName?: string;
  /**
   * Names and UIDs of the pod, service account and node; by default `web`, `robot` and `node-1`, with UIDs derived from
   * the names.
   */
  readonly pod?: NamedObject;
  readonly serviceAccount?: NamedObject;
  readonly node?: NamedObject;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly maxExpirationSeconds?: number;
  /** Key of the request; by default one of type `keyType` that is shared by the whole process. */
  readonly key?: KeyObject;
  /** Type of the key; P-256 by default. */
  readonly keyType?: KeyType;
}

const named = (name: string): NamedObject => ({ name, uid: `uid-of-${name}` });

/** Returns a PodCertificateRequest to be created, as a node agent does: the stub contains only the key. */
export async function testPodRequest(options: TestPodRequestOptions): Promise<PodCertificateRequest> {
  const { name, namespace = 'default', signerName = 'example.test/pods', annotations, maxExpirationSeconds } = options;
  const { pod = named('web'), serviceAccount = named('robot'), node = named('node-1') } = options;
  const key = options.key ?? (await testKey(options.keyType));
  const stub = firstPemBlock(await createCertificateRequest({ subject: {}, key }));
  return {
    apiVersion: groupVersion(PodCertificateRequests),
    kind: PodCertificateRequests.kind,
    metadata: { name, namespace },
    spec: {
      signerName,
      podName: pod.name,
      podUID: pod.uid,
      serviceAccountName: serviceAccount.name,
      serviceAccountUID: serviceAccount.uid,
      nodeName: node.name,
      nodeUID: node.uid,
      ...(maxExpirationSeconds === undefined ? {} : { maxExpirationSeconds }),
      ...(annotations === undefined ? {} : { unverifiedUserAnnotations: annotations }),
      stubPKCS10Request: stub?.bytes.toString('base64') ?? '',
    },
  };
}
