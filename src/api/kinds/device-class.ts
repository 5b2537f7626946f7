import { defaultDomains } from '../domains.js';
import { type ApiObject, type Json, resourceType } from '../object.js';

/** A class of devices, selected by expressions over their attributes. */
export interface DeviceClass extends ApiObject {
  readonly spec?: DeviceClassSpec;
}

/** The devices of the class, and the configuration for their drivers (KEP-4381). */
export interface DeviceClassSpec {
  readonly selectors?: readonly DeviceSelector[];
  readonly config?: readonly DeviceClassConfiguration[];
  readonly extendedResourceName?: string;
}

/** A condition in CEL on a device; a class consists of the devices that meet all of them. */
export interface DeviceSelector {
  readonly cel?: { readonly expression: string };
}

/** Configuration for the driver of a device, passed with each device of the class. */
export interface DeviceClassConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration;
}

/** Parameters that only the driver understands. */
export interface OpaqueDeviceConfiguration {
  readonly driver: string;
  /** The parameters, a JSON object. */
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
