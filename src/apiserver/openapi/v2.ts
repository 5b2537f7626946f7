import { goJson } from '../../api/go-text.js';
import { type Json, type JsonObject, setMember } from '../../api/object.js';
import type { Steps } from '../../api/steps.js';
import { sortedNames } from '../../api/text-order.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { Components } from './components.js';
import { v2 } from './dialect.js';
import { bearerToken, documentInfo, extensionsOf, pathsObject, responsesObject } from './document.js';
import { answerComponent, answerMediaTypes, bodyComponent, bodyMediaTypes } from './kinds.js';
import { type Operation, operationsOf } from './operations.js';
import { type Parameter, pathsOf, queryParameter } from './paths.js';

/**
 * OpenAPI 2: one document for everything. What one definition adds to it is made once, so that documents share what
 * they have in common, and a change of one definition costs little.
 */
export function* openApiV2(definitions: readonly ResourceDefinition[]): Steps<JsonObject> {
  const parts: Part[] = [];
  for (const definition of definitions) {
    parts.push(partOf(definition));
    yield;
  }
  return {
    swagger: '2.0',
    info: { ...documentInfo },
    paths: merged(parts.map(({ paths }) => paths)),
    definitions: merged(parts.map(({ schemas }) => schemas)),
    securityDefinitions: { BearerToken: { ...bearerToken } },
    security: [{ BearerToken: [] }],
  };
}

interface Part {
  readonly paths: JsonObject;
  readonly schemas: JsonObject;
}
const parts = new WeakMap<ResourceDefinition, Part>();

function partOf(definition: ResourceDefinition): Part {
  const known = parts.get(definition);
  if (known !== undefined) return known;
  const components = new Components(v2);
  const paths = pathsObject(pathsOf(operationsOf(definition)), {
    parameter: parameterObject,
    operation: (one) => operationObject(components, one),
  });
  const part = { paths, schemas: components.all() };
  parts.set(definition, part);
  return part;
}

/** All members, by name; of those given more than once the first. */
function merged(all: readonly JsonObject[]): JsonObject {
  const found = new Map<string, Json>();
  for (const each of all) {
    for (const name of Object.keys(each)) if (!found.has(name)) found.set(name, each[name] as Json);
  }
  const out: Record<string, Json> = {};
  for (const name of sortedNames(found)) setMember(out, name, found.get(name) as Json);
  return out;
}

const parameterObject = (parameter: Parameter): JsonObject => ({ ...parameter, uniqueItems: true });

function operationObject(components: Components, operation: Operation): JsonObject {
  const { answer, body, origin } = operation;
  const schema = components.reference(answerComponent(components, answer));
  const sent = body && {
    name: 'body',
    in: 'body',
    ...(body.type === 'delete-options' ? {} : { required: true }),
    schema: components.reference(bodyComponent(components, body)),
  };
  const parameters = [
    ...(sent === undefined ? [] : [sent]),
    ...operation.query.map(queryParameter).map(parameterObject),
  ];
  return {
    description: operation.description,
    consumes: bodyMediaTypes(origin, body),
    produces: answerMediaTypes(origin, answer),
    schemes: ['https'],
    tags: [operation.tag],
    operationId: operation.id,
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: responsesObject(operation, { schema }),
    ...extensionsOf(operation),
  };
}

const texts = new WeakMap<object, string>();
/** The text of a path or schema, written once however many documents it is in. */
function textOf(value: Json): string {
  if (typeof value !== 'object' || value === null) return goJson(value);
  const known = texts.get(value) ?? goJson(value);
  texts.set(value, known);
  return known;
}

/** The document in JSON. */
export function* openApiV2Json(document: JsonObject): Steps<Buffer> {
  const shared = new Set(['paths', 'definitions']);
  const members: string[] = [];
  for (const [name, value] of Object.entries(document)) {
    if (!shared.has(name)) {
      members.push(`${goJson(name)}:${goJson(value)}`);
      continue;
    }
    const inner: string[] = [];
    for (const [key, each] of Object.entries(value as JsonObject)) {
      inner.push(`${goJson(key)}:${textOf(each)}`);
      yield;
    }
    members.push(`${goJson(name)}:{${inner.join()}}`);
  }
  return Buffer.from(`{${members.join()}}`);
}
