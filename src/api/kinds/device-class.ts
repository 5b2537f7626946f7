import { defaultDomains } from '../domains.js';
import { type ApiObject, type Json, resourceType } from '../object.js';

/** Class of devices that claims can request (KEP-4381). */
export interface DeviceClass extends ApiObject {
  readonly spec?: DeviceClassSpec;
}

/** Devices that belong to a class, and their configuration. */
export interface DeviceClassSpec {
  /** Selectors that a device of the class must all match. */
  readonly selectors?: readonly DeviceSelector[];
  /** Configuration that is passed to the driver with each device of the class. */
  readonly config?: readonly DeviceClassConfiguration[];
  /** Extended resource whose requests can be satisfied with devices of the class. */
  readonly extendedResourceName?: string;
}

/** Selector of devices: a CEL expression over the variable `device`, true for devices that are selected. */
export interface DeviceSelector {
  readonly cel?: { readonly expression: string };
}

/** Configuration that applies to all devices of a class. */
export interface DeviceClassConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration;
}

/** Parameters in a format that is specific to one driver. */
export interface OpaqueDeviceConfiguration {
  /** Name of the driver that the parameters are for. */
  readonly driver: string;
  /** JSON object whose contents only the driver interprets. */
  readonly parameters?: Json;
}

/** The resource `deviceclasses` of `resource.k8s.io/v1`, cluster-scoped. */
export const DeviceClasses = resourceType<DeviceClass>({
  group: `resource.${defaultDomains.api}`,
  version: 'v1',
  plural: 'deviceclasses',
  kind: 'DeviceClass',
  namespaced: false,
});
