import type { RotatedCa } from '../../controllers/ca-rotation/ca-rotation.js';
import type { SecretCa } from '../../controllers/csr-signer/secret-ca.js';
import type { Domains } from '../api/domains.js';
import { signerSpellings, type WellKnownSigner, wellKnownSigner, wellKnownSigners } from '../api/well-known-signers.js';
import type { Client } from '../client/client.js';
import type { CertificateAuthority } from '../pki/certificate-authority.js';
import type { Signer } from '../pki/signer.js';
import { openCaFiles } from '../pki/signers/ca-files.js';
import { type CaSignerOptions, caSigner } from '../pki/signers/ca-signer.js';
import { spiffeId } from '../pki/signers/spiffe.js';
import { aborted, withTimeout } from '../runtime/abort.js';
import { type Clock, shutdownClock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { prefixErrors } from '../runtime/text-source.js';
import { rotatedCas } from './rotated-cas.js';
import { openAuthority } from './signer-authority.js';
import { openProgram } from './signer-program.js';
import type { CaUses, ConfiguredSigner, FilesSource, TrustOptions } from './signing-options.js';

export interface OpenSignersOptions {
  /** The CA of well-known signers that have none of their own. If absent, these have no signer. */
  readonly ca?: CertificateAuthority | undefined;
  /** The same CA in files. */
  readonly caFiles?: FilesSource | undefined;
  /** The maximum lifetime in seconds of signers that set none; a year by default. */
  readonly maxSeconds?: number | undefined;
  readonly configured?: readonly ConfiguredSigner[] | undefined;
  readonly trust?: TrustOptions | undefined;
  /** Signers that the program passes, which are stopped with the server. */
  readonly own: readonly Signer[];
  /** Returns a client that reads the Secrets of CAs. */
  readonly client?: (() => Client) | undefined;
  readonly domains: Domains;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export interface OpenedSigners {
  readonly signers: readonly Signer[];
  /** The CAs in Secrets that are created and rotated here. */
  readonly rotated: readonly RotatedCa[];
  /** Returns in PEM the CAs of client signers that have a CA of their own, as of now, without the CAs above these. */
  clientIssuers(): string;
  /** Resolves once the signal has aborted and every program has ended. */
  readonly ended: Promise<void>;
}

/**
 * Opens the well-known signers under all their names, those of the configuration, and those that are passed as objects.
 */
export async function openSigners(options: OpenSignersOptions): Promise<OpenedSigners> {
  const { configured = [], domains, maxSeconds } = options;
  /** The CAs in Secrets, which several signers may share. */
  const secrets = new Map<string, SecretCa>();
  const opened = await Promise.all(
    configured.map((signer) => prefixErrors(`signing: ${signer.name}`, () => openConfigured(signer, options, secrets))),
  );
  const configuredNames = new Set(configured.flatMap(({ name }) => signerSpellings(name, domains)));
  const authority = await prefixErrors('signing: the CA for the well-known signers', () => sharedAuthority(options));
  const shared = Object.values(wellKnownSigners(domains))
    .flat()
    .filter((name) => !configuredNames.has(name));
  const clientAuthorities = opened.filter(({ name }) => isClientSigner(wellKnownSigner(name, domains)));
  warnOfSharedCas(opened, options);
  return {
    signers: [
      ...(authority === undefined ? [] : shared.map((serves) => caSigner({ serves, authority, domains, maxSeconds }))),
      ...opened.flatMap(({ signers }) => signers),
      ...options.own,
    ],
    rotated: rotatedCas(options),
    clientIssuers: () => clientAuthorities.map(({ issuers }) => issuers()).join(''),
    ended: Promise.all([...opened.map(({ ended }) => ended), stoppedWith(options)]).then(() => {}),
  };
}

/**
 * Logs a warning for other signers with a CA that verifies clients: the rules of the client signers do not apply to
 * them, such as that no certificate has the rights of an administrator.
 */
function warnOfSharedCas(
  opened: readonly OpenedSigner[],
  { ca, configured = [], domains, log }: Pick<OpenSignersOptions, 'ca' | 'configured' | 'domains' | 'log'>,
): void {
  const cas = configured.map((signer, at) => ({
    name: signer.name,
    kind: wellKnownSigner(signer.name, domains),
    // The CA in a Secret is not known yet.
    ca: 'secret' in signer ? signer.secret : (opened[at]?.issuers() ?? ''),
  }));
  const verifying = new Set([ca?.issuer, ...cas.filter(({ kind }) => isClientSigner(kind)).map((signer) => signer.ca)]);
  for (const { name, kind, ca: own } of cas)
    if (kind === undefined && own !== '' && verifying.has(own)) log.warn({ signer: name }, sharedCa);
}

const sharedCa =
  'the CA of this signer also verifies clients of this server: whoever may approve its requests can impersonate any user, including a member of system:masters';

/** Returns the names of the signers of a server without opening any. */
export function servedSigners({
  configured = [],
  own,
  domains,
}: Pick<OpenSignersOptions, 'configured' | 'own' | 'domains'>): readonly Pick<Signer, 'serves'>[] {
  const wellKnown = Object.values(wellKnownSigners(domains)).flat();
  const names = new Set([...wellKnown, ...configured.map(({ name }) => name), ...own.map(({ serves }) => serves)]);
  return [...names].map((serves) => ({ serves }));
}

/** The time that a signer has to stop, in milliseconds; one that runs a program gives it half of that. */
const stopMs = 10_000;

/** Resolves once the signal has aborted and every passed signer has stopped or was given up. */
async function stoppedWith({ own, clock, log, signal }: OpenSignersOptions): Promise<void> {
  const stopping = own.filter(({ stop }) => stop !== undefined);
  if (stopping.length === 0) return;
  await aborted(signal);
  await Promise.all(
    stopping.map(async (signer) => {
      try {
        await withTimeout({ clock: shutdownClock(clock), milliseconds: stopMs, signals: [] }, async () =>
          signer.stop?.(),
        );
      } catch (error) {
        log.error({ signer: signer.serves, err: error }, 'a signer did not stop');
      }
    }),
  );
}

/** Whether certificates of the signer authenticate clients to the API server. */
const isClientSigner = (signer: WellKnownSigner | undefined): boolean =>
  signer === 'client' || signer === 'node-client';

async function sharedAuthority({ ca, caFiles, clock, log, signal }: OpenSignersOptions) {
  if (caFiles === undefined) return ca === undefined ? undefined : () => ca;
  const files = await openCaFiles({ ...caFiles, clock, log, signal });
  return () => files.current();
}

interface OpenedSigner {
  readonly name: string;
  /** The signers, one for each spelling. */
  readonly signers: readonly Signer[];
  /**
   * Returns the issuers in PEM as of now; empty while they are not known. For a program: what it says its certificates
   * are verified with.
   */
  issuers(): string;
  /** Resolves once a program has ended. */
  readonly ended?: Promise<void>;
}

async function openConfigured(
  signer: ConfiguredSigner,
  options: OpenSignersOptions,
  secrets: Map<string, SecretCa>,
): Promise<OpenedSigner> {
  const { name } = signer;
  const { domains, client, clock, log, signal } = options;
  const names = signerSpellings(name, domains);
  const maxSeconds = signer.maxSeconds ?? options.maxSeconds;
  if (signer.podCertificates !== undefined && wellKnownSigner(name, domains) !== undefined)
    throw new Error('a well-known signer issues no certificates to pods');
  if ('command' in signer) {
    const isFollowed = isClientSigner(wellKnownSigner(name, domains));
    const parts = { domains, maxSeconds, isFollowed, clock, log, signal };
    return { name, ...(await openProgram(signer, names, parts)) };
  }
  const pods = podOptions(signer);
  const { current, anchors, issuers } = await openAuthority(signer, { client, secrets, clock, log, signal });
  return {
    name,
    signers: names.map((serves) => caSigner({ serves, authority: current, anchors, domains, maxSeconds, ...pods })),
    issuers,
  };
}

/** Returns the options of pod certificates, if the signer issues any. */
function podOptions({ podCertificates }: CaUses): Pick<CaSignerOptions, 'pods'> {
  if (podCertificates === undefined) return {};
  const { trustDomain } = podCertificates;
  return { pods: { names: (request) => ({ uris: [spiffeId(trustDomain, request)] }) } };
}
