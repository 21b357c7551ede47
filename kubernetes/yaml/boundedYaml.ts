/**
 * Reads YAML and JSON from untrusted authors with a bounded amount of work. All YAML is read here, so that manifests,
 * configuration and credentials follow the same rules, which are those of sigs.k8s.io/yaml with goyaml.v2.
 */
import { messageOf } from '../../base/failure.ts';
import { decodeNode } from './decode.ts';
import { documentRanges } from './documentRanges.ts';
import { expandedSize } from './expandedSize.ts';
import { type DocumentRange, parseDocument } from './parser.ts';
import { type Token, YamlError } from './scanner.ts';

/** Limits on the input text. Input that exceeds any of them is rejected. */
export interface TextLimits {
  /** Maximum number of tokens, i.e. scalars, indicators and block ends. */
  readonly tokens: number;
  /**
   * Maximum number of fields and items at all levels. The values behind an alias are counted for each use of the alias.
   */
  readonly values: number;
  /** Maximum total length of all strings and field names. */
  readonly characters: number;
}

/** The values of all non-empty documents, or the reason for rejecting the text. */
export type BoundedText = { readonly values: readonly unknown[] } | YamlRefusal;

/**
 * Reason for rejecting a text or document. `problem` describes an error, and `beyond` names the limit that was
 * exceeded.
 */
type YamlRefusal = { readonly problem: string } | { readonly beyond: string };

/** The value of a document (null if it is empty), or the reason for rejecting it. */
export type BoundedDocument = { readonly value: unknown } | YamlRefusal;

/** Maximum nesting depth. More deeply nested input is rejected. Kubernetes objects are nested far less deeply. */
const MAX_DEPTH = 100;
/** Maximum number of anchors and aliases in a text. */
const MAX_ALIASES = 1_000;
/** Maximum number of documents in a text. */
const MAX_DOCUMENTS = 1_000;

/** Parses all documents of the input. An error in one document invalidates all of them. */
export function parseBounded(text: string, limits: TextLimits): BoundedText {
  const documents = parseDocuments(text, limits);
  if (!Array.isArray(documents)) return documents;
  const values: unknown[] = [];
  for (const document of documents) {
    if (!('value' in document)) return document;
    if (document.value !== null && document.value !== undefined) values.push(document.value);
  }
  return findExcess(values, limits) ?? { values };
}

/**
 * Parses the documents of the input separately, so that an error in one document does not affect the others. The limits
 * apply to all documents together. Input that is a JSON object is not checked against the limits.
 */
export function parseDocuments(text: string, limits: TextLimits): BoundedDocument[] | YamlRefusal {
  const json = parseJsonObject(text);
  if (json === undefined) return yamlDocuments(text, limits);
  if (!LONG_INTEGER.test(text)) return [json];
  // Prefer the result of the YAML parser, because `JSON.parse` rounds long integers. The YAML parser rejects valid JSON
  // only if it contains escapes that do not exist in YAML.
  const documents = yamlDocuments(text, limits);
  const [document] = Array.isArray(documents) ? documents : [];
  return document !== undefined && 'value' in document ? [document] : [json];
}

/** Pattern of an integer that a JavaScript number may not represent exactly. */
const LONG_INTEGER = /[\s,:[]-?\d{16,}[\s,}\]]/;

/**
 * Parses a JSON object with `JSON.parse`, which is a hundred times as fast as the YAML parser. Returns undefined for
 * any other text.
 */
