import { subjectFields } from '../../../controllers/csr-policy-approver/policy.js';
import { freshAnchors } from '../../../controllers/trust-bundle-publisher/bundle.js';
import { combineAnchors, UnfitSource } from '../../../controllers/trust-distributor/combine.js';
import { runSync } from '../../../src/api/steps.js';
import { type Certificate, readPemCertificates } from '../../../src/pki/certificate.js';
import { type CertificateAuthority, loadCertificateAuthority } from '../../../src/pki/certificate-authority.js';
import {
  type CertificateRequest,
  readCertificateRequest,
  readRequestDer,
} from '../../../src/pki/certificate-request.js';
import { DerCursor, tags } from '../../../src/pki/der.js';
import { sequence } from '../../../src/pki/der-writer.js';
import type { KeyType } from '../../../src/pki/key-pair.js';
import { encodePem } from '../../../src/pki/pem.js';
import { PkiError } from '../../../src/pki/pki-error.js';
import { verifySignature } from '../../../src/pki/signature.js';
import { unusualPart } from '../../../src/pki/unusual-request.js';
import { anchorViolations } from '../../../src/resources/clustertrustbundles/anchors.js';
import { testAuthority, testKey } from '../../../src/testing/certificates.js';
import { watchBusy } from '../../fuzz/busy.js';
import { randomFrom } from '../../fuzz/random.js';
import { openssl } from '../openssl-command.js';
import { mutated, reshaped } from './mutate.js';
import { seedRequests, signed } from './seeds.js';

/**
 * Sends hostile requests and bundles. A short run is part of the tests; `npm run fuzz:pki` makes long ones. A fault is
 * thrown as an Error that contains the input.
 */
export interface Campaign {
  readonly keyType: (typeof keyTypes)[number];
  readonly runs: number;
  readonly seed: number;
}

export const keyTypes = ['RSA-2048', 'P-256', 'P-384', 'P-521', 'Ed25519'] as const satisfies readonly KeyType[];

/** The random numbers differ for each type. */
const randomOf = ({ keyType, seed }: Campaign, salt: number) =>
  randomFrom(seed * 1_000 + salt + keyTypes.indexOf(keyType));

const maxMs = 50;
const chances = 10;

interface Watch {
  /** The longest processor time of a step. */
  readonly slowestMs: number;
  /** Returns the result of `run`. If that is a promise, only its creation is timed. */
  quickly<T>(what: () => string, run: () => T | Promise<T>): Promise<T>;
}

/**
 * Returns a stopwatch for steps that must be quick for any input. Slow steps are repeated, because garbage is collected
 * now and then, and the machine may be busy.
 */
function stopwatch(): Watch {
  let slowestMs = 0;
  return {
    get slowestMs() {
      return slowestMs;
    },
    async quickly(what, run) {
      for (let chance = 1; ; chance++) {
        const busy = watchBusy();
        const result = run();
        const ms = busy();
        if (ms <= maxMs) {
          slowestMs = Math.max(slowestMs, ms);
          return await result;
        }
        // Work in progress would disturb the next attempt.
        await Promise.allSettled([result]);
        if (chance === chances) throw new Error(`took ${ms} ms: ${what()}`);
      }
    },
  };
}

/** Returns undefined if the input was rejected, which is permitted. Any error but a PkiError is a fault. */
function orRefused<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof PkiError) return undefined;
    throw error;
  }
}

