import { isObject, type Json, type JsonObject } from '../api/object.js';
import type { ApplyContext } from './write-context.js';

/** Formats the names of kinds and objects in errors of apply. */

export const kindText = ({ group, version, kind }: ApplyContext['kind']): string => `${group}/${version}, Kind=${kind}`;

/** Returns the kind that a configuration names: `<group>/<version>, Kind=<kind>`. */
export function kindOf(config: JsonObject): string {
  const apiVersion = textOf(config['apiVersion']);
  const parts = apiVersion.split('/');
  if (parts.length > 2) return '/, Kind=';
  const [group = '', version = ''] = parts.length === 2 ? parts : ['', apiVersion];
  return kindText({ group, version, kind: textOf(config['kind']) });
}

/** Returns the name of an object in errors: `<namespace>/<name>; <group>/<version>, Kind=<kind>`. */
export function objectName(config: JsonObject): string {
  const metadata = isObject(config['metadata']) ? config['metadata'] : {};
  return `${textOf(metadata['namespace'])}/${textOf(metadata['name'])}; ${kindOf(config)}`;
}
const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
