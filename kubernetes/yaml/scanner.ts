/**
 * Splits a YAML document into tokens according to the rules of libyaml as implemented in goyaml.v2 (`scannerc.go` in
 * `go.yaml.in/yaml/v2`). Indentation matters only between block collections, so a quoted, plain or bracketed value may
 * continue in any column.
 */

/** A position in a file. Lines and columns are counted from 0. */
export interface Mark {
  readonly index: number;
  readonly line: number;
  readonly column: number;
}

/** A syntax error with its position. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
  readonly mark: Mark;

  constructor(message: string, mark: Mark) {
    super(message);
    this.mark = mark;
  }
}

type ScalarStyle = 'plain' | 'quoted' | 'block';

type Indicator =
  | 'streamEnd'
  | 'documentStart'
  | 'blockSequenceStart'
  | 'blockMappingStart'
  | 'blockEnd'
  | 'flowSequenceStart'
  | 'flowSequenceEnd'
  | 'flowMappingStart'
  | 'flowMappingEnd'
  | 'blockEntry'
  | 'flowEntry'
  | 'key'
  | 'value';

interface IndicatorToken {
  readonly type: Indicator;
  readonly start: Mark;
}

export interface ScalarToken {
  readonly type: 'scalar';
  readonly start: Mark;
  /** Index after the last character of the scalar. */
  readonly end: number;
  readonly value: string;
  readonly style: ScalarStyle;
}

interface NameToken {
  readonly type: 'anchor' | 'alias';
  readonly start: Mark;
  readonly name: string;
}

interface TagToken {
  readonly type: 'tag';
  readonly start: Mark;
  readonly handle: string;
  readonly suffix: string;
}

interface VersionToken {
  readonly type: 'versionDirective';
  readonly start: Mark;
  readonly version: string;
}

interface TagDirectiveToken {
  readonly type: 'tagDirective';
  readonly start: Mark;
  readonly handle: string;
  readonly prefix: string;
}

export type Token = IndicatorToken | ScalarToken | NameToken | TagToken | VersionToken | TagDirectiveToken;

/** A position where a key without `?` may have started. It is a key only if a `:` follows. */
interface SimpleKey {
  isPossible: boolean;
  /** Whether the token at this position must be a key, because it is in the column of its block mapping. */
  readonly isRequired: boolean;
  readonly tokenNumber: number;
  readonly mark: Mark;
}

const START_MARK: Mark = { index: 0, line: 0, column: 0 };

/** Maximum length in characters of a key without `?`. Longer text before a `:` is not a key. */
const MAX_SIMPLE_KEY_LENGTH = 1024;
const MISSING_COLON = `expected ':' after a key, which has at most ${MAX_SIMPLE_KEY_LENGTH} characters on one line`;

export const LINE_BREAKS = '\n\r\u0085\u2028\u2029';

const isBreak = (character: string): boolean =>
  character === '\n' ||
  character === '\r' ||
  character === '\u0085' ||
  character === '\u2028' ||
  character === '\u2029';
const isBlank = (character: string): boolean => character === ' ' || character === '\t';
/** Whether a character is whitespace, a line break or the end of the text, which is represented by an empty string. */
const isSpacing = (character: string): boolean => character === '' || isBlank(character) || isBreak(character);
const isBreakOrEnd = (character: string): boolean => character === '' || isBreak(character);
const isWordCharacter = (character: string): boolean => /^[\w-]$/.test(character);
const isDigit = (character: string): boolean => character >= '0' && character <= '9' && character.length === 1;

