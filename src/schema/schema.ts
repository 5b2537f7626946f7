import type { Json } from '../api/object.js';

/**
 * One schema says everything about a value: type, default, enum, format, list and map type, merge keys, and for
 * built-in kinds the facts of their wire form. Validation, pruning, defaulting, strategic merge, server-side apply,
 * OpenAPI, explain and the protobuf codec all read it. A built-in kind builds its schema with `builder.ts`; a custom
 * resource's is read from its CustomResourceDefinition by `structural.ts`. Nothing else tells them apart.
 *
 * Names of members are JSON Schema's; of extensions, those of the `x-kubernetes-` family without their prefix.
 */
export interface Schema {
  /** Absent: any value. */
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly format?: string;
  readonly title?: string;
  readonly description?: string;

  /** Known members. A Map because names come from users: `__proto__` is a name like any other. */
  readonly properties?: ReadonlyMap<string, Schema>;
  /** Schema of the members that `properties` does not name; `true` for any. */
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly nullable?: boolean;
  /** `undefined` means none; `null` is a default. */
  readonly default?: Json | undefined;

  readonly enum?: readonly Json[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  /** In code points. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** RE2 syntax. */
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly example?: Json;
  readonly externalDocs?: { readonly description?: string; readonly url?: string };

  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  readonly mapType?: 'granular' | 'atomic';
  readonly preserveUnknownFields?: boolean;
  readonly embeddedResource?: boolean;
  readonly intOrString?: boolean;
  readonly validations?: readonly ValidationRule[];

  /** Strategic merge of a list: `merge` by this key (absent key: a list of primitives merged as a set). */
  readonly patchMergeKey?: string;
  readonly patchStrategy?: 'merge' | 'replace' | 'retainKeys' | 'merge,retainKeys';

  /** Facts of a built-in kind's wire form; absent in custom resources. */
  readonly wire?: WireFacts;
}

/** Keywords of JSON Schema with no schemas in their values, in the order in which they are published. */
export const plainKeywords = [
  'description',
  'title',
  'type',
  'format',
  'default',
  'nullable',
  'enum',
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'required',
  'example',
  'externalDocs',
] as const satisfies readonly (keyof Schema)[];

/** A CEL rule of a node (`x-kubernetes-validations[]`). */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** What Go types and generated protobuf say of a built-in field beyond JSON Schema. */
export interface WireFacts {
  /** Protobuf field number within the enclosing message; absent at the root of a kind. */
  readonly number?: number;
  /**
   * Go type as decoding errors print it, e.g. `[]v1.KeyUsage`; derived from the schema when absent.
   * For structs the qualified name, e.g. `v1.CertificateSigningRequestSpec`.
   */
  readonly go?: string;
  /** Any JSON that Go reads into values of its own, so that members come back sorted; other raw JSON stays as it came. */
  readonly sorted?: true;
  /** Name of the OpenAPI component of a struct, e.g. `io.k8s.api.core.v1.ConfigMap`. */
  readonly component?: string;
  /** Description of a struct by itself, where a field of its type has another. */
  readonly description?: string;
  /**
   * When the member is written. `omitempty`: left out when empty (zero number, false, "", no items; the default for
   * everything but structs). `pointer`: left out only when absent, zero values stay. `always`: written even when
   * absent, as the zero value (null for lists, maps and times). Structs default to `always`. `null`: a pointer that is
   * written as null when absent.
   */
  readonly presence?: 'omitempty' | 'pointer' | 'always' | 'null';
  /** No items, if sent, are something else than nothing: kept by decoding, though never written. */
  readonly keepsEmpty?: boolean;
  /** A default that Go code fills in, so that OpenAPI does not tell of it. */
  readonly fills?: Json;
  /** Do not write on output; e.g. `stringData`. */
  readonly writeOnly?: boolean;
  /**
   * The embedded struct that carries this field, where Go embeds one whose fields JSON shows inline, and its protobuf
   * number: `webhooks[].rules[].apiGroups` travels as field 1 of the message in field 2, and Go's errors name it
   * `webhooks.rules.Rule.apiGroups`. The struct may be embedded in another one again, which is the one that is given.
   */
  readonly within?: Within;
  /** Of a list: in protobuf it is a message of its own with the items in field 1 (`ExtraValue`, `Verbs`). */
  readonly wrapped?: boolean;
}

/** An embedded struct that carries a field; `within`: the struct that is embedded in it and does. */
interface Within {
  readonly number: number;
  readonly struct: string;
  readonly within?: Within;
}
