import { setMember } from '../../api/json-text.js';
import type { Json, JsonObject } from '../../api/object.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { Components, extensionPrefix } from './components.js';
import { v2 } from './dialect.js';
import { answerComponent, answerMediaTypes, bodyComponent, patchMediaTypes } from './kinds.js';
import { type Operation, operationsOf, type QueryParameter, queryParameters } from './operations.js';
import { type DocumentInfo, documentInfo, pathParameters, statusTexts } from './v3.js';

/** OpenAPI 2: one document for everything. */
export function openApiV2(definitions: readonly ResourceDefinition[], info: DocumentInfo = documentInfo): JsonObject {
  const components = new Components(v2);
  const paths = new Map<string, Record<string, Json>>();
  for (const operation of definitions.flatMap(operationsOf)) {
    const path = paths.get(operation.path) ?? { parameters: pathParameters(operation).map(flattened) };
    paths.set(operation.path, path);
    path[operation.method] = operationObject(components, operation);
  }
  const out: Record<string, Json> = {};
  for (const path of [...paths.keys()].sort()) setMember(out, path, paths.get(path) ?? {});
  return {
    swagger: '2.0',
    info: { title: info.title, version: info.version },
    paths: out,
    definitions: components.all(),
    securityDefinitions: {
      BearerToken: { description: 'Bearer token', in: 'header', name: 'authorization', type: 'apiKey' },
    },
    security: [{ BearerToken: [] }],
  };
}

/** A parameter of OpenAPI 3 has a schema, one of OpenAPI 2 is one. */
function flattened({ schema, ...rest }: JsonObject): JsonObject {
  return { ...rest, ...(schema as JsonObject) };
}

const queryParameter = (name: QueryParameter): JsonObject => ({
  name,
  in: 'query',
  description: queryParameters[name].description,
  type: queryParameters[name].type,
  uniqueItems: true,
});

function operationObject(components: Components, operation: Operation): JsonObject {
  const { answer, body, codes, origin } = operation;
  const schema = components.reference(answerComponent(components, answer));
  return {
    description: operation.description,
    consumes: body?.type === 'patch' ? patchMediaTypes(origin) : ['*/*'],
    produces: answerMediaTypes(origin, answer),
    schemes: ['https'],
    tags: [operation.tag],
    operationId: operation.id,
    parameters: [
      ...(body === undefined
        ? []
        : [
            {
              name: 'body',
              in: 'body',
              ...(body.type === 'delete-options' ? {} : { required: true }),
              schema: components.reference(bodyComponent(components, body)),
            },
          ]),
      ...operation.query.map(queryParameter),
    ],
    responses: {
      ...Object.fromEntries(codes.map((code) => [String(code), { description: statusTexts[code], schema }])),
      401: { description: 'Unauthorized' },
    },
    [`${extensionPrefix}action`]: operation.action,
    [`${extensionPrefix}group-version-kind`]: { ...operation.gvk },
  };
}
