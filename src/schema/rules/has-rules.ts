import { someSubschema } from '../some-subschema.js';

/** Whether a schema, or one within it, has rules. */
export const hasRules = someSubschema(({ validations = [] }) => validations.length > 0);