function parseJsonObject(text: string): { readonly value: unknown } | undefined {
  if (!/^\s*\{/.test(text.slice(0, 1_000))) return undefined;
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function yamlDocuments(text: string, limits: TextLimits): BoundedDocument[] | YamlRefusal {
  const ranges = documentRanges(text);
  if (ranges.length > MAX_DOCUMENTS) return { problem: `has more than ${MAX_DOCUMENTS} documents` };
  const reader = new DocumentReader(text, limits);
  const documents: BoundedDocument[] = [];
  try {
    for (const range of ranges) {
      const document = reader.read(range);
      if (document !== undefined) documents.push(document);
    }
    return documents;
  } catch (error) {
    if (error instanceof LimitExceededError) return error.refusal;
    return { problem: messageOf(error) };
  }
}

/** Thrown if the text as a whole exceeds a limit. */
class LimitExceededError extends Error {
  override readonly name = 'TooMuch';
  readonly refusal: YamlRefusal;

  constructor(refusal: YamlRefusal) {
    super('the text exceeds a limit');
    this.refusal = refusal;
  }
}

/** Reads the documents of a text and checks their total size against the limits. */
class DocumentReader {
  readonly #text: string;
  readonly #limits: TextLimits;
  #tokens = 0;
  #aliases = 0;
  #values = 0;
  #characters = 0;

  constructor(text: string, limits: TextLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  /** Returns the document in a range, or undefined if there is none. */
  read(range: DocumentRange): BoundedDocument | undefined {
    try {
      return this.#read(range);
    } catch (error) {
      if (!(error instanceof YamlError)) throw error;
      const { line, column } = error.mark;
      return { problem: `${error.message} at line ${line + 1}, column ${column + 1}` };
    }
  }

  #read(range: DocumentRange): BoundedDocument | undefined {
    const source = withoutByteOrderMark(this.#text, range);
    rejectControlCharacters(this.#text, source);
    const onToken = (token: Token) => this.#countToken(token);
    const node = parseDocument(this.#text, source, { depth: MAX_DEPTH, onToken });
    if (node === undefined) return undefined;
    const { values, characters, depth } = expandedSize(node);
    this.#values += values;
    this.#characters += characters;
    const documentSize = { values: this.#values, characters: this.#characters, isDeep: depth > MAX_DEPTH };
    return exceededLimit(documentSize, this.#limits) ?? { value: decodeNode(node) };
  }

  #countToken({ type }: Token): void {
    const { tokens } = this.#limits;
    this.#tokens += 1;
    if (this.#tokens > tokens) throw new LimitExceededError({ beyond: `more than ${tokens} tokens` });
    if (type === 'anchor' || type === 'alias') this.#aliases += 1;
    if (this.#aliases > MAX_ALIASES) {
      throw new LimitExceededError({ problem: `has more than ${MAX_ALIASES} anchors and aliases` });
    }
  }
}

function withoutByteOrderMark(text: string, range: DocumentRange): DocumentRange {
  return range.start === 0 && text.startsWith('\ufeff') ? { ...range, start: 1 } : range;
}

/** Characters that are not allowed in YAML (`readerc.go`). */
const DISALLOWED_CHARACTER = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

function rejectControlCharacters(text: string, { start, end, line }: DocumentRange): void {
  DISALLOWED_CHARACTER.lastIndex = start;
  const match = DISALLOWED_CHARACTER.exec(text);
  if (match === null || match.index >= end) return;
  const precedingLines = text.slice(start, match.index).split(/\r\n|[\n\r\u0085\u2028\u2029]/);
  const code = (match[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const mark = {
    index: match.index,
    line: line + precedingLines.length - 1,
    column: precedingLines.at(-1)?.length ?? 0,
  };
  throw new YamlError(`control characters are not allowed: U+${code}`, mark);
}

/**
 * Returns the refusal for the limit that a value exceeds, or undefined if it exceeds none. A value that contains itself
 * is treated as nested too deeply.
 */
export function findExcess(root: unknown, limits: TextLimits): YamlRefusal | undefined {
  let values = 0;
  let characters = 0;
  let isDeep = false;
  const isWithinLimits = () => values <= limits.values && characters <= limits.characters && !isDeep;
  const visit = (value: unknown, depth: number): void => {
    values += 1;
    if (typeof value === 'string') characters += value.length;
    if (depth > MAX_DEPTH) isDeep = true;
    if (typeof value !== 'object' || value === null) return;
    const isList = Array.isArray(value);
    for (const [key, each] of Object.entries(value)) {
      if (!isWithinLimits()) return;
      if (!isList) characters += key.length;
      visit(each, depth + 1);
    }
  };
  visit(root, 0);
  return exceededLimit({ values, characters, isDeep }, limits);
}

interface ValueSize {
  readonly values: number;
  readonly characters: number;
  readonly isDeep: boolean;
}

function exceededLimit({ values, characters, isDeep }: ValueSize, limits: TextLimits): YamlRefusal | undefined {
  if (isDeep) return { problem: `is nested deeper than ${MAX_DEPTH} levels` };
  if (values > limits.values) return { beyond: `more than ${limits.values} values` };
  if (characters > limits.characters) return { beyond: `more than ${limits.characters} characters` };
  return undefined;
}