const URI_CHARACTER = /^[\w\-;/?:@&=+$,.!~*'()[\]%]$/;
/** Characters that cannot start a plain scalar. The scanner allows exceptions for some of them. */
const INDICATORS = new Set('-?:,[]{}#&*!|>\'"%@`');
/** Characters that end a plain scalar inside brackets. */
const FLOW_INDICATORS = new Set(',?[]{}');
/** Characters that may directly follow the name of an anchor. */
const NAME_TERMINATORS = new Set('?:,]}%@`');

const ESCAPED_CHARACTERS: ReadonlyMap<string, string> = new Map([
  ['0', '\0'],
  ['a', '\x07'],
  ['b', '\b'],
  ['t', '\t'],
  ['\t', '\t'],
  ['n', '\n'],
  ['v', '\v'],
  ['f', '\f'],
  ['r', '\r'],
  ['e', '\x1b'],
  [' ', ' '],
  ['"', '"'],
  ["'", "'"],
  ['\\', '\\'],
  ['N', '\u0085'],
  ['_', '\u00a0'],
  ['L', '\u2028'],
  ['P', '\u2029'],
]);
const CODE_LENGTHS: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);

export class Scanner {
  readonly #text: string;
  readonly #endIndex: number;
  #index: number;
  #line: number;
  #column = 0;

  readonly #tokens: Token[] = [];
  /** Index of the next token in `#tokens`. */
  #headIndex = 0;
  #consumedCount = 0;
  #hasEnded = false;

  #indent = -1;
  readonly #indents: number[] = [];
  #flowLevel = 0;
  #isSimpleKeyAllowed = true;
  readonly #simpleKeys: SimpleKey[] = [{ isPossible: false, isRequired: false, tokenNumber: 0, mark: START_MARK }];
  /** Indexes into `#simpleKeys`, keyed by the number of the token that starts the possible key. */
  readonly #simpleKeyOfToken = new Map<number, number>();

  /**
   * Scans `text` from `start` to `end`. `start` must be at the beginning of a line, and `line` is the number of that
   * line.
   */
  constructor(text: string, start = 0, end = text.length, line = 0) {
    this.#text = text;
    this.#index = start;
    this.#endIndex = end;
    this.#line = line;
  }

  /** Number of tokens scanned so far. */
  get count(): number {
    return this.#consumedCount + this.#tokens.length - this.#headIndex;
  }

  /** Returns the next token without consuming it. */
  peek(): Token {
    while (this.#needsMoreTokens()) this.#fetchToken();
    const token = this.#tokens[this.#headIndex];
    if (token === undefined) throw this.#createError('unexpected end of the document');
    return token;
  }

  /** Consumes and returns the next token. */
  next(): Token {
    const token = this.peek();
    this.#headIndex += 1;
    this.#consumedCount += 1;
    if (this.#headIndex === this.#tokens.length) {
      this.#tokens.length = 0;
      this.#headIndex = 0;
    }
    return token;
  }

  /**
   * Whether more tokens must be scanned to determine the next one, because a later `:` can make it the start of a key.
   */
  #needsMoreTokens(): boolean {
    if (this.#headIndex === this.#tokens.length) return !this.#hasEnded;
    const position = this.#simpleKeyOfToken.get(this.#consumedCount);
    const key = position === undefined ? undefined : this.#simpleKeys[position];
    return key !== undefined && this.#isStillPossible(key);
  }

  #fetchToken(): void {
    this.#skipToToken();
    this.#unrollIndent(this.#column);
    const firstCharacter = this.#charAt();
    const isInFlow = this.#flowLevel > 0;
    const isBeforeSpacing = isSpacing(this.#charAt(1));
    if (firstCharacter === '') this.#fetchStreamEnd();
    else if (this.#column === 0 && firstCharacter === '%') this.#fetchDirective();
    else if (this.#isAtDocumentIndicator()) this.#fetchDocumentStart();
    else if (firstCharacter === '[') this.#fetchFlowStart('flowSequenceStart');
    else if (firstCharacter === '{') this.#fetchFlowStart('flowMappingStart');
    else if (firstCharacter === ']') this.#fetchFlowEnd('flowSequenceEnd');
    else if (firstCharacter === '}') this.#fetchFlowEnd('flowMappingEnd');
    else if (firstCharacter === ',') this.#fetchFlowEntry();
    else if (firstCharacter === '-' && isBeforeSpacing) this.#fetchBlockEntry();
    else if (firstCharacter === '?' && (isInFlow || isBeforeSpacing)) this.#fetchKey();
    else if (firstCharacter === ':' && (isInFlow || isBeforeSpacing)) this.#fetchValue();
    else if (firstCharacter === '*') this.#fetchName('alias');
    else if (firstCharacter === '&') this.#fetchName('anchor');
    else if (firstCharacter === '!') this.#fetchTag();
    else if ((firstCharacter === '|' || firstCharacter === '>') && !isInFlow)
      this.#fetchBlockScalar(firstCharacter === '|');
    else if (firstCharacter === "'" || firstCharacter === '"') this.#fetchQuoted(firstCharacter);
    else if (this.#canStartPlain(firstCharacter)) this.#fetchPlain();
    else throw this.#createError(invalidStartMessage(firstCharacter));
  }

  #canStartPlain(first: string): boolean {
    if (first === '-') return true;
    if (first === '?' || first === ':') return this.#flowLevel === 0;
    return !isBlank(first) && !INDICATORS.has(first);
  }

  #charAt(offset = 0): string {
    const index = this.#index + offset;
    return index < this.#endIndex ? (this.#text[index] ?? '') : '';
  }

  #currentMark(): Mark {
    return { index: this.#index, line: this.#line, column: this.#column };
  }

  #createError(message: string, mark: Mark = this.#currentMark()): YamlError {
    return new YamlError(message, mark);
  }

  #skipCharacters(count = 1): void {
    this.#index += count;
    this.#column += count;
  }

