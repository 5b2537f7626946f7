import type { LedgerRecord } from '../api/certificate-ledger.js';
import { isReason } from '../api/errors.js';
import { type ApiObject, keyOf, keyText, type ResourceType } from '../api/object.js';
import { isSignerDomain } from '../api/signer-name.js';
import type { Client } from '../client/client.js';
import { type Signer, signerFor } from '../pki/signer.js';
import { noLongerNeeded, timeoutSignal, withTimeout } from '../runtime/abort.js';
import { shutdownClock } from '../runtime/clock.js';
import { clientUntil, underlyingClient } from './client-until.js';
import { highConcurrency } from './concurrency.js';
import { isTerminal, type ReconcileContext, type Runnable, TerminalError } from './controller.js';
import { defineController } from './define-controller.js';
import { fieldManagers } from './field-manager.js';
import { type CertificateLedger, ledgerWriter } from './ledger-writer.js';

/** How asking a signer ended: a certificate was handed out, the signer refused for good, or it failed. */
export type SigningOutcome = 'issued' | 'refused' | 'error';

/** The signers, and the callbacks for what they do. */
export interface SigningOptions {
  readonly signers: readonly Signer[];
  /**
   * Record every certificate in the ledger before it is handed out; what cannot be recorded is not handed out. Needs a
   * server that has the kind CertificateLedgerEntry, and the right to get and create it. Default: no.
   */
  readonly ledger?: boolean;
  /** Called for every certificate that was handed out. */
  readonly onIssued?: (record: LedgerRecord) => void;
  /**
   * Called with the outcome of each call to a signer, by what it serves; if it fails, each time, since it is called
   * again.
   */
  readonly onOutcome?: (serves: string, outcome: SigningOutcome) => void;
}

/** What signers answer to any kind of request: PEM that was issued, or a reason. */
type Answer = { readonly issued: string } | { readonly reason: string };

/** What is special about one kind of requests (`T`): what signers are asked (`Q`), and what they answer (`A`). */
export interface SigningSpec<T extends ApiObject, Q, A extends Answer> {
  readonly name: string;
  readonly for: ResourceType<T>;
  signerNameOf(request: T): string;
  /** Whether the request waits for its signer. */
  isDue(request: T): boolean;
  /** Reduces a request to what is held in memory. */
  outline(request: T): T;
  /** Returns the signer's input. Throws TerminalError for a request that cannot be read. */
  question(request: T): Q;
  /** Calls the signer; its result is not validated yet. */
  sign(signer: Signer, question: Q, signal: AbortSignal): Promise<unknown>;
  /** Validates the signer's result. Throws an Error for an invalid one. */
  result(said: unknown): A;
  /** Why what was issued must not be handed out. */
  problemWith(answer: A & { readonly issued: string }, question: Q, now: number): string | undefined;
  /** Whether an answer that was not written at once still may be; if not, the signer is asked again. Default: always. */
  isFresh?(answer: A, now: number): boolean;
  recordOf(request: T, issued: string): LedgerRecord;
  /** The request with the answer in its status. */
  withAnswer(request: T, answer: A, now: number): T;
}

/** The answer of a signer, and whether the ledger has it. */
interface Known<A> {
  readonly answer: A;
  readonly record: LedgerRecord | undefined;
  readonly isRecorded: boolean;
}

/**
 * Asks signers about requests and writes down what they answer: one controller per signer, so that a slow one keeps
 * nobody waiting. A signer is asked once for a request as long as this process lives, also if writing its answer takes
 * several tries; after a crash it is asked again with the same uid. What a signer has been asked when the controller is
 * told to stop is still recorded and written, for a few seconds: nobody else would know of a certificate.
 */
export function signingControllers<T extends ApiObject, Q, A extends Answer>(
  spec: SigningSpec<T, Q, A>,
  { signers, ledger = false, ...told }: SigningOptions,
): readonly Runnable[] {
  const names = signers.map((signer) => signer.serves);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`two signers serve ${twice}`);
  return signers.map((signer): Runnable => {
    const answers = new Map<string, Known<A>>();
    // Not a controller to a manager, which has one of a name: there is one for each signer, and their lines name it.
    return {
      name: spec.name,
      async run(context) {
        const { client, late, end } = lasting(context);
        const writer = ledger ? ledgerWriter(client) : undefined;
        const controller = signingController(spec, signer, { signers, answers, client, late, ledger: writer, ...told });
        await controller.run({ ...context, log: context.log.child({ signer: signer.serves }) }).finally(end);
      },
    };
  });
}

