import { type Json, type JsonObject, setMember } from '../../api/object.js';
import { extensionPrefix } from './components.js';
import type { Operation } from './operations.js';
import type { Parameter, Path } from './paths.js';

/** What the documents of both versions of OpenAPI have in common. */

export interface DocumentInfo {
  readonly title: string;
  readonly version: string;
}
export const documentInfo: DocumentInfo = { title: 'Kubernetes', version: '1.36' };

/** How callers authenticate. */
export const bearerToken = {
  description: 'Bearer token',
  in: 'header',
  name: 'authorization',
  type: 'apiKey',
} as const;

/** Returns the paths with their operations, as one version of OpenAPI writes them. */
export function pathsObject(
  paths: readonly Path[],
  write: {
    readonly parameter: (parameter: Parameter) => JsonObject;
    readonly operation: (operation: Operation) => JsonObject;
  },
): JsonObject {
  const out: Record<string, Json> = {};
  for (const { path, parameters, operations } of paths) {
    setMember(out, path, {
      parameters: parameters.map(write.parameter),
      ...Object.fromEntries(operations.map((one) => [one.method, write.operation(one)])),
    });
  }
  return out;
}

const statusTexts = { 200: 'OK', 201: 'Created', 202: 'Accepted' } as const;

/** Returns the responses of an operation by status code; `answered` is what all successful ones share. */
export const responsesObject = ({ codes }: Operation, answered: JsonObject): JsonObject => ({
  ...Object.fromEntries(codes.map((code) => [String(code), { description: statusTexts[code], ...answered }])),
  401: { description: 'Unauthorized' },
});

/** Returns the extensions that Kubernetes' client generators read. */
export const extensionsOf = ({ action, gvk }: Operation): JsonObject => ({
  [`${extensionPrefix}action`]: action,
  [`${extensionPrefix}group-version-kind`]: { ...gvk },
});
