import type { LedgerRecord } from '../api/certificate-ledger.js';
import { isReason } from '../api/errors.js';
import { type ApiObject, keyOf, keyText, type ResourceType } from '../api/object.js';
import { isSignerDomain } from '../api/signer-name.js';
import type { Client } from '../client/client.js';
import { type Signer, signerFor } from '../pki/signer.js';
import { noLongerNeeded, onAbort, timeoutSignal, withTimeout } from '../runtime/abort.js';
import { shutdownClock } from '../runtime/clock.js';
import { clientUntil, underlyingClient } from './client-until.js';
import { highConcurrency } from './concurrency.js';
import { isTerminal, type ReconcileContext, type Runnable, TerminalError } from './controller.js';
import { defineController } from './define-controller.js';
import { fieldManagers } from './field-manager.js';
import { type CertificateLedger, ledgerWriter } from './ledger-writer.js';

/** The outcome of a call to a signer: it issued a certificate, refused permanently, or failed. */
export type SigningOutcome = 'issued' | 'refused' | 'error';

/** The signers, and the callbacks for what they do. */
export interface SigningOptions {
  readonly signers: readonly Signer[];
  /**
   * Whether every certificate is recorded in the ledger before it is returned to the requester; one that cannot be
   * recorded is not returned. Requires a server with the kind CertificateLedgerEntry, and permission to get and create
   * entries. False by default.
   */
  readonly ledger?: boolean;
  /** Called for every certificate that was returned to its requester. */
  readonly onIssued?: (record: LedgerRecord) => void;
  /**
   * Called with the outcome of each call to a signer, by the signer name it serves. A call that fails is repeated, so
   * this is called each time.
   */
  readonly onOutcome?: (serves: string, outcome: SigningOutcome) => void;
}

/** A signer's answer to any kind of request: issued certificates in PEM, or the reason of a refusal. */
type Answer = { readonly issued: string } | { readonly reason: string };

/** The parts of signing that depend on the kind of request (`T`): the signer's input (`Q`) and its answer (`A`). */
export interface SigningSpec<T extends ApiObject, Q, A extends Answer> {
  readonly name: string;
  readonly for: ResourceType<T>;
  signerNameOf(request: T): string;
  /** Whether the request is waiting for its signer. */
  isDue(request: T): boolean;
  /** Reduces a request to what is held in memory. */
  outline(request: T): T;
  /** Returns the signer's input. Throws TerminalError for a request that cannot be read. */
  question(request: T): Q;
  /** Calls the signer; its result is not validated yet. */
  sign(signer: Signer, question: Q, signal: AbortSignal): Promise<unknown>;
  /** Validates the signer's result. Throws an Error for an invalid one. */
  result(answer: unknown): A;
  /** Returns why an issued certificate must not be used; undefined if there is no problem. */
  problemWith(answer: A & { readonly issued: string }, question: Q, now: number): string | undefined;
  /**
   * Whether an answer that was not written immediately may still be written; if not, the signer is called again.
   * Default: always.
   */
  isFresh?(answer: A, now: number): boolean;
  recordOf(request: T, issued: string): LedgerRecord;
  /** Returns the request with the answer in its status. */
  withAnswer(request: T, answer: A, now: number): T;
}

/** A signer's answer, and whether it is in the ledger. */
interface SignedAnswer<A> {
  readonly answer: A;
  readonly record: LedgerRecord | undefined;
  readonly isRecorded: boolean;
}

/**
 * Returns controllers that call signers for requests and write their answers: one per signer, so that a slow signer
 * does not block others. Within one process, a signer is called once for a request, even if writing its answer takes
 * several attempts; after a crash it is called again with the same uid. When a controller is asked to stop, calls in
 * progress still have a few seconds in which their answers are recorded and written; otherwise nobody would know of an
 * issued certificate.
 */
export function signingControllers<T extends ApiObject, Q, A extends Answer>(
  spec: SigningSpec<T, Q, A>,
  { signers, ledger = false, ...told }: SigningOptions,
): readonly Runnable[] {
  const names = signers.map((signer) => signer.serves);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`two signers serve ${twice}`);
  return signers.map((signer): Runnable => {
    const answers = new Map<string, SignedAnswer<A>>();
    // To the manager, this is not a controller, because controllers must have different names: there is one for each
    // signer, and their log lines contain the signer.
    return {
      name: spec.name,
      async run(context) {
        const { client, late, end } = longerContext(context);
        const writer = ledger ? ledgerWriter(client) : undefined;
        const controller = signingController(spec, signer, { signers, answers, client, late, ledger: writer, ...told });
        await controller.run({ ...context, log: context.log.child({ signer: signer.serves }) }).finally(end);
      },
    };
  });
}

/** The time that work in progress may continue after the controller was asked to stop. */
const finishMs = 5_000;

/** Returns a client for work in progress: it works until `late` aborts, some time after the context's signal. */
function longerContext({ client, clock, signal }: ReconcileContext): {
  readonly client: Client;
  readonly late: AbortSignal;
  /** Must be called to remove the listener from the context's signal. */
  end(): void;
} {
  const late = new AbortController();
  const ended = new AbortController();
  const stop = async (): Promise<void> => {
    await shutdownClock(clock).sleep(finishMs, ended.signal);
    late.abort(signal.reason);
  };
  onAbort(
    ended.signal,
    onAbort(signal, () => void stop()),
  );
  return {
    client: clientUntil(late.signal, underlyingClient(client)),
    late: late.signal,
    end: () => ended.abort(noLongerNeeded),
  };
}

