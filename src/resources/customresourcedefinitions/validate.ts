import { approvalAnnotation, approvalOf } from '../../api/api-approval.js';
import { hasCondition } from '../../api/conditions.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
} from '../../api/kinds/custom-resource-definition.js';
import { dns1035Label, dnsSubdomain } from '../../api/names.js';
import type { Steps } from '../../api/steps.js';
import {
  child,
  index,
  invalid,
  invalidOnce,
  invalidTypedString,
  mapKey,
  maxViolations,
  notSupported,
  required,
  type Violation,
  validateEach,
  validateEachInSteps,
} from '../../api/violations.js';
import type { CheckMetadata } from '../../schema/embedded.js';
import { hasSchema, type SchemaProps } from '../../schema/json-schema-props.js';
import { conversionViolations } from './conversion-rules.js';
import {
  type InternalSpec,
  type InternalVersion,
  internalSpec,
  internalVersions,
  lacksSchema,
  type VersionParts,
} from './internal-spec.js';
import { missingNames, nameFormViolations } from './name-rules.js';
import { type SchemaRules, schemaViolations } from './schema-rules.js';
import { selectableFieldViolations } from './selectable-field-rules.js';
import { columnViolations, deprecationWarningViolations, subresourceViolations } from './version-rules.js';
import { nothingWaived, type Waivers, waiversOf } from './waivers.js';

/** Validation of definitions, in the order, words and internal form of kube-apiserver. */

export interface CrdRuleContext {
  /** Prefixes of schema extensions; the first is the one that paths and texts name. */
  readonly prefixes: readonly string[];
  /** Validates metadata, for embedded resources in defaults. */
  readonly checkMetadata: CheckMetadata;
}

interface Rules extends CrdRuleContext {
  readonly prefix: string;
  readonly waivers: Waivers;
}

export function* validateCrd(
  next: CustomResourceDefinition,
  previous: CustomResourceDefinition | undefined,
  context: CrdRuleContext,
): Steps<readonly Violation[]> {
  const spec = internalSpec(next.spec, context.prefixes);
  const waivers = previous === undefined ? nothingWaived : waiversOf(next, previous, context.prefixes);
  const rules: Rules = { ...context, prefix: context.prefixes[0] ?? '', waivers };
  return [
    ...(yield* specViolations(next.spec, spec, rules)),
    ...(previous === undefined ? [] : immutableViolations(next, previous)),
    ...validateCrdStatus(next),
    ...storedVersionViolations(next, 'status.storedVersions'),
    ...approvalViolations(next, previous),
    ...preserveViolations(next, previous, rules),
  ];
}

/** Validates the status subresource. */
export const validateCrdStatus = (crd: CustomResourceDefinition): readonly Violation[] =>
  crd.status?.acceptedNames ? nameFormViolations(crd.status.acceptedNames, 'status.acceptedNames') : [];

