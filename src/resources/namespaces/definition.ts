import { changedCopy } from '../../api/changed-copy.js';
import { type Domains, defaultDomains, signerKeyIn } from '../../api/domains.js';
import { type Namespace, Namespaces, namespaceFinalizer, namespaceNameLabel } from '../../api/kinds/namespace.js';
import type { Labels } from '../../api/label-requirements.js';
import { nameRules, qualifiedName } from '../../api/names.js';
import { setMember } from '../../api/object.js';
import { DeferredWork, runSync, type Steps } from '../../api/steps.js';
import { eachInvalid, index, invalidTypedString, type Violation, validateEach } from '../../api/violations.js';
import { finalizerNameViolations } from '../../registry/metadata-rules.js';
import { defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import { field, list, listMap, string, time } from '../../schema/builder.js';
import { objectMembers } from '../../schema/meta.js';
import { age, column } from '../columns.js';
import { coreStruct } from '../core-struct.js';

const condition = coreStruct(
  'NamespaceCondition',
  {
    type: field(1, string({ go: 'v1.NamespaceConditionType' }), {
      presence: 'always',
      description: 'Type of the condition.',
    }),
    status: field(2, string({ go: 'v1.ConditionStatus' }), {
      presence: 'always',
      description: 'Status of the condition: True, False or Unknown.',
    }),
    lastTransitionTime: field(4, time(), { presence: 'always', description: 'Time of the last change of the status.' }),
    reason: field(5, string(), { description: 'Reason for the status, as one word in CamelCase.' }),
    message: field(6, string(), { description: 'Human-readable details.' }),
  },
  {
    required: ['type', 'status'],
    description: 'Aspect of the state of a namespace.',
  },
);

const namespaceSchema = coreStruct(
  'Namespace',
  {
    ...objectMembers,
    spec: field(
      2,
      coreStruct(
        'NamespaceSpec',
        {
          finalizers: field(1, list(string({ go: 'v1.FinalizerName' }), { listType: 'atomic' }), {
            description: 'Finalizers that must be removed before the namespace is deleted.',
          }),
        },
        { description: 'Specification of a namespace.' },
      ),
      { description: 'Specification of the namespace.' },
    ),
    status: field(
      3,
      coreStruct(
        'NamespaceStatus',
        {
          phase: field(1, string({ go: 'v1.NamespacePhase' }), {
            enum: ['Active', 'Terminating'],
            description: 'Phase of the lifecycle: Active or Terminating.',
          }),
          conditions: field(2, listMap(condition, ['type']), {
            description: 'Conditions that show the progress of a deletion.',
          }),
        },
        { description: 'Observed state of a namespace.' },
      ),
      { description: 'Observed state of the namespace.' },
    ),
  },
  { description: 'Scope in which names of objects are unique.' },
);

const validateFinalizer = (name: string, path: string): readonly Violation[] => [
  ...eachInvalid(path, name, qualifiedName(name)),
  ...finalizerNameViolations(path, name),
];

/** Sets the label with the namespace's name, which cannot be removed. A name still to be generated has no label yet. */
function* withNameLabel(namespace: Namespace, label: string): Steps<Namespace> {
  const { name, labels = {} } = namespace.metadata;
  if (!name || labels[label] === name) return namespace;
  const later = new DeferredWork();
  const { copy } = changedCopy(labels, 1, (copy) => setMember(copy, label, name), later);
  yield* later.rest();
  return { ...namespace, metadata: { ...namespace.metadata, labels: copy as Labels } };
}

function withFinalizer(finalizers: readonly string[] = []): readonly string[] {
  return finalizers.includes(namespaceFinalizer) ? finalizers : [...finalizers, namespaceFinalizer];
}

/** Checks that the phase agrees with whether deletion was requested. */
function validatePhase({ metadata, status }: Namespace): readonly Violation[] {
  const phase = status?.phase ?? '';
  const terminating = Boolean(metadata.deletionTimestamp);
  if (phase === (terminating ? 'Terminating' : 'Active')) return [];
  return [
    invalidTypedString(
      'status.Phase',
      phase,
      terminating
        ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
        : "may only be 'Active' if `deletionTimestamp` is empty",
    ),
  ];
}

/** Returns the definition of Namespace; the label with the name is under the signer domain. */
export function namespaceDefinition(domains: Domains = defaultDomains): ResourceDefinition<Namespace> {
  const label = signerKeyIn(domains, namespaceNameLabel);
  return defineResource<Namespace>({
    ...Namespaces,
    origin: 'built-in',
    schema: namespaceSchema,
    verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
    nameRule: nameRules.dnsLabel,
    updateRules: ['metadata', 'metadata change'],
    unconditionalUpdate: true,
    returnsDeleted: 'untold',
    selectableFields: { 'status.phase': ({ status }) => status?.phase ?? '' },
    columns: [column('Status', 'The status of the namespace', ({ status }: Namespace) => status?.phase ?? ''), age],
    resetFields: [['status']],

    defaults: (namespace) =>
      withNameLabel(
        { ...namespace, status: { ...namespace.status, phase: namespace.status?.phase || 'Active' } },
        label,
      ),

    prepare(next, previous) {
      const labelled = runSync(withNameLabel(next, label));
      if (previous === undefined) {
        return {
          ...labelled,
          spec: { ...next.spec, finalizers: withFinalizer(next.spec?.finalizers) },
          status: { phase: 'Active' },
        };
      }
      return { ...labelled, spec: { ...previous.spec }, status: { ...previous.status } };
    },

    validate: ({ spec }) => validateEach(spec?.finalizers ?? [], (name) => validateFinalizer(name, 'spec.finalizers')),

    subresources: {
      finalize: {
        type: 'view',
        updateRules: ['metadata change', 'contents'],
        verbs: ['update'],
        tables: false,
        resetFields: [['status']],
        prepare: (next, previous) => ({ ...runSync(withNameLabel(next, label)), status: { ...previous.status } }),
        validate: ({ spec }) =>
          validateEach(spec?.finalizers ?? [], (name, at) => validateFinalizer(name, index('spec.finalizers', at))),
      },
      status: {
        type: 'view',
        updateRules: ['metadata change', 'contents'],
        resetFields: [['spec']],
        prepare: (next, previous) => ({ ...runSync(withNameLabel(next, label)), spec: { ...previous.spec } }),
        validate: validatePhase,
      },
    },

    deletion: {
      policy: (sent) => (sent.orphanDependents === false ? { propagationPolicy: 'Foreground' } : sent),
      mark: (namespace) => ({ ...namespace, status: { ...namespace.status, phase: 'Terminating' } }),
      held: ({ spec }) => (spec?.finalizers ?? []).length > 0,
    },
  });
}
