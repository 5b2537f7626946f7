import { maxDepth } from './json-text.js';
import { parserError, tooDeep, YamlError } from './yaml-error.js';
import { type Token, type TokenType, YamlScanner } from './yaml-scanner.js';

/** Parses the first document of a YAML text into a tree, with the grammar and the errors of libyaml. */

interface Positioned {
  /** The line at which it begins, counted from zero. */
  readonly line: number;
}
export interface YamlScalarNode extends Positioned {
  readonly kind: 'scalar';
  readonly value: string;
  readonly tag: string | undefined;
  /** Whether the type is not known from the way it is written: it is plain and has no tag, or has the tag `!`. */
  readonly isImplicit: boolean;
}
export interface YamlAlias extends Positioned {
  readonly kind: 'alias';
  readonly name: string;
  readonly target: YamlNode;
}
export interface YamlList extends Positioned {
  readonly kind: 'list';
  readonly items: readonly YamlNode[];
}
export interface YamlMap extends Positioned {
  readonly kind: 'map';
  /** Names and values in turn. */
  readonly items: readonly YamlNode[];
}
export type YamlNode = YamlScalarNode | YamlAlias | YamlList | YamlMap;

/** What is parsed next. Those that end in `first` begin with the token that begins the collection. */
type State =
  | 'document'
  | 'content'
  | 'document-end'
  | 'block'
  | 'list-first'
  | 'list'
  | 'indentless-list'
  | 'map-first'
  | 'map'
  | 'map-value'
  | 'flow-list-first'
  | 'flow-list'
  | 'pair-key'
  | 'pair-value'
  | 'pair-end'
  | 'flow-map-first'
  | 'flow-map'
  | 'flow-map-value'
  | 'flow-map-empty-value'
  | 'done';

const standardTag = 'tag:yaml.org,2002:';

/** The tokens after which a document, an item or a member has no content. */
const documentEnds: ReadonlySet<TokenType> = new Set([
  'version',
  'tag-directive',
  'document-start',
  'document-end',
  'end',
]);
const listItemEnds: ReadonlySet<TokenType> = new Set(['entry', 'block-end']);
const memberEnds: ReadonlySet<TokenType> = new Set(['key', 'value', 'block-end']);
const indentlessItemEnds: ReadonlySet<TokenType> = new Set(['entry', 'key', 'value', 'block-end']);
const flowListEnds: ReadonlySet<TokenType> = new Set(['comma', 'flow-list-end']);
const flowMapEnds: ReadonlySet<TokenType> = new Set(['comma', 'flow-map-end']);
const pairKeyEnds: ReadonlySet<TokenType> = new Set(['value', ...flowListEnds]);
const flowKeyEnds: ReadonlySet<TokenType> = new Set(['value', ...flowMapEnds]);

/** The collections by the token that begins them, and how they go on. */
type Collection = readonly [kind: 'list' | 'map', first: State];
const flowStarts: Partial<Record<TokenType, Collection>> = {
  'flow-list': ['list', 'flow-list-first'],
  'flow-map': ['map', 'flow-map-first'],
};
const blockStarts: Partial<Record<TokenType, Collection>> = {
  ...flowStarts,
  'block-list': ['list', 'list-first'],
  'block-map': ['map', 'map-first'],
};

/** A list in a map whose items are not indented more than the names of the map: no token begins it. */
const indentless: Collection = ['list', 'indentless-list'];
/** A member without braces in a flow list, which is a map of its own. */
const pair: Collection = ['map', 'pair-key'];

/** Where a node is: within a flow collection, in a block, or in a block where a list needs no indentation. */
type Form = 'flow' | 'block' | 'indentless';

interface Properties {
  readonly anchor: string | undefined;
  readonly tag: string | undefined;
}

export class YamlParser {
  readonly #scanner: YamlScanner;
  #state: State = 'document';
  /** The states to return to. */
  readonly #states: State[] = [];
  readonly #open: { readonly items: YamlNode[] }[] = [];
  readonly #anchors = new Map<string, YamlNode>();
  readonly #tagPrefixes = new Map<string, string>();
  /** The root of the document; undefined if there is no document. */
  root: YamlNode | undefined;
  /** The offset of what follows the document. */
  end = 0;

  constructor(text: string) {
    this.#scanner = new YamlScanner(text);
  }

  get isDone(): boolean {
    return this.#state === 'done';
  }

  /** Parses a little more. Throws YamlError. */
  step(): void {
    this.#steps[this.#state]();
  }

