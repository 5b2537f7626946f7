import { defaultDomains } from '../../api/domains.js';
import { forbidden } from '../../api/errors.js';
import { goLowerCase } from '../../api/go-text.js';
import {
  type CustomResourceDefinition,
  type CustomResourceDefinitionVersion,
  deprecationWarning,
  storageVersion,
} from '../../api/kinds/custom-resource-definition.js';
import { type ApiObject, type ResourceType, type Unstructured, unstructured } from '../../api/object.js';
import { once } from '../../api/once.js';
import type { ResourceDefinition, Subresource, Verb } from '../../registry/resource-definition.js';
import { SchemaTooDeep } from '../../schema/json-schema-props.js';
import { objectMeta, typeMeta } from '../../schema/meta.js';
import { same } from '../../schema/same.js';
import type { Schema } from '../../schema/schema.js';
import { toSchema } from '../../schema/to-schema.js';
import { schemaOf } from '../customresourcedefinitions/internal-spec.js';
import { codecOf, convertNone, readerOf } from './codec.js';
import type { RemoteConverter } from './conversion-review.js';
import { parseJsonPath } from './json-path.js';
import { printerColumns } from './printer-columns.js';
import { scaleProjection } from './scale.js';
import { type CustomResourceRules, customResourceRules } from './validate.js';
import { finalizerWarnings } from './warnings.js';

/**
 * Converts a CustomResourceDefinition to the definitions of its versions, which are served like those of any resource.
 */

export interface CustomResourceOptions {
  /** Prefixes of schema extensions. */
  readonly prefixes?: readonly string[];
  /**
   * Returns how a definition's webhook converts between versions; undefined without a webhook, when only the apiVersion
   * changes.
   */
  readonly remoteConverter?: (crd: CustomResourceDefinition) => RemoteConverter | undefined;
}

/** Returns the definitions of all served versions. `properties` contains properties that are added to each of them. */
export function customResourcesOf(
  crd: CustomResourceDefinition,
  options: CustomResourceOptions = {},
  properties: Pick<ResourceDefinition, 'since' | 'undiscovered'> = {},
): readonly ResourceDefinition[] {
  const { versions } = crd.spec;
  const all: readonly ResourceDefinition[] = versions.map((version) =>
    customResource(crd, version, options, versions.length > 1 ? { ...properties, siblings: () => all } : properties),
  );
  return all.filter((_, at) => versions[at]?.served);
}

/** Returns the definition of the storage version, served or not. */
export function storedResourceOf(crd: CustomResourceDefinition, options: CustomResourceOptions): ResourceDefinition {
  const version = storageVersion(crd);
  if (version === undefined) throw new Error('no version is stored');
  return customResource(crd, version, options);
}

const whileTerminating: readonly Verb[] = ['delete', 'deletecollection', 'get', 'list', 'watch'];

/**
 * Returns the definition of one version. Schemas and columns are created on first use: of many definitions, few have
 * objects that are read or written while a server runs. `more` is a parameter because a copy would evaluate all
 * getters.
 */
function customResource(
  crd: CustomResourceDefinition,
  version: CustomResourceDefinitionVersion,
  { prefixes = defaultDomains.extensions, remoteConverter }: CustomResourceOptions,
  more: Pick<ResourceDefinition, 'since' | 'undiscovered' | 'siblings'> = {},
): ResourceDefinition {
  const type = typeOf(crd, version.name);
  const structural = structuralSchemas(crd, prefixes);
  const own = once(() => structural(version.name) ?? {});
  const fullSchema = once(() => wholeSchema(own()));
  const columns = once(() => printerColumns(version.additionalPrinterColumns));
  const scale = version.subresources?.scale;
  const hasStatus = version.subresources?.status !== undefined;
  const stored = storageVersion(crd)?.name ?? version.name;
  const deprecation = deprecationWarning(crd, version.name);
  const elsewhere = remoteConverter?.(crd);
  const isTerminating = crd.metadata.deletionTimestamp !== undefined;
  const forms = {
    group: type.group,
    kind: type.kind,
    version: version.name,
    storageVersion: stored,
    schemaOf: structural,
    preserveUnknownFields: crd.spec.preserveUnknownFields === true,
    convertRemotely: elsewhere,
  };
  const rules = once(() =>
    customResourceRules({
      kind: type.kind,
      apiVersion: `${type.group}/${type.version}`,
      schema: own(),
      scale,
    }),
  );
  const subresources: Record<string, Subresource<ApiObject>> = {
    ...(hasStatus ? { status: statusSubresource((...given) => rules().validateStatus(...given)) } : {}),
    ...(scale ? { scale: scaleProjection(scale, crd) } : {}),
  };
  return {
    ...type,
    ...more,
    origin: 'custom',
    get schema() {
      return fullSchema();
    },
    ...(isTerminating ? { verbs: whileTerminating } : {}),
    newGeneration: (next, previous) => !same(withoutMetadata(next), withoutMetadata(previous)),
    selectableFields: selectableFields(version),
    get columns() {
      return columns();
    },
    subresources,
    ...(deprecation === undefined ? {} : { deprecation }),
    ...(stored === version.name ? {} : { storedAs: { group: type.group, version: stored } }),
    ...(crd.spec.versions.length > 1 ? { versions: versionsOf(crd, structural, elsewhere) } : {}),
    ...(hasStatus ? { resetFields: [['status']] } : {}),
    reader: readerOf(forms),
    codec: codecOf(forms),
    prepare: (next, previous) => {
      if (previous === undefined && isTerminating) {
        throw forbidden(
          { ...type, name: next.metadata.name },
          'create not allowed while custom resource definition is terminating',
        );
      }
      return hasStatus ? withStatusOf(next, previous) : next;
    },
    updateRules: ['metadata change', 'contents'],
    typeViolations: (next) => rules().typeViolations(next),
    validate: (next, previous, { warn }, known) =>
      rules().validate(next, previous, { warn, inMetadata: known?.inMetadata }),
    warnings: finalizerWarnings,
  };
}

