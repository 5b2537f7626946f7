import type { JsonObject } from '../api/object.js';
import type { DeleteOptions, ListOptions, Patch, WatchOptions, WriteOptions } from './client.js';

/** Encodes the options of calls as query parameters, and as bodies of deletions. */

export type QueryParameters = Readonly<Record<string, string | number | boolean | undefined>>;

export const writeQuery = ({ dryRun, fieldManager, fieldValidation }: WriteOptions = {}): QueryParameters => ({
  dryRun: dryRun ? 'All' : undefined,
  fieldManager,
  fieldValidation,
});

export const listQuery = (options: ListOptions): QueryParameters => ({
  labelSelector: options.labelSelector,
  fieldSelector: options.fieldSelector,
  limit: options.limit,
  continue: options.continue,
  resourceVersion: options.resourceVersion,
  resourceVersionMatch: options.resourceVersionMatch,
});

export const watchQuery = (options: WatchOptions): QueryParameters => ({
  watch: true,
  labelSelector: options.labelSelector,
  fieldSelector: options.fieldSelector,
  resourceVersion: options.resourceVersion,
  allowWatchBookmarks: options.allowBookmarks,
  sendInitialEvents: options.sendInitialEvents,
  resourceVersionMatch: options.sendInitialEvents === undefined ? undefined : 'NotOlderThan',
  timeoutSeconds: options.timeoutSeconds,
});

const patchMediaTypes: Readonly<Record<Patch['type'], string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

/** Returns the request parts of a patch; `query` is that of the write. */
export const patchRequest = (patch: Patch, query: QueryParameters) => ({
  query: {
    ...query,
    ...(patch.type === 'apply' ? { fieldManager: patch.fieldManager, force: patch.force } : {}),
  },
  body: patch.body,
  contentType: patchMediaTypes[patch.type],
});

/** Returns the DeleteOptions body with the members that are set. */
export const deleteOptionsBody = ({
  dryRun,
  propagationPolicy,
  gracePeriodSeconds,
  preconditions,
}: DeleteOptions): JsonObject => ({
  ...(dryRun ? { dryRun: ['All'] } : {}),
  ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
  ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
  ...(preconditions === undefined ? {} : { preconditions: preconditions as JsonObject }),
});
