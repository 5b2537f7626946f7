/** Reference to an object of any kind (core/v1 ObjectReference). */
export interface ObjectReference {
  readonly kind?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly uid?: string | undefined;
  readonly apiVersion?: string | undefined;
  readonly resourceVersion?: string | undefined;
  /** Path of the part of the object that is referred to, such as `spec.containers{name}`. */
  readonly fieldPath?: string | undefined;
}

/** Reference to an object of a known kind in the same namespace (core/v1 LocalObjectReference). */
export interface LocalObjectReference {
  readonly name?: string | undefined;
}
