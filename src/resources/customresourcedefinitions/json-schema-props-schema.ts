import {
  anyJson,
  boolean,
  double,
  field,
  integer64,
  list,
  listMap,
  map,
  optional,
  string,
  structsOf,
} from '../../schema/builder.js';
import { type Keyword, keywords, ruleMembers, wireNames } from '../../schema/json-schema-props.js';
import type { Schema } from '../../schema/schema.js';

const apiextensions = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';
export const struct = structsOf(apiextensions);

/** Schema of JSONSchemaProps, which contains itself. */

/**
 * Returns the schema. Extensions are known under each of the prefixes, with the same field numbers; the first prefix is
 * the usual one. For values of one of two forms, the alternatives carry the numbers of the message that represents them
 * in protobuf.
 */
export function jsonSchemaPropsSchema(prefixes: readonly string[]): Schema {
  const properties = new Map<string, Schema>();
  const self: Schema = {
    type: 'object',
    properties,
    description: 'JSON schema, with extensions of Kubernetes.',
    wire: { go: 'v1.JSONSchemaProps', component: `${apiextensions}.JSONSchemaProps` },
  };
  for (const keyword of [...keywords].sort((a, b) => a.number - b.number)) {
    const [name = '', ...aliases] = wireNames(keyword, prefixes);
    const schema = ofKeyword(keyword, self);
    // Of members with the same number, protobuf is decoded into the last. Aliases are only encoded if they were given.
    const alias: Schema = { ...schema, wire: { ...schema.wire, presence: 'pointer' } };
    for (const other of aliases.reverse()) properties.set(other, alias);
    properties.set(name, schema);
  }
  return self;
}

const atomic = { listType: 'atomic' } as const;
const json: Schema = anyJson({ go: 'v1.JSON', sorted: true });
const union = (go: string, ...alternatives: readonly Schema[]): Schema => ({
  oneOf: alternatives,
  wire: { go, component: `${apiextensions}.${go.replace('v1.', '')}` },
});

const externalDocs = struct(
  'ExternalDocumentation',
  {
    description: field(1, string(), { description: 'Description of the documentation.' }),
    url: field(2, string(), { description: 'URL of the documentation.' }),
  },
  { description: 'Reference to external documentation.' },
);

const reason = {
  go: 'v1.FieldValueErrorReason',
  enum: ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'],
};

const rule = struct(
  'ValidationRule',
  Object.fromEntries(
    ruleMembers.map(({ member, number, pointer, flag, description }) => {
      const schema = flag ? boolean() : string(member === 'reason' ? reason : {});
      const presence = member === 'rule' ? 'always' : pointer ? 'pointer' : 'omitempty';
      return [member, field(number, schema, { presence, description })];
    }),
  ),
  { required: ['rule'], description: 'Validation rule in CEL.' },
);

/** Go's names of types, where the shape does not imply them. */
const goTypes: Readonly<Partial<Record<Keyword['member'], string>>> = {
  schema: 'v1.JSONSchemaURL',
  definitions: 'v1.JSONSchemaDefinitions',
  dependencies: 'v1.JSONSchemaDependencies',
};

function ofKeyword({ member, number, shape, description }: Keyword, self: Schema): Schema {
  const go = goTypes[member];
  const more = { description, ...(go === undefined ? {} : { go }) };
  switch (shape) {
    case 'text':
      return field(number, string(), more);
    case 'pointer to text':
      return optional(number, string(), more);
    case 'flag':
      return field(number, boolean(), more);
    case 'pointer to flag':
      return optional(number, boolean(), more);
    case 'integer':
      return optional(number, integer64(), more);
    case 'number':
      return optional(number, double(), more);
    case 'json':
      return optional(number, json, more);
    case 'jsons':
      return field(number, list(json, atomic), more);
    case 'texts':
      return field(number, list(string(), atomic), more);
    case 'schema':
      return optional(number, self, more);
    case 'schemas':
      return field(number, list(self, atomic), more);
    case 'schemas by name':
      return field(number, map(self), more);
    case 'schema or many':
      return optional(number, union('v1.JSONSchemaPropsOrArray', field(1, self), field(2, list(self))), more);
    case 'schema or bool':
      return optional(number, union('v1.JSONSchemaPropsOrBool', field(2, self), field(1, boolean())), more);
    case 'schema or names by name':
      return field(
        number,
        map(union('v1.JSONSchemaPropsOrStringArray', field(1, self), field(2, list(string())))),
        // Not supported, and rejected even if empty.
        { ...more, keepsEmpty: true },
      );
    case 'docs':
      return optional(number, externalDocs, more);
    case 'rules':
      return field(number, listMap(rule, ['rule'], { go: 'v1.ValidationRules' }), more);
  }
}
