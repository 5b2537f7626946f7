import type { RotatedCa } from '../../controllers/ca-rotation/ca-rotation.js';
import { followCaSecret, type SecretCa } from '../../controllers/csr-signer/secret-ca.js';
import { namespacedName, signersIn } from '../../controllers/trust-distributor/trust-bundle.js';
import type { Domains } from '../api/domains.js';
import { isSignerDomain } from '../api/signer-name.js';
import { signerSpellings, type WellKnownSigner, wellKnownSigner, wellKnownSigners } from '../api/well-known-signers.js';
import type { Client } from '../client/client.js';
import { rotationPolicy } from '../pki/ca-rotation.js';
import { type CertificateAuthority, loadCertificateAuthority } from '../pki/certificate-authority.js';
import type { Signer } from '../pki/signer.js';
import { tellCaEnd } from '../pki/signers/ca-end.js';
import { openCaFiles } from '../pki/signers/ca-files.js';
import { type CaSignerOptions, caSigner } from '../pki/signers/ca-signer.js';
import { defineSigner, type PodSignerSpec } from '../pki/signers/define-signer.js';
import { spiffeId } from '../pki/signers/spiffe.js';
import { brokenSignerRule } from '../pki/signers/well-known-rules.js';
import { hiddenPart } from '../pki/unusual-request.js';
import { aborted, within } from '../runtime/abort.js';
import { type Clock, endingClock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { naming, readText } from '../runtime/text-source.js';
import { optionDefaults } from './option-defaults.js';
import type {
  CaUses,
  CommandSource,
  ConfiguredSigner,
  FilesSource,
  SecretSource,
  TokenSource,
  TrustOptions,
} from './signing-options.js';

export interface SignersToOpen {
  /** Signs for well-known signers that have no CA of their own. Absent: those have no signer. */
  readonly ca?: CertificateAuthority | undefined;
  /** The same in files. */
  readonly caFiles?: FilesSource | undefined;
  /** Longest lifetime where a signer has none of its own. Default: a year. */
  readonly maxSeconds?: number | undefined;
  readonly configured?: readonly ConfiguredSigner[] | undefined;
  readonly trust?: TrustOptions | undefined;
  /** Signers that are programs in this process; stopped with it. */
  readonly own: readonly Signer[];
  /** Reads the Secrets of CAs. */
  readonly client?: (() => Client) | undefined;
  readonly domains: Domains;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export interface OpenedSigners {
  readonly signers: readonly Signer[];
  /** CAs in Secrets that are made and replaced here. */
  readonly rotated: readonly RotatedCa[];
  /** PEM of the CAs of their own that client signers have, as of now: not of what stands above these. */
  clientIssuers(): string;
  /** Resolves once the signal has aborted and every program has ended. */
  readonly ended: Promise<void>;
}

/** The well-known signers under all their names, those of the configuration, and those of the user. */
export async function openSigners(given: SignersToOpen): Promise<OpenedSigners> {
  const { configured = [], domains, maxSeconds } = given;
  const opened = await Promise.all(
    configured.map((signer) => naming(`signing: ${signer.name}`, () => openConfigured(signer, given))),
  );
  const taken = new Set(configured.flatMap(({ name }) => signerSpellings(name, domains)));
  const authority = await naming('signing: the CA for the well-known signers', () => sharedAuthority(given));
  const shared = Object.values(wellKnownSigners(domains))
    .flat()
    .filter((name) => !taken.has(name));
  const clientAuthorities = opened.filter(({ name }) => isClientSigner(wellKnownSigner(name, domains)));
  return {
    signers: [
      ...(authority === undefined ? [] : shared.map((serves) => caSigner({ serves, authority, domains, maxSeconds }))),
      ...opened.flatMap(({ signers }) => signers),
      ...given.own,
    ],
    rotated: rotatedCas(given),
    clientIssuers: () => clientAuthorities.map(({ issuers }) => issuers()).join(''),
    ended: Promise.all([...opened.map(({ ended }) => ended), stoppedWith(given)]).then(() => {}),
  };
}

/** What the signers of a server serve, without opening any. */
export function servedSigners({
  configured = [],
  own,
  domains,
}: Pick<SignersToOpen, 'configured' | 'own' | 'domains'>): readonly Pick<Signer, 'serves'>[] {
  const wellKnown = Object.values(wellKnownSigners(domains)).flat();
  const names = new Set([...wellKnown, ...configured.map(({ name }) => name), ...own.map(({ serves }) => serves)]);
  return [...names].map((serves) => ({ serves }));
}

/** So long a signer may take to stop: one that runs a program gives it half of that. */
const stopMs = 10_000;

/** Resolves once the signal has aborted and every signer of the user's has stopped, or was given up. */
async function stoppedWith({ own, clock, log, signal }: SignersToOpen): Promise<void> {
  const stopping = own.filter(({ stop }) => stop !== undefined);
  if (stopping.length === 0) return;
  await aborted(signal);
  await Promise.all(
    stopping.map(async (signer) => {
      try {
        await within({ clock: endingClock(clock), milliseconds: stopMs, signals: [] }, async () => signer.stop?.());
      } catch (error) {
        log.error({ signer: signer.serves, err: error }, 'a signer did not stop');
      }
    }),
  );
}

/** Whose certificates the API server takes as proof of who is calling. */
const isClientSigner = (signer: WellKnownSigner | undefined): boolean =>
  signer === 'client' || signer === 'node-client';

async function sharedAuthority({ ca, caFiles, clock, log, signal }: SignersToOpen) {
  if (caFiles === undefined) return ca === undefined ? undefined : () => ca;
  const files = await openCaFiles({ ...caFiles, clock, log, signal });
  return () => files.current();
}

interface OpenedSigner {
  readonly name: string;
  /** One for each spelling. */
  readonly signers: readonly Signer[];
  /** PEM, as of now; empty while not known. Of a program: what it says verifies its certificates. */
  issuers(): string;
  /** Of a program: resolves once it has. */
  readonly ended?: Promise<void>;
}

/** Something that signs, whatever it is. */
interface Authority {
  current(): CertificateAuthority;
  anchors(): string;
  issuers(): string;
}

async function openConfigured(signer: ConfiguredSigner, given: SignersToOpen): Promise<OpenedSigner> {
  const { name } = signer;
  const { domains } = given;
  const names = signerSpellings(name, domains);
  const maxSeconds = signer.maxSeconds ?? given.maxSeconds;
  if (signer.podCertificates !== undefined && wellKnownSigner(name, domains) !== undefined)
    throw new Error('a well-known signer issues no certificates to pods');
  if ('command' in signer) return openCommand(signer, names, given);
  const pods = podOptions(signer);
  const { current, anchors, issuers } = await openAuthority(signer, given);
  return {
    name,
    signers: names.map((serves) => caSigner({ serves, authority: current, anchors, domains, maxSeconds, ...pods })),
    issuers,
  };
}

/** How certificates of pods look, if the signer issues any. */
function podOptions({ podCertificates }: CaUses): Pick<CaSignerOptions, 'pods'> {
  if (podCertificates === undefined) return {};
  const { trustDomain } = podCertificates;
  return { pods: { names: (request) => ({ uris: [spiffeId(trustDomain, request)] }) } };
}

async function openAuthority(
  signer: FilesSource | SecretSource | TokenSource,
  { client, clock, log, signal }: SignersToOpen,
): Promise<Authority> {
  if ('secret' in signer) return openSecret(signer, { client, clock, log, signal });
  if ('pkcs11' in signer) {
    const { openPkcs11Key } = await import('../pki/signers/pkcs11-key.js');
    const { pinFile, ...token } = signer.pkcs11;
    const [certificate, pin] = await Promise.all([readText(signer.certificateFile), readText(pinFile)]);
    const key = await openPkcs11Key({ ...token, pin: pin.split('\n')[0]?.trim() ?? '', certificate });
    signal.addEventListener('abort', () => key.close(), { once: true });
    const ca = loadCertificateAuthority({ certificate, key, clock });
    tellCaEnd(ca, { clock, log, about: { file: signer.certificateFile } });
    return authorityOf(() => ca);
  }
  const files = await openCaFiles({ ...signer, clock, log, signal });
  return authorityOf(() => files.current());
}

const authorityOf = (current: () => CertificateAuthority): Authority => ({
  current,
  anchors: () => current().anchors,
  issuers: () => current().issuer,
});

const followed = new WeakMap<AbortSignal, Map<string, SecretCa>>();

/** Several signers may share a Secret. */
function openSecret(
  { secret }: SecretSource,
  { client, clock, log, signal }: Pick<SignersToOpen, 'client' | 'clock' | 'log' | 'signal'>,
): Authority {
  const name = namespacedName(secret);
  if (name === undefined) throw new Error(`${JSON.stringify(secret)} is no namespace/name`);
  if (client === undefined) throw new Error('a CA in a Secret needs a client');
  const all = followed.get(signal) ?? new Map<string, SecretCa>();
  followed.set(signal, all);
  const ca = all.get(secret) ?? followCaSecret(client(), name, { clock, log, signal });
  all.set(secret, ca);
  return ca;
}

const refreshMs = 60_000;

async function openCommand(
  { name, command, timeoutSeconds, podCertificates, ...signer }: CommandSource & ConfiguredSigner,
  names: readonly string[],
  given: SignersToOpen,
): Promise<OpenedSigner> {
  const { domains, clock, log, signal } = given;
  const { processSigner } = await import('../pki/signers/process-signer.js');
  const [program, ...args] = command;
  if (program === undefined) throw new Error('the command is empty');
  const external = processSigner({
    serves: name,
    command: [program, ...args],
    pods: podCertificates !== undefined,
    clock,
    log,
    ...(timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1_000 }),
  });
  const ended = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(external.stop()), { once: true });
  });
  let known = '';
  const anchors = async (): Promise<string> => {
    known = await external.trustAnchors();
    return known;
  };
  if (isClientSigner(wellKnownSigner(name, domains))) void keepAsking(anchors, { clock, log, signal });
  const maxSeconds = signer.maxSeconds ?? given.maxSeconds ?? optionDefaults.signingSeconds;
  return {
    name,
    issuers: () => known,
    ended,
    signers: names.map((serves) =>
      defineSigner({
        serves,
        maxSeconds,
        timeoutMs: external.timeoutMs,
        // A program gets the whole request, and the rules see only what is read here.
        validate: (request, { signerName, usages }) =>
          brokenSignerRule(signerName, { request, usages }, domains) ??
          (wellKnownSigner(signerName, domains) && hiddenPart(request)),
        async issue(_request, { seconds, signing, signal: stop }) {
          const result = await external.sign({ ...signing, expirationSeconds: seconds }, stop);
          return 'issued' in result ? result.issued : result;
        },
        ...(external.signPod !== undefined && { pods: podsOf(external.signPod, podCertificates?.annotations) }),
        trustAnchors: anchors,
      }),
    ),
  };
}

