import { field, integer64, list, listMap, optional, string } from '../../schema/builder.js';
import { condition, objectMembers } from '../../schema/meta.js';
import { matchResources, paramKind, variable } from '../admissionpolicies/schema.js';
import { matchCondition, struct } from '../webhookconfigurations/schema.js';

const validation = struct(
  'Validation',
  {
    expression: field(1, string(), { presence: 'always', description: 'CEL expression that must be true.' }),
    message: field(2, string(), { description: 'What to say when it is not.' }),
    reason: optional(3, string({ go: 'v1.StatusReason' }), {
      description: 'Reason of the refusal: Forbidden, Invalid (the default) or RequestEntityTooLarge.',
    }),
    messageExpression: field(4, string(), {
      description: 'CEL expression for what to say when it is not; what it cannot say, message says.',
    }),
  },
  { required: ['expression'], description: 'What must be true.' },
);

const auditAnnotation = struct(
  'AuditAnnotation',
  {
    key: field(1, string(), {
      presence: 'always',
      description: 'Key in the record; the name of the policy goes before it.',
    }),
    valueExpression: field(2, string(), {
      presence: 'always',
      description: 'CEL expression for the value; what is null or blank is not recorded.',
    }),
  },
  { required: ['key', 'valueExpression'], description: 'What is recorded of a request in the audit log.' },
);

const expressionWarning = struct(
  'ExpressionWarning',
  {
    fieldRef: field(2, string(), { presence: 'always', description: 'Path of the expression.' }),
    warning: field(3, string(), { presence: 'always', description: 'What is wrong with it, by type.' }),
  },
  { required: ['fieldRef', 'warning'], description: 'What is wrong with an expression.' },
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
          paramKind: optional(1, paramKind, { description: 'What kind of objects bindings give as parameters.' }),
          matchConstraints: optional(2, matchResources, { description: 'Which requests the policy judges.' }),
          validations: field(3, list(validation, { listType: 'atomic' }), { description: 'What must be true.' }),
          failurePolicy: optional(4, string({ go: 'v1.FailurePolicyType' }), {
            enum: ['Fail', 'Ignore'],
            description: 'What an expression that cannot be evaluated means: Fail (the default) or Ignore.',
          }),
          auditAnnotations: field(5, list(auditAnnotation, { listType: 'atomic' }), {
            description: 'What is recorded of a request in the audit log.',
          }),
          matchConditions: field(6, listMap(matchCondition, ['name']), {
            description: 'Conditions that must all hold, or nothing is judged.',
          }),
          variables: field(7, listMap(variable, ['name']), { description: 'Values that expressions share.' }),
        },
        { description: 'What is judged, and how.' },
      ),
      { description: 'What is judged, and how.' },
    ),
    status: field(
      3,
      struct(
        'ValidatingAdmissionPolicyStatus',
        {
          observedGeneration: field(1, integer64(), { description: 'Generation that the rest was found for.' }),
          typeChecking: optional(
            2,
            struct(
              'TypeChecking',
              {
                expressionWarnings: field(1, list(expressionWarning, { listType: 'atomic' }), {
                  description: 'What is wrong with expressions.',
                }),
              },
              { description: 'What the types of the resources meant say of the expressions.' },
            ),
            { description: 'What the types of the resources meant say of the expressions.' },
          ),
          conditions: field(3, list(condition, { listType: 'map', listMapKeys: ['type'] }), {
            description: 'What was found of the policy.',
          }),
        },
        { description: 'What was found of the policy.' },
      ),
      { description: 'What was found of the policy.' },
    ),
  },
  { description: 'Rules in CEL about what is written; nothing is judged by them until a binding says so.' },
);
