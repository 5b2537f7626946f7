import type { Domains } from '../../src/api/domains.js';
import {
  type CertificateSigningRequest,
  CertificateSigningRequests,
  isUndecided,
} from '../../src/api/kinds/certificate-signing-request.js';
import { highConcurrency } from '../../src/controller/concurrency.js';
import type { ReconcileContext, Runnable } from '../../src/controller/controller.js';
import { decideRequest, readOrGiveUp, requestOutline } from '../../src/controller/csr.js';
import { defineController } from '../../src/controller/define-controller.js';
import { type EventRecorder, eventRecorder } from '../../src/controller/events.js';
import { compilePolicy, type Decision } from './decide.js';
import { factsOf } from './facts.js';
import type { CertificatePolicy, ExpressionCompiler } from './policy.js';

/** The policy of the approver. */
export interface PolicyApproverOptions {
  readonly policy: CertificatePolicy;
  /** Compiles `expression` in rules. Without it, rules with an expression are rejected. */
  readonly expressions?: ExpressionCompiler;
  /** The domains of the well-known signers. */
  readonly domains?: Domains;
}

const name = 'csr-policy-approver';

/**
 * Approves and denies requests by rules. In shadow mode it decides nothing, but logs and records as an Event what it
 * would have decided. Throws an Error if the policy is invalid.
 */
export function csrPolicyApprover({ policy, ...options }: PolicyApproverOptions): Runnable {
  const decide = compilePolicy(policy, options);
  const shadow = policy.mode === 'shadow';
  const controller = (recorder: EventRecorder): Runnable =>
    defineController<CertificateSigningRequest>({
      name,
      for: CertificateSigningRequests,
      concurrency: highConcurrency,
      backoff: { baseMs: 200, capMs: 1_000_000 },
      transform: requestOutline,
      when: isUndecided,

      async reconcile(csr, context) {
        const decision = decide(readOrGiveUp(csr, factsOf));
        logDecision(decision, csr, context, shadow);
        if (shadow) record(recorder, csr, decision);
        else if (decision.verdict !== 'leave') {
          const { type, reason } = conditionsByVerdict[decision.verdict];
          await decideRequest(context.client, csr, { type, reason, message: decision.message });
        }
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

function logDecision(
  decision: Decision,
  csr: CertificateSigningRequest,
  { log }: ReconcileContext,
  shadow: boolean,
): void {
  const { verdict } = decision;
  const logFields = { object: csr.metadata.name, signer: csr.spec.signerName, requester: csr.spec.username, verdict };
  if (verdict === 'leave') {
    if (decision.because.length > 0)
      log.debug({ ...logFields, because: decision.because }, 'certificate policy makes no decision');
    return;
  }
  const fields = { ...logFields, rule: decision.rule ?? 'default' };
  log.info(fields, shadow ? 'certificate policy would have made a decision' : 'certificate policy made a decision');
}

const conditionsByVerdict = {
  approve: { type: 'Approved', reason: 'PolicyApproved', would: 'PolicyWouldApprove' },
  deny: { type: 'Denied', reason: 'PolicyDenied', would: 'PolicyWouldDeny' },
} as const;

function record(recorder: EventRecorder, csr: CertificateSigningRequest, decision: Decision): void {
  if (decision.verdict === 'leave') return;
  const { verdict, message } = decision;
  recorder.record(csr, { type: 'Normal', reason: conditionsByVerdict[verdict].would, message: `Shadow: ${message}` });
}
