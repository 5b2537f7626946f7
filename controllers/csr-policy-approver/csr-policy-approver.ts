import type { Domains } from '../../src/api/domains.js';
import {
  type CertificateSigningRequest,
  CertificateSigningRequests,
  isIssued,
} from '../../src/api/kinds/certificate-signing-request.js';
import type { Client } from '../../src/client/client.js';
import { manyAtATime } from '../../src/controller/concurrency.js';
import { type ReconcileContext, type Runnable, TerminalError } from '../../src/controller/controller.js';
import { defineController } from '../../src/controller/define-controller.js';
import { type EventRecorder, eventRecorder } from '../../src/controller/events.js';
import { fieldManagers } from '../../src/controller/field-manager.js';
import { PkiError } from '../../src/pki/pki-error.js';
import { compilePolicy, type Decision } from './decide.js';
import { factsOf, type RequestFacts } from './facts.js';
import type { CertificatePolicy, ExpressionCompiler } from './policy.js';

export interface PolicyApproverOptions {
  readonly policy: CertificatePolicy;
  /** The language of `expression` in rules. Without one, rules with an expression are refused. */
  readonly expressions?: ExpressionCompiler;
  /** Where well-known signers are. */
  readonly domains?: Domains;
}

const name = 'csr-policy-approver';

/**
 * Approves and denies requests by rules. In shadow mode it decides nothing, but logs and records as Event what it
 * would have done. Throws an Error if the policy makes no sense.
 */
export function csrPolicyApprover({ policy, ...options }: PolicyApproverOptions): Runnable {
  const decide = compilePolicy(policy, options);
  const shadow = policy.mode === 'shadow';
  const controller = (recorder: EventRecorder): Runnable =>
    defineController<CertificateSigningRequest>({
      name,
      for: CertificateSigningRequests,
      concurrency: manyAtATime,
      backoff: { baseMs: 200, capMs: 1_000_000 },
      when: isUndecided,

      async reconcile(csr, context) {
        const decision = decide(read(csr));
        tell(decision, csr, context, shadow);
        if (shadow) record(recorder, csr, decision);
        else if (decision.verdict !== 'leave') await write(context.client, csr, decision);
      },
    });
  return {
    name,
    async run(context) {
      const recorder = eventRecorder(name, context);
      await controller(recorder).run(context);
      await recorder.flush();
    },
  };
}

const isUndecided = (csr: CertificateSigningRequest): boolean =>
  !isIssued(csr) && !(csr.status?.conditions ?? []).some(({ type }) => type === 'Approved' || type === 'Denied');

function read(csr: CertificateSigningRequest): RequestFacts {
  try {
    return factsOf(csr);
  } catch (error) {
    if (error instanceof PkiError) throw new TerminalError(`unable to parse csr: ${error.message}`, { cause: error });
    throw error;
  }
}

function tell(decision: Decision, csr: CertificateSigningRequest, { log }: ReconcileContext, shadow: boolean): void {
  const { verdict } = decision;
  const about = { object: csr.metadata.name, signer: csr.spec.signerName, requester: csr.spec.username, verdict };
  if (verdict === 'leave') {
    if (decision.because.length > 0)
      log.debug({ ...about, because: decision.because }, 'certificate policy leaves a request alone');
    return;
  }
  const fields = { ...about, rule: decision.rule ?? 'default' };
  log.info(fields, shadow ? 'certificate policy would have decided' : 'certificate policy decided');
}

const words = {
  approve: { type: 'Approved', reason: 'PolicyApproved', would: 'PolicyWouldApprove' },
  deny: { type: 'Denied', reason: 'PolicyDenied', would: 'PolicyWouldDeny' },
} as const;

function record(recorder: EventRecorder, csr: CertificateSigningRequest, decision: Decision): void {
  if (decision.verdict === 'leave') return;
  const { verdict, message } = decision;
  recorder.record(csr, { type: 'Normal', reason: words[verdict].would, message: `Shadow: ${message}` });
}

async function write(
  client: Client,
  csr: CertificateSigningRequest,
  decision: Exclude<Decision, { readonly verdict: 'leave' }>,
): Promise<void> {
  const { type, reason } = words[decision.verdict];
  const condition = { type, status: 'True', reason, message: decision.message };
  const conditions = [...(csr.status?.conditions ?? []), condition];
  await client
    .resource(CertificateSigningRequests)
    .subresource('approval')
    .update({ ...csr, status: { ...csr.status, conditions } }, { fieldManager: fieldManagers.controllers });
}
