import { field, integer64, list, listMap, optional, string } from '../../schema/builder.js';
import { condition, objectMembers } from '../../schema/meta.js';
import { matchResources, paramKind, variable } from '../admissionpolicies/schema.js';
import { matchCondition, struct } from '../webhookconfigurations/schema.js';

const validation = struct(
  'Validation',
  {
    expression: field(1, string(), {
      presence: 'always',
      description: 'CEL expression that must evaluate to true for the request to be admitted.',
    }),
    message: field(2, string(), { description: 'Message of the rejection, if the expression is false.' }),
    reason: optional(3, string({ go: 'v1.StatusReason' }), {
      description: 'Reason of the rejection: Forbidden, Invalid (the default) or RequestEntityTooLarge.',
    }),
    messageExpression: field(4, string(), {
      description: 'CEL expression for the message of the rejection; if it fails or yields no text, message is used.',
    }),
  },
  { required: ['expression'], description: 'Condition that a request must meet.' },
);

const auditAnnotation = struct(
  'AuditAnnotation',
  {
    key: field(1, string(), {
      presence: 'always',
      description: 'Key of the annotation; it is prefixed with the name of the policy.',
    }),
    valueExpression: field(2, string(), {
      presence: 'always',
      description: 'CEL expression for the value; the annotation is omitted if it is null or blank.',
    }),
  },
  { required: ['key', 'valueExpression'], description: 'Annotation of the audit event of a request.' },
);

const expressionWarning = struct(
  'ExpressionWarning',
  {
    fieldRef: field(2, string(), { presence: 'always', description: 'Path of the field with the expression.' }),
    warning: field(3, string(), {
      presence: 'always',
      description: 'Result of type checking, for each type that was checked.',
    }),
  },
  { required: ['fieldRef', 'warning'], description: 'Warning about the types in an expression.' },
);

export const validatingAdmissionPolicySchema = struct(
  'ValidatingAdmissionPolicy',
  {
    ...objectMembers,
    spec: field(
      2,
      struct(
        'ValidatingAdmissionPolicySpec',
        {
          paramKind: optional(1, paramKind, { description: 'Kind of the parameter objects that bindings refer to.' }),
          matchConstraints: optional(2, matchResources, { description: 'Requests that the policy applies to.' }),
          validations: field(3, list(validation, { listType: 'atomic' }), {
            description: 'Conditions that requests must meet.',
          }),
          failurePolicy: optional(4, string({ go: 'v1.FailurePolicyType' }), {
            enum: ['Fail', 'Ignore'],
            description: 'Handling of expressions that cannot be evaluated: Fail (the default) or Ignore.',
          }),
          auditAnnotations: field(5, list(auditAnnotation, { listType: 'atomic' }), {
            description: 'Annotations of the audit event of a request.',
          }),
          matchConditions: field(6, listMap(matchCondition, ['name']), {
            description: 'CEL conditions that must all be true for the policy to apply.',
          }),
          variables: field(7, listMap(variable, ['name']), {
            description: 'Named values that other expressions can use.',
          }),
        },
        { description: 'Requests that a policy applies to, and how it validates them.' },
      ),
      { description: 'Requests that the policy applies to, and how it validates them.' },
    ),
    status: field(
      3,
      struct(
        'ValidatingAdmissionPolicyStatus',
        {
          observedGeneration: field(1, integer64(), {
            description: 'Generation of the policy that the status is based on.',
          }),
          typeChecking: optional(
            2,
            struct(
              'TypeChecking',
              {
                expressionWarnings: field(1, list(expressionWarning, { listType: 'atomic' }), {
                  description: 'Warnings about the types in expressions.',
                }),
              },
              { description: 'Result of checking the expressions against the types of the matched resources.' },
            ),
            { description: 'Result of checking the expressions against the types of the matched resources.' },
          ),
          conditions: field(3, list(condition, { listType: 'map', listMapKeys: ['type'] }), {
            description: 'Conditions of the policy.',
          }),
        },
        { description: 'Observed state of a policy.' },
      ),
      { description: 'Observed state of the policy.' },
    ),
  },
  { description: 'Policy in CEL that validates objects on admission. It has no effect without a binding.' },
);
