import type { ApiObject } from '../../api/object.js';
import { compareText } from '../../api/text-order.js';
import type { ResourceDefinition, Subresource, Verb } from '../../registry/resource-definition.js';
import { verbsOfSubresource } from '../../registry/subresource.js';
import type { Schema } from '../../schema/schema.js';

/** What can be done with a resource, in words of neither version of OpenAPI. */
export interface Operation {
  readonly path: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** `x-kubernetes-action`. */
  readonly action: 'get' | 'list' | 'post' | 'put' | 'patch' | 'delete' | 'deletecollection' | 'watch' | 'watchlist';
  readonly id: string;
  readonly tag: string;
  readonly description: string;
  readonly gvk: { readonly group: string; readonly version: string; readonly kind: string };
  readonly origin: ResourceDefinition['origin'];
  readonly body?: BodyOf;
  readonly answer: AnswerOf;
  readonly codes: readonly (200 | 201 | 202)[];
  /** Names of query parameters; `pretty` is understood everywhere. */
  readonly query: readonly QueryParameter[];
}

/** What is sent: an object, a patch, options of a deletion. */
export type BodyOf =
  | { readonly type: 'object'; readonly schema: Described }
  | { readonly type: 'patch' }
  | { readonly type: 'delete-options' };
/** What is answered. */
export type AnswerOf =
  | { readonly type: 'object' | 'list'; readonly schema: Described }
  | { readonly type: 'status' | 'watch-event' };

/** A schema and the kind it is of. */
export interface Described {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind?: string;
  readonly schema: Schema;
  readonly origin: ResourceDefinition['origin'];
}

export type QueryParameter = keyof typeof queryParameters;

/** Parameters of URLs: what they are of, and what for. */
export const queryParameters = {
  pretty: { type: 'string', description: 'Answer in lines and with blanks.' },
  dryRun: { type: 'string', description: 'All: do everything but store.' },
  fieldManager: { type: 'string', description: 'Who is to be remembered as manager of the fields written.' },
  fieldValidation: {
    type: 'string',
    description: 'What to do about unknown and repeated fields: Ignore, Warn (the default) or Strict.',
  },
  force: { type: 'boolean', description: 'Take fields from other managers instead of failing; for apply only.' },
  gracePeriodSeconds: { type: 'integer', description: 'Seconds before the object goes.' },
  ignoreStoreReadErrorWithClusterBreakingPotential: {
    type: 'boolean',
    description: 'Delete even what cannot be read.',
  },
  orphanDependents: { type: 'boolean', description: 'Deprecated: use propagationPolicy.' },
  propagationPolicy: { type: 'string', description: 'Orphan, Background or Foreground.' },
  allowWatchBookmarks: { type: 'boolean', description: 'Send bookmarks in a watch.' },
  continue: { type: 'string', description: 'Token of the next page, from the page before.' },
  fieldSelector: { type: 'string', description: 'Restricts the objects by their fields.' },
  labelSelector: { type: 'string', description: 'Restricts the objects by their labels.' },
  limit: { type: 'integer', description: 'Greatest number of objects in one page.' },
  resourceVersion: { type: 'string', description: 'Version the answer must be at, or not older than.' },
  resourceVersionMatch: { type: 'string', description: 'How resourceVersion is meant: Exact or NotOlderThan.' },
  sendInitialEvents: { type: 'boolean', description: 'Begin a watch with the present state.' },
  shardSelector: { type: 'string', description: 'Restricts the objects to ranges of hashes.' },
  timeoutSeconds: { type: 'integer', description: 'Longest duration of a watch.' },
  watch: { type: 'boolean', description: 'Answer changes as they happen instead of a list.' },
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

const allVerbs: readonly Verb[] = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];

/** Every operation of a resource and its subresources. */
export function operationsOf(definition: ResourceDefinition): readonly Operation[] {
  const { group, version, plural, kind, namespaced } = definition;
  const verbs = new Set(definition.verbs ?? allVerbs);
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope = namespaced ? '/namespaces/{namespace}' : '';
  const collection = `${root}${scope}/${plural}`;
  const item = `${collection}/{name}`;
  const self: Described = definition;
  const object = { type: 'object', schema: self } as const;
  const list = { type: 'list', schema: self } as const;
  const make = maker(definition);
  const namespacedKind = `${namespaced ? 'Namespaced' : ''}${kind}`;
  const isCustom = definition.origin === 'custom';

  return [
    ...(verbs.has('list')
      ? [
          make(
            collection,
            'get',
            'list',
            `list${namespacedKind}`,
            `list or watch objects of kind ${kind}`,
            list,
            selection,
          ),
        ]
      : []),
    ...(verbs.has('create')
      ? [make(collection, 'post', 'post', `create${namespacedKind}`, `create ${aOrAn(kind)}`, object, write, object)]
      : []),
    ...(verbs.has('deletecollection')
      ? [
          make(
            collection,
            'delete',
            'deletecollection',
            `deleteCollection${namespacedKind}`,
            `delete collection of ${kind}`,
            { type: 'status' },
            isCustom
              ? selection
              : [...selection.filter((name) => name !== 'allowWatchBookmarks' && name !== 'watch'), ...deletion].sort(
                  compareText,
                ),
            isCustom ? undefined : { type: 'delete-options' },
          ),
        ]
      : []),
    ...(verbs.has('get')
      ? [make(item, 'get', 'get', `read${namespacedKind}`, `read the specified ${kind}`, object, readQuery(definition))]
      : []),
    ...(verbs.has('update')
      ? [make(item, 'put', 'put', `replace${namespacedKind}`, `replace the specified ${kind}`, object, write, object)]
      : []),
    ...(verbs.has('patch')
      ? [patchOf(make, item, `patch${namespacedKind}`, `partially update the specified ${kind}`, object)]
      : []),
    ...(verbs.has('delete')
      ? [
          make(
            item,
            'delete',
            'delete',
            `delete${namespacedKind}`,
            `delete ${aOrAn(kind)}`,
            definition.answersDeleted === true ? object : { type: 'status' },
            deletion,
            { type: 'delete-options' },
          ),
        ]
      : []),
    ...(namespaced && verbs.has('list')
      ? [
          make(
            `${root}/${plural}`,
            'get',
            'list',
            `list${kind}ForAllNamespaces`,
            `list or watch objects of kind ${kind}`,
            list,
            selection,
          ),
        ]
      : []),
    ...Object.entries(definition.subresources ?? {}).flatMap(([name, subresource]) =>
      subresourceOperations(make, { item, name, namespacedKind, self }, subresource),
    ),
    ...(verbs.has('watch') && definition.origin === 'built-in'
      ? watchOperations(make, { root, scope, plural, kind, namespaced, namespacedKind })
      : []),
  ];
}

