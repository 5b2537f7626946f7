import { someSubschema } from '../some-subschema.js';

/** Has a schema rules, or one within it? */
export const hasRules = someSubschema(({ validations = [] }) => validations.length > 0);
