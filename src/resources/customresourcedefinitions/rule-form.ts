import { trimSpace } from '../../api/go-text.js';
import { child, index, invalid, notSupportedTypedString, required, type Violation } from '../../api/violations.js';
import { followPath } from '../../schema/field-path.js';
import type { SchemaProps } from '../../schema/json-schema-props.js';
import type { ValidationRule } from '../../schema/schema.js';
import { notStructural } from '../../schema/structural.js';

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const hasLineBreak = (text: string): boolean => /[\n\r]/.test(text);

/** Validates the rules of a schema as far as possible without compiling them. */
export const ruleViolations = (schema: SchemaProps, path: string): readonly Violation[] =>
  (schema.validations ?? []).flatMap((rule, at) => [
    ...textViolations(rule, index(path, at)),
    ...(rule.reason !== undefined && !reasons.includes(rule.reason)
      ? [notSupportedTypedString(child(index(path, at), 'reason'), rule.reason, reasons)]
      : []),
    ...fieldPathViolations(rule, schema, child(index(path, at), 'fieldPath')),
  ]);

function textViolations(
  { rule, message = '', messageExpression = '' }: ValidationRule,
  path: string,
): readonly Violation[] {
  const found: Violation[] = [];
  const messageAt = child(path, 'message');
  if (trimSpace(rule) === '') found.push(required(child(path, 'rule'), 'rule is not specified'));
  else if (message !== '' && trimSpace(message) === '') {
    found.push(invalid(messageAt, message, 'must be non-empty if specified'));
  } else if (hasLineBreak(trimSpace(message))) {
    found.push(invalid(messageAt, message, 'must not contain line breaks'));
  } else if (hasLineBreak(trimSpace(rule)) && message === '') {
    found.push(required(messageAt, 'message must be specified if rule contains line breaks'));
  }
  if (messageExpression !== '' && trimSpace(messageExpression) === '') {
    found.push(required(child(path, 'messageExpression'), 'messageExpression must be non-empty if specified'));
  }
  return found;
}

function fieldPathViolations(
  { fieldPath = '' }: ValidationRule,
  schema: SchemaProps,
  path: string,
): readonly Violation[] {
  if (fieldPath === '') return [];
  return [
    ...(trimSpace(fieldPath) === '' ? [invalid(path, fieldPath, 'must be non-empty if specified')] : []),
    ...(hasLineBreak(fieldPath) ? [invalid(path, fieldPath, 'must not contain line breaks')] : []),
    ...(notStructural(schema) === undefined && typeof followPath(fieldPath, schema, { brackets: true }) === 'string'
      ? [invalid(path, fieldPath, 'must be a valid path')]
      : []),
  ];
}
