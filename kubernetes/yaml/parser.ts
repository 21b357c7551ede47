/** Builds the node tree of a YAML document according to the grammar of goyaml.v2 (`parserc.go`). */
import { type Mark, type ScalarToken, Scanner, type Token, YamlError } from './scanner.ts';

export interface ScalarNode {
  readonly type: 'scalar';
  readonly start: Mark;
  /** The source text. Empty for a missing value, as in `key:`. */
  readonly sourceText: string;
  readonly value: string;
  /** The resolved tag. Undefined if the node has none. With the tag `!`, any scalar is a string. */
  readonly tag: string | undefined;
  readonly isPlain: boolean;
}

interface SequenceNode {
  readonly type: 'sequence';
  readonly start: Mark;
  readonly items: readonly YamlNode[];
}

export interface MappingNode {
  readonly type: 'mapping';
  readonly start: Mark;
  readonly entries: readonly (readonly [key: YamlNode, value: YamlNode])[];
}

export interface AliasNode {
  readonly type: 'alias';
  readonly start: Mark;
  readonly name: string;
  readonly target: ScalarNode | SequenceNode | MappingNode;
}

export type YamlNode = ScalarNode | SequenceNode | MappingNode | AliasNode;

interface ParserLimits {
  /** Maximum nesting depth of lists and mappings. */
  readonly depth: number;
  /** Called for each token. Throws if there are too many tokens. */
  onToken(token: Token): void;
}

const DEFAULT_TAGS: ReadonlyMap<string, string> = new Map([
  ['!', '!'],
  ['!!', 'tag:yaml.org,2002:'],
]);

/** Part of a text that contains one document. */
export interface DocumentRange {
  readonly start: number;
  readonly end: number;
  /** Line of `start`, counted from 0. */
  readonly line: number;
  /** Whether the range follows a `...`, after which only `---` can start a document. */
  readonly isAfterEnd: boolean;
}

/** Parses the document in a range of `text`. Returns undefined if the range contains only whitespace and comments. */
export function parseDocument(text: string, range: DocumentRange, limits: ParserLimits): YamlNode | undefined {
  return new Parser(text, range, limits).parse();
}

type ParseContext = 'block' | 'blockOrIndentlessSequence' | 'flow';

/** The only YAML version that a `%YAML` directive may specify. */
const YAML_VERSION = '1.1';

class Parser {
  readonly #text: string;
  readonly #scanner: Scanner;
  readonly #isAfterEnd: boolean;
  readonly #limits: ParserLimits;
  readonly #tagPrefixes = new Map<string, string>();
  /** Nodes by anchor name. If several nodes have the same anchor, an alias refers to the last one before it. */
  readonly #anchors = new Map<string, AliasNode['target']>();
  #depth = 0;

  constructor(text: string, { start, end, line, isAfterEnd }: DocumentRange, limits: ParserLimits) {
    this.#text = text;
    this.#scanner = new Scanner(text, start, end, line);
    this.#isAfterEnd = isAfterEnd;
    this.#limits = limits;
  }

  parse(): YamlNode | undefined {
    const hasDirectives = this.#readDirectives();
    const isExplicit = this.#isNext('documentStart');
    if (isExplicit) this.#nextToken();
    else if (hasDirectives || (this.#isAfterEnd && !this.#isNext('streamEnd'))) {
      throw this.#unexpectedTokenError("expected '---' at the start of the document");
    }
    const isEmpty = this.#isNext('streamEnd');
    if (isEmpty && !isExplicit) return undefined;
    const node = isEmpty ? this.#createMissingScalar(this.#peekToken().start) : this.#node('block');
    if (!this.#isNext('streamEnd')) throw this.#unexpectedTokenError("expected '---' before another document");
    return node;
  }

  #peekToken(): Token {
    return this.#scanner.peek();
  }

  #nextToken(): Token {
    const token = this.#scanner.next();
    this.#limits.onToken(token);
    return token;
  }

  #isNext(...types: readonly Token['type'][]): boolean {
    return types.includes(this.#peekToken().type);
  }

