import { trimSpace } from '../../api/go-text.js';
import type { Json } from '../../api/object.js';
import { duplicate, forbiddenField, invalid, required, type Violation } from '../../api/violations.js';
import type { Failure } from '../../cel/values.js';
import type { ValidationRule } from '../schema.js';

/** Returns the texts for validation rules that a value violates. */

/** Returns the text of a rule in errors: its message, or else the rule itself. */
export const ruleText = ({ rule, message }: ValidationRule): string => trimSpace(message ? message : rule);

/** Returns the error text for a rule whose evaluation failed. */
export const evaluationFailure = ({ message }: Failure, rule: ValidationRule): string =>
  message.startsWith('no such overload')
    ? `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${ruleText(rule)}`
    : `${message} evaluating rule: ${ruleText(rule)}`;

/** Returns the violation of a rule, with the reason that the rule gives. */
export function brokenRule(
  field: string,
  {
    quoted,
    detail,
    reason,
  }: {
    /** The value to quote; undefined for containers, which are not quoted. */
    readonly quoted: { readonly value: Json } | undefined;
    readonly detail: string;
    readonly reason: string | undefined;
  },
): Violation {
  switch (reason) {
    case 'FieldValueForbidden':
      return forbiddenField(field, detail);
    case 'FieldValueRequired':
      return required(field, detail);
    case 'FieldValueDuplicate':
      return quoted ? duplicate(field, quoted.value) : { reason, field, body: 'Duplicate value' };
    default:
      return quoted
        ? invalid(field, quoted.value, detail)
        : { reason: 'FieldValueInvalid', field, body: `Invalid value: ${detail}` };
  }
}
