/** Reads YAML or JSON whose author is not known, with bounds on the work: what is beyond them is refused with one sentence. */
import {
  type Alias,
  Composer,
  type Document,
  isScalar,
  Lexer,
  LineCounter,
  type ParsedNode,
  Parser,
  type Tags,
  visit,
} from 'yaml';
import { messageOf } from '../../../pod/failure.ts';
import { expandedSize } from './expandedSize.ts';

/** How much there may be in a text before it is refused. */
export interface TextLimits {
  /** Words, brackets, line ends and the like: what the parser has to look at. */
  readonly tokens: number;
  /** Fields, items and what they hold, each use of an alias counted again. */
  readonly values: number;
  /** The length of all of these together. */
  readonly characters: number;
}

/** The values of all documents that are not empty; or what is wrong; or which limit the text is beyond. */
export type BoundedText = { readonly values: readonly unknown[] } | Refusal;

/** A text that gives nothing: what is wrong with it, or which limit it is beyond. */
type Refusal = { readonly problem: string } | { readonly beyond: string };

/** What a document of a text gives; null or undefined when it is empty. */
export type BoundedDocument = { readonly value: unknown } | Refusal;

/** No object of Kubernetes is nested nearly as deep. */
const DEEPEST = 100;
/** Each alias is looked for among all anchors. */
const MOST_ALIASES = 1_000;

/** An empty document costs more than a word. */
const MOST_DOCUMENTS = 1_000;

type ComposedDocument = Document.Parsed<ParsedNode>;

/** Parses all documents of a text, as YAML 1.1 or JSON; what is wrong with one is wrong with the text. */
export function parseBounded(text: string, limits: TextLimits): BoundedText {
  const read = parseDocuments(text, limits);
  if (!Array.isArray(read)) return read;
  const values: unknown[] = [];
  for (const document of read) {
    if (!('value' in document)) return document;
    if (document.value !== null && document.value !== undefined) values.push(document.value);
  }
  return excessOf(values, limits) ?? { values };
}

/** Parses the documents of a text one by one: what is wrong with one leaves those beside it. The limits are for all of them. */
export function parseDocuments(text: string, limits: TextLimits): BoundedDocument[] | Refusal {
  const json = jsonOf(text);
  if (json !== undefined) return [json];
  const lines = new LineCounter();
  try {
    const composed = composedOf(text, limits, lines);
    return Array.isArray(composed) ? contentsOf(composed, limits, lines) : composed;
  } catch (error) {
    return { problem: unquoted(messageOf(error)) };
  }
}

function contentsOf(documents: readonly ComposedDocument[], limits: TextLimits, lines: LineCounter): BoundedDocument[] {
  let [values, characters] = [0, 0];
  return documents.map((document) => {
    const problem = firstError(document, lines);
    if (problem !== undefined) return { problem };
    const size = expandedSize(document.contents);
    values += size.values;
    characters += size.characters;
    return excess({ values, characters, isDeep: size.depth > DEEPEST }, limits) ?? contentOf(document, lines);
  });
}

function contentOf(document: ComposedDocument, lines: LineCounter): BoundedDocument {
  try {
    // Its own count of aliases takes a look at the whole document for each of them, and does not know merges.
    const value: unknown = document.toJS({ maxAliasCount: -1 });
    return { value };
  } catch (error) {
    // An alias without its anchor is found only when the value is made.
    return { problem: `${unquoted(messageOf(error))}${at(unresolvedAlias(document)?.range?.[0] ?? 0, lines)}` };
  }
}

