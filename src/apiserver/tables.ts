import type { ApiObject, JsonObject, ObjectMeta } from '../api/object.js';
import type { Column, ResourceDefinition } from '../registry/resource-definition.js';
import { createdAt, nameDescription } from '../resources/columns.js';
import { arrange } from '../schema/encode.js';
import { objectMeta } from '../schema/meta.js';

/** Objects as rows of a `Table` (meta.k8s.io), what kubectl prints; and as bare metadata. */

const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: nameDescription,
  cell: ({ metadata }) => metadata.name ?? '',
};

/** All columns of a kind. A first column that is no name of its own replaces the name (events). */
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
    /** False leaves the column definitions out: later events of a watch. */
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
    // Go's list of rows is only made with the first one where a kind has no printer of its own.
    rows: rows.length === 0 && columns.includes(createdAt) ? null : rows,
  };
}

/** A bookmark has no fields to show; its cells are those of an empty object. */
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
  // The end of what was there at first is told by an annotation, which always shows.
  const marksEnd = object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true';
  if (includeObject === 'None' && !marksEnd) return null;
  return includeObject === 'Object' ? object : partialObject(object.metadata, version);
}

/** What stands for an object of which only the metadata is asked for. */
export const partialObject = (metadata: ObjectMeta, version: 'v1' | 'v1beta1'): JsonObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion: `meta.k8s.io/${version}`,
  // Custom resources keep their members in another order.
  metadata: arrange(objectMeta, metadata as unknown as JsonObject),
});