type Make = (
  path: string,
  method: Operation['method'],
  action: Operation['action'],
  id: string,
  description: string,
  answer: AnswerOf,
  query: readonly QueryParameter[],
  body?: BodyOf,
  of?: Described,
) => Operation;

/** What a read of one object takes is only told of custom resources. */
const readQuery = ({ origin }: Pick<Described, 'origin'>): readonly QueryParameter[] =>
  origin === 'custom' ? ['resourceVersion'] : [];

const codesOf: Partial<Record<Operation['action'], Operation['codes']>> = {
  post: [200, 201, 202],
  put: [200, 201],
  patch: [200, 201],
  delete: [200, 202],
};

function maker(definition: ResourceDefinition): Make {
  const { group, version, kind, origin } = definition;
  const own = { group, version, kind };
  const name = groupName(group);
  const qualified = `${capital(name)}${capital(version)}`;
  const tag = `${name}_${version}`;
  return (path, method, action, id, description, answer, query, body, of = definition) => ({
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

const patchOf = (
  make: Make,
  path: string,
  id: string,
  description: string,
  answer: AnswerOf,
  of?: Described,
): Operation => make(path, 'patch', 'patch', id, description, answer, [...write, 'force'], { type: 'patch' }, of);

function subresourceOperations(
  make: Make,
  at: { readonly item: string; readonly name: string; readonly namespacedKind: string; readonly self: Described },
  subresource: Subresource<ApiObject>,
): readonly Operation[] {
  const { item, name, namespacedKind, self } = at;
  const path = `${item}/${name}`;
  const id = `${namespacedKind}${capital(name)}`;
  const what = `${name} of the specified ${self.kind}`;
  if (subresource.type === 'action') {
    const schema: Described = { ...subresource.request, origin: self.origin };
    const object = { type: 'object', schema } as const;
    return [make(path, 'post', 'post', `create${id}`, `create ${what}`, object, write, object, schema)];
  }
  const schema: Described = subresource.type === 'projection' ? { ...subresource.of, origin: 'built-in' } : self;
  const object = { type: 'object', schema } as const;
  const verbs = new Set(verbsOfSubresource(subresource));
  return [
    ...(verbs.has('get')
      ? [make(path, 'get', 'get', `read${id}`, `read ${what}`, object, readQuery(self), undefined, schema)]
      : []),
    ...(verbs.has('update')
      ? [make(path, 'put', 'put', `replace${id}`, `replace ${what}`, object, write, object, schema)]
      : []),
    ...(verbs.has('patch') ? [patchOf(make, path, `patch${id}`, `partially update ${what}`, object, schema)] : []),
  ];
}

/** The paths of old for watching. */
function watchOperations(
  make: Make,
  at: {
    readonly root: string;
    readonly scope: string;
    readonly plural: string;
    readonly kind: string;
    readonly namespaced: boolean;
    readonly namespacedKind: string;
  },
): readonly Operation[] {
  const { root, scope, plural, kind, namespaced, namespacedKind } = at;
  const event: AnswerOf = { type: 'watch-event' };
  const collection = `${root}/watch${scope}/${plural}`;
  const many = `watch changes to a list of ${kind}. Deprecated: use the watch parameter of a list.`;
  const one = `watch changes to one ${kind}. Deprecated: use the watch parameter of a list with a fieldSelector.`;
  return [
    make(collection, 'get', 'watchlist', `watch${namespacedKind}List`, many, event, selection),
    make(`${collection}/{name}`, 'get', 'watch', `watch${namespacedKind}`, one, event, selection),
    ...(namespaced
      ? [
          make(
            `${root}/watch/${plural}`,
            'get',
            'watchlist',
            `watch${kind}ListForAllNamespaces`,
            many,
            event,
            selection,
          ),
        ]
      : []),
  ];
}

const capital = (text: string): string => text.replace(/^./, (first) => first.toUpperCase());
const aOrAn = (kind: string): string => `${/^[AEIOU]/.test(kind) ? 'an' : 'a'} ${kind}`;

/** A group as identifiers name it: `core`, `rbacAuthorization`, `stableExampleCom`. */
function groupName(group: string): string {
  if (group === '') return 'core';
  const [first = '', ...rest] = group.replace(/\.k8s\.io$/, '').split(/[.-]/);
  return first + rest.map(capital).join('');
}
