import type { JsonObject } from '../api/object.js';
import { oncePer } from '../api/once.js';

/**
 * Returns the names of the members of an object that does not change any more. Cached, because expressions may ask for
 * the size of a map or its first member repeatedly, and listing all names takes time proportional to their number.
 */
export const memberNames = oncePer((object: JsonObject): readonly string[] => Object.keys(object));
