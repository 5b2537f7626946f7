import type { JsonObject } from '../api/object.js';
import { oncePer } from '../api/once.js';

/**
 * Returns the names of the members of an object that no longer changes. They are cached, because expressions may
 * request the size of a map or its first member repeatedly, and listing all names takes time in proportion to their
 * number.
 */
export const memberNames = oncePer((object: JsonObject): readonly string[] => Object.keys(object));
