import { escapeFieldValue, type FieldRequirement, parseFieldSelector } from '../api/field-selectors.js';
import { parseLabelSelector } from '../api/label-selectors.js';
import { type ApiObject, asJson, isObject, type Json, member, type ObjectKey } from '../api/object.js';
import type { ResourceClient } from '../client/client.js';

export interface Selectors {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** Parses selectors. Throws BadRequest if one is invalid. */
export const readSelectors = ({ labelSelector = '', fieldSelector = '' }: Selectors) => ({
  labels: parseLabelSelector(labelSelector),
  fields: parseFieldSelector(fieldSelector),
});

/**
 * Reads one object as a watch with these selectors shows it: returns undefined if it does not exist or is not selected.
 */
export type SelectedReader<T extends ApiObject> = (
  resource: ResourceClient<T>,
  key: ObjectKey,
) => Promise<T | undefined>;

/**
 * Returns a reader of selected objects. A GET has no selectors, so they are applied to its response: labels, and fields
 * whose name is their path in the object. Values of other fields are known only to the server (`spec.unschedulable` is
 * "false" if a node does not set it): for them, the reader lists that one object. Throws BadRequest if a selector is
 * invalid.
 */
export function selectedReader<T extends ApiObject>(selectors: Selectors): SelectedReader<T> {
  const { namespace, labelSelector } = selectors;
  const { labels, fields } = readSelectors(selectors);
  return async (resource, key) => {
    if (namespace !== undefined && key.namespace !== namespace) return undefined;
    const object = await resource.get(key);
    if (object === undefined || !labels.matches(object.metadata.labels)) return undefined;
    const read = (field: string): string | undefined => fieldText(object, field);
    const isPlain = ({ field }: FieldRequirement): boolean => read(field) !== undefined;
    if (fields.requirements.every(isPlain)) return fields.matches(read) ? object : undefined;
    const { items } = await resource.list({
      namespace: key.namespace,
      ...(labelSelector === undefined ? {} : { labelSelector }),
      fieldSelector: `${fields.text},metadata.name=${escapeFieldValue(key.name)}`,
    });
    return items[0];
  };
}

/** Returns the text of a field whose name is its path; undefined if its value is not a string, number or boolean. */
function fieldText(object: ApiObject, field: string): string | undefined {
  if (field === 'metadata.namespace') return object.metadata.namespace ?? '';
  let value: Json | undefined = asJson(object);
  for (const name of field.split('.')) value = value !== undefined && isObject(value) ? member(value, name) : undefined;
  return value === undefined || value === null || typeof value === 'object' ? undefined : String(value);
}
