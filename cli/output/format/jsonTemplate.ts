/** kubectl's templates of text and paths: `{range .items[*]}{.metadata.name}{"\n"}{end}`. */
import { type Find, pathAt } from './jsonPath.ts';
import { PathMistake } from './pathMistake.ts';
import { Scanner } from './scanner.ts';

/** A part of a template: what it prints of a value. */
type Part = (value: unknown) => string;

/** What of a template is still open: its ranges, the innermost last. */
interface Open {
  readonly parts: Part[];
  readonly find: Find;
}

const QUOTED = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/y;

/**
 * Reads a template; throws a `PathMistake` where it is none. Its paths that find nothing print nothing, as kubectl has
 * it by default.
 *
 * k8s.io/client-go/util/jsonpath: parser.go, jsonpath.go.
 */
export function readTemplate(text: string): Part {
  const scanner = new Scanner(text);
  const whole: Open = { parts: [], find: (value) => [value] };
  const open = [whole];
  while (!scanner.isAtEnd) {
    const [literal] = scanner.take(/[^{]+/y) ?? [];
    if (literal !== undefined) partsOf(open).push(() => literal);
    else actionAt(scanner, open);
  }
  if (open.length > 1) throw new PathMistake('a range without {end}');
  return printed(whole.parts);
}

const partsOf = (open: readonly Open[]): Part[] => open.at(-1)?.parts ?? [];

const printed =
  (parts: readonly Part[]): Part =>
  (value) =>
    parts.map((part) => part(value)).join('');

/** What stands in braces. */
function actionAt(scanner: Scanner, open: Open[]): void {
  scanner.skip(/\{\s*/y);
  const [quoted] = scanner.take(QUOTED) ?? [];
  const [word] = quoted === undefined ? (scanner.take(/[A-Za-z_]\w*/y) ?? []) : [];
  if (quoted !== undefined) {
    const text = unquoted(quoted);
    partsOf(open).push(() => text);
  } else if (word === 'range') {
    scanner.skip(/\s*/y);
    open.push({ parts: [], find: pathAt(scanner) });
  } else if (word === 'end') endRange(open);
  else if (word !== undefined) throw new PathMistake(`unrecognized identifier ${word}`);
  else {
    const find = pathAt(scanner);
    partsOf(open).push((value) => find(value).map(textOf).join(' '));
  }
  if (!scanner.skip(/\s*\}/y)) throw new PathMistake(unclosed(scanner));
}

const unclosed = (scanner: Scanner): string =>
  scanner.isAtEnd ? 'unclosed action' : `unrecognized character in action: '${scanner.rest.trimStart().slice(0, 1)}'`;

function endRange(open: Open[]): void {
  const range = open.length > 1 ? open.pop() : undefined;
  if (range === undefined) throw new PathMistake('not in range, nothing to end');
  const each = printed(range.parts);
  partsOf(open).push((value) => range.find(value).map(each).join(''));
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ...Object.entries({ n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' }),
]);

function unquoted(quoted: string): string {
  return quoted
    .slice(1, -1)
    .replaceAll(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\s\S]))/g, (_, unicode, hex, char: string | undefined) =>
      char === undefined ? String.fromCharCode(Number.parseInt(unicode ?? hex, 16)) : (ESCAPES.get(char) ?? char),
    );
}

/** As kubectl prints what a path has found: JSON on one line of what has parts, its keys sorted. */
function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return JSON.stringify(value, (_, part: unknown) => sorted(part)).replaceAll(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function sorted(part: unknown): unknown {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
  return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
}
