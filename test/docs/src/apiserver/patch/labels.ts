import { badRequest } from '../../../../../src/api/errors.js';
import { goJson } from '../../../../../src/api/go-text.js';
import { JsonSyntaxError } from '../../../../../src/api/json-text.js';
import { isObject, type Json, type JsonObject, setMember } from '../../../../../src/api/object.js';
import type { PatchText, PatchType } from '../../../../../src/apiserver/patch/patch-type.js';

/** `{"team": "payments", "tier": null}`: sets and removes labels and can do nothing else. */
export const labelsPatch: PatchType = {
  for: 'all',
  read(text) {
    const wanted = readLabels(text);
    return { strict: [], apply: (current) => labelled(current, wanted), shown: goJson };
  },
};

function readLabels(text: PatchText): JsonObject {
  try {
    const { value } = text();
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
  }
  throw badRequest('a patch of labels is an object of names and values');
}

function labelled(current: JsonObject, wanted: JsonObject): JsonObject {
  const metadata = asObject(current['metadata']);
  const labels: Record<string, Json> = {};
  const merged = [...Object.entries(asObject(metadata['labels'])), ...Object.entries(wanted)];
  for (const [name, value] of new Map(merged)) if (value !== null) setMember(labels, name, value);
  return { ...current, metadata: { ...metadata, labels } };
}

const asObject = (value: Json | undefined): JsonObject => (value !== undefined && isObject(value) ? value : {});