  #skipBlanks(): void {
    while (isBlank(this.#charAt())) this.#skipCharacters();
  }

  #skipComment(): void {
    if (this.#charAt() !== '#') return;
    while (!isBreakOrEnd(this.#charAt())) this.#skipCharacters();
  }

  /**
   * Consumes a line break, if any, and returns its normalized form. U+2028 and U+2029 are preserved, and any other line
   * break becomes LF.
   */
  #readBreak(): string {
    const character = this.#charAt();
    if (!isBreak(character)) return '';
    this.#index += character === '\r' && this.#charAt(1) === '\n' ? 2 : 1;
    this.#line += 1;
    this.#column = 0;
    return character === '\u2028' || character === '\u2029' ? character : '\n';
  }

  #isAtDocumentIndicator(): boolean {
    if (this.#column !== 0) return false;
    const firstCharacter = this.#charAt();
    if (firstCharacter !== '-' && firstCharacter !== '.') return false;
    return this.#charAt(1) === firstCharacter && this.#charAt(2) === firstCharacter && isSpacing(this.#charAt(3));
  }

  /** Skips whitespace, comments and line breaks. A tab is skipped only where no key can start. */
  #skipToToken(): void {
    for (;;) {
      while (
        this.#charAt() === ' ' ||
        (this.#charAt() === '\t' && (this.#flowLevel > 0 || !this.#isSimpleKeyAllowed))
      ) {
        this.#skipCharacters();
      }
      this.#skipComment();
      if (this.#readBreak() === '') return;
      if (this.#flowLevel === 0) this.#isSimpleKeyAllowed = true;
    }
  }

  #pushToken(token: Token): void {
    this.#tokens.push(token);
  }

  /** Adds a token for an indicator and skips its `length` characters. */
  #pushIndicator(type: Indicator, length = 1): void {
    this.#pushToken({ type, start: this.#currentMark() });
    this.#skipCharacters(length);
  }

  // Simple keys

  #isStillPossible(key: SimpleKey): boolean {
    if (!key.isPossible) return false;
    if (key.mark.line === this.#line && !this.#isFartherThan(MAX_SIMPLE_KEY_LENGTH, key.mark)) return true;
    if (key.isRequired) throw this.#createError(MISSING_COLON, key.mark);
    key.isPossible = false;
    return false;
  }

  /**
   * Whether the current position is more than `count` characters after a mark. Characters are Unicode code points, not
   * UTF-16 units.
   */
  #isFartherThan(count: number, { index }: Mark): boolean {
    const codeUnits = this.#index - index;
    if (codeUnits <= count) return false;
    return codeUnits > 2 * count || [...this.#text.slice(index, this.#index)].length > count;
  }

  #saveSimpleKey(): void {
    if (!this.#isSimpleKeyAllowed) return;
    const key: SimpleKey = {
      isPossible: true,
      isRequired: this.#flowLevel === 0 && this.#indent === this.#column,
      tokenNumber: this.count,
      mark: this.#currentMark(),
    };
    this.#removeSimpleKey();
    this.#simpleKeys[this.#flowLevel] = key;
    this.#simpleKeyOfToken.set(key.tokenNumber, this.#flowLevel);
  }

  #removeSimpleKey(): void {
    const key = this.#simpleKeys[this.#flowLevel];
    if (!key?.isPossible) return;
    if (key.isRequired) throw this.#createError(MISSING_COLON, key.mark);
    key.isPossible = false;
    this.#simpleKeyOfToken.delete(key.tokenNumber);
  }

  // Indentation

  /**
   * Starts a block collection at the column of `start`, unless one is already open there, and inserts its token at
   * `position` in the queue.
   */
  #rollIndent(type: 'blockSequenceStart' | 'blockMappingStart', start: Mark, position = this.#tokens.length): void {
    if (this.#flowLevel > 0 || this.#indent >= start.column) return;
    this.#indents.push(this.#indent);
    this.#indent = start.column;
    this.#tokens.splice(position, 0, { type, start });
  }

  /** Closes the block collections that are indented more than `column`. */
  #unrollIndent(column: number): void {
    if (this.#flowLevel > 0) return;
    while (this.#indent > column) {
      this.#pushToken({ type: 'blockEnd', start: this.#currentMark() });
      this.#indent = this.#indents.pop() ?? -1;
    }
  }

  /** Closes all block collections before a token that cannot be inside one. */
  #endBlocks(): void {
    this.#unrollIndent(-1);
    this.#removeSimpleKey();
    this.#isSimpleKeyAllowed = false;
  }

