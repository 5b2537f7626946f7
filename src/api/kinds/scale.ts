import type { ApiObject } from '../object.js';

/** How many of something are wanted and there (autoscaling/v1); another view of an object that has replicas. */
export interface Scale extends ApiObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas: number; readonly selector?: string };
}
