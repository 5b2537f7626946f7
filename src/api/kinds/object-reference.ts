/** Points at an object of any kind (core/v1 ObjectReference). */
export interface ObjectReference {
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly apiVersion?: string;
  readonly resourceVersion?: string;
  readonly fieldPath?: string;
}

/** Points at an object of a known kind in the same namespace (core/v1 LocalObjectReference). */
export interface LocalObjectReference {
  readonly name?: string;
}
