import { goJson } from '../../api/go-text.js';
import type { JsonObject } from '../../api/object.js';
import type { Steps } from '../../api/steps.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { Components } from './components.js';
import { v2 } from './dialect.js';
import { bearerToken, documentInfo, extensionsOf, pathsObject, responsesObject } from './document.js';
import { type DocumentFormat, DocumentParts, membersOf } from './document-parts.js';
import { jsonMember, jsonObject } from './json-members.js';
import { answerComponent, answerMediaTypes, bodyComponent, bodyMediaTypes } from './kind-components.js';
import { type Operation, operationsOf } from './operations.js';
import { type Parameter, pathsOf, queryParameter } from './paths.js';

/** OpenAPI 2: one document for everything. */

/** The members of the document before its paths. */
export const v2Head: JsonObject = { swagger: '2.0', info: { ...documentInfo } };
export const v2Security: JsonObject = {
  securityDefinitions: { BearerToken: { ...bearerToken } },
  security: [{ BearerToken: [] }],
};

/** The format in which the document is written. */
export interface V2Format {
  readonly member: DocumentFormat['member'];
  /** Returns the pieces of the document, from members that are written already. */
  document(paths: readonly Buffer[], schemas: readonly Buffer[]): Iterable<Buffer>;
}

/** Returns a function that writes the document in this format, in pieces. */
export function openApiV2(form: V2Format): (definitions: readonly ResourceDefinition[]) => Steps<readonly Buffer[]> {
  const known = new DocumentParts({ describe, member: form.member });
  return function* write(definitions) {
    const parts = yield* known.of(definitions, new Map());
    const paths = yield* membersOf(parts, 'paths');
    const schemas = yield* membersOf(parts, 'schemas');
    return [...form.document(paths, schemas)];
  };
}

export const openApiV2Json = openApiV2({
  member: (_, name, value) => jsonMember(name, value),
  *document(paths, schemas) {
    yield* jsonObject(`${goJson(v2Head).slice(0, -1)},"paths":`, paths, ',');
    yield* jsonObject('"definitions":', schemas, `,${goJson(v2Security).slice(1)}`);
  },
});

function describe(definition: ResourceDefinition): ReturnType<DocumentFormat['describe']> {
  const components = new Components(v2);
  const paths = pathsObject(pathsOf(operationsOf(definition)), {
    parameter: parameterObject,
    operation: (one) => operationObject(components, one),
  });
  return { paths, schemas: components.all() };
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