const podsOf = (
  signPod: NonNullable<Signer['signPod']>,
  annotations: readonly string[] | undefined,
): PodSignerSpec => ({
  ...(annotations === undefined ? {} : { annotations }),
  issue: (request, { seconds, signal }) => signPod({ ...request, maxSeconds: seconds }, signal),
});

async function keepAsking(
  ask: () => Promise<string>,
  { clock, log, signal }: Pick<SignersToOpen, 'clock' | 'log' | 'signal'>,
): Promise<void> {
  while (!signal.aborted) {
    await ask().catch((error: unknown) => log.warn({ err: error }, 'a signer does not tell its anchors'));
    await clock.sleep(refreshMs, signal);
  }
}

/** The CAs that are rotated, each once. Throws an Error for two signers that want one CA to be rotated differently. */
function rotatedCas({
  configured = [],
  domains,
  maxSeconds: usual = optionDefaults.signingSeconds,
  trust,
}: SignersToOpen): readonly RotatedCa[] {
  const bySecret = new Map<string, (SecretSource & ConfiguredSigner)[]>();
  for (const signer of configured) {
    if ('secret' in signer) bySecret.set(signer.secret, [...(bySecret.get(signer.secret) ?? []), signer]);
  }
  return [...bySecret].flatMap(([secret, sharing]): readonly RotatedCa[] => {
    const rotation = sharing.find((signer) => signer.rotation !== undefined)?.rotation;
    const name = namespacedName(secret);
    if (rotation === undefined || name === undefined) return [];
    const other = sharing.find(
      (signer) => signer.rotation !== undefined && JSON.stringify(signer.rotation) !== JSON.stringify(rotation),
    );
    if (other !== undefined)
      throw new Error(`signing: ${other.name} wants the CA in ${secret} to be rotated differently`);
    const domain = sharing.find((signer) => isSignerDomain(signer.name));
    if (domain !== undefined) {
      throw new Error(`signing: the CA of ${domain.name} cannot be rotated, since its anchors are not published`);
    }
    const { caSeconds, propagationSeconds, renewBeforeSeconds, keyType } = rotation;
    const maxSeconds = Math.max(...sharing.map((signer) => signer.maxSeconds ?? usual));
    const policy = rotationPolicy({
      maxSeconds,
      propagationMs: inMs(propagationSeconds),
      renewBeforeMs: inMs(renewBeforeSeconds),
    });
    const names = sharing.flatMap((signer) => signerSpellings(signer.name, domains));
    return [
      {
        secret: name,
        signers: names,
        policy,
        distributed: bundlesWith(names, trust),
        ...(caSeconds === undefined ? {} : { seconds: caSeconds }),
        ...(keyType === undefined ? {} : { keyType }),
      },
    ];
  });
}

const inMs = (seconds: number | undefined): number | undefined => (seconds === undefined ? undefined : seconds * 1_000);

/** Bundles that have the anchors of any of these signers. */
const bundlesWith = (names: readonly string[], trust: TrustOptions | undefined): readonly string[] =>
  (trust?.bundles ?? [])
    .map(({ name }) => name)
    .filter((bundle) => [...signersIn(bundle, trust?.bundles ?? [])].some((signer) => names.includes(signer)));
