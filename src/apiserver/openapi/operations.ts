import type { ApiObject } from '../../api/object.js';
import { compareText } from '../../api/text-order.js';
import type { ResourceDefinition, Subresource, Verb } from '../../registry/resource-definition.js';
import { verbsOfSubresource } from '../../registry/subresource.js';
import type { Schema } from '../../schema/schema.js';
import { verbsOf } from '../discovery.js';

/** An operation on a resource, independent of the version of OpenAPI. */
export interface Operation {
  readonly path: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** The value of `x-kubernetes-action`. */
  readonly action: 'get' | 'list' | 'post' | 'put' | 'patch' | 'delete' | 'deletecollection' | 'watch' | 'watchlist';
  readonly id: string;
  readonly tag: string;
  readonly description: string;
  readonly gvk: { readonly group: string; readonly version: string; readonly kind: string };
  readonly origin: ResourceDefinition['origin'];
  readonly body?: RequestSchema;
  readonly answer: ResponseSchema;
  readonly codes: readonly (200 | 201 | 202)[];
  /** The names of the query parameters, except `pretty`, which all operations have. */
  readonly query: readonly QueryParameter[];
}

/** The schema of a request body: an object, a patch or the options of a deletion. */
export type RequestSchema =
  | { readonly type: 'object'; readonly schema: KindSchema }
  | { readonly type: 'patch' }
  | { readonly type: 'delete-options' };
/** The schema of a response. */
export type ResponseSchema =
  | { readonly type: 'object' | 'list'; readonly schema: KindSchema }
  | { readonly type: 'status' | 'watch-event' };

/** A schema with the kind that it describes. */
export interface KindSchema {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind?: string;
  readonly schema: Schema;
  readonly origin: ResourceDefinition['origin'];
}

export type QueryParameter = keyof typeof queryParameters;

/** Types and descriptions of the query parameters. */
export const queryParameters = {
  pretty: { type: 'string', description: 'If true, the response is indented for reading.' },
  dryRun: { type: 'string', description: 'All: process the request in full, but do not persist the result.' },
  fieldManager: { type: 'string', description: 'Name under which the ownership of the fields written is recorded.' },
  fieldValidation: {
    type: 'string',
    description: 'Handling of unknown and duplicate fields: Ignore, Warn (the default) or Strict.',
  },
  force: {
    type: 'boolean',
    description: 'Take over fields that other managers own instead of reporting conflicts. Only for apply.',
  },
  gracePeriodSeconds: { type: 'integer', description: 'Seconds before the object is deleted.' },
  ignoreStoreReadErrorWithClusterBreakingPotential: {
    type: 'boolean',
    description: 'Delete the object even if it cannot be read from storage.',
  },
  orphanDependents: { type: 'boolean', description: 'Deprecated: use propagationPolicy.' },
  propagationPolicy: { type: 'string', description: 'How dependents are deleted: Orphan, Background or Foreground.' },
  allowWatchBookmarks: { type: 'boolean', description: 'Allow the server to send bookmark events in a watch.' },
  continue: { type: 'string', description: 'Token of the next page, from the metadata of the previous one.' },
  fieldSelector: { type: 'string', description: 'Selector that restricts the returned objects by their fields.' },
  labelSelector: { type: 'string', description: 'Selector that restricts the returned objects by their labels.' },
  limit: { type: 'integer', description: 'Maximum number of objects in one response.' },
  resourceVersion: {
    type: 'string',
    description: 'Resource version that constrains how recent the returned data must be.',
  },
  resourceVersionMatch: {
    type: 'string',
    description: 'How resourceVersion is applied to lists: Exact or NotOlderThan.',
  },
  sendInitialEvents: {
    type: 'boolean',
    description: 'Start a watch with events for all existing objects, followed by a bookmark.',
  },
  shardSelector: {
    type: 'string',
    description: 'Expression that restricts the returned objects to ranges of a hash, such as that of the UID.',
  },
  timeoutSeconds: { type: 'integer', description: 'Maximum duration of a list or watch call, in seconds.' },
  watch: { type: 'boolean', description: 'Watch for changes and return a stream of events instead of a list.' },
} as const satisfies Readonly<
  Record<string, { readonly type: 'string' | 'boolean' | 'integer'; readonly description: string }>
>;