interface SigningContext<A> extends Omit<SigningOptions, 'ledger'> {
  /** The answers that have not been written yet, by the uid of the request. */
  readonly answers: Map<string, SignedAnswer<A>>;
  readonly client: Client;
  readonly late: AbortSignal;
  readonly ledger: CertificateLedger | undefined;
}

function signingController<T extends ApiObject, Q, A extends Answer>(
  spec: SigningSpec<T, Q, A>,
  signer: Signer,
  { signers, answers, client, late, ledger, onIssued, onOutcome }: SigningContext<A>,
): Runnable {
  const tell = (outcome: SigningOutcome): void => onOutcome?.(signer.serves, outcome);
  const isFresh = (answer: A, now: number): boolean => spec.isFresh?.(answer, now) ?? true;

  return defineController<T>({
    name: spec.name,
    for: spec.for,
    ...(isSignerDomain(signer.serves) ? {} : { fieldSelector: `spec.signerName=${signer.serves}` }),
    concurrency: highConcurrency,
    backoff: { baseMs: 200, capMs: 1_000_000 },
    transform: (request) => spec.outline(request),
    when: (request) => signerFor(signers, spec.signerNameOf(request)) === signer && spec.isDue(request),

    async reconcile(request, { clock, log, signal }) {
      const uid = request.metadata.uid ?? '';
      const before = answers.get(uid);
      const known = before !== undefined && isFresh(before.answer, clock.now()) ? before : undefined;
      const answer =
        known?.answer ??
        (await askSigner(spec, { signer, request, failed: () => tell('error') }, { clock, signal, late }));
      const record = known?.record ?? ('issued' in answer ? spec.recordOf(request, answer.issued) : undefined);
      answers.set(uid, { answer, record, isRecorded: known?.isRecorded ?? false });
      if (ledger !== undefined && record !== undefined && !known?.isRecorded) {
        await ledger.append(record);
        answers.set(uid, { answer, record, isRecorded: true });
      }
      const isWritten = await write(spec, client, request, (current) =>
        spec.withAnswer(current, answer, clock.now()),
      ).catch((error: unknown) => {
        if (isTerminal(error)) answers.delete(uid);
        throw error;
      });
      answers.delete(uid);
      if (!isWritten) return;
      const object = keyText(keyOf(request));
      if (record === undefined) {
        log.info({ object, ...answer }, 'certificate refused');
        tell('refused');
        return;
      }
      const { requester, subject, serial, notAfter } = record;
      log.info({ object, requester, subject, serial, notAfter }, 'certificate issued');
      tell('issued');
      onIssued?.(record);
    },
    deleted: async ({ metadata }) => void answers.delete(metadata.uid ?? ''),
  });
}

const isIssued = <A extends Answer>(answer: A): answer is A & { readonly issued: string } => 'issued' in answer;

const usualTimeoutMs = 30_000;

/**
 * Calls a signer for a request. Its signal aborts when the controller stops, but its answer is accepted until `late`
 * aborts, because it may have signed. `failed` is called with the signer's failure before that is thrown.
 */
async function askSigner<T extends ApiObject, Q, A extends Answer>(
  spec: SigningSpec<T, Q, A>,
  { signer, request, failed }: { readonly signer: Signer; readonly request: T; failed(): void },
  { clock, signal, late }: Pick<ReconcileContext, 'clock' | 'signal'> & { readonly late: AbortSignal },
): Promise<A> {
  const { timeoutMs: milliseconds = usualTimeoutMs } = signer;
  const question = spec.question(request);
  const timeout = timeoutSignal({ clock, milliseconds, signals: [signal] });
  try {
    const answer = spec.result(
      await withTimeout({ clock, milliseconds, signals: [late] }, () => spec.sign(signer, question, timeout.signal)),
    );
    const problem = isIssued(answer) ? spec.problemWith(answer, question, clock.now()) : undefined;
    if (problem !== undefined) throw new TerminalError(problem);
    return answer;
  } catch (error) {
    if (!signal.aborted) failed();
    throw error;
  } finally {
    timeout.end();
  }
}

const writeTries = 5;

/**
 * Writes the answer to the request it belongs to, and only while the request is still due: another process may have
 * been faster.
 */
async function write<T extends ApiObject>(
  { for: type, isDue }: Pick<SigningSpec<T, never, never>, 'for' | 'isDue'>,
  client: Client,
  request: T,
  change: (current: T) => T,
): Promise<boolean> {
  const resource = client.resource(type);
  const isSame = (current: T): boolean => current.metadata.uid === request.metadata.uid;
  let current: T | undefined = request;
  for (let attempt = 1; current !== undefined && isSame(current) && isDue(current); attempt++) {
    try {
      await resource.subresource('status').update(change(current), { fieldManager: fieldManagers.controllers });
      return true;
    } catch (error) {
      if (isReason(error, 'NotFound')) return false;
      // The object would be too large again, so retrying is useless.
      if (isReason(error, 'RequestEntityTooLarge'))
        throw new TerminalError(`the server rejected the result of the signer: ${error.message}`, { cause: error });
      if (!isReason(error, 'Conflict') || attempt === writeTries) throw error;
      current = await resource.get(keyOf(request));
    }
  }
  return false;
}
