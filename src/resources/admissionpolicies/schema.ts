import { embedded, field, list, optional, string } from '../../schema/builder.js';
import { labelSelector } from '../../schema/meta.js';
import { ruleFields, struct } from '../webhookconfigurations/schema.js';

/** Schemas that admission policies share with their bindings. */

const namedRules = list(
  struct(
    'NamedRuleWithOperations',
    {
      resourceNames: field(1, list(string(), { listType: 'atomic' }), {
        description: 'Names of the objects that the rule applies to; empty for all.',
      }),
      ...embedded(2, 'RuleWithOperations', ruleFields),
    },
    { mapType: 'atomic', description: 'Requests that a rule matches, by operation, resource and object name.' },
  ),
  { listType: 'atomic' },
);

export const matchResources = struct(
  'MatchResources',
  {
    namespaceSelector: optional(1, labelSelector, {
      description: 'Label selector that the namespace of the object must match.',
    }),
    objectSelector: optional(2, labelSelector, { description: 'Label selector that the object must match.' }),
    resourceRules: field(3, namedRules, {
      description: 'Rules for the requests that are matched; a request must match at least one.',
    }),
    excludeResourceRules: field(4, namedRules, {
      description: 'Exceptions: requests that match any of these rules are not matched.',
    }),
    matchPolicy: optional(7, string({ go: 'v1.MatchPolicyType' }), {
      enum: ['Equivalent', 'Exact'],
      description:
        'Whether rules also match requests for other versions of a resource: Equivalent (the default) or Exact.',
    }),
  },
  { mapType: 'atomic', description: 'Conditions that select the requests to which a policy applies.' },
);

export const paramKind = struct(
  'ParamKind',
  {
    apiVersion: field(1, string(), { description: 'API group and version of the parameter kind.' }),
    kind: field(2, string(), { description: 'Kind of the parameter objects.' }),
  },
  { mapType: 'atomic', description: 'Kind of the objects that parameterize a policy.' },
);

const paramRef = struct(
  'ParamRef',
  {
    name: field(1, string(), { description: 'Name of the parameter object; cannot be combined with selector.' }),
    namespace: field(2, string(), {
      description: 'Namespace of the parameter objects; by default that of the request.',
    }),
    selector: optional(3, labelSelector, {
      description: 'Label selector of the parameter objects; the policy is evaluated with each of them.',
    }),
    parameterNotFoundAction: optional(4, string({ go: 'v1.ParameterNotFoundActionType' }), {
      description: 'What happens if no parameter object is found: Allow or Deny.',
    }),
  },
  { mapType: 'atomic', description: 'Reference to the objects that parameterize a policy.' },
);

/** Members that the specs of all bindings have. */
export const bindingMembers = {
  policyName: field(1, string(), { description: 'Name of the policy to put into effect.' }),
  paramRef: optional(2, paramRef, { description: 'Parameters of the policy; required if the policy has a paramKind.' }),
  matchResources: optional(3, matchResources, {
    description: 'Further conditions for the requests: both these and those of the policy must match.',
  }),
};

export const variable = struct(
  'Variable',
  {
    name: field(1, string(), {
      presence: 'always',
      description: 'Name of the variable; expressions refer to it as variables.NAME.',
    }),
    expression: field(2, string(), {
      presence: 'always',
      description: 'CEL expression for the value of the variable.',
    }),
  },
  { required: ['name', 'expression'], mapType: 'atomic', description: 'Named value that other expressions can use.' },
);