  readonly #steps: Readonly<Record<State, () => void>> = {
    document: () => this.#document(),
    content: () => this.#content(),
    'document-end': () => this.#finish(),
    block: () => this.#node('block'),
    'list-first': () => this.#list(true),
    list: () => this.#list(false),
    'indentless-list': () => this.#indentlessList(),
    'map-first': () => this.#map(true),
    map: () => this.#map(false),
    'map-value': () => this.#mapValue(),
    'flow-list-first': () => this.#flowList(true),
    'flow-list': () => this.#flowList(false),
    'pair-key': () => this.#pairKey(),
    'pair-value': () => this.#flowValue('pair-end', flowListEnds),
    'pair-end': () => this.#pairEnd(),
    'flow-map-first': () => this.#flowMap(true),
    'flow-map': () => this.#flowMap(false),
    'flow-map-value': () => this.#flowValue('flow-map', flowMapEnds),
    'flow-map-empty-value': () => this.#emptyHere('flow-map'),
    done: () => {},
  };

  #document(): void {
    const first = this.#scanner.peek();
    if (first.type === 'end') this.#finish();
    else {
      this.#directives();
      this.#states.push('document-end');
      const isExplicit = documentEnds.has(first.type) && first.type !== 'document-end';
      this.#state = isExplicit ? 'content' : 'block';
      if (isExplicit) this.#expectStart();
    }
  }

  #expectStart(): void {
    const { type, line } = this.#scanner.peek();
    if (type !== 'document-start') throw parserError('did not find expected <document start>', line);
    this.#scanner.take();
  }

  #finish(): void {
    this.end = this.#scanner.peek().at;
    this.#state = 'done';
  }

  #content(): void {
    if (documentEnds.has(this.#scanner.peek().type)) this.#emptyHere(this.#leave());
    else this.#node('block');
  }

  #directives(): void {
    let hasVersion = false;
    for (let token = this.#scanner.peek(); ; token = this.#scanner.peek()) {
      const { type, line, value = '', suffix = '' } = token;
      if (type === 'version') {
        if (hasVersion) throw parserError('found duplicate %YAML directive', line);
        if (value !== '1.1') throw parserError('found incompatible YAML document', line);
        hasVersion = true;
      } else if (type === 'tag-directive') {
        if (this.#tagPrefixes.has(value)) throw parserError('found duplicate %TAG directive', line);
        this.#tagPrefixes.set(value, suffix);
      } else break;
      this.#scanner.take();
    }
    if (!this.#tagPrefixes.has('!')) this.#tagPrefixes.set('!', '!');
    if (!this.#tagPrefixes.has('!!')) this.#tagPrefixes.set('!!', standardTag);
  }

  /** Returns the state to return to, and forgets it. */
  #leave(): State {
    return this.#states.pop() as State;
  }

  /** Adds a node to the innermost open collection. */
  #add(node: YamlNode, anchor: string | undefined): void {
    if (anchor !== undefined) this.#anchors.set(anchor, node);
    const parent = this.#open.at(-1);
    if (parent === undefined) this.root = node;
    else parent.items.push(node);
  }

  #begin([kind, state]: Collection, line: number, anchor: string | undefined): void {
    const node = { kind, line, items: [] as YamlNode[] };
    this.#add(node, anchor);
    this.#open.push(node);
    if (this.#open.length > maxDepth) throw new YamlError(tooDeep);
    this.#state = state;
  }

  /** Ends the innermost open collection. */
  #close(): void {
    this.#open.pop();
    this.#state = this.#leave();
  }

  /** Adds an empty scalar at a line, and goes on with the state. */
  #empty(state: State, line: number): void {
    this.#state = state;
    this.#add({ kind: 'scalar', line, value: '', tag: undefined, isImplicit: true }, undefined);
  }

  #emptyHere(state: State): void {
    this.#empty(state, this.#scanner.peek().line);
  }

  /** Parses a node, and goes on with the state. */
  #nodeThen(state: State, form: Form): void {
    this.#states.push(state);
    this.#node(form);
  }

  #node(form: Form): void {
    const first = this.#scanner.peek();
    if (first.type === 'alias') this.#alias();
    else this.#nodeWith(this.#properties(), first.line, form);
  }

  /** Parses a node after its properties, which begin at a line. */
  #nodeWith({ anchor, tag }: Properties, line: number, form: Form): void {
    const token = this.#scanner.peek();
    const isIndentless = form === 'indentless' && token.type === 'entry';
    const collection = isIndentless ? indentless : (form === 'flow' ? flowStarts : blockStarts)[token.type];
    if (collection !== undefined) this.#begin(collection, line, anchor);
    else if (token.type === 'scalar') {
      this.#scanner.take();
      this.#state = this.#leave();
      const { value = '', isPlain = false } = token;
      this.#add({ kind: 'scalar', line, value, tag, isImplicit: tag === undefined ? isPlain : tag === '!' }, anchor);
    } else if (anchor === undefined && tag === undefined)
      throw parserError('did not find expected node content', token.line);
    else {
      this.#state = this.#leave();
      this.#add({ kind: 'scalar', line, value: '', tag, isImplicit: tag === undefined }, anchor);
    }
  }

  #alias(): void {
    const { line, value: name = '' } = this.#scanner.take();
    const target = this.#anchors.get(name);
    if (target === undefined) throw new YamlError(`yaml: unknown anchor '${name}' referenced`);
    this.#state = this.#leave();
    this.#add({ kind: 'alias', line, name, target }, undefined);
  }

  /** Parses an anchor and a tag, in either order. */
  #properties(): Properties {
    let anchor: Token | undefined;
    let tag: Token | undefined;
    for (;;) {
      const { type } = this.#scanner.peek();
      if (type === 'anchor' && anchor === undefined) anchor = this.#scanner.take();
      else if (type === 'tag' && tag === undefined) tag = this.#scanner.take();
      else return { anchor: anchor?.value, tag: tag && this.#fullTag(tag) };
    }
  }

  #fullTag({ line, value = '', suffix = '' }: Token): string {
    if (value === '') return suffix;
    const prefix = this.#tagPrefixes.get(value);
    if (!prefix) throw parserError('found undefined tag handle', line);
    return prefix + suffix;
  }

  /** Parses the node after an indicator in a block, or adds an empty scalar if one of the tokens follows. */
  #item(state: State, ends: ReadonlySet<TokenType>, form: Form = 'block'): void {
    const { line } = this.#scanner.take();
    if (ends.has(this.#scanner.peek().type)) this.#empty(state, line);
    else this.#nodeThen(state, form);
  }

  #list(isFirst: boolean): void {
    if (isFirst) this.#scanner.take();
    const { type, line } = this.#scanner.peek();
    if (type === 'entry') this.#item('list', listItemEnds);
    else this.#endBlock("did not find expected '-' indicator", type, line);
  }

  #indentlessList(): void {
    if (this.#scanner.peek().type === 'entry') this.#item('indentless-list', indentlessItemEnds);
    else this.#close();
  }

  #map(isFirst: boolean): void {
    if (isFirst) this.#scanner.take();
    const { type, line } = this.#scanner.peek();
    if (type === 'key') this.#item('map-value', memberEnds, 'indentless');
    else this.#endBlock('did not find expected key', type, line);
  }

  #endBlock(problem: string, type: TokenType, line: number): void {
    if (type !== 'block-end') throw parserError(problem, line);
    this.#scanner.take();
    this.#close();
  }

  /** Parses the value of a member, which may be missing. */
  #mapValue(): void {
    if (this.#scanner.peek().type === 'value') this.#item('map', memberEnds, 'indentless');
    else this.#emptyHere('map');
  }

  #flowValue(state: State, ends: ReadonlySet<TokenType>): void {
    const { type, line } = this.#scanner.peek();
    if (type === 'value') this.#scanner.take();
    const next = this.#scanner.peek();
    if (type === 'value' && !ends.has(next.type)) this.#nodeThen(state, 'flow');
    else this.#empty(state, state === 'flow-map' ? next.line : line);
  }

  /** Goes on to the next item of a flow collection; returns whether it ended instead. */
  #endsFlow(isFirst: boolean, end: TokenType, problem: string): boolean {
    if (isFirst) this.#scanner.take();
    const { type, line } = this.#scanner.peek();
    if (type !== end && !isFirst) {
      if (type !== 'comma') throw parserError(problem, line);
      this.#scanner.take();
    }
    if (this.#scanner.peek().type !== end) return false;
    this.#scanner.take();
    this.#close();
    return true;
  }

  #flowList(isFirst: boolean): void {
    if (this.#endsFlow(isFirst, 'flow-list-end', "did not find expected ',' or ']'")) return;
    const { type, line } = this.#scanner.peek();
    if (type === 'key') {
      this.#scanner.take();
      this.#begin(pair, line, undefined);
    } else this.#nodeThen('flow-list', 'flow');
  }

  #pairKey(): void {
    if (!pairKeyEnds.has(this.#scanner.peek().type)) this.#nodeThen('pair-value', 'flow');
    // The token is lost, in libyaml too.
    else this.#empty('pair-value', this.#scanner.take().line);
  }

  #pairEnd(): void {
    this.#scanner.peek();
    this.#open.pop();
    this.#state = 'flow-list';
  }

  #flowMap(isFirst: boolean): void {
    if (this.#endsFlow(isFirst, 'flow-map-end', "did not find expected ',' or '}'")) return;
    if (this.#scanner.peek().type !== 'key') this.#nodeThen('flow-map-empty-value', 'flow');
    else {
      this.#scanner.take();
      if (flowKeyEnds.has(this.#scanner.peek().type)) this.#emptyHere('flow-map-value');
      else this.#nodeThen('flow-map-value', 'flow');
    }
  }
}