const sameList = (a: readonly string[], b: readonly string[]): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Yields everything that is wrong with a certificate for a request. */
function faults(
  certificate: Certificate,
  request: CertificateRequest,
  authority: CertificateAuthority,
): readonly string[] {
  const { subject, alternativeNames, publicKey } = certificate;
  const names = ['dnsNames', 'emailAddresses', 'ipAddresses', 'uris'] as const;
  const signature = {
    algorithm: certificate.signatureAlgorithm,
    data: certificate.toBeSigned,
    signature: certificate.signature,
  };
  return [
    ...subjectFields
      .filter((field) => !sameList([subject[field]].flat().sort(), [request.subject[field]].flat().sort()))
      .map((field) => `other ${field}`),
    ...names.filter((list) => !sameList(alternativeNames[list], request[list])).map((list) => `other ${list}`),
    ...(publicKey.spki.equals(request.publicKey.spki) ? [] : ['another key']),
    ...(certificate.isCA ? ['a CA'] : []),
    ...(certificate.version === 3 ? [] : ['another version']),
    ...(/^(?!0+$)[0-9a-f]{1,34}$/.test(certificate.serial) ? [] : [`serial ${certificate.serial}`]),
    ...(certificate.notAfter <= authority.certificate.notAfter ? [] : ['it outlives its CA']),
    ...(certificate.notAfter > certificate.notBefore ? [] : ['it ends before it begins']),
    ...(certificate.issuerDer.equals(authority.certificate.subjectDer) ? [] : ['another issuer']),
    ...(orRefused(() => {
      verifySignature(signature, authority.certificate.publicKey);
      return true;
    })
      ? []
      : ['its signature does not verify']),
  ];
}

export interface RequestTally {
  /** The number of requests that were well-formed after all, and signed. */
  readonly read: number;
  readonly issued: number;
  readonly slowestMs: number;
  /** Some issued certificates in PEM, each with its chain, and the anchors that verify them. */
  readonly shown: readonly string[];
  readonly anchors: string;
}

const shownAtMost = 100;
const day = 86_400_000;
const usages = ['digital signature', 'client auth'];

/** Checks that broken requests are rejected, or get a certificate for exactly what they contain. */
export async function requestCampaign(campaign: Campaign): Promise<RequestTally> {
  const { keyType, runs } = campaign;
  const root = await testAuthority({ commonName: 'root' });
  const ca = loadCertificateAuthority(await root.issueAuthority({ commonName: 'issuing', seconds: 30 * 86_400 }));
  const key = await testKey(keyType);
  const seeds = await seedRequests(key);
  const bodies = seeds.map((der) => new DerCursor(der).enter(tags.sequence)?.element(tags.sequence)?.fullBytes ?? der);
  const random = randomOf(campaign, 0);
  const watch = stopwatch();
  const shown: string[] = [];
  const serials = new Set<string>();
  let read = 0;
  for (let run = 0; run < runs; run++) {
    // Most are broken inside and signed again, because an invalid signature would end the check.
    const at = random.below(seeds.length);
    const body = bodies[at] ?? Buffer.alloc(0);
    const der = random.oneIn(4)
      ? mutated(seeds[at] ?? Buffer.alloc(0), random, seeds)
      : await signed(random.oneIn(3) ? mutated(body, random, bodies) : reshaped(body, random), key);
    const what = (): string => `${keyType} ${der.toString('base64')}`;
    const request = await watch.quickly(what, () => orRefused(() => readRequestDer(der)));
    if (request === undefined) continue;
    read++;
    await watch.quickly(what, () => unusualPart(request));
    const pem = encodePem('CERTIFICATE REQUEST', der);
    if (orRefused(() => readCertificateRequest(pem)) === undefined) throw new Error(`not in PEM: ${what()}`);
    const seconds = random.pick([600, 86_400, 365 * 86_400, 10 * 365 * 86_400]);
    const issuing = watch.quickly(what, () => ca.issue(request, { seconds, usages }));
    const made = await issuing.catch((error: unknown) => {
      if (error instanceof PkiError && error.problem === 'unissuable') return undefined;
      throw error;
    });
    if (made === undefined) continue;
    const [certificate] = readPemCertificates(made);
    if (certificate === undefined) throw new Error(`nothing came: ${what()}`);
    const wrong = [...faults(certificate, request, ca), ...(serials.has(certificate.serial) ? ['an old serial'] : [])];
    if (wrong.length > 0) throw new Error(`${wrong.join(', ')}: ${what()}`);
    serials.add(certificate.serial);
    if (shown.length < shownAtMost && serials.size % Math.ceil(runs / 1_000) === 0) shown.push(made);
  }
  return { read, issued: serials.size, slowestMs: watch.slowestMs, shown, anchors: ca.anchors };
}