const write = ['dryRun', 'fieldManager', 'fieldValidation'] as const;
const selection = [
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'shardSelector',
  'timeoutSeconds',
  'watch',
] as const;
const deletion = [
  'dryRun',
  'gracePeriodSeconds',
  'ignoreStoreReadErrorWithClusterBreakingPotential',
  'orphanDependents',
  'propagationPolicy',
] as const;

/** Returns every operation of a resource and its subresources. */
export function operationsOf(definition: ResourceDefinition): readonly Operation[] {
  const { group, version, plural, namespaced } = definition;
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const paths = { root, scope: namespaced ? '/namespaces/{namespace}' : '', plural };
  const finish = finisher(definition);
  return [
    ...ownOperations(definition, paths),
    ...Object.entries(definition.subresources ?? {}).flatMap(([name, subresource]) =>
      subresourceOperations(definition, { path: `${itemOf(paths)}/${name}`, name }, subresource),
    ),
    ...watchOperations(definition, paths),
  ].map(finish);
}

interface Paths {
  readonly root: string;
  readonly scope: string;
  readonly plural: string;
}

const itemOf = ({ root, scope, plural }: Paths): string => `${root}${scope}/${plural}/{name}`;

/**
 * An operation without the members that depend on the resource. `of` is its kind, if it differs from that of the
 * resource.
 */
type Part = Omit<Operation, 'tag' | 'gvk' | 'origin' | 'codes' | 'body'> & {
  readonly body?: RequestSchema | undefined;
  readonly of?: KindSchema;
};

const nameIn = ({ namespaced, kind }: ResourceDefinition): string => `${namespaced ? 'Namespaced' : ''}${kind}`;

function ownOperations(definition: ResourceDefinition, { root, scope, plural }: Paths): readonly Part[] {
  const { kind, namespaced } = definition;
  const isCustom = definition.origin === 'custom';
  const name = nameIn(definition);
  const path = `${root}${scope}/${plural}`;
  const object = { type: 'object', schema: definition } as const;
  const list = {
    method: 'get',
    action: 'list',
    description: `list or watch objects of kind ${kind}`,
    answer: { type: 'list', schema: definition },
    query: selection,
  } as const;
  const own: readonly (Part & { readonly verb: Verb })[] = [
    { verb: 'list', ...list, path, id: `list${name}` },
    {
      verb: 'create',
      path,
      method: 'post',
      action: 'post',
      id: `create${name}`,
      description: `create ${aOrAn(kind)}`,
      answer: object,
      query: write,
      body: object,
    },
    {
      verb: 'deletecollection',
      path,
      method: 'delete',
      action: 'deletecollection',
      id: `deleteCollection${name}`,
      description: `delete collection of ${kind}`,
      answer: { type: 'status' },
      query: isCustom ? selection : selectionToDelete,
      body: isCustom ? undefined : { type: 'delete-options' },
    },
    ...itemOperations(`${path}/{name}`, { id: name, what: `the specified ${kind}` }, object, readQuery(definition)),
    {
      verb: 'delete',
      path: `${path}/{name}`,
      method: 'delete',
      action: 'delete',
      id: `delete${name}`,
      description: `delete ${aOrAn(kind)}`,
      answer: definition.returnsDeleted === true ? object : { type: 'status' },
      query: deletion,
      body: { type: 'delete-options' },
    },
    ...(namespaced
      ? [{ verb: 'list' as const, ...list, path: `${root}/${plural}`, id: `list${kind}ForAllNamespaces` }]
      : []),
  ];
  const served = verbsOf(definition);
  return own.filter(({ verb }) => served.includes(verb)).map(({ verb: _, ...part }) => part);
}

/** Returns the operations that read and change one object, or a subresource of it. */
const itemOperations = (
  path: string,
  { id, what }: { readonly id: string; readonly what: string },
  object: ResponseSchema & RequestSchema & { readonly type: 'object' },
  query: readonly QueryParameter[],
): readonly (Part & { readonly verb: Verb })[] => [
  {
    verb: 'get',
    path,
    method: 'get',
    action: 'get',
    id: `read${id}`,
    description: `read ${what}`,
    answer: object,
    query,
  },
  {
    verb: 'update',
    path,
    method: 'put',
    action: 'put',
    id: `replace${id}`,
    description: `replace ${what}`,
    answer: object,
    query: write,
    body: object,
  },
  {
    verb: 'patch',
    path,
    method: 'patch',
    action: 'patch',
    id: `patch${id}`,
    description: `partially update ${what}`,
    answer: object,
    query: [...write, 'force'],
    body: { type: 'patch' },
  },
];

