import type { ApiObject } from '../object.js';

/** The desired and actual number of replicas (autoscaling/v1), a view of an object that has replicas. */
export interface Scale extends ApiObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas: number; readonly selector?: string };
}
