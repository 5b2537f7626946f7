import { isReason } from '../api/errors.js';
import { groupVersion } from '../api/object.js';
import type { DiscoveredResource, DiscoverOptions } from './client.js';

type OnFailure = NonNullable<DiscoverOptions['onFailure']>;
type ReadDocument = (path: string, accept: string) => Promise<unknown>;

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

/**
 * Returns every resource that a server serves, preferred versions first within a group; in two requests if the server
 * supports aggregated discovery.
 */
export async function discover(
  read: ReadDocument,
  { onFailure = () => {} }: DiscoverOptions = {},
): Promise<readonly DiscoveredResource[]> {
  const [core, named] = await Promise.all([read('/api', aggregated), read('/apis', aggregated)]);
  const [ofCore, ofGroups] = [core as Answer, named as Answer];
  if (ofCore.kind === 'APIGroupDiscoveryList' && ofGroups.kind === 'APIGroupDiscoveryList') {
    return [...(ofCore.items ?? []), ...(ofGroups.items ?? [])].flatMap((group) => fromGroup(group, onFailure));
  }
  return oneByOne(read, ofCore, ofGroups, onFailure);
}

/** A discovery document of any kind. Empty lists may be `null`. */
interface Answer {
  readonly kind?: string;
  /** APIGroupDiscoveryList */
  readonly items?: readonly GroupDiscovery[];
  /** APIVersions of the core group. */
  readonly versions?: readonly string[];
  /** APIGroupList */
  readonly groups?: readonly {
    readonly name: string;
    readonly versions: readonly { readonly version: string }[] | null;
    readonly preferredVersion?: { readonly version: string };
  }[];
  /** APIResourceList */
  readonly resources?:
    | readonly {
        readonly name: string;
        readonly singularName?: string;
        readonly namespaced: boolean;
        readonly kind: string;
        readonly verbs?: readonly string[];
        readonly shortNames?: readonly string[];
        readonly categories?: readonly string[];
      }[]
    | null;
}

interface GroupDiscovery {
  readonly metadata?: { readonly name?: string };
  readonly versions?: readonly {
    readonly version: string;
    readonly freshness?: string;
    readonly resources?: readonly {
      readonly resource: string;
      readonly responseKind?: { readonly kind?: string };
      readonly scope?: string;
      readonly singularResource?: string;
      readonly verbs?: readonly string[];
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
    }[];
  }[];
}

/** A version marked stale is reported as a failure: the aggregated server behind it could not be reached. */
function fromGroup({ metadata, versions: all }: GroupDiscovery, onFailure: OnFailure): readonly DiscoveredResource[] {
  const versions = all ?? [];
  const group = metadata?.name ?? '';
  for (const { version } of versions.filter(isStale)) {
    const message = `stale GroupVersion discovery: ${groupVersion({ group, version })}`;
    onFailure({ group, version, message });
  }
  const current = versions.filter((one) => !isStale(one));
  return current.flatMap(({ version, resources }, at) =>
    (resources ?? []).map((found) =>
      resource({
        group,
        version,
        plural: found.resource,
        singular: found.singularResource,
        kind: found.responseKind?.kind ?? '',
        namespaced: found.scope === 'Namespaced',
        verbs: found.verbs,
        shortNames: found.shortNames,
        categories: found.categories,
        preferred: at === 0,
      }),
    ),
  );
}

const isStale = ({ freshness }: { readonly freshness?: string }): boolean => freshness === 'Stale';

interface FoundResource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string | undefined;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[] | undefined;
  readonly shortNames: readonly string[] | undefined;
  readonly categories: readonly string[] | undefined;
  readonly preferred: boolean;
}

const resource = ({ singular, verbs, shortNames, categories, ...found }: FoundResource): DiscoveredResource => ({
  ...found,
  singular: singular || found.kind.toLowerCase(),
  listKind: `${found.kind}List`,
  verbs: verbs ?? [],
  ...(shortNames === undefined ? {} : { shortNames }),
  ...(categories === undefined ? {} : { categories }),
});

/**
 * Unaggregated discovery: one request for every group and version. Leaves out versions that cannot be read, and those
 * that were removed since the groups were listed.
 */
async function oneByOne(
  read: ReadDocument,
  core: Answer,
  named: Answer,
  onFailure: OnFailure,
): Promise<readonly DiscoveredResource[]> {
  const versions = [
    ...(core.versions ?? []).map((version, at) => ({ group: '', version, preferred: at === 0 })),
    ...(named.groups ?? []).flatMap(({ name, versions: all, preferredVersion }) =>
      (all ?? [])
        .map(({ version }) => ({ group: name, version, preferred: version === preferredVersion?.version }))
        .sort((a, b) => Number(b.preferred) - Number(a.preferred)),
    ),
  ];
  const lists = await Promise.all(
    versions.map(async ({ group, version, preferred }) => {
      const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
      try {
        const { resources } = (await read(path, 'application/json')) as Answer;
        return (resources ?? [])
          .filter(({ name }) => !name.includes('/'))
          .map(({ name, singularName, ...found }) =>
            resource({
              group,
              version,
              plural: name,
              singular: singularName,
              kind: found.kind,
              namespaced: found.namespaced,
              verbs: found.verbs,
              shortNames: found.shortNames,
              categories: found.categories,
              preferred,
            }),
          );
      } catch (error) {
        if (!(isReason(error, 'ServiceUnavailable') || isReason(error, 'NotFound'))) throw error;
        onFailure({ group, version, message: error.message });
        return [];
      }
    }),
  );
  return lists.flat();
}
