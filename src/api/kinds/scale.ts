import type { ApiObject } from '../object.js';

/** Desired and observed number of replicas of an object (autoscaling/v1), as in its scale subresource. */
export interface Scale extends ApiObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas: number; readonly selector?: string };
}
