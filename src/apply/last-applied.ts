import { annotationsLimit, sizeOfAnnotations } from '../api/annotations.js';
import { sortedJson } from '../api/go-text.js';
import { type ApiObject, isObject, type Json, type JsonObject } from '../api/object.js';
import { runSync } from '../api/steps.js';
import { checkShape } from './check.js';
import { compare } from './compare.js';
import { difference, type FieldSet } from './field-set.js';
import { fieldSetOf } from './field-set-of.js';
import { withMember, withoutMember } from './json-value.js';
import type { Shape } from './shape.js';

/** The annotation in which client-side `kubectl apply` keeps the configuration that it applied. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Returns the fields that client-side apply wrote and that still have the values it gave them; undefined without a
 * usable annotation.
 */
export function lastAppliedFields(live: JsonObject, shape: Shape, apiVersion: string): FieldSet | undefined {
  const text = annotationsOf(live)?.[lastApplied];
  if (typeof text !== 'string' || text === '') return undefined;
  const config = parsed(text);
  if (config === undefined || config['apiVersion'] !== apiVersion) return undefined;
  if (runSync(checkShape(shape, config)).length > 0) return undefined;
  const { added, modified, removed } = runSync(compare(shape, config, live));
  return [modified, added, removed].reduce(difference, runSync(fieldSetOf(shape, config)));
}

/** Sets the last-applied annotation, if there is one, to the configuration. */
export function refreshLastApplied(object: ApiObject, config: JsonObject): ApiObject {
  const { annotations } = object.metadata;
  if (!annotations?.[lastApplied]) return object;
  const next = { ...annotations, [lastApplied]: `${sortedJson(withoutAnnotation(config))}\n` };
  const { [lastApplied]: _, ...others } = next;
  return {
    ...object,
    metadata: { ...object.metadata, annotations: sizeOfAnnotations(next) > annotationsLimit ? others : next },
  };
}

function annotationsOf(object: JsonObject): JsonObject | undefined {
  const metadata = object['metadata'];
  const annotations = isObject(metadata) ? metadata['annotations'] : undefined;
  return isObject(annotations) ? annotations : undefined;
}

function withoutAnnotation(config: JsonObject): JsonObject {
  const annotations = annotationsOf(config);
  const metadata = config['metadata'];
  if (annotations === undefined || !isObject(metadata)) return config;
  return withMember(config, 'metadata', withMember(metadata, 'annotations', withoutMember(annotations, lastApplied)));
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
