import { type ApiObject, type Json, type JsonObject, resourceType } from '../object.js';

/** A machine. Here only as something that identities and tokens refer to. */
export interface Node extends ApiObject {
  readonly spec?: JsonObject;
  readonly status?: Json;
}

export const Nodes = resourceType<Node>({
  group: '',
  version: 'v1',
  plural: 'nodes',
  kind: 'Node',
  namespaced: false,
  shortNames: ['no'],
});
