import { goJson } from '../../api/go-text.js';
import { type Json, type JsonObject, setMember } from '../../api/object.js';
import type { Steps } from '../../api/steps.js';
import { sortTexts } from '../../api/text-order.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { Components, type GroupVersion } from './components.js';
import { v3 } from './dialect.js';
import {
  bearerToken,
  type DocumentInfo,
  documentInfo,
  extensionsOf,
  pathsObject,
  responsesObject,
} from './document.js';
import { type DocumentFormat, DocumentParts, membersOf } from './document-parts.js';
import { jsonMember, jsonObject } from './json-members.js';
import { answerComponent, answerMediaTypes, bodyComponent, bodyMediaTypes } from './kind-components.js';
import { type Operation, operationsOf } from './operations.js';
import { type Parameter, pathsOf, queryParameter } from './paths.js';

/** OpenAPI 3: one document for each group and version, and an index of them. */

const customDocumentInfo: DocumentInfo = { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' };

/** `api/v1` or `apis/<group>/<version>`. */
export const documentPath = ({ group, version }: GroupVersion): string =>
  group === '' ? `api/${version}` : `apis/${group}/${version}`;

/** Writes the document of one group and version in JSON, in pieces. `shared` holds schemas that other documents have, too. */
export function* openApiV3(
  definitions: readonly ResourceDefinition[],
  shared: Map<string, Buffer> = new Map(),
): Steps<readonly Buffer[]> {
  const isCustom = definitions[0]?.origin === 'custom';
  const found = yield* parts.of(definitions, shared);
  const paths = yield* membersOf(found, 'paths');
  const schemas = yield* membersOf(found, 'schemas');
  const head = { openapi: '3.0.0', info: isCustom ? customDocumentInfo : documentInfo };
  const security = isCustom ? '' : `,${goJson({ securitySchemes: { BearerToken: bearerToken } }).slice(1, -1)}`;
  return [
    ...jsonObject(`${goJson(head).slice(0, -1)},"paths":`, paths, ','),
    ...jsonObject('"components":{"schemas":', schemas, `${security}}}`),
  ];
}

const parts = new DocumentParts({ describe, member: (_, name, value) => jsonMember(name, value) });

function describe(definition: ResourceDefinition): ReturnType<DocumentFormat['describe']> {
  const { group, version, origin } = definition;
  const components = new Components(v3, origin === 'custom' ? undefined : { group, version });
  const paths = pathsObject(pathsOf(operationsOf(definition)), {
    parameter: parameterObject,
    operation: (one) => operationObject(components, one),
  });
  return { paths, schemas: components.all() };
}

/** Returns the index: the URL of each document, with the hash of its bytes. `hashes` are by path. */
export function openApiV3Index(hashes: ReadonlyMap<string, string>): JsonObject {
  const paths: Record<string, Json> = {};
  for (const [path, hash] of [...hashes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    setMember(paths, path, { serverRelativeURL: documentUrl(path, hash) });
  }
  return { paths };
}

export const documentUrl = (path: string, hash: string): string => `/openapi/v3/${path}?hash=${hash}`;

const parameterObject = ({ type, ...rest }: Parameter): JsonObject => ({
  ...rest,
  schema: { type, uniqueItems: true },
});

function operationObject(components: Components, operation: Operation): JsonObject {
  const { answer, body, origin } = operation;
  const content = (types: readonly string[], name: string): JsonObject =>
    Object.fromEntries(sortTexts([...types]).map((type) => [type, { schema: components.reference(name) }]));
  const answered = content(answerMediaTypes(origin, answer), answerComponent(components, answer));
  return {
    description: operation.description,
    operationId: operation.id,
    tags: [operation.tag],
    ...(operation.query.length > 0 ? { parameters: operation.query.map(queryParameter).map(parameterObject) } : {}),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            content: content(bodyMediaTypes(origin, body), bodyComponent(components, body)),
            ...(body.type === 'delete-options' ? {} : { required: true }),
          },
        }),
    responses: responsesObject(operation, { content: answered }),
    ...extensionsOf(operation),
  };
}