/** Returns the query parameters for reading one object. As in Kubernetes, only custom resources list them. */
const readQuery = ({ origin }: Pick<KindSchema, 'origin'>): readonly QueryParameter[] =>
  origin === 'custom' ? ['resourceVersion'] : [];

const selectionToDelete = [
  ...selection.filter((name) => name !== 'allowWatchBookmarks' && name !== 'watch'),
  ...deletion,
].sort(compareText);

const codesOf: Partial<Record<Operation['action'], Operation['codes']>> = {
  post: [200, 201, 202],
  put: [200, 201],
  patch: [200, 201],
  delete: [200, 202],
};

/** Returns a function that adds the members that depend on the resource. */
function finisher(definition: ResourceDefinition): (part: Part) => Operation {
  const { group, version, kind, origin } = definition;
  const own = { group, version, kind };
  const name = groupName(group);
  const qualified = `${capital(name)}${capital(version)}`;
  const tag = `${name}_${version}`;
  return ({ path, method, action, id, description, answer, query, body, of = definition }) => ({
    path,
    method,
    action,
    id: id.replace(/^[a-z]+(?=[A-Z])/, (verb) => verb + qualified),
    tag,
    description,
    gvk: origin === 'custom' ? own : { group: of.group, version: of.version, kind: of.kind },
    origin,
    ...(body === undefined ? {} : { body }),
    answer,
    codes: (origin === 'custom' && action === 'patch' ? undefined : codesOf[action]) ?? [200],
    query,
  });
}

function subresourceOperations(
  definition: ResourceDefinition,
  { path, name }: { readonly path: string; readonly name: string },
  subresource: Subresource<ApiObject>,
): readonly Part[] {
  const id = `${nameIn(definition)}${capital(name)}`;
  const what = `${name} of the specified ${definition.kind}`;
  if (subresource.type === 'action') {
    const of: KindSchema = { ...subresource.request, origin: definition.origin };
    const object = { type: 'object', schema: of } as const;
    const description = `create ${what}`;
    const create = { path, method: 'post', action: 'post', id: `create${id}` } as const;
    return [{ ...create, description, answer: object, query: write, body: object, of }];
  }
  const of: KindSchema = subresource.type === 'projection' ? { ...subresource.of, origin: 'built-in' } : definition;
  const verbs = verbsOfSubresource(subresource);
  return itemOperations(path, { id, what }, { type: 'object', schema: of }, readQuery(definition))
    .filter(({ verb }) => verbs.includes(verb))
    .map(({ verb: _, ...part }) => ({ ...part, of }));
}

/** Returns the operations of the deprecated watch paths. */
function watchOperations(definition: ResourceDefinition, { root, scope, plural }: Paths): readonly Part[] {
  if (definition.origin === 'custom' || !verbsOf(definition).includes('watch')) return [];
  const { kind, namespaced } = definition;
  const name = nameIn(definition);
  const path = `${root}/watch${scope}/${plural}`;
  const shared = { method: 'get', answer: { type: 'watch-event' }, query: selection } as const;
  const many = {
    ...shared,
    action: 'watchlist',
    description: `watch changes to a list of ${kind}. Deprecated: use the watch parameter of a list.`,
  } as const;
  const description = `watch changes to one ${kind}. Deprecated: use the watch parameter of a list with a fieldSelector.`;
  return [
    { ...many, path, id: `watch${name}List` },
    { ...shared, action: 'watch', description, path: `${path}/{name}`, id: `watch${name}` },
    ...(namespaced ? [{ ...many, path: `${root}/watch/${plural}`, id: `watch${kind}ListForAllNamespaces` }] : []),
  ];
}

const capital = (text: string): string => text.replace(/^./, (first) => first.toUpperCase());
const aOrAn = (kind: string): string => `${/^[AEIOU]/.test(kind) ? 'an' : 'a'} ${kind}`;

/** Returns a group as operation IDs name it: `core`, `rbacAuthorization`, `stableExampleCom`. */
function groupName(group: string): string {
  if (group === '') return 'core';
  const [first = '', ...rest] = group.replace(/\.k8s\.io$/, '').split(/[.-]/);
  return first + rest.map(capital).join('');
}
