import type { Alias, Node, Pair, Scalar, YAMLMap } from 'yaml';
import type { ExactJson } from './json-exact.js';
import { maxDepth, maxJsonValues, sortedObject } from './json-text.js';
import { complaintAt, noContent, noEndOfMap, noKey, tooDeep, YamlError } from './yaml-complaints.js';
import { type GoValue, nothing, scalarValue, tagPrefix } from './yaml-values.js';

type Members = Map<string, { readonly key: GoValue; readonly value: GoValue }>;
type MaybeNode = Node | null | undefined;

/** Matches the colon after a name. */
const colonBehind = /(?:\s|#[^\n]*\n)*:/y;
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

interface TreeTools {
  readonly text: string;
  lineAt(offset: number): number;
  isMap(node: unknown): node is YAMLMap<Node | null, Node | null>;
  isAlias(node: unknown): node is Alias;
  isPair(node: unknown): node is Pair<Node | null, Node | null>;
}

/** Converts a tree to JSON, with repeated members and aliases. */
export class TreeReader {
  /** The errors for repeated members: `line 7: key "a" already set in map`. */
  readonly repeated: string[] = [];
  readonly #tools: TreeTools;
  readonly #targets = new Map<Node, Node>();
  readonly #open = new Set<Node>();
  #visited = 0;
  #visitedInAliases = 0;
  #aliasedText = 0;
  #aliasDepth = 0;
  #depth = 0;

  constructor(tools: TreeTools) {
    this.#tools = tools;
  }

  read(root: MaybeNode): ExactJson {
    this.#bindAliases(root, new Map());
    return this.#value(root).json;
  }

  /** Resolves aliases: each refers to the latest node before it with the anchor. */
  #bindAliases(node: MaybeNode, anchors: Map<string, Node>): void {
    if (node === null || node === undefined) return;
    if (this.#tools.isAlias(node)) {
      const target = anchors.get(node.source);
      if (target === undefined) throw new YamlError(`yaml: unknown anchor '${node.source}' referenced`);
      this.#targets.set(node, target);
      return;
    }
    if ('anchor' in node && typeof node.anchor === 'string') anchors.set(node.anchor, node);
    for (const item of itemsOf(node)) {
      if (this.#tools.isPair(item)) {
        this.#bindAliases(item.key, anchors);
        this.#bindAliases(item.value, anchors);
      } else this.#bindAliases(item as MaybeNode, anchors);
    }
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

  #value(node: MaybeNode): GoValue {
    this.#depth++;
    // Aliases expand to nested values, so that a flat text may be deeply nested.
    if (this.#depth > maxDepth) throw new YamlError(tooDeep);
    const value = this.#valueHere(node);
    this.#depth--;
    return value;
  }

  #valueHere(node: MaybeNode): GoValue {
    this.#count();
    if (node === null || node === undefined) return nothing;
    if (this.#tools.isAlias(node)) {
      if (this.#open.has(node)) throw new YamlError(`yaml: anchor '${node.source}' value contains itself`);
      this.#open.add(node);
      const value = this.#within(node, () => this.#value(this.#targets.get(node)));
      this.#open.delete(node);
      return value;
    }
    if (this.#tools.isMap(node)) return this.#mapping(node);
    if ('items' in node) return this.#list(itemsOf(node) as readonly MaybeNode[]);
    if (this.#aliasDepth > 0) this.#countAliased(node as Scalar);
    return scalarValue(node as Scalar);
  }

  /** Limits the size of aliased texts; Go's limits apply only to the number of values. */
  #countAliased({ value }: Scalar): void {
    this.#aliasedText += String(value ?? '').length;
    if (this.#aliasedText > maxAliasedText) throw new YamlError('yaml: document contains excessive aliasing');
  }

  /** Reads a node, counting its values as aliased if it is an alias. */
  #within<T>(alias: MaybeNode, read: () => T): T {
    const follows = this.#tools.isAlias(alias);
    if (follows) this.#aliasDepth++;
    const result = read();
    if (follows) this.#aliasDepth--;
    return result;
  }

  #list(items: readonly MaybeNode[]): GoValue {
    const values = items.map((item) => this.#value(item));
    return {
      json: values.map(({ json }) => json),
      get go() {
        return `[]interface {}{${shownOf(values.length, (at) => values[at]?.go ?? '')}}`;
      },
      name: undefined,
    };
  }

  #mapping(node: YAMLMap<Node | null, Node | null>): GoValue {
    const members: Members = new Map();
    this.#fill(node, members);
    const out = new Map<string, ExactJson>();
    for (const { key, value } of members.values()) {
      if (key.name === undefined) {
        this.#checkEmptyName(node);
        const shown = value === nothing ? '<nil>' : value.go;
        throw new YamlError(`unsupported map key of type: %!s(<nil>), key: <nil>, value: ${shown}`);
      }
      out.set(key.name, value.json);
    }
    return {
      json: sortedObject(out),
      get go() {
        const pairs = [...members.values()];
        const memberAt = (at: number): string => `${pairs[at]?.key.go}:${pairs[at]?.value.go}`;
        return `map[interface {}]interface {}{${shownOf(pairs.length, memberAt)}}`;
      },
      name: undefined,
    };
  }

  /** Reports a colon without a name before it. */
  #checkEmptyName({ flow, items }: YAMLMap<Node | null, Node | null>): void {
    for (const { key } of items) {
      const at = key?.range?.[0];
      if (!isEmptyName(key) || at === undefined || this.#tools.text[at] !== ':') continue;
      throw new YamlError(complaintAt(flow ? noContent : noKey, this.#tools.lineAt(at) - 1));
    }
  }

  /** Checks that the colon in a flow map is on the line where its name begins, as go-yaml requires. */
  #checkColon(key: Node | null): void {
    const { text, lineAt } = this.#tools;
    const [start, end] = key?.range ?? [0, 0];
    colonBehind.lastIndex = end;
    if (start === end || !colonBehind.test(text)) return;
    const line = lineAt(colonBehind.lastIndex - 1);
    if (line === lineAt(start)) return;
    let before = start - 1;
    while (/\s/.test(text[before] ?? '')) before--;
    if (text[before] !== '?') throw new YamlError(complaintAt(noEndOfMap, line - 1));
  }

  #fill(node: YAMLMap<Node | null, Node | null>, members: Members): void {
    for (const pair of node.items) {
      if (isMerge(pair.key)) {
        this.#merge(pair.value, members);
        continue;
      }
      if (node.flow) this.#checkColon(pair.key);
      const key = this.#value(pair.key);
      const { go } = key;
      if (key.name === undefined && key.json !== null) throw new YamlError(`yaml: invalid map key: ${go}`);
      const value = this.#value(pair.value);
      if (members.has(go) && this.repeated.length < maxRepeated) {
        const line = this.#tools.lineAt(pair.value?.range?.[0] ?? pair.key?.range?.[0] ?? 0);
        this.repeated.push(`line ${line}: key ${go} already set in map`);
      }
      members.set(go, { key, value });
    }
  }

  /** Merges (`<<`) the members of one mapping, or of several, of which earlier ones take precedence. */
  #merge(node: MaybeNode, members: Members): void {
    const mappingOf = (value: MaybeNode): YAMLMap<Node | null, Node | null> | undefined => {
      const target = this.#tools.isAlias(value) ? this.#targets.get(value) : value;
      return this.#tools.isMap(target) ? target : undefined;
    };
    const single = mappingOf(node);
    const sources = single !== undefined ? [node] : this.#tools.isAlias(node) ? [] : [...itemsOf(node)].reverse();
    if (sources.length === 0 && (node === null || node === undefined || !('items' in node))) {
      throw new YamlError(wantsMap);
    }
    for (const source of sources as readonly MaybeNode[]) {
      const mapping = mappingOf(source);
      if (mapping === undefined) throw new YamlError(wantsMap);
      this.#count();
      if (source !== null && source !== undefined && this.#open.has(source)) {
        throw new YamlError('yaml: anchor value contains itself');
      }
      if (source !== null && source !== undefined) this.#open.add(source);
      this.#depth++;
      if (this.#depth > maxDepth) throw new YamlError(tooDeep);
      this.#within(source, () => this.#fill(mapping, members));
      this.#depth--;
      if (source !== null && source !== undefined) this.#open.delete(source);
    }
  }
}

const itemsOf = (node: MaybeNode): readonly unknown[] =>
  node !== null && node !== undefined && 'items' in node && Array.isArray(node.items) ? node.items : [];
const isMerge = (key: MaybeNode): boolean =>
  key !== null &&
  key !== undefined &&
  'value' in key &&
  key.value === '<<' &&
  (key.tag === `${tagPrefix}merge` || ('type' in key && key.type === 'PLAIN'));

/** Whether the name is completely empty, without even a question mark. */
const isEmptyName = (key: Node | null): boolean =>
  key === null ||
  ('source' in key && 'type' in key && key.type === 'PLAIN' && key.source === '' && key.tag === undefined);