export interface BundleTally {
  /** The number of bundles that the server would store. */
  readonly accepted: number;
  /** The number of bundles of which something is distributed. */
  readonly combined: number;
  readonly slowestMs: number;
}

/** Checks that broken bundles are rejected, or reduced to what can be read. */
export async function bundleCampaign(campaign: Campaign): Promise<BundleTally> {
  const { keyType, runs } = campaign;
  const root = await testAuthority({ commonName: `root ${keyType}`, keyType });
  const ca = loadCertificateAuthority(await root.issueAuthority({ commonName: 'issuing', keyType }));
  const anchors = [
    root.anchors,
    root.anchors + encodePem('CERTIFICATE', ca.certificate.der),
    `# text\n${root.anchors}\r\n${encodePem('CERTIFICATE', ca.certificate.der)}`,
  ];
  const texts = anchors.map((text) => Buffer.from(text));
  const ders = [ca.certificate.der, ...readPemCertificates(root.anchors).map(({ der }) => der)];
  const random = randomOf(campaign, 100);
  const watch = stopwatch();
  const now = Date.now();
  /** Returns a certificate that is broken as a whole, or inside a valid outer structure. */
  const brokenCertificate = (): Buffer => {
    if (random.oneIn(2)) return reshaped(random.pick(ders), random);
    const der = mutated(random.pick(ders), random, ders);
    return random.oneIn(2) ? der : sequence(der.subarray(4));
  };
  let [combined, accepted] = [0, 0];
  for (let run = 0; run < runs; run++) {
    const text = random.oneIn(2)
      ? mutated(random.pick(texts), random, texts).toString('latin1')
      : `${random.pick(anchors)}${encodePem('CERTIFICATE', brokenCertificate())}`;
    const what = (): string => Buffer.from(text).toString('base64');
    if ((await watch.quickly(what, () => runSync(anchorViolations(text)))).length === 0) accepted++;
    await watch.quickly(what, () => freshAnchors([text], now + random.below(2) * 20_000 * day));
    const found = await watch.quickly(what, () => combinedFrom(text, now));
    if (found === undefined || found === '') continue;
    combined++;
    // The server accepts a combined bundle, and combining it again does not change it.
    if (runSync(anchorViolations(found)).length > 0) throw new Error(`the server refuses what is passed on: ${what()}`);
    if (combinedFrom(found, now) !== found) throw new Error(`what is passed on changes again: ${what()}`);
  }
  return { accepted, combined, slowestMs: watch.slowestMs };
}

function combinedFrom(pem: string, now: number): string | undefined {
  try {
    return combineAnchors([{ from: 'here', pem }], now).bundle;
  } catch (error) {
    if (error instanceof UnfitSource) return undefined;
    throw error;
  }
}

/** Verifies issued certificates, with their chains, by openssl. Throws its output if it rejects one. */
export function verifyWithOpenssl({ shown, anchors }: Pick<RequestTally, 'shown' | 'anchors'>): void {
  const between = shown[0]?.slice(shown[0].indexOf(pemEnd) + pemEnd.length) ?? '';
  const files = Object.fromEntries(shown.map((pem, at) => [`${at}.pem`, pem]));
  // Some expire within ten minutes, and a long campaign takes longer.
  const chain = ['-no_check_time', '-CAfile', 'anchors.pem', '-untrusted', 'between.pem'];
  openssl(
    { ...files, 'anchors.pem': anchors, 'between.pem': between },
    'verify',
    ...chain,
    '-purpose',
    'sslclient',
    ...Object.keys(files),
  );
}

const pemEnd = '-----END CERTIFICATE-----\n';
