import { somewhere } from '../somewhere.js';

/** Has a schema rules, or one within it? */
export const hasRules = somewhere(({ validations = [] }) => validations.length > 0);
