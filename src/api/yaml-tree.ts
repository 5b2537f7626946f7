import type { ExactJson } from './json-exact.js';
import { maxDepth, maxJsonValues, sortedObject } from './json-text.js';
import { tooDeep, YamlError } from './yaml-error.js';
import type { YamlMap, YamlNode } from './yaml-parser.js';
import { type GoValue, nothing, scalarValue, tagPrefix } from './yaml-values.js';

type Members = Map<string, { readonly key: GoValue; readonly value: GoValue }>;
const wantsMap = 'yaml: map merge requires map or sequence of maps as the value';
const maxRepeated = 1_000;
/** The maximum length of values that are printed only in errors. */
const maxShown = 1_000;
function shownOf(count: number, textAt: (at: number) => string): string {
  let text = '';
  for (let at = 0; at < count && text.length <= maxShown; at++) text += at === 0 ? textAt(at) : `, ${textAt(at)}`;
  return text.length > maxShown ? `${text.slice(0, maxShown)}...` : text;
}
/** The maximum total length of texts in aliases, because each alias is expanded in JSON. */
const maxAliasedText = 3_145_728;

/** Converts a tree to JSON, with repeated members and aliases. */
export class TreeReader {
  /** The errors for repeated members: `line 7: key "a" already set in map`. */
  readonly repeated: string[] = [];
  readonly #open = new Set<YamlNode>();
  #visited = 0;
  #visitedInAliases = 0;
  #aliasedText = 0;
  #aliasDepth = 0;
  #depth = 0;

  read(root: YamlNode | undefined): ExactJson {
    return root === undefined ? null : this.#value(root).json;
  }

  /**
   * Counts a node. By go-yaml's limits, small documents may consist almost entirely of aliases, large ones only to a
   * small part.
   */
  #count(): void {
    // Names are counted too.
    if (++this.#visited > 2 * maxJsonValues) throw new YamlError('yaml: document is too complex');
    if (this.#aliasDepth > 0) this.#visitedInAliases++;
    if (this.#visitedInAliases <= 100 || this.#visited <= 1_000) return;
    const beyond = Math.min(Math.max((this.#visited - 400_000) / 3_600_000, 0), 1);
    if (this.#visitedInAliases / this.#visited > 0.99 - 0.89 * beyond) {
      throw new YamlError('yaml: document contains excessive aliasing');
    }
  }

  #value(node: YamlNode): GoValue {
    this.#depth++;
    // Aliases expand to nested values, so that a flat text may be deeply nested.
    if (this.#depth > maxDepth) throw new YamlError(tooDeep);
    const value = this.#valueHere(node);
    this.#depth--;
    return value;
  }

  #valueHere(node: YamlNode): GoValue {
    this.#count();
    switch (node.kind) {
      case 'map':
        return this.#mapping(node);
      case 'list':
        return this.#list(node.items);
      case 'scalar':
        if (this.#aliasDepth > 0) this.#countAliased(node.value);
        return scalarValue(node);
      default: {
        this.#enter(node);
        const value = this.#within(node, () => this.#value(node.target));
        this.#open.delete(node);
        return value;
      }
    }
  }

  /** Begins to follow an alias, which must not be followed within itself. */
  #enter(node: YamlNode): void {
    if (node.kind !== 'alias') return;
    if (this.#open.has(node)) throw new YamlError(`yaml: anchor '${node.name}' value contains itself`);
    this.#open.add(node);
  }

  /** Limits the size of aliased texts; Go's limits apply only to the number of values. */
  #countAliased(text: string): void {
    this.#aliasedText += text.length;
    if (this.#aliasedText > maxAliasedText) throw new YamlError('yaml: document contains excessive aliasing');
  }

  /** Reads a node, counting its values as aliased if it is an alias. */
  #within<T>({ kind }: YamlNode, read: () => T): T {
    const follows = kind === 'alias';
    if (follows) this.#aliasDepth++;
    const result = read();
    if (follows) this.#aliasDepth--;
    return result;
  }

  #list(items: readonly YamlNode[]): GoValue {
    const values = items.map((item) => this.#value(item));
    return {
      get json() {
        return values.map(({ json }) => json);
      },
      get go() {
        return `[]interface {}{${shownOf(values.length, (at) => values[at]?.go ?? '')}}`;
      },
      name: undefined,
    };
  }

  #mapping(node: YamlMap): GoValue {
    const members: Members = new Map();
    this.#fill(node, members);
    return {
      get json() {
        return jsonOf(members);
      },
      get go() {
        const pairs = [...members.values()];
        const memberAt = (at: number): string => `${pairs[at]?.key.go}:${pairs[at]?.value.go}`;
        return `map[interface {}]interface {}{${shownOf(pairs.length, memberAt)}}`;
      },
      name: undefined,
    };
  }

  #fill({ items }: YamlMap, members: Members): void {
    for (let at = 0; at < items.length; at += 2) {
      const [keyNode, valueNode] = [items[at] as YamlNode, items[at + 1] as YamlNode];
      if (isMerge(keyNode)) {
        this.#merge(valueNode, members);
        continue;
      }
      const key = this.#value(keyNode);
      const { go } = key;
      if (key.name === undefined && key !== nothing) throw new YamlError(`yaml: invalid map key: ${go}`);
      const value = this.#value(valueNode);
      if (members.has(go) && this.repeated.length < maxRepeated)
        this.repeated.push(`line ${valueNode.line + 1}: key ${go} already set in map`);
      members.set(go, { key, value });
    }
  }

  /** Merges (`<<`) the members of one mapping, or of several, of which earlier ones take precedence. */
  #merge(node: YamlNode, members: Members): void {
    const sources = node.kind === 'list' ? [...node.items].reverse() : [node];
    for (const source of sources) {
      const mapping = source.kind === 'alias' ? source.target : source;
      if (mapping.kind !== 'map') throw new YamlError(wantsMap);
      this.#count();
      this.#enter(source);
      this.#depth++;
      if (this.#depth > maxDepth) throw new YamlError(tooDeep);
      this.#within(source, () => this.#fill(mapping, members));
      this.#depth--;
      this.#open.delete(source);
    }
  }
}

function jsonOf(members: Members): ExactJson {
  const out = new Map<string, ExactJson>();
  for (const { key, value } of members.values()) {
    if (key.name === undefined) {
      const shown = value === nothing ? '<nil>' : value.go;
      throw new YamlError(`unsupported map key of type: %!s(<nil>), key: <nil>, value: ${shown}`);
    }
    out.set(key.name, value.json);
  }
  return sortedObject(out);
}

const isMerge = (key: YamlNode): boolean =>
  key.kind === 'scalar' && key.value === '<<' && (key.isImplicit || key.tag === `${tagPrefix}merge`);
