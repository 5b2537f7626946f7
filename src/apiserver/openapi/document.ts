import { type Json, type JsonObject, setMember } from '../../api/object.js';
import { extensionPrefix } from './components.js';
import type { Operation } from './operations.js';
import type { Parameter, Path } from './paths.js';

/** What documents of both versions of OpenAPI have. */

export interface DocumentInfo {
  readonly title: string;
  readonly version: string;
}
export const documentInfo: DocumentInfo = { title: 'Kubernetes', version: '1.36' };

/** How callers say who they are. */
export const bearerToken = {
  description: 'Bearer token',
  in: 'header',
  name: 'authorization',
  type: 'apiKey',
} as const;

/** What can be done at each path, as one version of OpenAPI writes it. */
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

/** What is answered with each code; `answered` is the same with all that succeed. */
export const responsesObject = ({ codes }: Operation, answered: JsonObject): JsonObject => ({
  ...Object.fromEntries(codes.map((code) => [String(code), { description: statusTexts[code], ...answered }])),
  401: { description: 'Unauthorized' },
});

/** What Kubernetes' generators look for. */
export const extensionsOf = ({ action, gvk }: Operation): JsonObject => ({
  [`${extensionPrefix}action`]: action,
  [`${extensionPrefix}group-version-kind`]: { ...gvk },
});
