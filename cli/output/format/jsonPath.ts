/**
 * Paths in kubectl's dialect of JSONPath, translated into that of RFC 9535, which a library evaluates: the dialect writes
 * any characters in names (`.metadata.labels.app\.kubernetes\.io/name`) and whole paths in unions and in quotes
 * (`['metadata.name', 'status.phase']`). Never is anything run as code.
 *
 * The grammar: k8s.io/client-go/util/jsonpath/parser.go. Unlike there, an index beyond the end of a list finds nothing.
 */
import { JSONPathEnvironment, JSONPathError, type JSONValue } from 'json-p3';
import { messageOf } from '../../../base/failure.ts';
import { PathMistake } from './pathMistake.ts';
import { Scanner } from './scanner.ts';

/** What a path finds in a value. */
export type Find = (value: unknown) => readonly unknown[];

const environment = new JSONPathEnvironment();
const NAME = /(?:\\[\s\S]|[^\s.,[\]$@{}\\])+/y;
const QUOTED_KEY = /^'([^']*)'$/;
const SLICE = /^-?\d*(?::-?\d*){0,2}$/;
const COMPARISON = /^([^!<>=]+)([!<>=]+)(.+)$/s;
const OPERATORS = ['==', '!=', '<', '<=', '>', '>='];

/** Reads a path; throws a `PathMistake` where it is none. */
export function readPath(text: string): Find {
  const scanner = new Scanner(text);
  const find = pathAt(scanner);
  if (!scanner.isAtEnd) throw new PathMistake(`unrecognized character in action: '${scanner.rest[0]}'`);
  return find;
}

/** The path that begins here, up to what is no part of one. */
export function pathAt(scanner: Scanner): Find {
  scanner.skip(/[@$]/y);
  const finds: Find[] = [];
  let segments = '';
  const queried = () => {
    if (segments !== '') finds.push(query(segments));
    segments = '';
  };
  for (;;) {
    const union = unionAt(scanner);
    if (union === undefined) {
      const segment = segmentAt(scanner);
      if (segment === undefined) break;
      segments += segment;
    } else {
      queried();
      finds.push(union);
    }
  }
  queried();
  return (value) => finds.reduce<readonly unknown[]>((values, find) => values.flatMap(find), [value]);
}

function query(segments: string): Find {
  try {
    const compiled = environment.compile(`$${segments}`);
    // What the agent answered was read from JSON.
    return (value) => compiled.query(value as JSONValue).values();
  } catch (error) {
    if (error instanceof JSONPathError) throw new PathMistake(messageOf(error), { cause: error });
    throw error;
  }
}

/** Several paths in brackets, of which each is followed from where the union stands. */
function unionAt(scanner: Scanner): Find | undefined {
  const [whole, inside = ''] = scanner.look(/\[(?!\?)([^\]\n]*)\]/y) ?? [];
  if (whole === undefined || !inside.includes(',')) return undefined;
  scanner.skip(/\[[^\]]*\]/y);
  const paths = inside.split(',').map((part) => readPath(`[${part.trim()}]`));
  return (value) => paths.flatMap((path) => path(value));
}

/** One step of a path, as RFC 9535 writes it. */
function segmentAt(scanner: Scanner): string | undefined {
  if (scanner.skip(/\.\./y)) {
    if (scanner.look(/\.\./y)) throw new PathMistake('invalid multiple recursive descent');
    const after = scanner.look(/\[/y) ? bracketAt(scanner) : namedAt(scanner);
    if (after === '') throw new PathMistake("expected a name or brackets after '..'");
    return `..${after}`;
  }
  if (scanner.skip(/\./y)) return namedAt(scanner);
  return scanner.look(/\[/y) ? bracketAt(scanner) : undefined;
}

/** A name may be missing, as in `{.}` and in `.['key']`. */
function namedAt(scanner: Scanner): string {
  if (scanner.skip(/\*/y)) return '[*]';
  const [name] = scanner.take(NAME) ?? [];
  return name === undefined ? '' : `[${JSON.stringify(name.replaceAll(/\\([\s\S])/g, '$1'))}]`;
}

function bracketAt(scanner: Scanner): string {
  if (scanner.look(/\[\?\(/y)) return filterAt(scanner);
  const [whole, inside = ''] = scanner.take(/\[([^\]\n]*)\]/y) ?? [];
  if (whole === undefined) throw new PathMistake('unterminated array');
  if (inside === '*') return '[*]';
  const [, key] = QUOTED_KEY.exec(inside) ?? [];
  // In quotes stands a path as well: its dots part names.
  if (key !== undefined) return segmentsOf(`.${key}`);
  if (inside === '' || !SLICE.test(inside)) throw new PathMistake(`invalid array index ${inside}`);
  return `[${inside}]`;
}

function segmentsOf(path: string): string {
  const scanner = new Scanner(path);
  let segments = '';
  for (let segment = segmentAt(scanner); segment !== undefined; segment = segmentAt(scanner)) segments += segment;
  if (!scanner.isAtEnd) throw new PathMistake(`unrecognized character in action: '${scanner.rest[0]}'`);
  return segments;
}

/** `[?(@.type=="Ready")]`: what is compared with something absent is left out, whatever the operator. */
function filterAt(scanner: Scanner): string {
  const [whole, inside = ''] = scanner.take(/\[\?\(((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^"')])*)\)\]/y) ?? [];
  if (whole === undefined) throw new PathMistake('unterminated filter');
  const [, left = '', operator, right = ''] = COMPARISON.exec(inside) ?? [];
  if (operator === undefined) return `[?${operand(inside).text}]`;
  if (!OPERATORS.includes(operator)) throw new PathMistake(`unrecognized filter operator ${operator}`);
  const sides = [operand(left), operand(right)] as const;
  const exist = sides.filter(({ isPath }) => isPath).map(({ text }) => `${text} && `);
  return `[?${exist.join('')}${sides[0].text} ${operator} ${sides[1].text}]`;
}

function operand(written: string): { readonly text: string; readonly isPath: boolean } {
  const text = written.trim();
  const [quoted] = /^(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')$/s.exec(text) ?? [];
  if (quoted !== undefined || /^(?:true|false|[+-]?\d+(?:\.\d+)?)$/.test(text))
    return { text: text.replace(/^\+/, ''), isPath: false };
  return { text: `@${segmentsOf(text.replace(/^[@$]/, ''))}`, isPath: true };
}
