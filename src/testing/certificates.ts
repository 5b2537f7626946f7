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

/** Keys, requests and authorities for tests, each in one call. */

const keys = new Map<KeyType, Promise<KeyObject>>();

/** A private key of this type; the same one every time in a process, because making RSA keys is slow. */
export function testKey(type: KeyType = 'P-256'): Promise<KeyObject> {
  const known = keys.get(type);
  if (known) return known;
  const made = generateKey(type);
  keys.set(type, made);
  return made;
}

/** What a certificate request for tests asks for. */
export interface TestRequestOptions extends Partial<AlternativeNames> {
  /** Default: `someone`. */
  readonly commonName?: string;
  readonly organizations?: readonly string[];
  /** Default: P-256. */
  readonly keyType?: KeyType;
  /** Default: the process's key of `keyType`. */
  readonly key?: KeyObject;
  readonly extensions?: readonly CertificateExtension[];
}

/** A certificate request (PKCS#10) with its key. */
export interface TestRequest {
  readonly pem: string;
  /** What stands in `spec.request`. */
  readonly base64: string;
  /** PEM of the private key. */
  readonly key: string;
}

/** A PKCS#10 request. */
export async function testRequest(options: TestRequestOptions = {}): Promise<TestRequest> {
  const { commonName = 'someone', organizations = [], keyType = 'P-256', key: given, ...rest } = options;
  const key = given ?? (await testKey(keyType));
  const pem = await createCertificateRequest({ ...rest, subject: { commonName, organizations }, key });
  return { pem, base64: Buffer.from(pem).toString('base64'), key: privateKeyPem(key) };
}

/** What a CertificateSigningRequest for tests says. */
export interface TestSigningRequestOptions extends TestRequestOptions {
  readonly name: string;
  /** Default: `example.test/clients`. */
  readonly signerName?: string;
  /** Default: those of a TLS client. */
  readonly usages?: readonly string[];
  readonly expirationSeconds?: number;
}

/** A CertificateSigningRequest to be created. */
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

/** A CA in memory; its key is its own. */
export const testAuthority = (
  options: Partial<AuthorityOptions> & { readonly clock?: Pick<Clock, 'now'> } = {},
): Promise<CertificateAuthority> =>
  createCertificateAuthority({ ...options, commonName: options.commonName ?? 'test CA' });

/** What a PodCertificateRequest for tests says. */
export interface TestPodRequestOptions {
  readonly name: string;
  /** Default: `default`. */
  readonly namespace?: string;
  /** Default: `example.test/pods`. */
  readonly signerName?: string;
  /** Names and UIDs of whom the request is for. Default: `web`, `robot` and `node-1`, with UIDs after their names. */
  readonly pod?: NamedObject;
  readonly serviceAccount?: NamedObject;
  readonly node?: NamedObject;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly maxExpirationSeconds?: number;
  /** Default: the process's key of `keyType`. */
  readonly key?: KeyObject;
  /** Default: P-256. */
  readonly keyType?: KeyType;
}

const named = (name: string): NamedObject => ({ name, uid: `uid-of-${name}` });

/** A PodCertificateRequest to be created, as a node agent makes it: the stub says nothing but the key. */
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
