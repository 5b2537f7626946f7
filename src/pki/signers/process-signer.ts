import { parseRfc3339 } from '../../api/go-time.js';
import { readPemCertificates } from '../certificate.js';
import { encodeCertificates, encodePem } from '../pem.js';
import { type PodSigningRequest, type PodSigningResult, podSigningResult } from '../pod-signing.js';
import { type Signer, type SigningRequest, signingResult } from '../signer.js';
import { type Answer, defaultTimeoutMs, ProcessLink, SignerProcessError } from './process-link.js';
import type { ProcessSignerOptions } from './process-signer-options.js';

/** A signer in another program, which starts with the first request. */
export interface ProcessSigner extends Signer {
  /** Long enough to wait for a turn and a response. */
  readonly timeoutMs: number;
  trustAnchors(): Promise<string>;
  /**
   * Closes the input of the process; if it does not exit within 5 s, it is killed with all its child processes. A later
   * request starts it again: consecutive servers may use the same signer.
   */
  stop(): Promise<void>;
}

/**
 * Parses certificates and encodes them again, because the output of programs is combined with other certificates.
 * Returns '' if there are none.
 */
function asWritten(anchors: string): string {
  if (anchors.trim() === '') return '';
  try {
    const certificates = readPemCertificates(anchors);
    if (certificates.length > 0) return encodeCertificates(certificates.map(({ der }) => der));
  } catch (cause) {
    throw new SignerProcessError(`the "anchors" of the answer: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    });
  }
  throw new SignerProcessError('the "anchors" of the answer contain no certificate');
}

/**
 * Returns a signer that passes requests to the program. Calls reject if the program does not answer, or violates the
 * protocol.
 */
export function processSigner(options: ProcessSignerOptions): ProcessSigner {
  const link = new ProcessLink(options);
  return {
    serves: options.serves,
    timeoutMs: 2 * (options.timeoutMs ?? defaultTimeoutMs),

    async sign(request, signal) {
      return signingResult(await link.ask({ sign: bodyOf(request) }, signal));
    },

    ...(options.pods === true && {
      async signPod(request: PodSigningRequest, signal: AbortSignal) {
        return podResult(await link.ask({ signPod: bodyForPod(request) }, signal));
      },
    }),

    async trustAnchors() {
      const { anchors } = await link.ask({ anchors: {} }, new AbortController().signal);
      if (typeof anchors !== 'string') throw new SignerProcessError('the answer has no string "anchors"');
      return asWritten(anchors);
    },

    stop: () => link.stop(),
  };
}

const bodyOf = ({ signerName, request, usages, requester, expirationSeconds, uid }: SigningRequest): object => ({
  signerName,
  request,
  usages,
  requester,
  ...(expirationSeconds === undefined ? {} : { expirationSeconds }),
  uid,
});

const bodyForPod = (request: PodSigningRequest): object => ({
  signerName: request.signerName,
  namespace: request.namespace,
  pod: request.pod,
  serviceAccount: request.serviceAccount,
  node: request.node,
  publicKey: encodePem('PUBLIC KEY', request.publicKey.spki),
  annotations: request.annotations,
  maxSeconds: request.maxSeconds,
  uid: request.uid,
});

/**
 * Converts an answer for a pod. In it, the time of the next request is a text (RFC 3339), as in the object itself, or
 * null if there is none.
 */
function podResult({ refreshAt, ...answer }: Answer): PodSigningResult {
  if (refreshAt === undefined || refreshAt === null) return podSigningResult(answer);
  const at = typeof refreshAt === 'string' ? parseRfc3339(refreshAt) : undefined;
  if (at === undefined)
    throw new SignerProcessError('"refreshAt" of the answer is not a time such as 2030-01-01T00:00:00Z');
  return podSigningResult({ ...answer, refreshAt: at });
}
