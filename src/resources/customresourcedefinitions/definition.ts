import { setCondition } from '../../api/conditions.js';
import { type Domains, defaultDomains } from '../../api/domains.js';
import { goLowerCase } from '../../api/go-text.js';
import {
  type CustomResourceConversion,
  type CustomResourceDefinition,
  customResourceCleanupFinalizer,
  customResourceDefinitionsIn,
} from '../../api/kinds/custom-resource-definition.js';
import { timestamp } from '../../api/time.js';
import { invalid, type Violation } from '../../api/violations.js';
import { defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import { same } from '../../schema/same.js';
import { createdAt } from '../columns.js';
import { checkEmbeddedMetadata } from '../customresources/embedded-metadata.js';
import { customResourceDefinitionSchema } from './crd-schema.js';
import { wrongDefinitionName } from './name-rules.js';
import { validateCrd, validateCrdStatus } from './validate.js';
import { crdWarnings } from './warnings.js';

type Crd = CustomResourceDefinition;

/** Returns the definition of CustomResourceDefinition. */
export function customResourceDefinitions({
  domains = defaultDomains,
  isBuiltIn = () => false,
}: {
  readonly domains?: Domains;
  /** Whether the server itself serves a resource. No definition may define such a resource. */
  readonly isBuiltIn?: (group: string, plural: string) => boolean;
} = {}): ResourceDefinition<Crd> {
  const builtIn = ({ spec }: Crd, path: string, plural = ''): readonly Violation[] =>
    isBuiltIn(spec.group, plural) ? [invalid(path, plural, `is a built-in resource of group ${spec.group}`)] : [];
  const context = { prefixes: domains.extensions, checkMetadata: checkEmbeddedMetadata };
  return defineResource<Crd>({
    ...customResourceDefinitionsIn(domains.api),
    origin: 'built-in',
    storedAsJson: true,
    anyFinalizer: true,
    updateRules: ['metadata change', 'contents'],
    nameRuleOf:
      ({ spec }) =>
      (name, options) =>
        wrongDefinitionName(name, spec, options),
    schema: customResourceDefinitionSchema(domains.extensions),
    newGeneration: (next, previous) => !same(next.spec, previous.spec),
    columns: [createdAt],
    resetFields: [['status']],
    defaults,
    prepare: (next, previous) => withStorageVersion({ ...next, status: previous?.status ?? emptyStatus }),
    *validate(next, previous) {
      return [
        ...(yield* validateCrd(next, previous, context)),
        ...(previous === undefined ? builtIn(next, 'spec.names.plural', next.spec.names?.plural) : []),
      ];
    },
    warnings: (next, previous) => crdWarnings(next, previous, domains.extensions),
    subresources: {
      status: {
        type: 'view',
        tables: false,
        resetFields: [['spec']],
        // Defaults were set on the spec as sent, which may lack the versions.
        prepare: (next, previous) => withFirstStored({ ...next, spec: previous.spec }),
        validate: (next) => [
          ...validateCrdStatus(next),
          ...builtIn(next, 'status.acceptedNames.plural', next.status?.acceptedNames?.plural),
        ],
      },
    },
    deletion: {
      policy: () => ({}),
      mark: (crd, { now }) => terminating(crd, timestamp(now)),
      held: () => false,
    },
  });
}

const emptyStatus: NonNullable<Crd['status']> = {
  conditions: null,
  acceptedNames: { plural: '', kind: '' },
  storedVersions: [],
};

/** Sets the names that depend on others, the default conversion, and a stored version. */
function defaults(crd: Crd): Crd {
  const { names, conversion } = crd.spec;
  const kind = names?.kind ?? '';
  const singular = names?.singular || goLowerCase(kind);
  const listKind = names?.listKind || (kind === '' ? '' : `${kind}List`);
  const named: Crd = {
    ...crd,
    spec: {
      ...crd.spec,
      names: {
        ...names,
        plural: names?.plural ?? '',
        ...(singular === '' ? {} : { singular }),
        kind,
        ...(listKind === '' ? {} : { listKind }),
      },
      conversion: conversion === undefined ? { strategy: 'None' } : withoutEmptyWebhook(conversion),
    },
  };
  return withFirstStored(named);
}

/** Ensures that a version is listed as stored: if there is none, the storage version is. */
const withFirstStored = (crd: Crd): Crd =>
  (crd.status?.storedVersions ?? []).length > 0 ? crd : withStorageVersion(crd);

function withoutEmptyWebhook({ webhook, ...conversion }: CustomResourceConversion): CustomResourceConversion {
  return webhook?.clientConfig || webhook?.conversionReviewVersions?.length ? { ...conversion, webhook } : conversion;
}

/** Adds the storage version to the stored versions. */
function withStorageVersion(crd: Crd): Crd {
  const name = crd.spec.versions?.find(({ storage }) => storage)?.name;
  const stored = crd.status?.storedVersions ?? [];
  if (name === undefined || stored.includes(name)) return crd;
  return { ...crd, status: { ...emptyStatus, ...crd.status, storedVersions: [...stored, name] } };
}

/** Returns a definition marked as terminating, which a finalizer keeps until its objects are gone. */
function terminating(crd: Crd, now: string): Crd {
  const finalizers = crd.metadata.finalizers ?? [];
  const conditions = setCondition(
    crd.status?.conditions,
    {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    },
    now,
  );
  return {
    ...crd,
    metadata: {
      ...crd.metadata,
      ...(finalizers.includes(customResourceCleanupFinalizer)
        ? {}
        : { finalizers: [...finalizers, customResourceCleanupFinalizer] }),
    },
    status: { ...emptyStatus, ...crd.status, conditions },
  };
}
