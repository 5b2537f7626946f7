import type { Domains } from '../api/domains.js';
import type { ParsedJson } from '../api/json-exact.js';
import { isObject, type JsonObject } from '../api/object.js';
import { runSync } from '../api/steps.js';
import type { Violation } from '../api/violations.js';
import { decodeText, typeMetaOf } from './decode.js';
import type { Schema } from './schema.js';

/**
 * Decodes a configuration file of Kubernetes, of one kind in any of the given versions. Unknown and repeated fields are
 * rejected.
 *
 * @throws Error with all decoding errors, in the words of the strict decoding of Kubernetes
 */
export function decodeConfiguration(
  schema: Schema,
  read: ParsedJson & { readonly format: 'yaml' },
  { kind, versions }: { readonly kind: string; readonly versions: readonly string[] },
): JsonObject {
  const typeMeta = isObject(read.value) ? typeMetaOf(read.exact) : { apiVersion: '', kind: '' };
  if (typeMeta.kind !== kind || !versions.includes(typeMeta.apiVersion)) {
    const found = `${typeMeta.kind || 'nothing'} of ${typeMeta.apiVersion || 'nothing'}`;
    throw new Error(`must be ${kind} of ${versions[0]}, not ${found}`);
  }
  const { value, strict } = runSync(decodeText(schema, read));
  if (strict.length > 0) throw new Error(`strict decoding error: ${strict.join(', ')}`);
  return value as JsonObject;
}

/** Returns the versions of kube-apiserver's configuration API, as files name them. */
export const configurationVersions = ({ api }: Domains, versions: readonly string[]): readonly string[] =>
  versions.map((version) => `apiserver.config.${api}/${version}`);

/** Throws Error with all violations of a configuration file, if any. */
export function checkConfiguration(violations: readonly Violation[]): void {
  if (violations.length > 0) throw new Error(violations.map(({ field, body }) => `${field}: ${body}`).join('; '));
}
