import { hasCondition } from '../../api/conditions.js';
import { goLowerCase } from '../../api/go-text.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
} from '../../api/kinds/custom-resource-definition.js';
import { dns1035Label, dnsSubdomain, nameRules } from '../../api/names.js';
import type { Steps } from '../../api/steps.js';
import {
  child,
  forbiddenField,
  index,
  invalid,
  invalidOnce,
  invalidWord,
  mapKey,
  maxViolations,
  notSupported,
  ofEach,
  ofEachInSteps,
  required,
  type Violation,
} from '../../api/violations.js';
import type { CheckMetadata } from '../../schema/embedded.js';
import { hasSchema, type SchemaProps } from '../../schema/json-schema-props.js';
import { prune } from '../../schema/prune.js';
import { same } from '../../schema/same.js';
import type { Schema } from '../../schema/schema.js';
import { notStructural, structuralViolations, toSchema } from '../../schema/structural.js';
import { approvalAnnotation, approvalOf, isProtectedGroup } from './api-approval.js';
import { validateCaBundle } from './ca-bundle.js';
import { conversionViolations, hasKnownReviewVersion } from './conversion-rules.js';
import { defaultViolations } from './default-rules.js';
import { expressionViolations } from './expression-rules.js';
import {
  type InternalSpec,
  type InternalVersion,
  internalSpec,
  internalVersions,
  type VersionParts,
} from './internal-spec.js';
import {
  checkKeywords,
  hasNonAtomicItems,
  mapListKeyViolations,
  schemaTypes,
  statusRootViolations,
} from './schema-rules.js';
import {
  columnViolations,
  deprecationWarningViolations,
  maxSelectableFields,
  selectableFieldViolations,
  subresourceViolations,
} from './version-rules.js';

/** Every rule of definitions, in the order, the words and the terms of kube-apiserver. */

export interface CrdRuleContext {
  /** Prefixes of schema extensions; the first is the one that paths and texts name. */
  readonly prefixes: readonly string[];
  /** The rules of metadata, for embedded resources in defaults. */
  readonly checkMetadata: CheckMetadata;
}

/** What is not asked of an update, because the stored definition already broke it. */
interface Waivers {
  readonly anyType: boolean;
  readonly noSchema: boolean;
  readonly notStructural: boolean;
  readonly unprunedDefaults: boolean;
  readonly partialSetItems: boolean;
  readonly mapListKeys: boolean;
  readonly unknownReviewVersion: boolean;
  readonly anyCaBundle: boolean;
  /** Versions, and '' for all of them, that may have any number of selectable fields. */
  readonly anyNumberOfFields: readonly string[];
  /** Versions whose rules may cost what they cost, because the schema is as it was stored. */
  readonly anyCost: ReadonlySet<string>;
}

const nothingWaived: Waivers = {
  anyType: false,
  noSchema: false,
  notStructural: false,
  unprunedDefaults: false,
  partialSetItems: false,
  mapListKeys: false,
  unknownReviewVersion: false,
  anyCaBundle: true,
  anyNumberOfFields: [],
  anyCost: new Set(),
};

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
  const waivers = previous === undefined ? nothingWaived : waiversOf(next, previous, context);
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

/** Rules of the subresource `status`. */
export const validateCrdStatus = (crd: CustomResourceDefinition): readonly Violation[] =>
  crd.status?.acceptedNames ? nameFormViolations(crd.status.acceptedNames, 'status.acceptedNames') : [];

