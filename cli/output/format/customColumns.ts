/** kubectl's tables of one's own columns: `NAME:.metadata.name,PHASE:.status.phase`. */
import { readPath } from './jsonPath.ts';
import { PathMistake } from './pathMistake.ts';

export interface CustomColumns {
  readonly header: readonly string[];
  /** The cells of an object. */
  readonly cells: (object: unknown) => string[];
}

/** With or without braces and the dot before it. */
const RELAXED = /^\{\.?([^{}]+)\}$|^\.?([^{}]+)$/;

/** Reads their specification, which throws a `PathMistake` where it is none: kubectl/pkg/cmd/get/customcolumn.go. */
export function readColumns(spec: string): CustomColumns {
  const columns = spec.split(',').map((part) => {
    const colon = part.indexOf(':');
    if (colon < 0) throw new PathMistake(`unexpected custom-columns spec: ${part}, expected <header>:<json-path-expr>`);
    return { header: part.slice(0, colon), find: readPath(strict(part.slice(colon + 1))) };
  });
  return {
    header: columns.map(({ header }) => header),
    cells: (object) => columns.map(({ find }) => cellOf(find(object))),
  };
}

/** Headers on the first line of a file, their paths on the second. */
export function readColumnsFile(text: string): CustomColumns {
  const [headers = [], paths = []] = text.split('\n').map((line) => line.split(/\s+/).filter(Boolean));
  if (headers.length === 0 || headers.length !== paths.length)
    throw new PathMistake(
      `number of headers (${headers.length}) and field specifications (${paths.length}) don't match`,
    );
  return readColumns(headers.map((header, index) => `${header}:${paths[index]}`).join());
}

function strict(path: string): string {
  const [, inBraces, bare] = RELAXED.exec(path) ?? [];
  const relaxed = inBraces ?? bare;
  if (relaxed === undefined)
    throw new PathMistake(
      `unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'`,
    );
  return `.${relaxed}`;
}

const cellOf = (found: readonly unknown[]): string => (found.length === 0 ? '<none>' : found.map(goText).join());

/** As Go prints a value that has parts. */
function goText(value: unknown): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (typeof value !== 'object') return String(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([key, part]) => `${key}:${goText(part)}`).join(' ')}]`;
}