function* specViolations(
  raw: CustomResourceDefinitionSpec,
  spec: InternalSpec,
  rules: Rules,
): Steps<readonly Violation[]> {
  const { waivers } = rules;
  const preserves = raw.preserveUnknownFields === true;
  const schemas = [spec, ...spec.versions].flatMap(({ schema }) => (schema ? [schema] : []));
  const hasDefaults = schemas.some((schema) => hasSchema(schema, (inner) => inner.default !== undefined));
  const mustBeStructural =
    !waivers.notStructural || !preserves || hasDefaults || schemas.some((schema) => hasSchema(schema, hasExtensions));
  // If versions share a name, which is refused elsewhere, the first decides.
  const withStatus = new Map(spec.versions.toReversed().map((version) => [version.name, hasStatus(version)]));
  const ofVersion = (version: InternalVersion, at: number): Steps<readonly Violation[]> =>
    versionViolations(version, index('spec.versions', at), {
      ...rules,
      mustBeStructural,
      hasStatus: hasStatus(spec) || withStatus.get(version.name) === true,
      anyCost: waivers.anyCost.has(version.name),
    });
  return [
    ...groupViolations(raw.group ?? ''),
    ...scopeViolations(raw.scope ?? ''),
    ...missingSchemas(spec, preserves, waivers),
    ...(hasDefaults && preserves
      ? [invalid('spec.preserveUnknownFields', true, 'must be false in order to use defaults in the schema')]
      : []),
    ...(yield* validateEachInSteps(spec.versions, ofVersion)),
    ...versionListViolations(spec, raw.versions),
    ...firstVersionViolations(spec),
    ...missingNames(raw.names),
    ...nameFormViolations(raw.names, 'spec.names'),
    ...(yield* schemaViolations(spec, 'spec.validation', {
      ...rules,
      mustBeStructural,
      hasStatus: [spec, ...spec.versions].some(hasStatus),
      anyCost: waivers.anyCost.has(spec.versions[0]?.name ?? ''),
    })),
    ...subresourceViolations(spec.subresources, 'spec.subresources'),
    ...validateEach(spec.columns ?? [], (column, at) =>
      columnViolations(column, index('spec.additionalPrinterColumns', at)),
    ),
    ...selectableFieldViolations(spec, {
      path: 'spec.selectableFields',
      schemaPath: 'spec.schema.openAPIV3Schema',
      withoutSchema: 'may only be set when validations.schema is included',
      anyNumber: waivers.anyNumberOfFields.includes(''),
    }),
    ...(raw.conversion && raw.conversion.strategy !== 'None' && preserves
      ? [
          invalidTypedString(
            'spec.conversion.strategy',
            raw.conversion.strategy,
            'must be None if spec.preserveUnknownFields is true',
          ),
        ]
      : []),
    ...conversionViolations(raw.conversion, 'spec.conversion', {
      knownReviewVersion: !waivers.unknownReviewVersion,
      anyCaBundle: waivers.anyCaBundle,
    }),
  ];
}

const hasStatus = ({ subresources }: VersionParts): boolean => subresources?.status !== undefined;
const hasExtensions = (schema: SchemaProps): boolean =>
  schema.embeddedResource === true ||
  schema.preserveUnknownFields !== undefined ||
  schema.intOrString === true ||
  schema.listMapKeys !== undefined ||
  schema.listType !== undefined ||
  schema.validations !== undefined;

function groupViolations(group: string): readonly Violation[] {
  const at = 'spec.group';
  if (group === '') return [required(at)];
  const wrong = dnsSubdomain(group);
  if (wrong.length > 0) return [invalid(at, group, wrong.join())];
  return group.includes('.') ? [] : [invalid(at, group, 'should be a domain with at least one dot')];
}

const scopes = ['Cluster', 'Namespaced'];
function scopeViolations(scope: string): readonly Violation[] {
  if (scope === '') return [required('spec.scope')];
  return scopes.includes(scope) ? [] : [notSupported('spec.scope', scope, scopes)];
}

function missingSchemas(spec: InternalSpec, preserves: boolean, { noSchema }: Waivers): readonly Violation[] {
  if (!lacksSchema(spec) || (noSchema && preserves)) return [];
  return validateEach(spec.versions, (version, at) => {
    if (!lacksSchema(version)) return [];
    const path = child(index('spec.versions', at), 'schema', 'openAPIV3Schema');
    if (!noSchema) return [required(path)];
    return version.served ? [required(path, 'because otherwise all fields are pruned')] : [];
  });
}

function* versionViolations(version: InternalVersion, path: string, rules: SchemaRules): Steps<readonly Violation[]> {
  const wrongName = dns1035Label(version.name);
  return [
    ...(wrongName.length > 0 ? [invalid(child(path, 'name'), version.name, wrongName.join())] : []),
    ...deprecationWarningViolations(version.deprecated, version.deprecationWarning, child(path, 'deprecationWarning')),
    ...(yield* schemaViolations(version, child(path, 'schema'), rules)),
    ...subresourceViolations(version.subresources, child(path, 'subresources')),
    ...validateEach(version.columns ?? [], (column, at) =>
      columnViolations(column, index(child(path, 'additionalPrinterColumns'), at)),
    ),
    ...selectableFieldViolations(version, {
      path: child(path, 'selectableFields'),
      schemaPath: child(path, 'schema.openAPIV3Schema'),
      withoutSchema: 'may only be set when `version.schema.openAPIV3Schema` is not included',
      anyNumber: rules.waivers.anyNumberOfFields.includes(version.name),
    }),
  ];
}

