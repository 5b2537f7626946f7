import { createHash } from 'node:crypto';
import { groupVersion } from '../api/object.js';
import type { ResourceDefinition, Verb } from '../registry/resource-definition.js';
import { subresourceKind, verbsOfSubresource } from '../registry/subresource.js';
import type { Served, ServedGroup, ServedVersion } from './catalogue.js';

/** Returns the SHA-512 of a document, in upper-case hexadecimal. It identifies the document. */
export function documentHash(document: string | Uint8Array): string {
  const hash = newDocumentHash();
  hash.add(document);
  return hash.text();
}

/** Returns an object that computes the same hash for a document in several pieces. */
export function newDocumentHash(): { add(piece: string | Uint8Array): void; text(): string } {
  const hash = createHash('sha512');
  return { add: (piece) => void hash.update(piece), text: () => hash.digest('hex').toUpperCase() };
}

/**
 * Returns discovery documents of what is served now: legacy ones (one per group and version) and aggregated ones
 * (KEP-3352).
 */

const builtInVerbs: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];
const customVerbs: readonly Verb[] = [
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'create',
  'update',
  'watch',
];

export const verbsOf = ({ origin, verbs }: ResourceDefinition): readonly Verb[] => {
  const order = origin === 'custom' ? customVerbs : builtInVerbs;
  return verbs === undefined ? order : order.filter((verb) => verbs.includes(verb));
};

const subresourcesOf = (definition: ResourceDefinition) =>
  Object.entries(definition.subresources ?? {}).map(([name, subresource]) => ({
    name,
    kind: subresourceKind(subresource),
    verbs: verbsOfSubresource(subresource),
  }));

/**
 * Returns the storageVersionHash of a kind, which changes when its storage version does. Absent if the storage version
 * is not served.
 */
function storageVersionHash(definition: ResourceDefinition, served: Served): { readonly storageVersionHash?: string } {
  const { group, version } = definition.storedAs ?? definition;
  if (definition.answer !== undefined || served.find(group, version, definition.plural) === undefined) return {};
  const hash = createHash('sha256').update(`${group}/${version}/${definition.kind}`).digest();
  return { storageVersionHash: hash.subarray(0, 8).toString('base64') };
}

function apiResources({ definitions }: ServedVersion, served: Served): readonly object[] {
  return definitions.flatMap((definition) => [
    {
      name: definition.plural,
      singularName: definition.singular,
      namespaced: definition.namespaced,
      kind: definition.kind,
      verbs: verbsOf(definition),
      ...(definition.shortNames?.length ? { shortNames: definition.shortNames } : {}),
      ...(definition.categories?.length ? { categories: definition.categories } : {}),
      ...storageVersionHash(definition, served),
    },
    ...subresourcesOf(definition).map(({ name, kind, verbs }) => ({
      name: `${definition.plural}/${name}`,
      singularName: '',
      namespaced: definition.namespaced,
      ...(kind === undefined ? {} : { group: kind.group, version: kind.version }),
      kind: kind?.kind ?? definition.kind,
      verbs,
    })),
  ]);
}

/** Returns the document of `/api/v1` and `/apis/<group>/<version>`. */
export const apiResourceList = (version: ServedVersion, served: Served): object => ({
  kind: 'APIResourceList',
  ...(version.group === '' ? {} : { apiVersion: 'v1' }),
  groupVersion: groupVersion(version),
  resources: apiResources(version, served),
});

/** Returns the document of `/api`. */
export const apiVersions = (served: Served, serverAddress: string): object => ({
  kind: 'APIVersions',
  versions: served.group('')?.versions.map(({ version }) => version) ?? [],
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
});

const groupBody = ({ name, versions }: ServedGroup): object => {
  const list = versions.map((one) => ({ groupVersion: groupVersion(one), version: one.version }));
  return { name, versions: list, preferredVersion: list[0] };
};

/** Returns the document of `/apis/<group>`. */
export const apiGroup = (group: ServedGroup): object => ({ kind: 'APIGroup', apiVersion: 'v1', ...groupBody(group) });

/** Returns the document of `/apis`. */
export const apiGroupList = (served: Served): object => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: served.groups.filter(({ name }) => name !== '').map(groupBody),
});

/** Returns the aggregated document of one root: `/api` with the core group, or `/apis` with all other groups. */
export const groupDiscoveryList = (served: Served, core: boolean): object => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: 'apidiscovery.k8s.io/v2',
  metadata: {},
  items: served.groups
    .filter(({ name }) => (name === '') === core)
    .map(({ name, versions }) => ({
      metadata: name === '' ? {} : { name },
      versions: versions.map(({ version, definitions }) => ({
        version,
        resources: definitions.map(discoveredResource),
        freshness: 'Current',
      })),
    })),
});

function discoveredResource(definition: ResourceDefinition): object {
  // Only for custom resources are the kinds given with their group and version.
  const { group, version } = definition.origin === 'custom' ? definition : { group: '', version: '' };
  const subresources = subresourcesOf(definition).map(({ name, kind, verbs }) => ({
    subresource: name,
    responseKind: {
      group: kind?.group ?? group,
      version: kind?.version ?? version,
      kind: kind?.kind ?? definition.kind,
    },
    verbs,
  }));
  return {
    resource: definition.plural,
    responseKind: { group, version, kind: definition.kind },
    scope: definition.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: definition.singular,
    verbs: verbsOf(definition),
    ...(definition.shortNames?.length ? { shortNames: definition.shortNames } : {}),
    ...(definition.categories?.length ? { categories: definition.categories } : {}),
    ...(subresources.length ? { subresources } : {}),
  };
}
