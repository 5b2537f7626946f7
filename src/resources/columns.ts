import type { ApiObject } from '../api/object.js';
import { humanDuration } from '../api/time.js';
import type { Column } from '../registry/resource-definition.js';

/** Columns that several kinds share. Descriptions go over the wire, in Kubernetes' words. */

const creationTimestamp =
  'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata';

export const nameDescription =
  'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names';

/** Returns how long ago a timestamp was, `<unknown>` if there is none. */
export const timestampAge = (timestamp: string | null | undefined, now: number): string =>
  timestamp ? humanDuration(now - Date.parse(timestamp)) : '<unknown>';

/** Returns a column of strings that is always shown, unless `more` says otherwise. */
export const column = <T extends ApiObject>(
  name: string,
  description: string,
  cell: Column<T>['cell'],
  more: { readonly type?: string; readonly format?: string; readonly priority?: number } = {},
): Column<T> => ({ name, type: 'string', description, cell, ...more });

export const age: Column = column('Age', creationTimestamp, ({ metadata }, now) =>
  timestampAge(metadata.creationTimestamp, now),
);

/** The column of kinds without a printer of their own, in place of Age. For a bookmark it shows Go's zero time. */
export const createdAt: Column = column(
  'Created At',
  creationTimestamp,
  ({ metadata }) => metadata.creationTimestamp ?? '0001-01-01T00:00:00Z',
  { type: 'date' },
);
