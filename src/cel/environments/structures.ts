import { listOf, mapOf, string, type Type } from '../types.js';

/** Returns a structure type with this name and these fields. */
export const struct = (name: string, fields: Readonly<Record<string, Type>>): Type => ({
  kind: 'struct',
  name,
  fields: new Map(Object.entries(fields)),
});

/** The user of a request. */
export const userInfo = struct('kubernetes.UserInfo', {
  username: string,
  uid: string,
  groups: listOf(string),
  extra: mapOf(string, listOf(string)),
});
