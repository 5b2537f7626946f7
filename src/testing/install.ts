import { isTrue } from '../api/conditions.js';
import { type CustomResourceDefinition, CustomResourceDefinitions } from '../api/kinds/custom-resource-definition.js';
import { type ApiObject, groupVersion, type Unstructured } from '../api/object.js';
import type { Client } from '../client/client.js';
import { eventually, until } from './until.js';

const isDefinition = (object: ApiObject): object is CustomResourceDefinition =>
  object.kind === 'CustomResourceDefinition' && object.apiVersion === 'apiextensions.k8s.io/v1';

/** The controllers without which nothing that is defined is ever served; in Kubernetes they are the API server's. */
const definitionControllers = ['crd-names', 'crd-established', 'crd-finalizer'];

/** The controllers to run for these objects beside those that were named. */
export const controllersFor = (objects: readonly ApiObject[]): readonly string[] =>
  objects.some(isDefinition) ? definitionControllers : [];

/** Creates objects in their order, definitions before all others and waiting until they are served. Fails as `create` and `until` do. */
export async function install(client: Client, objects: readonly (ApiObject | Unstructured)[]): Promise<void> {
  const definitions = client.resource(CustomResourceDefinitions);
  const defined = objects.filter(isDefinition);
  for (const definition of defined) await definitions.create(definition);
  for (const { metadata } of defined) {
    await until(definitions, { name: metadata.name ?? '' }, (found) =>
      isTrue(found?.status?.conditions, 'Established'),
    );
  }
  for (const object of objects) {
    if (isDefinition(object)) continue;
    const { apiVersion, kind } = object;
    const types = await eventually(
      async () => (await client.discover()).filter((type) => groupVersion(type) === apiVersion && type.kind === kind),
      ({ length }) => length > 0,
      { what: `${apiVersion} ${kind} is served` },
    );
    for (const type of types.slice(0, 1)) await client.resource(type).create(object);
  }
}
