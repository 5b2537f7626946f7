import { compareVersions } from '../api/kinds/custom-resource-definition.js';
import { groupVersion } from '../api/object.js';
import { overlapping } from '../registry/keys.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { subresourceKind } from '../registry/subresource.js';
import type { Schema } from '../schema/schema.js';

/** A group and version, and what is served in it, in the order of discovery. */
export interface ServedVersion {
  readonly group: string;
  readonly version: string;
  readonly definitions: readonly ResourceDefinition[];
}

/** A group with its versions, the preferred one first. */
export interface ServedGroup {
  readonly name: string;
  readonly versions: readonly ServedVersion[];
  readonly origin: 'built-in' | 'custom';
}

/**
 * The resources that are served now: built-in definitions from the start, and those that CustomResourceDefinitions add
 * and remove. Snapshots are immutable: `current()` returns the same value until something changes, and the same group
 * until something in it changes, so that discovery and OpenAPI documents can be cached by them.
 */
export class Catalogue {
  #builtIn: readonly ResourceDefinition[];
  #custom: readonly ResourceDefinition[] = [];
  #snapshot: Served;
  /** Listeners by the path of the definition. */
  readonly #listeners = new Map<string, Set<() => void>>();

  constructor(builtIn: readonly ResourceDefinition[]) {
    this.#builtIn = builtIn;
    this.#snapshot = new Served(builtIn, []);
  }

  current(): Served {
    return this.#snapshot;
  }

  /** Replaces the built-in definitions, for callers that need the catalogue before these exist. */
  setBuiltIn(definitions: readonly ResourceDefinition[]): void {
    this.#builtIn = definitions;
    this.#renew();
  }

  /** Replaces all custom definitions. */
  setCustom(definitions: readonly ResourceDefinition[]): void {
    this.#custom = definitions;
    this.#renew();
  }

  #renew(): void {
    const before = this.#snapshot;
    this.#snapshot = new Served(this.#builtIn, this.#custom, before);
    for (const [path, listeners] of [...this.#listeners]) {
      if (before.at(path) !== this.#snapshot.at(path)) for (const listener of [...listeners]) listener();
    }
  }

  /**
   * Calls the listener whenever the definition that is served at this path changes. Returns a function that
   * unsubscribes.
   */
  onChange({ group, version, plural }: ResourceDefinition, listener: () => void): () => void {
    const path = pathOf(group, version, plural);
    const listeners = this.#listeners.get(path) ?? new Set();
    this.#listeners.set(path, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(path) === listeners) this.#listeners.delete(path);
    };
  }
}

/** A snapshot of what is served. */
export class Served {
  /** The groups in discovery. */
  readonly groups: readonly ServedGroup[];
  readonly definitions: readonly ResourceDefinition[];
  readonly #byPath = new Map<string, ResourceDefinition>();
  readonly #groups = new Map<string, ServedGroup>();
  readonly #builtInGroups: ReadonlySet<string>;

  /** Creates a snapshot. Groups that have not changed are taken from `before`, the previous snapshot. */
  constructor(builtIn: readonly ResourceDefinition[], custom: readonly ResourceDefinition[], before?: Served) {
    const overlaps = overlapping(builtIn);
    // A custom resource never shadows a built-in one and adds no version to it, because both would have the same place
    // in the store.
    this.definitions = [...builtIn, ...custom.filter(({ group, plural }) => !overlaps(group, plural))];
    for (const definition of this.definitions) {
      this.#byPath.set(pathOf(definition.group, definition.version, definition.plural), definition);
    }
    const builtInGroups = collectGroups(
      builtIn.filter(({ undiscovered }) => !undiscovered),
      'built-in',
      before,
    );
    this.#builtInGroups = new Set(builtInGroups.map(({ name }) => name));
    const customGroups = collectGroups(
      custom.filter(({ group, undiscovered }) => !this.#builtInGroups.has(group) && !undiscovered),
      'custom',
      before,
    ).sort((a, b) => (a.name < b.name ? -1 : 1));
    this.groups = [...builtInGroups, ...customGroups];
    for (const group of this.groups) this.#groups.set(group.name, group);
  }

  find(group: string, version: string, plural: string): ResourceDefinition | undefined {
    return this.at(pathOf(group, version, plural));
  }

  /** Returns the definition at `path`, which is `group/version/plural`. */
  at(path: string): ResourceDefinition | undefined {
    return this.#byPath.get(path);
  }

  /** Returns the built-in definition of a kind; undefined if it is not served. */
  builtInKind(apiVersion: string, kind: string): ResourceDefinition | undefined {
    return this.definitions.find(
      (one) => one.kind === kind && one.origin === 'built-in' && groupVersion(one) === apiVersion,
    );
  }

  /** Returns the schema of a built-in kind, including those that only subresources use. */
  builtInSchema(apiVersion: string, kind: string): Schema | undefined {
    const stored = this.builtInKind(apiVersion, kind);
    if (stored !== undefined) return stored.schema;
    const builtIn = this.definitions.filter(({ origin }) => origin === 'built-in');
    const subresources = builtIn.flatMap(({ subresources = {} }) => Object.values(subresources));
    return subresources.map(subresourceKind).find((own) => own?.kind === kind && groupVersion(own) === apiVersion)
      ?.schema;
  }

  /** Whether a group has built-in resources. Unknown paths in such groups are answered differently from all others. */
  isBuiltIn(group: string): boolean {
    return this.#builtInGroups.has(group);
  }

  group(name: string): ServedGroup | undefined {
    return this.#groups.get(name);
  }

  version(group: string, version: string): ServedVersion | undefined {
    return this.#groups.get(group)?.versions.find((one) => one.version === version);
  }
}

const pathOf = (group: string, version: string, plural: string): string => `${group}/${version}/${plural}`;

function collectGroups(
  definitions: readonly ResourceDefinition[],
  origin: ServedGroup['origin'],
  before: Served | undefined,
): ServedGroup[] {
  const groups = new Map<string, ResourceDefinition[]>();
  for (const definition of definitions) addTo(groups, definition.group, definition);
  return [...groups].map(([name, found]) => {
    const known = before?.group(name);
    return known?.origin === origin && consistsOf(known, found)
      ? known
      : { name, origin, versions: versionsOf(name, found) };
  });
}

function versionsOf(group: string, definitions: readonly ResourceDefinition[]): readonly ServedVersion[] {
  const versions = new Map<string, ResourceDefinition[]>();
  for (const definition of definitions) addTo(versions, definition.version, definition);
  return [...versions]
    .map(([version, found]) => ({ group, version, definitions: found }))
    .sort((a, b) => compareVersions(a.version, b.version));
}

/** Whether a group consists of these definitions, in this order. */
function consistsOf({ versions }: ServedGroup, definitions: readonly ResourceDefinition[]): boolean {
  const next = new Map(versions.map((one) => [one.version, one.definitions.values()]));
  const isNext = (definition: ResourceDefinition): boolean => next.get(definition.version)?.next().value === definition;
  return definitions.every(isNext) && [...next.values()].every((remaining) => remaining.next().done);
}

function addTo(lists: Map<string, ResourceDefinition[]>, name: string, definition: ResourceDefinition): void {
  const known = lists.get(name);
  if (known === undefined) lists.set(name, [definition]);
  else known.push(definition);
}
