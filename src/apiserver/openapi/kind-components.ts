import type { JsonObject } from '../../api/object.js';
import { statusSchema } from '../../resources/status-schema.js';
import { anyJson, field, string, struct } from '../../schema/builder.js';
import { deleteOptions, listMeta, objectMeta, typeMeta } from '../../schema/meta.js';
import { servedPatchTypes } from '../patch/index.js';
import { type Components, extensionPrefix } from './components.js';
import type { KindSchema, RequestSchema, ResponseSchema } from './operations.js';

/** Components for kinds, their lists, and the other bodies of requests and responses. */

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.';

const gvkMember = `${extensionPrefix}group-version-kind`;
const gvkExtension = (group: string, version: string, kind: string): JsonObject => ({
  [gvkMember]: [{ group, kind, version }],
});

/** Returns the component name of a custom kind, with the group reversed: `com.example.v1.Foo`. */
const customName = (group: string, version: string, kind: string): string =>
  [...group.split('.').reverse(), version, kind].filter((part) => part !== '').join('.');

/** Adds a kind and returns the name of its component. */
function kindComponent(components: Components, of: KindSchema): string {
  const { group, version, kind, schema, origin } = of;
  const extension = gvkExtension(group, version, kind);
  if (origin === 'built-in') {
    const name = schema.wire?.component ?? customName(group, version, kind);
    return components.add(name, () => components.struct(schema, extension));
  }
  return components.add(customName(group, version, kind), () => customKind(components, of, extension));
}

function customKind(components: Components, { schema }: KindSchema, extension: JsonObject): JsonObject {
  // Clients of OpenAPI 2 take the listed members for all that exist, even if unknown ones are allowed.
  if (components.dialect.version === 2 && schema.preserveUnknownFields === true)
    return { type: 'object', ...extension };
  components.nameOf(objectMeta);
  const otherProperties = new Map(
    [...(schema.properties ?? [])].filter(([name]) => name !== 'metadata' && !(name in typeMeta)),
  );
  const rendered = components.custom({ ...schema, type: 'object', properties: otherProperties });
  const { properties, ...others } = rendered;
  return {
    ...others,
    type: 'object',
    properties: {
      ...typeMetaProperties(components),
      metadata: components.metadata({
        description: "Standard object's metadata: name, namespace, labels, versions and timestamps.",
      }),
      ...((properties as JsonObject | undefined) ?? {}),
    },
    ...extension,
  };
}

const typeMetaProperties = (components: Components): JsonObject =>
  Object.fromEntries(Object.entries(typeMeta).map(([name, schema]) => [name, components.member(schema)]));

/** Adds the list of a kind and returns the name of its component. */
function listComponent(components: Components, of: KindSchema): string {
  const { group, version, kind, origin } = of;
  const listKind = of.listKind ?? `${kind}List`;
  const item = kindComponent(components, of);
  const name = origin === 'custom' ? customName(group, version, listKind) : item.replace(/[^.]*$/, listKind);
  return components.add(name, () => {
    const metadata = components.member(
      field(1, listMeta, {
        description: 'Standard list metadata: the resource version of the list and the token of its next page.',
      }),
    );
    const { default: _, ...customMetadata } = metadata;
    const usual = origin === 'built-in' && components.dialect.version === 3 ? { default: {} } : {};
    return {
      description: `${listKind} is a list of ${kind}.`,
      properties: {
        ...typeMetaProperties(components),
        items: { description: 'List of objects.', items: components.describedReference(item, usual), type: 'array' },
        metadata: origin === 'custom' ? customMetadata : metadata,
      },
      required: ['items'],
      type: 'object',
      ...gvkExtension(group, version, listKind),
    };
  });
}

/** The extension of a kind that belongs to every group: it names the core group and that of the document. */
const everywhere = ({ owner }: Components, kind: string): JsonObject => ({
  [gvkMember]: [{ group: '', version: 'v1' }, ...(owner?.group ? [owner] : [])].map(({ group, version }) => ({
    group,
    kind,
    version,
  })),
});

const watchEvent = struct(
  'v1.WatchEvent',
  {
    type: field(1, string(), {
      presence: 'always',
      description: 'Type of the event: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.',
    }),
    object: field(2, anyJson(), {
      presence: 'always',
      description: 'The object after the change; for DELETED, its last state; for ERROR, a Status.',
    }),
  },
  { required: ['type', 'object'], description: 'One event of a watch.', component: `${meta}WatchEvent` },
);

/** Adds the schema of a response and returns the name of its component. */
export function answerComponent(components: Components, answer: ResponseSchema): string {
  switch (answer.type) {
    case 'object':
      return kindComponent(components, answer.schema);
    case 'list':
      return listComponent(components, answer.schema);
    case 'status':
      return components.add(`${meta}Status`, () => components.struct(statusSchema, gvkExtension('', 'v1', 'Status')));
    case 'watch-event':
      return components.add(`${meta}WatchEvent`, () =>
        components.struct(watchEvent, everywhere(components, 'WatchEvent')),
      );
  }
}

/** Adds the schema of a request body and returns the name of its component. */
export function bodyComponent(components: Components, body: RequestSchema): string {
  switch (body.type) {
    case 'object':
      return kindComponent(components, body.schema);
    case 'patch':
      return components.add(`${meta}Patch`, () => ({
        description: 'Patch in the format that the Content-Type header names.',
        type: 'object',
      }));
    case 'delete-options':
      return components.add(`${meta}DeleteOptions`, () =>
        components.struct(deleteOptions, everywhere(components, 'DeleteOptions')),
      );
  }
}

/** Returns the media types of a request body. */
export function bodyMediaTypes(origin: KindSchema['origin'], body: RequestSchema | undefined): readonly string[] {
  if (body?.type !== 'patch') return origin === 'custom' ? ['application/json', 'application/yaml'] : ['*/*'];
  return servedPatchTypes(origin);
}

const protobuf = 'application/vnd.kubernetes.protobuf';

/** Returns the media types of a response. */
export function answerMediaTypes(origin: KindSchema['origin'], answer: ResponseSchema): readonly string[] {
  const streams = answer.type === 'list' || answer.type === 'watch-event';
  const types = ['application/json', 'application/yaml', ...(origin === 'built-in' ? [protobuf] : [])];
  if (origin === 'custom' || !streams) return types;
  return [...types, 'application/json;stream=watch', `${protobuf};stream=watch`];
}
