/**
 * Translates kubectl's dialect of JSONPath into RFC 9535, which a library evaluates. The dialect allows escaped
 * characters in names (`.metadata.labels.app\.kubernetes\.io/name`) and whole paths in unions and in quotes
 * (`['metadata.name', 'status.phase']`). No part of a path is run as code.
 *
 * The grammar is that of k8s.io/client-go/util/jsonpath/parser.go, except that an index out of range matches nothing.
 */
import { JSONPathEnvironment, JSONPathError, type JSONValue } from 'json-p3';
import { messageOf } from '../../../base/failure.ts';
import { PathSyntaxError } from './pathSyntaxError.ts';
import { Scanner } from './scanner.ts';

/** Returns all matches of a path in a value. */
export type PathQuery = (value: unknown) => readonly unknown[];

const environment = new JSONPathEnvironment();
const NAME_PATTERN = /(?:\\[\s\S]|[^\s.,[\]$@{}\\])+/y;
const QUOTED_KEY_PATTERN = /^'([^']*)'$/;
const SLICE_PATTERN = /^-?\d*(?::-?\d*){0,2}$/;
const COMPARISON_PATTERN = /^([^!<>=]+)([!<>=]+)(.+)$/s;
const OPERATORS = ['==', '!=', '<', '<=', '>', '>='];

/** Compiles a path. Throws a `PathSyntaxError` if it is invalid. */
export function compilePath(text: string): PathQuery {
  const scanner = new Scanner(text);
  const query = parsePath(scanner);
  if (!scanner.isAtEnd) throw new PathSyntaxError(`unrecognized character in action: '${scanner.rest[0]}'`);
  return query;
}

/** Parses the longest path at the scanner's position. */
export function parsePath(scanner: Scanner): PathQuery {
  scanner.skip(/[@$]/y);
  const queries: PathQuery[] = [];
  let segments = '';
  const flushSegments = () => {
    if (segments !== '') queries.push(compileSegments(segments));
    segments = '';
  };
  for (;;) {
    const union = parseUnion(scanner);
    if (union === undefined) {
      const segment = parseSegment(scanner);
      if (segment === undefined) break;
      segments += segment;
    } else {
      flushSegments();
      queries.push(union);
    }
  }
  flushSegments();
  return (value) => queries.reduce<readonly unknown[]>((values, query) => values.flatMap(query), [value]);
}

function compileSegments(segments: string): PathQuery {
  try {
    const compiled = environment.compile(`$${segments}`);
    // Safe cast, because the value comes from the agent's JSON response.
    return (value) => compiled.query(value as JSONValue).values();
  } catch (error) {
    if (error instanceof JSONPathError) throw new PathSyntaxError(messageOf(error), { cause: error });
    throw error;
  }
}

/** Parses a union, i.e. several paths in brackets. Each path starts at the value to which the union is applied. */
function parseUnion(scanner: Scanner): PathQuery | undefined {
  const [whole, content = ''] = scanner.peek(/\[(?!\?)([^\]\n]*)\]/y) ?? [];
  if (whole === undefined || !content.includes(',')) return undefined;
  scanner.skip(/\[[^\]]*\]/y);
  const paths = content.split(',').map((part) => compilePath(`[${part.trim()}]`));
  return (value) => paths.flatMap((path) => path(value));
}

/** Translates one step of a path to RFC 9535. */
function parseSegment(scanner: Scanner): string | undefined {
  if (scanner.skip(/\.\./y)) {
    if (scanner.peek(/\.\./y)) throw new PathSyntaxError('invalid multiple recursive descent');
    const nextSegment = scanner.peek(/\[/y) ? parseBracket(scanner) : parseName(scanner);
    if (nextSegment === '') throw new PathSyntaxError("expected a name or brackets after '..'");
    return `..${nextSegment}`;
  }
  if (scanner.skip(/\./y)) return parseName(scanner);
  return scanner.peek(/\[/y) ? parseBracket(scanner) : undefined;
}

/** Translates a name, which may be empty as in `{.}` and `.['key']`. */
function parseName(scanner: Scanner): string {
  if (scanner.skip(/\*/y)) return '[*]';
  const [name] = scanner.take(NAME_PATTERN) ?? [];
  return name === undefined ? '' : `[${JSON.stringify(name.replaceAll(/\\([\s\S])/g, '$1'))}]`;
}

function parseBracket(scanner: Scanner): string {
  if (scanner.peek(/\[\?\(/y)) return parseFilter(scanner);
  const [whole, content = ''] = scanner.take(/\[([^\]\n]*)\]/y) ?? [];
  if (whole === undefined) throw new PathSyntaxError('unterminated array');
  if (content === '*') return '[*]';
  const [, key] = QUOTED_KEY_PATTERN.exec(content) ?? [];
  // A quoted key is a path too, in which dots separate names.
  if (key !== undefined) return parseSegments(`.${key}`);
  if (content === '' || !SLICE_PATTERN.test(content)) throw new PathSyntaxError(`invalid array index ${content}`);
  return `[${content}]`;
}

function parseSegments(path: string): string {
  const scanner = new Scanner(path);
  let segments = '';
  for (let segment = parseSegment(scanner); segment !== undefined; segment = parseSegment(scanner)) segments += segment;
  if (!scanner.isAtEnd) throw new PathSyntaxError(`unrecognized character in action: '${scanner.rest[0]}'`);
  return segments;
}

/**
 * Translates a filter such as `[?(@.type=="Ready")]`. A comparison with a missing value is false for every operator.
 */
function parseFilter(scanner: Scanner): string {
  const [whole, content = ''] = scanner.take(/\[\?\(((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^"')])*)\)\]/y) ?? [];
  if (whole === undefined) throw new PathSyntaxError('unterminated filter');
  const [, left = '', operator, right = ''] = COMPARISON_PATTERN.exec(content) ?? [];
  if (operator === undefined) return `[?${parseOperand(content).text}]`;
  if (!OPERATORS.includes(operator)) throw new PathSyntaxError(`unrecognized filter operator ${operator}`);
  const operands = [parseOperand(left), parseOperand(right)] as const;
  const existenceChecks = operands.filter(({ isPath }) => isPath).map(({ text }) => `${text} && `);
  return `[?${existenceChecks.join('')}${operands[0].text} ${operator} ${operands[1].text}]`;
}

function parseOperand(source: string): { readonly text: string; readonly isPath: boolean } {
  const trimmedSource = source.trim();
  const [quoted] = /^(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')$/s.exec(trimmedSource) ?? [];
  if (quoted !== undefined || /^(?:true|false|[+-]?\d+(?:\.\d+)?)$/.test(trimmedSource))
    return { text: trimmedSource.replace(/^\+/, ''), isPath: false };
  return { text: `@${parseSegments(trimmedSource.replace(/^[@$]/, ''))}`, isPath: true };
}
