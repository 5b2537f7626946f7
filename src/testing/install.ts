import { isTrue } from '../api/conditions.js';
import { type CustomResourceDefinition, CustomResourceDefinitions } from '../api/kinds/custom-resource-definition.js';
import { Namespaces } from '../api/kinds/namespace.js';
import { messageOf } from '../api/message-of.js';
import { type ApiObject, groupOf, groupVersion, keyOf, keyText, type ResourceType } from '../api/object.js';
import type { Client } from '../client/client.js';
import { originOf } from './manifests.js';
import { eventually, until } from './until.js';

const isDefinition = (object: ApiObject): object is CustomResourceDefinition =>
  object.kind === 'CustomResourceDefinition' && object.apiVersion === 'apiextensions.k8s.io/v1';
const isNamespace = ({ apiVersion, kind }: ApiObject): boolean =>
  apiVersion === groupVersion(Namespaces) && kind === Namespaces.kind;

/** The controllers without which custom resources are never served; in Kubernetes they are part of the API server. */
const definitionControllers = ['crd-names', 'crd-established', 'crd-finalizer'];

/** Returns the controllers that these objects need, in addition to those named. */
export const controllersFor = (objects: readonly ApiObject[]): readonly string[] =>
  objects.some(isDefinition) ? definitionControllers : [];

/**
 * Transforms objects with `changed` and creates them: definitions first, waiting until they are served, then
 * namespaces, then the others in order. Fails with an Error that names the object and its file.
 */
export async function install(
  client: Client,
  objects: readonly ApiObject[],
  changed: (object: ApiObject) => ApiObject = (object) => object,
): Promise<void> {
  const definitions = client.resource(CustomResourceDefinitions);
  const defined = objects.filter(isDefinition);
  for (const definition of defined)
    await namingObject(definition, () => definitions.create(changed(definition) as CustomResourceDefinition));
  for (const definition of defined) {
    await namingObject(definition, () =>
      until(definitions, keyOf(definition), (found) => isTrue(found?.status?.conditions, 'Established')),
    );
  }
  const others = objects.filter((object) => !isDefinition(object));
  for (const object of [...others.filter(isNamespace), ...others.filter((object) => !isNamespace(object))]) {
    await namingObject(object, async () => {
      const type = await typeOf(client, object, defined);
      await client.resource(type).create(changed(object));
    });
  }
}

/** Returns the resource type of an object, waiting for it if it was just defined. */
async function typeOf(
  client: Client,
  { apiVersion, kind }: ApiObject,
  defined: readonly CustomResourceDefinition[],
): Promise<ResourceType> {
  const find = async (): Promise<ResourceType | undefined> =>
    (await client.discover()).find((type) => groupVersion(type) === apiVersion && type.kind === kind);
  const isDefined = defined.some(({ spec }) => spec.group === groupOf(apiVersion) && spec.names.kind === kind);
  const type = isDefined
    ? await eventually(find, (found) => found !== undefined, { what: `${apiVersion} ${kind} is served` })
    : await find();
  if (type === undefined) throw new Error(`${apiVersion} ${kind} is not served here`);
  return type;
}

/** Adds the name of the object, and the file it was read from, to errors. */
async function namingObject(object: ApiObject, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    const origin = originOf(object);
    const place = origin === undefined ? '' : `${origin}: `;
    throw new Error(`${place}${object.kind} ${keyText(keyOf(object))}: ${messageOf(cause)}`, { cause });
  }
}
