import { defaultDomains } from '../domains.js';
import { type ApiObject, type Json, resourceType } from '../object.js';

/** A kind of device, told by expressions over its attributes. */
export interface DeviceClass extends ApiObject {
  readonly spec?: DeviceClassSpec;
}

/** Which devices are of the class, and how their drivers are to prepare them (KEP-4381). */
export interface DeviceClassSpec {
  readonly selectors?: readonly DeviceSelector[];
  readonly config?: readonly DeviceClassConfiguration[];
  readonly extendedResourceName?: string;
}

/** A condition in CEL on one device; a class has devices that meet all. */
export interface DeviceSelector {
  readonly cel?: { readonly expression: string };
}

/** Configuration for the driver of a device, given with each device of the class. */
export interface DeviceClassConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration;
}

/** Parameters that only the driver understands. */
export interface OpaqueDeviceConfiguration {
  readonly driver: string;
  /** A JSON object. */
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
