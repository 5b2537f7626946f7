import {
  type ExpressionWarning,
  ValidatingAdmissionPolicies,
  type ValidatingAdmissionPolicy,
} from '../../src/api/kinds/validating-admission-policy.js';
import { groupVersion } from '../../src/api/object.js';
import type { Runnable } from '../../src/controller/controller.js';
import { defineController } from '../../src/controller/define-controller.js';
import { fieldManagers } from '../../src/controller/field-manager.js';

/** How the expressions of a policy are checked. */
export interface PolicyStatusOptions {
  /** Returns warnings about a policy's expressions that do not fit the types that it matches. */
  readonly check: (policy: ValidatingAdmissionPolicy) => Promise<readonly ExpressionWarning[]>;
}

/** Reports in the status of an admission policy which of its expressions do not fit the types that it matches. */
export const policyStatus = ({ check }: PolicyStatusOptions): Runnable =>
  defineController<ValidatingAdmissionPolicy>({
    name: 'policy-status',
    for: ValidatingAdmissionPolicies,
    when: ({ metadata, status }) => (status?.observedGeneration ?? 0) < (metadata.generation ?? 0),

    async reconcile(policy, { client }) {
      const { name = '', generation } = policy.metadata;
      const expressionWarnings = await check(policy);
      const body = {
        apiVersion: groupVersion(ValidatingAdmissionPolicies),
        kind: ValidatingAdmissionPolicies.kind,
        metadata: { name },
        status: {
          observedGeneration: generation,
          typeChecking: expressionWarnings.length === 0 ? {} : { expressionWarnings },
        },
      };
      await client
        .resource(ValidatingAdmissionPolicies)
        .subresource('status')
        .patch({ name }, { type: 'apply', body, fieldManager: fieldManagers.policies, force: true });
    },
  });
