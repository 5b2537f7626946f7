import { compareVersions } from '../api/kinds/custom-resource-definition.js';
import { groupVersion } from '../api/object.js';
import { overlapping } from '../registry/keys.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';

/** One group version and what is served in it, in discovery order. */
export interface ServedVersion {
  readonly group: string;
  readonly version: string;
  readonly definitions: readonly ResourceDefinition[];
}

/** A group with its versions, preferred first. */
export interface ServedGroup {
  readonly name: string;
  readonly versions: readonly ServedVersion[];
  readonly origin: 'built-in' | 'custom';
}

/**
 * Which resources are served now. Built-in definitions are there from the start; custom resource definitions
 * add and remove theirs. Immutable snapshots: `current()` is the same value until something changed, so that
 * discovery and OpenAPI documents can be kept with it.
 */
export class Catalogue {
  #builtIn: readonly ResourceDefinition[];
  #custom: readonly ResourceDefinition[] = [];
  #snapshot: Served;
  readonly #listeners = new Set<(served: Served) => void>();

  constructor(builtIn: readonly ResourceDefinition[]) {
    this.#builtIn = builtIn;
    this.#snapshot = new Served(builtIn, []);
  }

  current(): Served {
    return this.#snapshot;
  }

  /** Replaces the built-in definitions, for those who need the catalogue before they are made. */
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
    this.#snapshot = new Served(this.#builtIn, this.#custom);
    for (const listener of [...this.#listeners]) listener(this.#snapshot);
  }

  /** Calls back after every change; answers how to stop. */
  onChange(listener: (served: Served) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** What is served at one moment. */
export class Served {
  /** What discovery tells. */
  readonly groups: readonly ServedGroup[];
  readonly definitions: readonly ResourceDefinition[];
  readonly #byPath = new Map<string, ResourceDefinition>();
  readonly #groups = new Map<string, ServedGroup>();
  readonly #builtInGroups: ReadonlySet<string>;

  constructor(builtIn: readonly ResourceDefinition[], custom: readonly ResourceDefinition[]) {
    const overlaps = overlapping(builtIn);
    // A custom resource never shadows a built-in one, and has no version of it: both would be the same in the store.
    this.definitions = [...builtIn, ...custom.filter(({ group, plural }) => !overlaps(group, plural))];
    for (const definition of this.definitions) {
      this.#byPath.set(pathOf(definition.group, definition.version, definition.plural), definition);
    }
    const builtInGroups = collectGroups(
      builtIn.filter(({ undiscovered }) => !undiscovered),
      'built-in',
    );
    this.#builtInGroups = new Set(builtInGroups.map(({ name }) => name));
    const customGroups = collectGroups(
      custom.filter(({ group, undiscovered }) => !this.#builtInGroups.has(group) && !undiscovered),
      'custom',
    ).sort((a, b) => (a.name < b.name ? -1 : 1));
    this.groups = [...builtInGroups, ...customGroups];
    for (const group of this.groups) this.#groups.set(group.name, group);
  }

  find(group: string, version: string, plural: string): ResourceDefinition | undefined {
    return this.#byPath.get(pathOf(group, version, plural));
  }

  /** The built-in kind that an object says it is of; undefined if none is served. */
  builtInKind(apiVersion: string, kind: string): ResourceDefinition | undefined {
    return this.definitions.find(
      (one) => one.kind === kind && one.origin === 'built-in' && groupVersion(one) === apiVersion,
    );
  }

  /** Unknown paths of built-in groups are answered otherwise than all others. */
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

function collectGroups(definitions: readonly ResourceDefinition[], origin: ServedGroup['origin']): ServedGroup[] {
  const groups = new Map<string, Map<string, ResourceDefinition[]>>();
  for (const definition of definitions) {
    const versions = groups.get(definition.group) ?? new Map<string, ResourceDefinition[]>();
    groups.set(definition.group, versions);
    versions.set(definition.version, [...(versions.get(definition.version) ?? []), definition]);
  }
  return [...groups].map(([name, versions]) => ({
    name,
    origin,
    versions: [...versions]
      .map(([version, found]) => ({ group: name, version, definitions: found }))
      .sort((a, b) => compareVersions(a.version, b.version)),
  }));
}
