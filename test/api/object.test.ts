import { expectTypeOf, test } from 'vitest';
import type { ResourceAttributes } from '../../src/api/kinds/access-review.js';
import type { ConfigMap } from '../../src/api/kinds/config-map.js';
import type { CustomResourceDefinition } from '../../src/api/kinds/custom-resource-definition.js';
import type { ObjectReference } from '../../src/api/kinds/object-reference.js';
import type { Subject } from '../../src/api/kinds/role-binding.js';
import type { BoundObjectReference } from '../../src/api/kinds/token-request.js';
import {
  type ApiObject,
  keyOf,
  type List,
  type ObjectMeta,
  type Resource,
  type ResourceType,
  resourceType,
  type Unstructured,
} from '../../src/api/object.js';
import type { ListOptions, Patch, ResourceClient } from '../../src/client/client.js';
import type { TestServerOptions } from '../../src/testing/test-server.js';
import type { AdmissionRequest } from '../../src/webhook/admission.js';

/** The compiler checks these with `npm run types`; they are not executed. */

interface Spec {
  readonly size: number;
}
type Widget = Resource<Spec, { readonly isReady?: boolean }>;
const names = { group: 'example.com', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true };
const meta = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' } };

test('an unknown member of a typed kind is a type error', () => {
  const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} };
  // @ts-expect-error
  ({ ...configMap, dta: {} }) satisfies ConfigMap;
  // @ts-expect-error
  ({ ...meta, spec: { size: 1 }, stauts: {} }) satisfies Widget;
  ({ ...meta, spec: { size: 1 }, status: {} }) satisfies Widget;
  expectTypeOf<ConfigMap>().not.toHaveProperty('dta');
  expectTypeOf<Widget>().not.toHaveProperty('stauts');
});

test('create and update of a typed kind reject unknown members, of an untyped kind they do not', () => {
  const typed = (widgets: ResourceClient<Widget>, found: Widget): readonly unknown[] => [
    widgets.create({ ...meta, spec: { size: 1 } }),
    // @ts-expect-error
    widgets.create({ ...meta, spec: { size: 1 }, stauts: {} }),
    // @ts-expect-error
    widgets.update({ ...found, stauts: {} }),
    // @ts-expect-error
    widgets.subresource('status').update({ ...found, stauts: {} }),
  ];
  const untyped = (widgets: ResourceClient<Unstructured>): unknown => widgets.create({ ...meta, spec: 1, any: {} });
  expectTypeOf(typed).toBeFunction();
  expectTypeOf(untyped).toBeFunction();
});

test('resourceType accepts any interface with the members of all objects; without one members are unknown', () => {
  interface Plain {
    apiVersion: 'example.com/v1';
    kind: 'Widget';
    metadata: ObjectMeta;
    spec?: Spec;
  }
  expectTypeOf(resourceType<Plain>(names)).toEqualTypeOf<ResourceType<Plain>>();
  expectTypeOf(resourceType(names)).toEqualTypeOf<ResourceType<Unstructured>>();
  expectTypeOf<Unstructured['spec']>().toBeUnknown();
  // @ts-expect-error
  resourceType<{ apiVersion?: string; kind?: string; metadata?: ObjectMeta }>(names);
});

test('data read from an object can be used in another object or in the next request', () => {
  const copied = ({ apiVersion, kind, metadata }: Widget, page: List): readonly unknown[] => {
    const { namespace, name, uid, resourceVersion, labels, ownerReferences } = metadata;
    return [
      { ...meta, metadata: { namespace, name: 'b', labels, ownerReferences } } satisfies ApiObject,
      { ...meta, metadata: { ...keyOf({ metadata }), labels: labels && { ...labels, a: 'b' } } } satisfies ApiObject,
      { apiVersion, kind, namespace, name, uid, resourceVersion } satisfies ObjectReference,
      { kind: 'ServiceAccount', name: 'a', namespace } satisfies Subject,
      { apiVersion, kind, name, uid } satisfies BoundObjectReference,
      { resource: 'widgets', verb: 'get', namespace, name } satisfies ResourceAttributes,
      { namespace, continue: page.metadata.continue } satisfies ListOptions,
    ];
  };
  expectTypeOf(copied).toBeFunction();
});

test('APIs that mix kinds accept typed and untyped objects', () => {
  const mixed = (widget: Widget, crd: CustomResourceDefinition): readonly unknown[] => [
    { objects: [widget, crd, { ...meta, spec: { size: 1 } }] } satisfies TestServerOptions,
    { type: 'apply', body: widget, fieldManager: 'm' } satisfies Patch,
    { type: 'apply', body: { ...meta, spec: widget.spec }, fieldManager: 'm' } satisfies Patch,
    { type: 'merge', body: { spec: widget.spec } } satisfies Patch,
    { type: 'json', body: [{ op: 'add', path: '/spec', value: widget.spec }] } satisfies Patch,
  ];
  expectTypeOf(mixed).toBeFunction();
  expectTypeOf<AdmissionRequest>().toEqualTypeOf<AdmissionRequest<Unstructured>>();
});
