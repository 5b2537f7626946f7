import type { JsonObject } from '../api/object.js';
import { oncePer } from '../api/once.js';

/**
 * Names of the members of an object that does not change any more. Expressions ask for the size of a map or for its first
 * member as often as they like, and finding all names takes longer the more there are.
 */
export const memberNames = oncePer((object: JsonObject): readonly string[] => Object.keys(object));
