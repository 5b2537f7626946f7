import type { Json } from '../api/object.js';

/**
 * A schema holds everything about a value: type, default, enum, format, list and map type, merge keys, and for built-in
 * kinds the facts of their wire form. Validation, pruning, defaulting, strategic merge, server-side apply, OpenAPI,
 * explain and the protobuf codec all read it. A built-in kind builds its schema with `builder.ts`; that of a custom
 * resource is read from its CustomResourceDefinition by `structural.ts`. There is no other difference between them.
 *
 * Members are named as in JSON Schema; extensions have the names of the `x-kubernetes-` family without the prefix.
 */
export interface Schema {
  /** The type; absent if any value is allowed. */
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly format?: string;
  readonly title?: string;
  readonly description?: string;

  /** The known members. A Map, because names come from users: `__proto__` is a name like any other. */
  readonly properties?: ReadonlyMap<string, Schema>;
  /** The schema of members that `properties` does not name; `true` allows any. */
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly nullable?: boolean;
  /** The default; undefined if there is none, whereas null is a default. */
  readonly default?: Json | undefined;

  readonly enum?: readonly Json[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  /** The minimum length in code points. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** The pattern, in the syntax of RE2. */
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

  /**
   * The key of the items of a list that strategic merge patch merges. Without a key, a list of primitives is merged as
   * a set.
   */
  readonly patchMergeKey?: string;
  readonly patchStrategy?: 'merge' | 'replace' | 'retainKeys' | 'merge,retainKeys';

  /** The properties of the wire form of a built-in kind; absent in custom resources. */
  readonly wire?: WireFacts;
}

/** Keywords of JSON Schema whose values contain no schemas, in the order in which they are published. */
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

/** Properties of a built-in field that Go types and generated protobuf have beyond JSON Schema. */
export interface WireFacts {
  /** The protobuf field number in the enclosing message; absent at the root of a kind. */
  readonly number?: number;
  /**
   * The Go type as decoding errors print it, such as `[]v1.KeyUsage`; by default derived from the schema. For structs
   * the qualified name, such as `v1.CertificateSigningRequestSpec`.
   */
  readonly go?: string;
  /**
   * True for JSON of any form that Go decodes into values of its own, which sorts the members. Other raw JSON is kept
   * as it is.
   */
  readonly sorted?: true;
  /** The name of the OpenAPI component of a struct, such as `io.k8s.api.core.v1.ConfigMap`. */
  readonly component?: string;
  /** The description of the struct itself, if a field of its type has another one. */
  readonly description?: string;
  /**
   * When the member is written. `omitempty`: omitted when it is empty (zero number, false, "", no items; the default
   * for everything but structs). `pointer`: omitted only when it is absent; zero values are kept. `always`: written
   * even when it is absent, as the zero value (null for lists, maps and times); the default for structs. `null`: a
   * pointer that is written as null when it is absent.
   */
  readonly presence?: 'omitempty' | 'pointer' | 'always' | 'null';
  /**
   * Whether decoding keeps a list that was sent empty, because it differs from an absent one. An empty list is never
   * written.
   */
  readonly keepsEmpty?: boolean;
  /** A default that Go code sets and OpenAPI does not show. */
  readonly fills?: Json;
  /** Whether the member is never written, such as `stringData`. */
  readonly writeOnly?: boolean;
  /**
   * The embedded struct that carries this field, if Go embeds one whose fields JSON shows inline, with its protobuf
   * number: `webhooks[].rules[].apiGroups` travels as field 1 of the message in field 2, and Go's errors name it
   * `webhooks.rules.Rule.apiGroups`. If that struct is embedded in another one again, this is the outer one.
   */
  readonly within?: EmbeddedIn;
  /** True for a list that in protobuf is a message of its own with the items in field 1 (`ExtraValue`, `Verbs`). */
  readonly wrapped?: boolean;
}

/** An embedded struct that carries a field. `within` is a further struct, embedded in this one, that carries it. */
interface EmbeddedIn {
  readonly number: number;
  readonly struct: string;
  readonly within?: EmbeddedIn;
}