function versionListViolations(
  spec: InternalSpec,
  sentVersions: CustomResourceDefinitionSpec['versions'] | null | undefined,
): readonly Violation[] {
  const names = spec.versions.map(({ name }) => name);
  // Versions beyond the number of violations that an answer lists are not shown.
  const versions = spec.versions.slice(0, maxViolations);
  const wrong = (message: string): Violation =>
    invalid('spec.versions', sentVersions ? internalVersions({ ...spec, versions }) : null, message);
  return [
    ...(new Set(names).size === names.length ? [] : [wrong('must contain unique version names')]),
    ...(spec.versions.filter(({ storage }) => storage).length === 1
      ? []
      : [wrong('must have exactly one version marked as storage version')]),
  ];
}

function firstVersionViolations({ versions: [first] }: InternalSpec): readonly Violation[] {
  const name = first?.name ?? '';
  const wrong = name === '' ? [] : dns1035Label(name);
  return wrong.length === 0 ? [] : [invalid('spec.version', name, wrong.join())];
}

function immutableViolations(
  { spec }: CustomResourceDefinition,
  previous: CustomResourceDefinition,
): readonly Violation[] {
  const old = previous.spec;
  const fixed = (path: string, now: string | undefined, before: string | undefined): readonly Violation[] =>
    now === before ? [] : [invalid(path, now ?? '', 'field is immutable')];
  return [
    ...(hasCondition(previous, 'Established')
      ? [...fixed('spec.scope', spec.scope, old.scope), ...fixed('spec.names.kind', spec.names?.kind, old.names.kind)]
      : []),
    ...fixed('spec.group', spec.group, old.group),
    ...fixed('spec.names.plural', spec.names?.plural, old.names.plural),
  ];
}

function storedVersionViolations({ spec, status }: CustomResourceDefinition, path: string): readonly Violation[] {
  const stored = status?.storedVersions ?? [];
  if (stored.length === 0) return [invalid(path, null, 'must have at least one stored version')];
  // A version counts once: of two with one name the second finds nothing stored.
  const missing = new Map(stored.map((name, at) => [name, at]));
  const wrong = invalidOnce(path, stored);
  return [
    ...(spec.versions ?? []).flatMap(({ name, storage }) =>
      !missing.delete(name) && storage ? [wrong(`must have the storage version ${name}`)] : [],
    ),
    ...[...missing].map(([name, at]) =>
      invalid(
        index(path, at),
        name,
        `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
      ),
    ),
  ];
}

function approvalViolations(
  { spec: { group = '' }, metadata: { annotations } }: CustomResourceDefinition,
  previous: CustomResourceDefinition | undefined,
): readonly Violation[] {
  const approval = approvalOf(group, annotations);
  if (approval === undefined) return [];
  const { state, reason } = approval;
  // An approval state that is stored already may stay.
  if (previous !== undefined && approvalOf(group, previous.metadata.annotations)?.state === state) return [];
  const path = mapKey('metadata.annotations', approvalAnnotation);
  if (state === 'missing') return [required(path, reason)];
  return state === 'invalid' ? [invalid(path, annotations?.[approvalAnnotation], reason)] : [];
}

function preserveViolations(
  { spec }: CustomResourceDefinition,
  previous: CustomResourceDefinition | undefined,
  { prefix }: Rules,
): readonly Violation[] {
  if (!spec.preserveUnknownFields || previous?.spec.preserveUnknownFields) return [];
  return [
    invalid(
      'spec.preserveUnknownFields',
      true,
      `cannot set to true, set ${prefix}preserve-unknown-fields to true in spec.versions[*].schema instead`,
    ),
  ];
}