/** How long work under way may go on after the controller was asked to stop. */
const finishMs = 5_000;

/** What was begun goes on with this client, until `late` aborts: a while after the signal of the context. */
function lasting({ client, clock, signal }: ReconcileContext): {
  readonly client: Client;
  readonly late: AbortSignal;
  /** Must be called: until then the context's signal is listened to. */
  end(): void;
} {
  const late = new AbortController();
  const ended = new AbortController();
  const stop = async (): Promise<void> => {
    await shutdownClock(clock).sleep(finishMs, ended.signal);
    late.abort(signal.reason);
  };
  signal.addEventListener('abort', stop, { once: true, signal: ended.signal });
  return {
    client: clientUntil(late.signal, underlyingClient(client)),
    late: late.signal,
    end: () => ended.abort(noLongerNeeded),
  };
}

interface Surroundings<A> extends Omit<SigningOptions, 'ledger'> {
  /** Answers that have not been written yet, by the uid of the request. */
  readonly answers: Map<string, Known<A>>;
  readonly client: Client;
  readonly late: AbortSignal;
  readonly ledger: CertificateLedger | undefined;
}

function signingController<T extends ApiObject, Q, A extends Answer>(
  spec: SigningSpec<T, Q, A>,
  signer: Signer,
  { signers, answers, client, late, ledger, onIssued, onOutcome }: Surroundings<A>,
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
        known?.answer ?? (await ask(spec, { signer, request, failed: () => tell('error') }, { clock, signal, late }));
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
 * Asks a signer about a request. Its signal aborts when the controller stops, but an answer is taken until `late` aborts: it
 * may have signed. `failed` is called with a failure of the signer before that is thrown.
 */
async function ask<T extends ApiObject, Q, A extends Answer>(
  spec: SigningSpec<T, Q, A>,
  { signer, request, failed }: { readonly signer: Signer; readonly request: T; failed(): void },
  { clock, signal, late }: Pick<ReconcileContext, 'clock' | 'signal'> & { readonly late: AbortSignal },
): Promise<A> {
  const { timeoutMs: milliseconds = usualTimeoutMs } = signer;
  const question = spec.question(request);
  const told = timeoutSignal({ clock, milliseconds, signals: [signal] });
  try {
    const answer = spec.result(
      await withTimeout({ clock, milliseconds, signals: [late] }, () => spec.sign(signer, question, told.signal)),
    );
    const problem = isIssued(answer) ? spec.problemWith(answer, question, clock.now()) : undefined;
    if (problem !== undefined) throw new TerminalError(problem);
    return answer;
  } catch (error) {
    if (!signal.aborted) failed();
    throw error;
  } finally {
    told.end();
  }
}

const writeTries = 5;

/** Writes to the request that was asked about, and only while it is still due: somebody may have been faster. */
async function write<T extends ApiObject>(
  { for: type, isDue }: Pick<SigningSpec<T, never, never>, 'for' | 'isDue'>,
  client: Client,
  asked: T,
  change: (current: T) => T,
): Promise<boolean> {
  const resource = client.resource(type);
  const isSame = (current: T): boolean => current.metadata.uid === asked.metadata.uid;
  let current: T | undefined = asked;
  for (let attempt = 1; current !== undefined && isSame(current) && isDue(current); attempt++) {
    try {
      await resource.subresource('status').update(change(current), { fieldManager: fieldManagers.controllers });
      return true;
    } catch (error) {
      if (isReason(error, 'NotFound')) return false;
      // It would be as large the next time, so retrying is useless.
      if (isReason(error, 'RequestEntityTooLarge'))
        throw new TerminalError(`the server rejected the result of the signer: ${error.message}`, { cause: error });
      if (!isReason(error, 'Conflict') || attempt === writeTries) throw error;
      current = await resource.get(keyOf(asked));
    }
  }
  return false;
}
