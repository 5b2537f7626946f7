import type { ApiObject, JsonObject, ObjectMeta } from '../api/object.js';
import type { Column, ResourceDefinition } from '../registry/resource-definition.js';
import { createdAt, nameDescription } from '../resources/columns.js';
import { arrange } from '../schema/encode.js';
import { objectMeta } from '../schema/meta.js';

/** Converts objects to rows of a `Table` (meta.k8s.io), which kubectl prints, and to bare metadata. */

const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: nameDescription,
  cell: ({ metadata }) => metadata.name ?? '',
};

/** Returns the columns of a kind. If the first column is not the name, it replaces that (events). */
const columnsOf = ({ columns, leadsWithName }: ResourceDefinition): readonly Column[] =>
  leadsWithName === false ? (columns ?? []) : [nameColumn, ...(columns ?? [createdAt])];

export function tableOf(
  definition: ResourceDefinition,
  objects: readonly ApiObject[],
  options: {
    readonly version: 'v1' | 'v1beta1';
    readonly includeObject: 'Metadata' | 'Object' | 'None';
    readonly metadata: JsonObject;
    readonly now: number;
    /** Whether the column definitions are included; false for later events of a watch. */
    readonly columns: boolean;
    readonly bookmark?: boolean;
  },
): object {
  const columns = columnsOf(definition);
  const rows = objects.map((object) => {
    const condition = definition.completed?.(object);
    return {
      cells: columns.map((column) => cellOf(column, object, options)),
      ...(condition === undefined ? {} : { conditions: [condition] }),
      object: rowObject(object, options),
    };
  });
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata: options.metadata,
    columnDefinitions: options.columns
      ? columns.map(({ name, type, format = '', description, priority = 0 }) => ({
          name,
          type,
          format,
          description,
          priority,
        }))
      : null,
    // For a kind without a printer of its own, Go creates the list of rows with the first row.
    rows: rows.length === 0 && columns.includes(createdAt) ? null : rows,
  };
}

/** Returns a cell. A bookmark has no fields; its cells are those of an empty object. */
function cellOf(
  column: Column,
  object: ApiObject,
  { now, bookmark }: { readonly now: number; readonly bookmark?: boolean },
): unknown {
  if (!bookmark) return column.cell(object, now) ?? null;
  try {
    return column.cell(object, now) ?? null;
  } catch {
    return null;
  }
}

function rowObject(
  object: ApiObject,
  { includeObject, version }: { readonly includeObject: string; readonly version: 'v1' | 'v1beta1' },
): object | null {
  // The end of the initial state is marked by an annotation, so that this object is always included.
  const marksEnd = object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true';
  if (includeObject === 'None' && !marksEnd) return null;
  return includeObject === 'Object' ? object : partialObject(object.metadata, version);
}

/** Returns the PartialObjectMetadata of an object. */
export const partialObject = (metadata: ObjectMeta, version: 'v1' | 'v1beta1'): JsonObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion: `meta.k8s.io/${version}`,
  // Custom resources store their members in another order.
  metadata: arrange(objectMeta, metadata as unknown as JsonObject),
});
