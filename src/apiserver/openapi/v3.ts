import { type Json, type JsonObject, setMember } from '../../api/object.js';
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
import { answerComponent, answerMediaTypes, bodyComponent, bodyMediaTypes } from './kinds.js';
import { type Operation, operationsOf } from './operations.js';
import { type Parameter, pathsOf, queryParameter } from './paths.js';

/** OpenAPI 3: one document for each group and version, and an index of them. */

const customDocumentInfo: DocumentInfo = { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' };

/** `api/v1` or `apis/<group>/<version>`. */
export const documentPath = ({ group, version }: GroupVersion): string =>
  group === '' ? `api/${version}` : `apis/${group}/${version}`;

/** The document of one group and version. */
export function openApiV3(definitions: readonly ResourceDefinition[], groupVersion: GroupVersion): JsonObject {
  const mine = definitions.filter(
    ({ group, version }) => group === groupVersion.group && version === groupVersion.version,
  );
  const isCustom = mine[0]?.origin === 'custom';
  const components = new Components(v3, isCustom ? undefined : groupVersion);
  const found = pathsOf(mine.flatMap(operationsOf)).toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return {
    openapi: '3.0.0',
    info: { ...(isCustom ? customDocumentInfo : documentInfo) },
    paths: pathsObject(found, {
      parameter: parameterObject,
      operation: (one) => operationObject(components, one),
    }),
    components: {
      schemas: components.all(),
      ...(isCustom ? {} : { securitySchemes: { BearerToken: bearerToken } }),
    },
  };
}

/** The index: each document's URL with the hash of its bytes. `hashes` are by path. */
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
