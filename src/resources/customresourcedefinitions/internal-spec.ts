import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
} from '../../api/kinds/custom-resource-definition.js';
import type { Json, JsonObject } from '../../api/object.js';
import { internalForm } from '../../schema/internal-form.js';
import { readSchemaProps, type SchemaProps, SchemaTooDeep } from '../../schema/json-schema-props.js';
import { same } from '../../schema/same.js';

/**
 * The internal form of a definition, in which the server validates it and reports errors: parts that all versions share
 * are contained once, at the top.
 */
export interface InternalSpec extends VersionParts {
  readonly versions: readonly InternalVersion[];
}

/** Parts that stand either at the top or in each version. */
export interface VersionParts {
  readonly schema?: SchemaProps;
  /** Set instead of `schema` when the schema nests too deep to be read. */
  readonly tooDeep?: string;
  readonly subresources?: CustomResourceSubresources;
  readonly columns?: readonly CustomResourceColumnDefinition[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
  /** Whether `schema` was given, though perhaps without `openAPIV3Schema`. */
  readonly hasSchema: boolean;
}

/** Whether there is no schema, not even one that nests too deep. */
export const lacksSchema = ({ schema, tooDeep }: VersionParts): boolean =>
  schema === undefined && tooDeep === undefined;

export interface InternalVersion extends VersionParts {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated: boolean;
  readonly deprecationWarning: string | undefined;
}

const read = new WeakMap<JsonObject, Map<string, SchemaProps | SchemaTooDeep>>();

/** Returns the schema of a version, cached as long as the definition because it is often needed. Throws SchemaTooDeep. */
export function schemaOf(
  { schema }: Pick<CustomResourceDefinitionVersion, 'schema'>,
  prefixes: readonly string[],
): SchemaProps | undefined {
  const raw = schema?.openAPIV3Schema;
  if (typeof raw !== 'object' || raw === null) return undefined;
  const known = read.get(raw) ?? new Map<string, SchemaProps | SchemaTooDeep>();
  read.set(raw, known);
  const key = prefixes.join();
  let found = known.get(key);
  if (found === undefined) {
    found = attempt(raw, prefixes);
    known.set(key, found);
  }
  if (found instanceof SchemaTooDeep) throw found;
  return found;
}

function attempt(raw: JsonObject, prefixes: readonly string[]): SchemaProps | SchemaTooDeep {
  try {
    return readSchemaProps(raw, prefixes);
  } catch (error) {
    if (error instanceof SchemaTooDeep) return error;
    throw error;
  }
}

const isEmpty = (list: readonly unknown[] | undefined): boolean => list === undefined || list.length === 0;
const nonEmpty = <T>(list: readonly T[] | undefined): readonly T[] | undefined => (isEmpty(list) ? undefined : list);

function schemaParts(
  version: CustomResourceDefinitionVersion,
  prefixes: readonly string[],
): Pick<VersionParts, 'schema' | 'tooDeep' | 'hasSchema'> {
  const hasSchema = version.schema !== undefined;
  try {
    const schema = schemaOf(version, prefixes);
    return schema === undefined ? { hasSchema } : { hasSchema, schema };
  } catch (error) {
    if (error instanceof SchemaTooDeep) return { hasSchema, tooDeep: error.message };
    throw error;
  }
}

/** Returns the internal form of a spec; `prefixes` are those of schema extensions. */
export function internalSpec(spec: CustomResourceDefinitionSpec, prefixes: readonly string[]): InternalSpec {
  const versions = spec.versions ?? [];
  const [first] = versions;
  const allSame = (part: (version: CustomResourceDefinitionVersion) => unknown): boolean =>
    first !== undefined && versions.every((version) => same(part(version), part(first)));
  const hoists = {
    schema: allSame(({ schema }) => schema),
    subresources: allSame(({ subresources }) => subresources),
    columns: allSame(({ additionalPrinterColumns }) => nonEmpty(additionalPrinterColumns)),
    selectableFields: allSame(({ selectableFields }) => nonEmpty(selectableFields)),
  };
  const parts = (version: CustomResourceDefinitionVersion, atTop: boolean): VersionParts => {
    const columns = nonEmpty(version.additionalPrinterColumns);
    const selectableFields = nonEmpty(version.selectableFields);
    return {
      ...(hoists.schema === atTop ? schemaParts(version, prefixes) : { hasSchema: false }),
      ...(hoists.subresources === atTop && version.subresources ? { subresources: version.subresources } : {}),
      ...(hoists.columns === atTop && columns ? { columns } : {}),
      ...(hoists.selectableFields === atTop && selectableFields ? { selectableFields } : {}),
    };
  };
  return {
    ...(first === undefined ? { hasSchema: false } : parts(first, true)),
    versions: versions.map((version) => ({
      name: version.name ?? '',
      served: version.served === true,
      storage: version.storage === true,
      deprecated: version.deprecated === true,
      deprecationWarning: version.deprecationWarning,
      ...parts(version, false),
    })),
  };
}

/** Returns the versions as some messages print them: with Go's names, and with unset members. */
export const internalVersions = ({ versions }: InternalSpec): Json =>
  versions.map((version) => ({
    Name: version.name,
    Served: version.served,
    Storage: version.storage,
    Deprecated: version.deprecated,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: version.hasSchema ? { OpenAPIV3Schema: internalForm(version.schema) } : null,
    Subresources: internalSubresources(version.subresources),
    AdditionalPrinterColumns:
      version.columns?.map((column) => ({
        Name: column.name,
        Type: column.type,
        Format: column.format ?? '',
        Description: column.description ?? '',
        Priority: column.priority ?? 0,
        JSONPath: column.jsonPath,
      })) ?? null,
    SelectableFields: version.selectableFields?.map(({ jsonPath }) => ({ JSONPath: jsonPath })) ?? null,
  }));

const internalSubresources = (subresources: CustomResourceSubresources | undefined): Json => {
  if (subresources === undefined) return null;
  const { status, scale } = subresources;
  return {
    Status: status === undefined ? null : {},
    Scale:
      scale === undefined
        ? null
        : {
            SpecReplicasPath: scale.specReplicasPath,
            StatusReplicasPath: scale.statusReplicasPath,
            LabelSelectorPath: scale.labelSelectorPath ?? null,
          },
  };
};
