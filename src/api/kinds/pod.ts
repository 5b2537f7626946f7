import { defaultDomains } from '../domains.js';
import { type ApiObject, type Json, type JsonObject, resourceType } from '../object.js';

/** A group of containers. Here only as something that tokens can be bound to: nothing runs it. */
export interface Pod extends ApiObject {
  readonly spec?: PodSpec;
  readonly status?: JsonObject;
}

export interface PodSpec {
  readonly containers?: Json;
  readonly serviceAccountName?: string;
  /** What that was called at first. */
  readonly serviceAccount?: string;
  readonly nodeName?: string;
  readonly [field: string]: unknown;
}

export const Pods = resourceType<Pod>({
  group: '',
  version: 'v1',
  plural: 'pods',
  kind: 'Pod',
  namespaced: true,
  shortNames: ['po'],
  categories: ['all'],
});

/** Stands on pods that only mirror one a node agent started from a file. */
export const mirrorAnnotation = `${defaultDomains.signer}/config.mirror`;
