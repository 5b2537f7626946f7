import { boolean, field, list, string, struct } from '../schema/builder.js';
import { typeMeta } from '../schema/meta.js';
import type { Schema } from '../schema/schema.js';

/** Schemas of the discovery documents (meta/v1), for clients that read them as protobuf. */

const addresses = list(
  struct('v1.ServerAddressByClientCIDR', { clientCIDR: field(1, string()), serverAddress: field(2, string()) }),
);
const groupVersion = struct('v1.GroupVersionForDiscovery', {
  groupVersion: field(1, string()),
  version: field(2, string()),
});
const verbs: Schema = { ...list(string()), wire: { go: 'v1.Verbs', wrapped: true } };
const resource = struct('v1.APIResource', {
  name: field(1, string()),
  namespaced: field(2, boolean()),
  kind: field(3, string()),
  verbs: field(4, verbs),
  shortNames: field(5, list(string())),
  singularName: field(6, string()),
  categories: field(7, list(string())),
  group: field(8, string()),
  version: field(9, string()),
  storageVersionHash: field(10, string()),
});

const group = struct('v1.APIGroup', {
  ...typeMeta,
  name: field(1, string()),
  versions: field(2, list(groupVersion)),
  preferredVersion: field(3, groupVersion),
  serverAddressByClientCIDRs: field(4, addresses),
});

/** Schemas by kind. */
export const discoverySchemas: ReadonlyMap<unknown, Schema> = new Map([
  [
    'APIVersions',
    struct('v1.APIVersions', {
      ...typeMeta,
      versions: field(1, list(string())),
      serverAddressByClientCIDRs: field(2, addresses),
    }),
  ],
  ['APIGroup', group],
  ['APIGroupList', struct('v1.APIGroupList', { ...typeMeta, groups: field(1, list(group)) })],
  [
    'APIResourceList',
    struct('v1.APIResourceList', {
      ...typeMeta,
      groupVersion: field(1, string()),
      resources: field(2, list(resource)),
    }),
  ],
]);