/** JSON is YAML as well, but the parser that is made for it takes a hundredth of the time. */
function jsonOf(text: string): { readonly value: unknown } | undefined {
  if (!/^\s*\{/.test(text.slice(0, 1_000))) return undefined;
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function composedOf(text: string, { tokens: most }: TextLimits, lines: LineCounter): ComposedDocument[] | Refusal {
  const parser = new Parser(lines.addNewLine);
  const composer = new Composer<ParsedNode>({
    version: '1.1',
    customTags: kubernetesTags,
    // Theirs compares each key with all before it.
    uniqueKeys: false,
    logLevel: 'silent',
  });
  const documents: ComposedDocument[] = [];
  let tokens = 0;
  let aliases = 0;
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    tokens += 1;
    if (tokens > most) return { beyond: `more than ${most} tokens` };
    if (lexeme.length > 1 && (lexeme[0] === '*' || lexeme[0] === '&')) aliases += 1;
    if (aliases > MOST_ALIASES) return { problem: `has more than ${MOST_ALIASES} anchors and aliases` };
    for (const token of parser.next(lexeme)) {
      if (token.type === 'error') return { problem: `${unquoted(token.message)}${at(token.offset, lines)}` };
      documents.push(...composer.next(token));
    }
    if (documents.length > MOST_DOCUMENTS) return { problem: `has more than ${MOST_DOCUMENTS} documents` };
    if (parser.stack.length > DEEPEST) return { problem: `is nested deeper than ${DEEPEST} levels` };
  }
  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end());
  return documents;
}

const at = (offset: number, lines: LineCounter): string => {
  const { line, col } = lines.linePos(offset);
  return ` at line ${line}, column ${col}`;
};

/** The first error with its line and column, without the excerpt that the parser would show. */
function firstError(document: ComposedDocument, lines: LineCounter): string | undefined {
  const [error] = document.errors;
  if (error !== undefined) return `${unquoted(error.message)}${at(error.pos[0], lines)}`;
  const twice = repeatedKey(document);
  return twice === undefined ? undefined : `Map keys must be unique${at(twice, lines)}`;
}

/** Where a key stands that its map has already. */
function repeatedKey(document: ComposedDocument): number | undefined {
  let found: number | undefined;
  visit(document, {
    Map(_key, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          found = key.range?.[0] ?? 0;
          return visit.BREAK;
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return found;
}

/** The first alias without its anchor. */
function unresolvedAlias(document: ComposedDocument): Alias | undefined {
  let found: Alias | undefined;
  visit(document, {
    Alias(_key, alias) {
      if (alias.resolve(document) !== undefined) return undefined;
      found = alias;
      return visit.BREAK;
    },
  });
  return found;
}

/** What a parser says, without what it quotes of the text behind a colon: that may be a password. */
const unquoted = (message: string): string => message.replace(/(?<=\S):\s[\s\S]*$|\n[\s\S]*$/, '');

/** Kubernetes reads YAML 1.1 (`0644` is octal, `yes` is true), but for the types that JSON does not have. */
function kubernetesTags(tags: Tags): Tags {
  const foreign = /:(timestamp|binary|omap|pairs|set)$/;
  return tags.filter(
    (tag) => typeof tag === 'string' || !(foreign.test(tag.tag) || ('format' in tag && tag.format === 'TIME')),
  );
}

/** What is too much in a value; undefined when all is within the limits. One that holds itself has no end. */
export function excessOf(whole: unknown, limits: TextLimits): Refusal | undefined {
  let values = 0;
  let characters = 0;
  let isDeep = false;
  const isWithin = () => values <= limits.values && characters <= limits.characters && !isDeep;
  const look = (value: unknown, depth: number): void => {
    values += 1;
    if (typeof value === 'string') characters += value.length;
    if (depth > DEEPEST) isDeep = true;
    if (typeof value !== 'object' || value === null) return;
    const isList = Array.isArray(value);
    for (const [key, each] of Object.entries(value)) {
      if (!isWithin()) return;
      if (!isList) characters += key.length;
      look(each, depth + 1);
    }
  };
  look(whole, 0);
  return excess({ values, characters, isDeep }, limits);
}

interface Amount {
  readonly values: number;
  readonly characters: number;
  readonly isDeep: boolean;
}

function excess({ values, characters, isDeep }: Amount, limits: TextLimits): Refusal | undefined {
  if (isDeep) return { problem: `is nested deeper than ${DEEPEST} levels` };
  if (values > limits.values) return { beyond: `more than ${limits.values} values` };
  if (characters > limits.characters) return { beyond: `more than ${limits.characters} characters` };
  return undefined;
}
