import type { Domains } from '../api/domains.js';
import { wellKnownSigner } from '../api/well-known-signers.js';
import type { Signer } from '../pki/signer.js';
import { defineSigner, type PodSignerSpec } from '../pki/signers/define-signer.js';
import { brokenSignerRule } from '../pki/signers/well-known-rules.js';
import { hiddenPart } from '../pki/unusual-request.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { optionDefaults } from './option-defaults.js';
import type { CommandSource, ConfiguredSigner } from './signing-options.js';

interface ProgramParts {
  readonly domains: Domains;
  /** The maximum lifetime in seconds; a year by default. */
  readonly maxSeconds?: number | undefined;
  /** Whether its anchors are requested in advance and regularly. */
  readonly isFollowed: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

interface OpenedProgram {
  /** The signers, one for each name. */
  readonly signers: readonly Signer[];
  /**
   * Returns the anchors in PEM with which the program says that its certificates are verified; empty while they are not
   * known.
   */
  issuers(): string;
  /** Resolves once the program has ended, after the signal has aborted. */
  readonly ended: Promise<void>;
}

const refreshMs = 60_000;

/** Opens a signer that is a program, under all its names. */
export async function openProgram(
  { name, command, timeoutSeconds, podCertificates }: CommandSource & ConfiguredSigner,
  names: readonly string[],
  { domains, maxSeconds = optionDefaults.signingSeconds, isFollowed, clock, log, signal }: ProgramParts,
): Promise<OpenedProgram> {
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
  if (isFollowed) void keepAsking(anchors, { clock, log, signal });
  return {
    issuers: () => known,
    ended,
    signers: names.map((serves) =>
      defineSigner({
        serves,
        maxSeconds,
        timeoutMs: external.timeoutMs,
        // A program gets the complete request, but the rules see only what is read here.
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
  { clock, log, signal }: Pick<ProgramParts, 'clock' | 'log' | 'signal'>,
): Promise<void> {
  while (!signal.aborted) {
    await ask().catch((error: unknown) => log.warn({ err: error }, 'could not get the trust anchors of a signer'));
    await clock.sleep(refreshMs, signal);
  }
}