/** What is wrong with a definition's name: it is made of those of the plural and the group. */
export function wrongDefinitionName(
  name: string,
  { names, group = '' }: CustomResourceDefinitionSpec,
  options: { readonly prefix: boolean },
): readonly string[] {
  const fits = name === `${names?.plural ?? ''}.${group}`;
  return [...nameRules.dnsSubdomain(name, options), ...(fits ? [] : ['must be spec.names.plural+"."+spec.group'])];
}

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
  // Of versions with one name, which are refused for that, the first decides.
  const withStatus = new Map(spec.versions.toReversed().map((version) => [version.name, hasStatus(version)]));
  const ofVersion = (version: InternalVersion, at: number): Steps<readonly Violation[]> =>
    versionViolations(version, index('spec.versions', at), hasStatus(spec) || withStatus.get(version.name) === true, {
      ...rules,
      mustBeStructural,
      anyCost: waivers.anyCost.has(version.name),
    });
  const anyStatus = [spec, ...spec.versions].some(hasStatus);
  return [
    ...groupViolations(raw.group ?? ''),
    ...scopeViolations(raw.scope ?? ''),
    ...missingSchemas(spec, preserves, waivers),
    ...(hasDefaults && preserves
      ? [invalid('spec.preserveUnknownFields', true, 'must be false in order to use defaults in the schema')]
      : []),
    ...(yield* ofEachInSteps(spec.versions, ofVersion)),
    ...versionListViolations(spec, raw.versions),
    ...firstVersionViolations(spec),
    ...missingNames(raw.names),
    ...nameFormViolations(raw.names, 'spec.names'),
    ...(yield* schemaViolations(spec, 'spec.validation', anyStatus, {
      ...rules,
      mustBeStructural,
      anyCost: waivers.anyCost.has(spec.versions[0]?.name ?? ''),
    })),
    ...subresourceViolations(spec.subresources, 'spec.subresources'),
    ...ofEach(spec.columns ?? [], (column, at) => columnViolations(column, index('spec.additionalPrinterColumns', at))),
    ...topSelectableFieldViolations(spec, rules),
    ...(raw.conversion && raw.conversion.strategy !== 'None' && preserves
      ? [
          invalidWord(
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

const isMissing = ({ schema, tooDeep }: VersionParts): boolean => schema === undefined && tooDeep === undefined;

function missingSchemas(spec: InternalSpec, preserves: boolean, { noSchema }: Waivers): readonly Violation[] {
  if (!isMissing(spec) || (noSchema && preserves)) return [];
  return ofEach(spec.versions, (version, at) => {
    if (!isMissing(version)) return [];
    const path = child(index('spec.versions', at), 'schema', 'openAPIV3Schema');
    if (!noSchema) return [required(path)];
    return version.served ? [required(path, 'because otherwise all fields are pruned')] : [];
  });
}

interface SchemaRules extends Rules {
  readonly mustBeStructural: boolean;
  /** Rules may cost anything. */
  readonly anyCost: boolean;
}

function* versionViolations(
  version: InternalVersion,
  path: string,
  status: boolean,
  rules: SchemaRules,
): Steps<readonly Violation[]> {
  const wrongName = dns1035Label(version.name);
  return [
    ...(wrongName.length > 0 ? [invalid(child(path, 'name'), version.name, wrongName.join())] : []),
    ...deprecationWarningViolations(version.deprecated, version.deprecationWarning, child(path, 'deprecationWarning')),
    ...(yield* schemaViolations(version, child(path, 'schema'), status, rules)),
    ...subresourceViolations(version.subresources, child(path, 'subresources')),
    ...ofEach(version.columns ?? [], (column, at) =>
      columnViolations(column, index(child(path, 'additionalPrinterColumns'), at)),
    ),
    ...versionSelectableFieldViolations(version, path, rules),
  ];
}

function versionSelectableFieldViolations(
  { selectableFields, schema, name }: InternalVersion,
  path: string,
  { waivers }: Rules,
): readonly Violation[] {
  if (selectableFields === undefined) return [];
  const at = child(path, 'selectableFields');
  if (schema === undefined) {
    return [invalid(at, '', 'may only be set when `version.schema.openAPIV3Schema` is not included')];
  }
  return [
    ...unreadable(schema, child(path, 'schema.openAPIV3Schema')),
    ...selectableFieldViolations(selectableFields, schema, at, {
      anyNumber: waivers.anyNumberOfFields.includes(name),
    }),
  ];
}

function topSelectableFieldViolations(
  { selectableFields, schema }: InternalSpec,
  { waivers }: Rules,
): readonly Violation[] {
  if (selectableFields === undefined) return [];
  if (schema === undefined) {
    return [invalid('spec.selectableFields', '', 'may only be set when validations.schema is included')];
  }
  return [
    ...unreadable(schema, 'spec.schema.openAPIV3Schema'),
    ...selectableFieldViolations(selectableFields, schema, 'spec.selectableFields', {
      anyNumber: waivers.anyNumberOfFields.includes(''),
    }),
  ];
}

function unreadable(schema: SchemaProps, path: string): readonly Violation[] {
  const why = notStructural(schema);
  return why === undefined ? [] : [invalid(path, '', why)];
}

function versionListViolations(
  spec: InternalSpec,
  given: CustomResourceDefinitionSpec['versions'] | null | undefined,
): readonly Violation[] {
  const names = spec.versions.map(({ name }) => name);
  // More than anybody looks at are not shown.
  const versions = spec.versions.slice(0, maxViolations);
  const wrong = (why: string): Violation =>
    invalid('spec.versions', given ? internalVersions({ ...spec, versions }) : null, why);
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

const requiredNames = ['plural', 'singular', 'kind', 'listKind'] as const;
const missingNames = (names: CustomResourceDefinitionNames | undefined): readonly Violation[] =>
  requiredNames.flatMap((name) => (names?.[name] ? [] : [required(child('spec.names', name))]));

function nameFormViolations(names: CustomResourceDefinitionNames | undefined, path: string): readonly Violation[] {
  const label = (field: string, value: string | undefined): readonly Violation[] => {
    const wrong = value ? dns1035Label(value) : [];
    return wrong.length > 0 ? [invalid(child(path, field), value, wrong.join())] : [];
  };
  const mixedCase = (field: string, value: string | undefined): readonly Violation[] => {
    const wrong = value ? dns1035Label(goLowerCase(value)) : [];
    const why = `may have mixed case, but should otherwise match: ${wrong.join()}`;
    return wrong.length > 0 ? [invalid(child(path, field), value, why)] : [];
  };
  const each = (field: string, values: readonly string[] | undefined): readonly Violation[] =>
    ofEach(values ?? [], (value, at) => {
      const wrong = dns1035Label(value);
      return wrong.length > 0 ? [invalid(index(child(path, field), at), value, wrong.join())] : [];
    });
  return [
    ...label('plural', names?.plural),
    ...label('singular', names?.singular),
    ...mixedCase('kind', names?.kind),
    ...mixedCase('listKind', names?.listKind),
    ...each('shortNames', names?.shortNames),
    ...(names?.kind && names.kind === names.listKind
      ? [invalid(child(path, 'listKind'), names.listKind, 'kind and listKind may not be the same')]
      : []),
    ...each('categories', names?.categories),
  ];
}

function* schemaViolations(
  { schema, tooDeep }: VersionParts,
  base: string,
  status: boolean,
  rules: SchemaRules,
): Steps<readonly Violation[]> {
  const path = child(base, 'openAPIV3Schema');
  if (tooDeep !== undefined) return [forbiddenField(path, tooDeep)];
  if (schema === undefined) return [];
  const { waivers, prefix, anyCost } = rules;
  const structure = yield* structureViolations(schema, path, rules);
  yield;
  const { violations: keywords, sites } = checkKeywords(schema, path, {
    prefix,
    validTypes: !waivers.anyType,
    atomicSets: !waivers.partialSetItems,
    mapListKeys: !waivers.mapListKeys,
  });
  const found = [
    ...(status ? statusRootViolations(schema, path) : []),
    ...(schema.nullable ? [forbiddenField(child(path, 'nullable'), 'nullable cannot be true at the root')] : []),
    ...structure.violations,
    ...keywords,
    ...(structure.sound ? yield* expressionViolations(sites, { path, prefix, anyCost }) : []),
  ];
  if (found.length === 0 && structure.unreadable !== undefined) return [invalid(path, '', structure.unreadable)];
  return found;
}

interface Structure {
  readonly violations: readonly Violation[];
  /** Why the schema cannot be structural at all; told only if nothing else is wrong. */
  readonly unreadable?: string;
  /** Structural, with valid defaults: expressions have something to stand on. */
  readonly sound: boolean;
}

function* structureViolations(schema: SchemaProps, path: string, rules: SchemaRules): Steps<Structure> {
  if (!rules.mustBeStructural) return { violations: [], sound: false };
  const unreadableBecause = notStructural(schema);
  if (unreadableBecause !== undefined) return { violations: [], unreadable: unreadableBecause, sound: false };
  const structural = structuralViolations(schema, path, rules.prefix);
  if (structural.length > 0) return { violations: structural, sound: false };
  yield;
  const defaults = yield* defaultViolations(toSchema(schema), path, {
    pruned: !rules.waivers.unprunedDefaults,
    checkMetadata: rules.checkMetadata,
  });
  return { violations: defaults, sound: defaults.length === 0 };
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
  next: CustomResourceDefinition,
  previous: CustomResourceDefinition | undefined,
): readonly Violation[] {
  if (!isProtectedGroup(next.spec.group ?? '')) return [];
  const { annotations } = next.metadata;
  const { state, reason } = approvalOf(annotations);
  if (previous !== undefined && approvalOf(previous.metadata.annotations).state === state) return [];
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

function waiversOf(
  next: CustomResourceDefinition,
  previous: CustomResourceDefinition,
  { prefixes }: CrdRuleContext,
): Waivers {
  const old = internalSpec(previous.spec, prefixes);
  const now = internalSpec(next.spec, prefixes);
  const prefix = prefixes[0] ?? '';
  const schemas = [old, ...old.versions].flatMap(({ schema }) => (schema ? [schema] : []));
  const somewhere = (test: (schema: SchemaProps) => boolean): boolean =>
    schemas.some((schema) => hasSchema(schema, test));
  const { clientConfig } = previous.spec.conversion?.webhook ?? {};
  const oldVersions = new Map(old.versions.map((version) => [version.name, version]));
  const unchangedFields = (parts: VersionParts | undefined, before: VersionParts | undefined): boolean =>
    (before?.selectableFields?.length ?? 0) > maxSelectableFields &&
    same(parts?.selectableFields, before?.selectableFields);
  return {
    anyType: somewhere(({ type }) => type !== undefined && !schemaTypes.includes(type)),
    noSchema: isMissing(old) && old.versions.some(isMissing),
    notStructural: schemas.some(
      (schema) => notStructural(schema) !== undefined || structuralViolations(schema, '', prefix).length > 0,
    ),
    unprunedDefaults: schemas.some(hasUnprunedDefaults),
    partialSetItems: somewhere(hasNonAtomicItems),
    mapListKeys: somewhere((schema) => mapListKeyViolations(schema, '', prefix).length > 0),
    unknownReviewVersion: !hasKnownReviewVersion(previous.spec.conversion),
    anyCaBundle:
      !hasCondition(previous, 'Established') ||
      (clientConfig?.caBundle ? validateCaBundle('', clientConfig.caBundle).length > 0 : false),
    anyNumberOfFields: [
      ...(unchangedFields(now, old) ? [''] : []),
      ...now.versions.flatMap((version) =>
        unchangedFields(version, oldVersions.get(version.name)) ? [version.name] : [],
      ),
    ],
    anyCost: unchangedVersions(next, previous),
  };
}

/** Names of the versions whose schema is as it was. */
function unchangedVersions(next: CustomResourceDefinition, previous: CustomResourceDefinition): ReadonlySet<string> {
  const before = new Map((previous.spec.versions ?? []).map(({ name, schema }) => [name, schema]));
  return new Set(
    (next.spec.versions ?? [])
      .filter(({ name, schema }) => before.has(name) && same(schema, before.get(name)))
      .map(({ name }) => name),
  );
}

function hasUnprunedDefaults(schema: SchemaProps): boolean {
  if (notStructural(schema) !== undefined || structuralViolations(schema, '', '').length > 0) return false;
  const isUnpruned = (of: Schema): boolean =>
    (of.default !== undefined && !same(prune(of.default, of).value, of.default)) ||
    (of.items !== undefined && isUnpruned(of.items)) ||
    [...(of.properties?.values() ?? [])].some(isUnpruned);
  return hasSchema(schema, ({ default: value }) => value !== undefined) && isUnpruned(toSchema(schema));
}