/** Returns the resource type with the accepted names, or the requested ones while none are accepted. */
function typeOf({ spec, status }: CustomResourceDefinition, version: string): ResourceType {
  const accepted = status?.acceptedNames;
  const names = accepted?.plural ? accepted : spec.names;
  const { plural, kind, shortNames, categories } = names;
  return {
    group: spec.group,
    version,
    plural,
    singular: names.singular || goLowerCase(kind),
    kind,
    listKind: names.listKind || `${kind}List`,
    namespaced: spec.scope === 'Namespaced',
    ...(shortNames?.length ? { shortNames } : {}),
    ...(categories?.length ? { categories } : {}),
  };
}

/** Returns the structural schemas by version, which are created on first use. An unreadable schema counts as empty. */
function structuralSchemas(
  { spec }: CustomResourceDefinition,
  prefixes: readonly string[],
): (version: string) => Schema | undefined {
  const schemas = new Map<string, Schema>();
  return (name) => {
    const known = schemas.get(name);
    if (known !== undefined) return known;
    const version = spec.versions.find((one) => one.name === name);
    if (version === undefined) return undefined;
    const schema = readable(version, prefixes);
    schemas.set(name, schema);
    return schema;
  };
}

function readable(version: CustomResourceDefinitionVersion, prefixes: readonly string[]): Schema {
  try {
    return toSchema(schemaOf(version, prefixes) ?? {});
  } catch (error) {
    if (error instanceof SchemaTooDeep) return {};
    throw error;
  }
}

function versionsOf(
  { spec }: CustomResourceDefinition,
  structural: (version: string) => Schema | undefined,
  elsewhere: RemoteConverter | undefined,
): NonNullable<ResourceDefinition['versions']> {
  const schemas = new Map<string, Schema>();
  return {
    convert: (object, apiVersion) => {
      const version = spec.versions.find(({ name }) => `${spec.group}/${name}` === apiVersion);
      if (version === undefined) return undefined;
      const schema = schemas.get(apiVersion) ?? wholeSchema(structural(version.name) ?? {});
      schemas.set(apiVersion, schema);
      return { object: convertNone(object, apiVersion), schema };
    },
    ...(elsewhere === undefined
      ? {}
      : { convertRemotely: async (object, apiVersion) => (await elsewhere([object], apiVersion))[0] ?? object }),
  };
}

/** Returns the schema with the members that every resource has, type and metadata, also in embedded resources. */
function wholeSchema(schema: Schema): Schema {
  return withMeta(schema, true);
}

function withMeta(schema: Schema, resource: boolean): Schema {
  const { properties, items, additionalProperties } = schema;
  const inner = [...(properties ?? [])].map(([name, property]) => [name, withMeta(property, false)] as const);
  const isResource = resource || schema.embeddedResource === true;
  return {
    ...schema,
    ...(isResource
      ? {
          type: 'object' as const,
          properties: new Map([...inner, ...Object.entries(typeMeta), ['metadata', objectMeta]]),
        }
      : properties
        ? { properties: new Map(inner) }
        : {}),
    ...(items ? { items: withMeta(items, false) } : {}),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: withMeta(additionalProperties, false) }
      : {}),
  };
}

const withoutMetadata = ({ metadata: _metadata, ...rest }: ApiObject): Readonly<Record<string, unknown>> => rest;

/** Returns the object with the status of another one, or without a status if that has none. */
function withStatusOf(next: ApiObject, other: ApiObject | undefined): Unstructured {
  const { status: _status, ...object } = unstructured(next);
  if (other === undefined || !Object.hasOwn(other, 'status')) return object;
  return { ...object, status: unstructured(other)['status'] };
}

/** Returns the status subresource, which changes only the status and managedFields. */
const statusSubresource = (validate: CustomResourceRules['validateStatus']): Subresource<ApiObject> => ({
  type: 'view',
  resetFields: [['metadata'], ['spec']],
  prepare: (next, previous) => {
    const { managedFields: _managed, ...metadata } = previous.metadata;
    const { managedFields } = next.metadata;
    return withStatusOf(
      { ...previous, metadata: { ...metadata, ...(managedFields === undefined ? {} : { managedFields }) } },
      next,
    );
  },
  validate: (next, previous, { warn }, known) => validate(next, previous, { warn, inMetadata: known?.inMetadata }),
});

/** Returns readers for field selectors by field name, such as `spec.color`. */
function selectableFields({
  selectableFields: declared,
}: CustomResourceDefinitionVersion): Readonly<Record<string, (object: ApiObject) => string>> {
  const entries = (declared ?? []).map(({ jsonPath }) => {
    const path = parseJsonPath(jsonPath);
    const read = (object: ApiObject): string => {
      const [value] = path?.find(object) ?? [];
      return value === undefined || value === null ? '' : String(value);
    };
    return [jsonPath.replace(/^\./, ''), read] as const;
  });
  return Object.fromEntries(entries);
}