  // Indicators

  #fetchStreamEnd(): void {
    if (this.#column !== 0) {
      this.#column = 0;
      this.#line += 1;
    }
    this.#endBlocks();
    this.#pushToken({ type: 'streamEnd', start: this.#currentMark() });
    this.#hasEnded = true;
  }

  #fetchDocumentStart(): void {
    this.#endBlocks();
    this.#pushIndicator('documentStart', 3);
  }

  #fetchFlowStart(type: 'flowSequenceStart' | 'flowMappingStart'): void {
    this.#saveSimpleKey();
    this.#flowLevel += 1;
    this.#simpleKeys[this.#flowLevel] = {
      isPossible: false,
      isRequired: false,
      tokenNumber: this.count,
      mark: this.#currentMark(),
    };
    this.#isSimpleKeyAllowed = true;
    this.#pushIndicator(type);
  }

  #fetchFlowEnd(type: 'flowSequenceEnd' | 'flowMappingEnd'): void {
    this.#removeSimpleKey();
    if (this.#flowLevel > 0) {
      const lastKey = this.#simpleKeys.pop();
      if (lastKey !== undefined) this.#simpleKeyOfToken.delete(lastKey.tokenNumber);
      this.#flowLevel -= 1;
    }
    this.#isSimpleKeyAllowed = false;
    this.#pushIndicator(type);
  }

  #fetchFlowEntry(): void {
    this.#removeSimpleKey();
    this.#isSimpleKeyAllowed = true;
    this.#pushIndicator('flowEntry');
  }

  /**
   * Scans a `-`. Inside brackets, its token is still passed to the parser, whose error message contains the position of
   * the list.
   */
  #fetchBlockEntry(): void {
    if (this.#flowLevel === 0) {
      if (!this.#isSimpleKeyAllowed) throw this.#createError("a list item ('- ') cannot start here");
      this.#rollIndent('blockSequenceStart', this.#currentMark());
    }
    this.#removeSimpleKey();
    this.#isSimpleKeyAllowed = true;
    this.#pushIndicator('blockEntry');
  }

  #fetchKey(): void {
    if (this.#flowLevel === 0) {
      if (!this.#isSimpleKeyAllowed) throw this.#createError("a key ('? ') cannot start here");
      this.#rollIndent('blockMappingStart', this.#currentMark());
    }
    this.#removeSimpleKey();
    this.#isSimpleKeyAllowed = this.#flowLevel === 0;
    this.#pushIndicator('key');
  }

  #fetchValue(): void {
    const key = this.#simpleKeys[this.#flowLevel];
    if (key !== undefined && this.#isStillPossible(key)) {
      const position = this.#headIndex + key.tokenNumber - this.#consumedCount;
      this.#tokens.splice(position, 0, { type: 'key', start: key.mark });
      this.#rollIndent('blockMappingStart', key.mark, position);
      key.isPossible = false;
      this.#simpleKeyOfToken.delete(key.tokenNumber);
      this.#isSimpleKeyAllowed = false;
    } else {
      if (this.#flowLevel === 0) {
        if (!this.#isSimpleKeyAllowed) {
          throw this.#createError("a mapping cannot start here; quote the value if its ': ' is text");
        }
        this.#rollIndent('blockMappingStart', this.#currentMark());
      }
      this.#isSimpleKeyAllowed = this.#flowLevel === 0;
    }
    this.#pushIndicator('value');
  }

  // Directives, anchors and tags

  #fetchDirective(): void {
    this.#endBlocks();
    const start = this.#currentMark();
    this.#skipCharacters();
    const name = this.#readWord();
    if (name === '' || !isSpacing(this.#charAt()))
      throw this.#createError('expected the name of a directive after %', start);
    if (name === 'YAML') this.#pushToken({ type: 'versionDirective', start, version: this.#readVersion(start) });
    else if (name === 'TAG') this.#pushToken(this.#readTagDirective(start));
    else throw this.#createError(`unknown directive %${name}`, start);
    this.#skipBlanks();
    this.#skipComment();
    if (!isBreakOrEnd(this.#charAt())) throw this.#createError('expected a line break after a directive', start);
    this.#readBreak();
  }

  #readWord(): string {
    const start = this.#index;
    while (isWordCharacter(this.#charAt())) this.#skipCharacters();
    return this.#text.slice(start, this.#index);
  }

  #readVersion(start: Mark): string {
    this.#skipBlanks();
    const major = this.#readVersionNumber(start);
    if (this.#charAt() !== '.') throw this.#createError('expected %YAML 1.1', start);
    this.#skipCharacters();
    return `${major}.${this.#readVersionNumber(start)}`;
  }

  #readVersionNumber(start: Mark): number {
    const startIndex = this.#index;
    while (isDigit(this.#charAt())) this.#skipCharacters();
    const digits = this.#text.slice(startIndex, this.#index);
    if (digits.length < 1 || digits.length > 2) throw this.#createError('expected %YAML 1.1', start);
    return Number(digits);
  }

  #readTagDirective(start: Mark): TagDirectiveToken {
    this.#skipBlanks();
    const handle = this.#readTagHandle(start);
    if (handle !== '!' && !handle.endsWith('!'))
      throw this.#createError("the handle of a %TAG directive ends with '!'", start);
    if (!isBlank(this.#charAt()))
      throw this.#createError('expected white space after the handle of a %TAG directive', start);
    this.#skipBlanks();
    const prefix = this.#readTagUri('', start);
    if (!isSpacing(this.#charAt()))
      throw this.#createError('expected white space after the prefix of a %TAG directive', start);
    return { type: 'tagDirective', start, handle, prefix };
  }

  #fetchName(type: 'anchor' | 'alias'): void {
    this.#saveSimpleKey();
    this.#isSimpleKeyAllowed = false;
    const start = this.#currentMark();
    this.#skipCharacters();
    const name = this.#readWord();
    if (name === '' || !(isSpacing(this.#charAt()) || NAME_TERMINATORS.has(this.#charAt()))) {
      const sign = type === 'anchor' ? '&' : '*';
      throw this.#createError(`expected the name of an ${type} after ${sign}; quote the value if it is text`, start);
    }
    this.#pushToken({ type, start, name });
  }

  #fetchTag(): void {
    this.#saveSimpleKey();
    this.#isSimpleKeyAllowed = false;
    const start = this.#currentMark();
    const { handle, suffix } = this.#readTag(start);
    if (!isSpacing(this.#charAt())) throw this.#createError('expected white space after a tag', start);
    this.#pushToken({ type: 'tag', start, handle, suffix });
  }

  #readTag(start: Mark): { readonly handle: string; readonly suffix: string } {
    if (this.#charAt(1) === '<') {
      this.#skipCharacters(2);
      const suffix = this.#readTagUri('', start);
      if (this.#charAt() !== '>') throw this.#createError("expected '>' at the end of a tag", start);
      this.#skipCharacters();
      return { handle: '', suffix };
    }
    const handle = this.#readTagHandle(start);
    if (handle.length > 1 && handle.endsWith('!')) return { handle, suffix: this.#readTagUri('', start) };
    const suffix = this.#readTagUri(handle, start);
    return suffix === '' ? { handle: '', suffix: '!' } : { handle: '!', suffix };
  }

  #readTagHandle(start: Mark): string {
    if (this.#charAt() !== '!') throw this.#createError("expected '!'", start);
    this.#skipCharacters();
    const word = this.#readWord();
    if (this.#charAt() !== '!') return `!${word}`;
    this.#skipCharacters();
    return `!${word}!`;
  }

  /** Reads the rest of a tag. `head` is the part that has already been read, including its `!`. */
  #readTagUri(head: string, start: Mark): string {
    let uri = head.slice(1);
    const startIndex = this.#index;
    while (URI_CHARACTER.test(this.#charAt()))
      uri += this.#charAt() === '%' ? this.#readEscapedOctets(start) : this.#readCharacter();
    if (head === '' && startIndex === this.#index) throw this.#createError('expected the rest of a tag', start);
    return uri;
  }

  #readCharacter(): string {
    const character = this.#charAt();
    this.#skipCharacters();
    return character;
  }

  #readEscapedOctets(start: Mark): string {
    const [escaped] = /^(?:%[0-9a-f]{2})+/i.exec(this.#text.slice(this.#index, this.#endIndex)) ?? [''];
    this.#skipCharacters(escaped.length);
    try {
      if (escaped !== '') return decodeURIComponent(escaped);
    } catch {
      // Fall through to the error below, because the bytes are not valid UTF-8.
    }
    throw this.#createError('expected UTF-8 octets such as %C3%A9 in a tag', start);
  }

  // Scalars

  #fetchBlockScalar(isLiteral: boolean): void {
    this.#removeSimpleKey();
    this.#isSimpleKeyAllowed = true;
    const start = this.#currentMark();
    this.#skipCharacters();
    const { chomping, increment } = this.#readBlockHeader(start);
    this.#skipBlanks();
    this.#skipComment();
    if (!isBreakOrEnd(this.#charAt()))
      throw this.#createError('expected a line break after the | or > of a block scalar', start);
    this.#readBreak();
    const indent = increment === 0 ? 0 : Math.max(this.#indent, 0) + increment;
    const value = this.#readBlockLines(isLiteral, chomping, indent, start);
    this.#pushToken({ type: 'scalar', start, end: this.#index, value, style: 'block' });
  }

  /** Reads the chomping indicator (`-` or `+`) and the indentation indicator (a digit) of a block scalar, in either order. */
  #readBlockHeader(start: Mark): { readonly chomping: string; readonly increment: number } {
    let [chomping, increment] = ['', 0];
    const readChomping = () => {
      if (this.#charAt() === '+' || this.#charAt() === '-') chomping = this.#readCharacter();
    };
    readChomping();
    if (isDigit(this.#charAt())) {
      increment = Number(this.#readCharacter());
      if (increment === 0) throw this.#createError('the indentation of a block scalar cannot be 0', start);
      if (chomping === '') readChomping();
    }
    return { chomping, increment };
  }

  #readBlockLines(isLiteral: boolean, chomping: string, headerIndent: number, start: Mark): string {
    let value = '';
    let lineBreak = '';
    let wasIndented = false;
    let { indent, breaks } = this.#readBlockIndentation(headerIndent, start);
    while (this.#column === indent && this.#charAt() !== '') {
      const isIndented = isBlank(this.#charAt());
      if (!isLiteral && !wasIndented && !isIndented && lineBreak === '\n') {
        if (breaks === '') value += ' ';
      } else {
        value += lineBreak;
      }
      value += breaks;
      wasIndented = isIndented;
      value += this.#readLine();
      lineBreak = this.#readBreak();
      ({ indent, breaks } = this.#readBlockIndentation(indent, start));
    }
    if (chomping !== '-') value += lineBreak;
    return chomping === '+' ? value + breaks : value;
  }

  #readLine(): string {
    const startIndex = this.#index;
    while (!isBreakOrEnd(this.#charAt())) this.#skipCharacters();
    return this.#text.slice(startIndex, this.#index);
  }

  /**
   * Skips empty lines and the indentation of the next line of a block scalar. Detects the indentation if `expected` is
   * 0.
   */
  #readBlockIndentation(expected: number, start: Mark): { readonly indent: number; readonly breaks: string } {
    let lineBreaks = '';
    let deepestColumn = 0;
    for (;;) {
      while ((expected === 0 || this.#column < expected) && this.#charAt() === ' ') this.#skipCharacters();
      deepestColumn = Math.max(deepestColumn, this.#column);
      if ((expected === 0 || this.#column < expected) && this.#charAt() === '\t') {
        throw this.#createError('a tab cannot indent a line of a block scalar; use spaces', start);
      }
      const lineBreak = this.#readBreak();
      if (lineBreak === '') break;
      lineBreaks += lineBreak;
    }
    return { indent: expected === 0 ? Math.max(deepestColumn, this.#indent + 1, 1) : expected, breaks: lineBreaks };
  }

  #fetchQuoted(quote: "'" | '"'): void {
    this.#saveSimpleKey();
    this.#isSimpleKeyAllowed = false;
    const start = this.#currentMark();
    this.#skipCharacters();
    const value = this.#readQuoted(quote, start);
    this.#skipCharacters();
    this.#pushToken({ type: 'scalar', start, end: this.#index, value, style: 'quoted' });
  }

  #readQuoted(quote: "'" | '"', start: Mark): string {
    const unclosedError = () => this.#createError(`the quotation mark ${quote} is not closed`, start);
    let value = '';
    for (;;) {
      if (this.#isAtDocumentIndicator() || this.#charAt() === '') throw unclosedError();
      const { text, isEscapedBreak } = this.#readQuotedWord(quote, start);
      value += text;
      if (this.#charAt() === quote) return value;
      value += this.#readSpacing(start, 0, isEscapedBreak).spacing;
    }
  }

  /** Reads up to whitespace, the closing quotation mark or an escaped line break, whichever comes first. */
  #readQuotedWord(quote: "'" | '"', start: Mark): { readonly text: string; readonly isEscapedBreak: boolean } {
    let text = '';
    for (let character = this.#charAt(); !isSpacing(character); character = this.#charAt()) {
      if (character === quote) {
        if (quote === '"' || this.#charAt(1) !== "'") break;
        this.#skipCharacters(2);
        text += "'";
      } else if (quote === '"' && character === '\\') {
        this.#skipCharacters();
        if (isBreak(this.#charAt())) {
          this.#readBreak();
          return { text, isEscapedBreak: true };
        }
        text += this.#readEscape(start);
      } else {
        text += character;
        this.#skipCharacters();
      }
    }
    return { text, isEscapedBreak: false };
  }

  #readEscape(start: Mark): string {
    const letter = this.#readCharacter();
    const length = CODE_LENGTHS.get(letter);
    if (length === undefined) {
      const escapedCharacter = ESCAPED_CHARACTERS.get(letter);
      if (escapedCharacter === undefined)
        throw this.#createError(`unknown escape \\${letter} within quotation marks`, start);
      return escapedCharacter;
    }
    const digits = this.#text.slice(this.#index, Math.min(this.#index + length, this.#endIndex));
    if (!/^[0-9a-f]+$/i.test(digits) || digits.length < length) {
      throw this.#createError(`expected ${length} hexadecimal digits after \\${letter}`, start);
    }
    this.#skipCharacters(length);
    const codePoint = Number.parseInt(digits, 16);
    if ((codePoint >= 0xd800 && codePoint <= 0xdfff) || codePoint > 0x10ffff) {
      throw this.#createError(`\\${letter}${digits} is not a Unicode character`, start);
    }
    return String.fromCodePoint(codePoint);
  }

  #fetchPlain(): void {
    this.#saveSimpleKey();
    this.#isSimpleKeyAllowed = false;
    const start = this.#currentMark();
    const indent = this.#indent + 1;
    let value = '';
    let end = this.#index;
    let spacing = '';
    let hasBroken = false;
    while (!this.#isAtDocumentIndicator() && this.#charAt() !== '#') {
      const word = this.#readPlainWord();
      if (word !== '') {
        value += spacing + word;
        end = this.#index;
        hasBroken = false;
      }
      if (!(isBlank(this.#charAt()) || isBreak(this.#charAt()))) break;
      // The next iteration appends this spacing only if another word follows.
      ({ spacing, hasBroken } = this.#readSpacing(start, indent));
      if (this.#flowLevel === 0 && this.#column < indent) break;
    }
    this.#pushToken({ type: 'scalar', start, end, value, style: 'plain' });
    if (hasBroken) this.#isSimpleKeyAllowed = true;
  }

  #readPlainWord(): string {
    const startIndex = this.#index;
    for (let character = this.#charAt(); !isSpacing(character); character = this.#charAt()) {
      if (character === ':' && isSpacing(this.#charAt(1))) break;
      if (this.#flowLevel > 0 && FLOW_INDICATORS.has(character)) break;
      this.#skipCharacters();
    }
    return this.#text.slice(startIndex, this.#index);
  }

  /**
   * Reads whitespace and line breaks inside a scalar. A single line break becomes a space. In a plain scalar, tabs are
   * not allowed in the first `indent` columns of a line.
   */
  #readSpacing(start: Mark, indent: number, isAfterBreak = false): { spacing: string; hasBroken: boolean } {
    let blanks = '';
    let lineBreak = '';
    let followingBreaks = '';
    let hasBroken = isAfterBreak;
    for (let character = this.#charAt(); isBlank(character) || isBreak(character); character = this.#charAt()) {
      if (isBlank(character)) {
        if (hasBroken && this.#column < indent && character === '\t') {
          throw this.#createError('a tab cannot indent a line; use spaces', start);
        }
        if (!hasBroken) blanks += character;
        this.#skipCharacters();
      } else if (hasBroken) {
        followingBreaks += this.#readBreak();
      } else {
        lineBreak = this.#readBreak();
        hasBroken = true;
      }
    }
    return { spacing: hasBroken ? foldBreaks(lineBreak, followingBreaks) : blanks, hasBroken };
  }
}

function invalidStartMessage(character: string): string {
  if (character === '\t') return 'a tab cannot indent a line; use spaces';
  return `a value cannot start with ${character}; quote it if it is text`;
}

/** Folds line breaks inside a scalar. A single LF becomes a space. If more breaks follow, the LF is dropped. */
function foldBreaks(lineBreak: string, followingBreaks: string): string {
  if (lineBreak !== '\n') return lineBreak + followingBreaks;
  return followingBreaks === '' ? ' ' : followingBreaks;
}
