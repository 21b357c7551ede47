/** Parses kubectl's custom columns, e.g. `NAME:.metadata.name,PHASE:.status.phase`. */
import { compilePath } from './jsonPath.ts';
import { PathSyntaxError } from './pathSyntaxError.ts';

export interface CustomColumns {
  readonly header: readonly string[];
  /** Returns the cells of an object's row. */
  readonly cells: (object: unknown) => string[];
}

/** A path whose braces and leading dot are optional. */
const RELAXED_PATH_PATTERN = /^\{\.?([^{}]+)\}$|^\.?([^{}]+)$/;

/**
 * Parses a custom-columns specification the way kubectl does (`kubectl/pkg/cmd/get/customcolumn.go`). Throws a
 * `PathSyntaxError` if it is invalid.
 */
export function readColumns(spec: string): CustomColumns {
  const columns = spec.split(',').map((part) => {
    const colonIndex = part.indexOf(':');
    if (colonIndex < 0)
      throw new PathSyntaxError(`unexpected custom-columns spec: ${part}, expected <header>:<json-path-expr>`);
    return { header: part.slice(0, colonIndex), find: compilePath(toStrictPath(part.slice(colonIndex + 1))) };
  });
  return {
    header: columns.map(({ header }) => header),
    cells: (object) => columns.map(({ find }) => cellOf(find(object))),
  };
}

/** Parses a template file, with the headers on the first line and their paths on the second. */
export function readColumnsFile(text: string): CustomColumns {
  const [headers = [], paths = []] = text.split('\n').map((line) => line.split(/\s+/).filter(Boolean));
  if (headers.length === 0 || headers.length !== paths.length)
    throw new PathSyntaxError(
      `number of headers (${headers.length}) and field specifications (${paths.length}) don't match`,
    );
  return readColumns(headers.map((header, index) => `${header}:${paths[index]}`).join());
}

function toStrictPath(path: string): string {
  const [, pathInBraces, barePath] = RELAXED_PATH_PATTERN.exec(path) ?? [];
  const relaxedPath = pathInBraces ?? barePath;
  if (relaxedPath === undefined)
    throw new PathSyntaxError(
      `unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'`,
    );
  return `.${relaxedPath}`;
}

const cellOf = (values: readonly unknown[]): string =>
  values.length === 0 ? '<none>' : values.map(formatGoValue).join();

/** Formats a value like Go's `%v` verb. */
function formatGoValue(value: unknown): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(formatGoValue).join(' ')}]`;
  if (typeof value !== 'object') return String(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([key, part]) => `${key}:${formatGoValue(part)}`).join(' ')}]`;
}
