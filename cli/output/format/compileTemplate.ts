/** Compiles kubectl's JSONPath templates, e.g. `{range .items[*]}{.metadata.name}{"\n"}{end}`. */
import { type PathQuery, parsePath } from './jsonPath.ts';
import { PathSyntaxError } from './pathSyntaxError.ts';
import { Scanner } from './scanner.ts';

/** Renders a part of a template. */
type Render = (value: unknown) => string;

/** A block whose end has not been parsed yet: the whole template or a range. */
interface OpenBlock {
  readonly renderers: Render[];
  readonly query: PathQuery;
}

const QUOTED_STRING_PATTERN = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/y;

/**
 * Compiles a template as parser.go and jsonpath.go in k8s.io/client-go/util/jsonpath do. Throws a `PathSyntaxError` if
 * the template is invalid. A path without a match renders as nothing, which is kubectl's default.
 */
export function compileTemplate(text: string): Render {
  const scanner = new Scanner(text);
  const rootBlock: OpenBlock = { renderers: [], query: (value) => [value] };
  const openBlocks = [rootBlock];
  while (!scanner.isAtEnd) {
    const [literal] = scanner.take(/[^{]+/y) ?? [];
    if (literal !== undefined) innermostRenderers(openBlocks).push(() => literal);
    else parseAction(scanner, openBlocks);
  }
  if (openBlocks.length > 1) throw new PathSyntaxError('a range without {end}');
  return concatenateRenderers(rootBlock.renderers);
}

const innermostRenderers = (openBlocks: readonly OpenBlock[]): Render[] => openBlocks.at(-1)?.renderers ?? [];

const concatenateRenderers =
  (parts: readonly Render[]): Render =>
  (value) =>
    parts.map((part) => part(value)).join('');

/** Parses the contents of a pair of braces. */
function parseAction(scanner: Scanner, openBlocks: OpenBlock[]): void {
  scanner.skip(/\{\s*/y);
  const [quoted] = scanner.take(QUOTED_STRING_PATTERN) ?? [];
  const [word] = quoted === undefined ? (scanner.take(/[A-Za-z_]\w*/y) ?? []) : [];
  if (quoted !== undefined) {
    const literalText = unquote(quoted);
    innermostRenderers(openBlocks).push(() => literalText);
  } else if (word === 'range') {
    scanner.skip(/\s*/y);
    openBlocks.push({ renderers: [], query: parsePath(scanner) });
  } else if (word === 'end') closeRange(openBlocks);
  else if (word !== undefined) throw new PathSyntaxError(`unrecognized identifier ${word}`);
  else {
    const query = parsePath(scanner);
    innermostRenderers(openBlocks).push((value) => query(value).map(formatValue).join(' '));
  }
  if (!scanner.skip(/\s*\}/y)) throw new PathSyntaxError(unclosedMessage(scanner));
}

const unclosedMessage = (scanner: Scanner): string =>
  scanner.isAtEnd ? 'unclosed action' : `unrecognized character in action: '${scanner.rest.trimStart().slice(0, 1)}'`;

function closeRange(openBlocks: OpenBlock[]): void {
  const rangeBlock = openBlocks.length > 1 ? openBlocks.pop() : undefined;
  if (rangeBlock === undefined) throw new PathSyntaxError('not in range, nothing to end');
  const renderItem = concatenateRenderers(rangeBlock.renderers);
  innermostRenderers(openBlocks).push((value) => rangeBlock.query(value).map(renderItem).join(''));
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ...Object.entries({ n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' }),
]);

function unquote(quoted: string): string {
  return quoted
    .slice(1, -1)
    .replaceAll(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\s\S]))/g, (_, unicode, hex, char: string | undefined) =>
      char === undefined ? String.fromCharCode(Number.parseInt(unicode ?? hex, 16)) : (ESCAPES.get(char) ?? char),
    );
}

/** Formats a match as kubectl does. Objects and lists become JSON on one line with sorted keys. */
function formatValue(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return JSON.stringify(value, (_, part: unknown) => withSortedKeys(part)).replaceAll(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function withSortedKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
