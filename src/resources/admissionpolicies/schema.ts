import { embedded, field, list, optional, string } from '../../schema/builder.js';
import { labelSelector } from '../../schema/meta.js';
import { ruleFields, struct } from '../webhookconfigurations/schema.js';

/** Schemas that admission policies share with their bindings. */

const namedRules = list(
  struct(
    'NamedRuleWithOperations',
    {
      resourceNames: field(1, list(string(), { listType: 'atomic' }), {
        description: 'Names of the objects meant; all if there are none.',
      }),
      ...embedded(2, 'RuleWithOperations', ruleFields),
    },
    { mapType: 'atomic', description: 'Which requests are meant, by operation, resource and name.' },
  ),
  { listType: 'atomic' },
);

export const matchResources = struct(
  'MatchResources',
  {
    namespaceSelector: optional(1, labelSelector, { description: 'Labels that the namespace of an object must have.' }),
    objectSelector: optional(2, labelSelector, { description: 'Labels that the object must have.' }),
    resourceRules: field(3, namedRules, { description: 'Which requests are meant.' }),
    excludeResourceRules: field(4, namedRules, { description: 'Which of these requests are not meant.' }),
    matchPolicy: optional(7, string({ go: 'v1.MatchPolicyType' }), {
      enum: ['Equivalent', 'Exact'],
      description: 'Do rules also match other versions of a resource? Equivalent (the default) or Exact.',
    }),
  },
  { mapType: 'atomic', description: 'Which requests are meant.' },
);

export const paramKind = struct(
  'ParamKind',
  {
    apiVersion: field(1, string(), { description: 'Group and version of the kind.' }),
    kind: field(2, string(), { description: 'The kind.' }),
  },
  { mapType: 'atomic', description: 'What kind of objects are the parameters of a policy.' },
);

const paramRef = struct(
  'ParamRef',
  {
    name: field(1, string(), { description: 'Name of the parameters; not together with selector.' }),
    namespace: field(2, string(), { description: 'Namespace of the parameters; that of the request if absent.' }),
    selector: optional(3, labelSelector, { description: 'Labels that parameters must have; each of them counts.' }),
    parameterNotFoundAction: optional(4, string({ go: 'v1.ParameterNotFoundActionType' }), {
      description: 'What follows if there are none: Allow or Deny.',
    }),
  },
  { mapType: 'atomic', description: 'Which objects are the parameters of a policy.' },
);

/** Members that the specs of all bindings have. */
export const bindingMembers = {
  policyName: field(1, string(), { description: 'Name of the policy that is put into force.' }),
  paramRef: optional(2, paramRef, { description: 'Parameters, if the policy has any.' }),
  matchResources: optional(3, matchResources, { description: 'Narrows what the policy matches.' }),
};

export const variable = struct(
  'Variable',
  {
    name: field(1, string(), { presence: 'always', description: 'The variable is variables.NAME in what follows.' }),
    expression: field(2, string(), { presence: 'always', description: 'CEL expression for its value.' }),
  },
  { required: ['name', 'expression'], mapType: 'atomic', description: 'A value that expressions share.' },
);
