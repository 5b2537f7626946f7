import { ApiError, badRequest, internalError, untyped } from '../../api/errors.js';
import { goTypeName, goValue } from '../../api/go-print.js';
import { quote } from '../../api/go-text.js';
import type { CustomResourceDefinition, CustomResourceScale } from '../../api/kinds/custom-resource-definition.js';
import type { Scale } from '../../api/kinds/scale.js';
import {
  type ApiObject,
  isObject,
  type Json,
  type JsonObject,
  member,
  setMember,
  unstructured,
} from '../../api/object.js';
import { invalid, type Violation } from '../../api/violations.js';
import type { SubresourceProjection } from '../../registry/resource-definition.js';
import { age, column } from '../columns.js';
import { scaleSchema } from '../scale-schema.js';

/** The subresource `scale`: a custom resource as autoscaling/v1 Scale. Its paths are `.a.b.c`, without brackets. */

const scaleColumns = [
  // An absent number of desired replicas: Go omits the zero, and the column finds no value.
  column('Desired', 'Number of desired replicas', ({ spec }: Scale) => spec?.replicas || null, { type: 'integer' }),
  column('Available', 'Number of actual replicas', ({ status }: Scale) => status?.replicas ?? 0, { type: 'integer' }),
  { ...age, type: 'date' },
];

const steps = (path: string): readonly string[] => path.replace(/^\./, '').split('.');

type PathValue = { readonly value: Json | undefined; readonly wrong?: undefined } | { readonly wrong: string };

/** Returns the value at a path if it has the type, else an error in the server's words. */
function valueAtPath(object: unknown, path: string, type: 'int64' | 'string'): PathValue {
  const names = steps(path);
  let value = object as Json;
  for (const [index, name] of names.entries()) {
    if (value === null && index > 0) return { value: undefined };
    if (!isObject(value)) {
      return { wrong: accessorError(names.slice(0, index + 1), value, 'map[string]interface{}') };
    }
    if (!Object.hasOwn(value, name)) return { value: undefined };
    value = value[name] ?? null;
  }
  return goTypeName(value) === type ? { value } : { wrong: accessorError(names, value, type) };
}

const accessorError = (names: readonly string[], value: Json, expected: string): string =>
  `.${names.join('.')} accessor error: ${goValue(value)} is of the type ${goTypeName(value)}, expected ${expected}`;

const largest = 2_147_483_647;

function countViolations(object: unknown, path: string): readonly Violation[] {
  const found = valueAtPath(object, path, 'int64');
  if (found.wrong !== undefined) return [invalid(path, 0, found.wrong)];
  const count = BigInt((found.value ?? 0) as number | bigint);
  if (count < 0) return [invalid(path, count, 'should be a non-negative integer')];
  return count > largest ? [invalid(path, count, `should be less than or equal to ${largest}`)] : [];
}

/** Checks that the desired number of replicas is valid. */
export const scaleSpecViolations = (object: unknown, scale: CustomResourceScale | undefined): readonly Violation[] =>
  scale === undefined ? [] : countViolations(object, scale.specReplicasPath);

/** Checks that the actual number of replicas is valid, and that the selector is a string. */
export function scaleStatusViolations(object: unknown, scale: CustomResourceScale | undefined): readonly Violation[] {
  if (scale === undefined) return [];
  const { statusReplicasPath, labelSelectorPath } = scale;
  const selector = labelSelectorPath === undefined ? undefined : valueAtPath(object, labelSelectorPath, 'string');
  return [
    ...countViolations(object, statusReplicasPath),
    ...(labelSelectorPath !== undefined && selector?.wrong !== undefined
      ? [invalid(labelSelectorPath, '', selector.wrong)]
      : []),
  ];
}

/** Represents an absent number of desired replicas; lower than any valid number. */
const unset = -2_147_483_648;

/** Returns the subresource `scale` of a custom resource. */
export function scaleProjection(
  scale: CustomResourceScale,
  { spec }: CustomResourceDefinition,
): SubresourceProjection<ApiObject> {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  const valueAt = (object: ApiObject, path: string, type: 'int64' | 'string'): Json | undefined => {
    const found = valueAtPath(object, path, type);
    if (found.wrong !== undefined) throw untyped(found.wrong);
    return found.value;
  };
  const project = (object: ApiObject, whenUnset: number): Scale => {
    const replicas = Number(valueAt(object, specReplicasPath, 'int64') ?? whenUnset);
    const selector = labelSelectorPath ? String(valueAt(object, labelSelectorPath, 'string') ?? '') : '';
    const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
    return {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: {
        ...(name === undefined ? {} : { name }),
        ...(namespace === undefined ? {} : { namespace }),
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
        ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
      },
      spec: replicas === 0 ? {} : { replicas },
      status: {
        replicas: Number(valueAt(object, statusReplicasPath, 'int64') ?? 0),
        ...(selector === '' ? {} : { selector }),
      },
    };
  };
  return {
    type: 'projection',
    of: { group: 'autoscaling', version: 'v1', kind: 'Scale', schema: scaleSchema, columns: scaleColumns },
    replicas: new Map(
      spec.versions.map(({ name, subresources }) => [
        `${spec.group}/${name}`,
        subresources?.scale && steps(subresources.scale.specReplicasPath),
      ]),
    ),
    read: (object) => {
      if (isAbsent(object, specReplicasPath)) {
        throw internalError(`the spec replicas field ${quote(specReplicasPath)} does not exist`);
      }
      return project(object, 0);
    },
    readForWrite: (object) => project(object, unset),
    readWritten: (object) => project(object, 0),
    write: (object, projected) => {
      const { spec: scaled } = unstructured(projected);
      const { replicas } = isObject(scaled) ? scaled : { replicas: 0 };
      const requested = typeof replicas === 'number' ? replicas : 0;
      if (requested === unset) {
        throw badRequest(`the spec replicas field ${quote(specReplicasPath)} cannot be empty`);
      }
      const next = withValue(object, steps(specReplicasPath), requested) as unknown as ApiObject;
      const { resourceVersion } = projected.metadata ?? {};
      return resourceVersion ? { ...next, metadata: { ...next.metadata, resourceVersion } } : next;
    },
  };
}

const isAbsent = (object: ApiObject, path: string): boolean => {
  const found = valueAtPath(object, path, 'int64');
  return found.wrong === undefined && found.value === undefined;
};

/** Returns a copy with a value set at a path; absent objects on the way are created. */
function withValue(object: unknown, names: readonly string[], value: Json, depth = 0): JsonObject {
  if (object !== undefined && !isObject(object)) {
    const path = names.slice(0, depth).join('.');
    throw new ApiError({ message: `value cannot be set because .${path} is not a map[string]interface{}` });
  }
  const name = names[depth] ?? '';
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(object ?? {})) setMember(copy, key, object?.[key] ?? null);
  const inner = object && member(object, name);
  setMember(copy, name, depth === names.length - 1 ? value : withValue(inner, names, value, depth + 1));
  return copy;
}