  /** Consumes the next token if it has this type, and returns whether it did. */
  #skipIf(type: Token['type']): boolean {
    const isNext = this.#isNext(type);
    if (isNext) this.#nextToken();
    return isNext;
  }

  #unexpectedTokenError(message: string): YamlError {
    return new YamlError(message, this.#peekToken().start);
  }

  #readDirectives(): boolean {
    let hasVersion = false;
    let hasDirectives = false;
    for (let token = this.#peekToken(); ; token = this.#peekToken()) {
      if (token.type === 'versionDirective') {
        if (hasVersion) throw new YamlError('a document has only one %YAML directive', token.start);
        if (token.version !== YAML_VERSION) {
          const message = `found incompatible YAML document: %YAML ${token.version}; Kubernetes reads %YAML ${YAML_VERSION}`;
          throw new YamlError(message, token.start);
        }
        hasVersion = true;
      } else if (token.type === 'tagDirective') {
        if (this.#tagPrefixes.has(token.handle)) {
          throw new YamlError(`a document has only one %TAG directive for ${token.handle}`, token.start);
        }
        this.#tagPrefixes.set(token.handle, token.prefix);
      } else {
        return hasDirectives;
      }
      hasDirectives = true;
      this.#nextToken();
    }
  }

  #node(context: ParseContext): YamlNode {
    const { start } = this.#peekToken();
    if (this.#isNext('alias')) return this.#parseAlias();
    const { anchor, tag } = this.#parseProperties();
    const token = this.#peekToken();
    if (token.type === 'scalar') {
      this.#nextToken();
      return this.#registerAnchor(anchor, this.#createScalar(token, tag));
    }
    const collection = this.#parseCollection(context, anchor, start);
    if (collection !== undefined) return collection;
    if (anchor === undefined && tag === undefined) throw this.#unexpectedTokenError('expected a value');
    return this.#registerAnchor(anchor, this.#createMissingScalar(start, tag));
  }

  #parseCollection(context: ParseContext, anchor: string | undefined, start: Mark): YamlNode | undefined {
    const isBlock = context !== 'flow';
    switch (this.#peekToken().type) {
      case 'blockEntry':
        return context === 'blockOrIndentlessSequence'
          ? this.#parseSequence(anchor, start, () => this.#indentlessItems())
          : undefined;
      case 'flowSequenceStart':
        return this.#parseSequence(anchor, start, () => this.#flowItems());
      case 'flowMappingStart':
        return this.#parseMapping(anchor, start, () => this.#flowEntries());
      case 'blockSequenceStart':
        return isBlock ? this.#parseSequence(anchor, start, () => this.#blockItems()) : undefined;
      case 'blockMappingStart':
        return isBlock ? this.#parseMapping(anchor, start, () => this.#blockEntries()) : undefined;
      default:
        return undefined;
    }
  }

  #parseAlias(): AliasNode {
    const token = this.#nextToken();
    const name = token.type === 'alias' ? token.name : '';
    const target = this.#anchors.get(name);
    if (target === undefined) {
      // Do not quote the name, because it may be a password that starts with an asterisk.
      throw new YamlError('unknown anchor; quote the value if its * is text', token.start);
    }
    return { type: 'alias', start: token.start, name, target };
  }

  #parseProperties(): { readonly anchor: string | undefined; readonly tag: string | undefined } {
    let anchor: string | undefined;
    let tag: string | undefined;
    for (let token = this.#peekToken(); ; token = this.#peekToken()) {
      if (token.type === 'anchor' && anchor === undefined) anchor = token.name;
      else if (token.type === 'tag' && tag === undefined)
        tag = this.#resolveTag(token.handle, token.suffix, token.start);
      else return { anchor, tag };
      this.#nextToken();
    }
  }

  #resolveTag(handle: string, suffix: string, start: Mark): string {
    if (handle === '') return suffix;
    const prefix = this.#tagPrefixes.get(handle) ?? DEFAULT_TAGS.get(handle);
    if (prefix === undefined) throw new YamlError(`undefined tag handle ${handle}`, start);
    return prefix + suffix;
  }

  #createScalar({ start, end, value, style }: ScalarToken, tag: string | undefined): ScalarNode {
    const sourceText = style === 'block' ? value : this.#text.slice(start.index, end);
    return { type: 'scalar', start, sourceText, value, tag, isPlain: style === 'plain' };
  }

  /** Creates the node for a missing value. */
  #createMissingScalar(start: Mark, tag?: string): ScalarNode {
    return { type: 'scalar', start, sourceText: '', value: '', tag, isPlain: true };
  }

  #registerAnchor<Node extends AliasNode['target']>(anchor: string | undefined, node: Node): Node {
    if (anchor !== undefined) this.#anchors.set(anchor, node);
    return node;
  }

  #parseSequence(anchor: string | undefined, start: Mark, read: () => Iterable<YamlNode>): SequenceNode {
    const items: YamlNode[] = [];
    // Register the anchor before reading the items, because an alias inside the list may refer to the list.
    const node = this.#registerAnchor(anchor, { type: 'sequence', start, items });
    this.#nest(start, () => {
      for (const item of read()) items.push(item);
    });
    return node;
  }

  #parseMapping(
    anchor: string | undefined,
    start: Mark,
    read: () => Iterable<MappingNode['entries'][number]>,
  ): MappingNode {
    const entries: MappingNode['entries'][number][] = [];
    const node = this.#registerAnchor(anchor, { type: 'mapping', start, entries });
    this.#nest(start, () => {
      for (const entry of read()) entries.push(entry);
    });
    return node;
  }

  #nest(start: Mark, read: () => void): void {
    this.#depth += 1;
    if (this.#depth > this.#limits.depth) {
      throw new YamlError(`is nested deeper than ${this.#limits.depth} levels`, start);
    }
    read();
    this.#depth -= 1;
  }

  *#blockItems(): Iterable<YamlNode> {
    this.#nextToken();
    while (this.#isNext('blockEntry')) yield this.#parseItemAfter(this.#nextToken(), 'blockEntry', 'blockEnd');
    if (!this.#skipIf('blockEnd')) {
      throw this.#unexpectedTokenError("expected '- ' before the next item of the list, or less indentation");
    }
  }

  /** Reads the items of a list that has the same indentation as its key. */
  *#indentlessItems(): Iterable<YamlNode> {
    while (this.#isNext('blockEntry'))
      yield this.#parseItemAfter(this.#nextToken(), 'blockEntry', 'key', 'value', 'blockEnd');
  }

  #parseItemAfter({ start }: Token, ...ends: readonly Token['type'][]): YamlNode {
    return this.#isNext(...ends) ? this.#createMissingScalar(start) : this.#node('block');
  }

  *#blockEntries(): Iterable<MappingNode['entries'][number]> {
    const isEnd = () => this.#isNext('key', 'value', 'blockEnd');
    const parseNodeAfter = ({ start }: Token) =>
      isEnd() ? this.#createMissingScalar(start) : this.#node('blockOrIndentlessSequence');
    this.#nextToken();
    // Accept only entries that start with a key token. A `:` without a key is an error, although libyaml's state
    // machine has a state for this case.
    while (this.#isNext('key')) {
      const key = parseNodeAfter(this.#nextToken());
      const value = this.#isNext('value')
        ? parseNodeAfter(this.#nextToken())
        : this.#createMissingScalar(this.#peekToken().start);
      yield [key, value];
    }
    if (!this.#skipIf('blockEnd')) throw this.#unexpectedTokenError('expected a key, or less indentation');
  }

  *#flowItems(): Iterable<YamlNode> {
    const { start } = this.#nextToken();
    for (let isFirst = true; !this.#isNext('flowSequenceEnd'); isFirst = false) {
      if (!isFirst) {
        this.#expectFlowEntry(start, ']');
        if (this.#isNext('flowSequenceEnd')) break;
      }
      yield this.#isNext('key') ? this.#parseFlowPair() : this.#node('flow');
    }
    this.#nextToken();
  }

  /** Reads an item such as `a: b` of a flow sequence. This kind of item is a mapping with one entry. */
  #parseFlowPair(): MappingNode {
    const { start } = this.#nextToken();
    return this.#parseMapping(undefined, start, () => [this.#parseFlowEntry(start, 'flowSequenceEnd')]);
  }

  *#flowEntries(): Iterable<MappingNode['entries'][number]> {
    const { start } = this.#nextToken();
    for (let isFirst = true; !this.#isNext('flowMappingEnd'); isFirst = false) {
      if (!isFirst) {
        this.#expectFlowEntry(start, '}');
        if (this.#isNext('flowMappingEnd')) break;
      }
      if (this.#isNext('key')) yield this.#parseFlowEntry(this.#nextToken().start, 'flowMappingEnd');
      else yield [this.#node('flow'), this.#createMissingScalar(this.#peekToken().start)];
    }
    this.#nextToken();
  }

  #expectFlowEntry(start: Mark, end: ']' | '}'): void {
    if (this.#skipIf('flowEntry')) return;
    const collection = end === ']' ? 'list' : 'mapping';
    throw this.#unexpectedTokenError(`the ${collection} of line ${start.line + 1} needs ',' or '${end}'`);
  }

  #parseFlowEntry(start: Mark, end: 'flowSequenceEnd' | 'flowMappingEnd'): MappingNode['entries'][number] {
    const key = this.#isNext('value', 'flowEntry', end) ? this.#createMissingScalar(start) : this.#node('flow');
    if (!this.#skipIf('value') || this.#isNext('flowEntry', end))
      return [key, this.#createMissingScalar(this.#peekToken().start)];
    return [key, this.#node('flow')];
  }
}
