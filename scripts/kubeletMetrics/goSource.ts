/**
 * Reads the Go source of Kubernetes as far as the declarations of metrics require: tokens, constants and expressions.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const TOKEN =
  /\s+|\/\/.*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\])*"|`[^`]*`|'(?:\\.|[^'\\])+'|[\p{L}_]\w*|\.?\d[\w.]*(?:(?<=\de)-\d+)?|[^\s]/gu;

/** Splits a source into tokens without its comments. A newline that ends a statement is the token `;`, as in Go. */
function tokensOf(source: string): string[] {
  const tokens: string[] = [];
  for (const [token] of source.matchAll(TOKEN)) {
    const previousToken = tokens.at(-1) ?? '';
    if (/^\s/.test(token)) {
      if (token.includes('\n') && /^["'`\w)\]}]/.test(previousToken.slice(-1))) tokens.push(';');
    } else if (!token.startsWith('//') && !token.startsWith('/*')) tokens.push(token);
  }
  return tokens;
}

const DEPTHS: ReadonlyMap<string, number> = new Map([
  ['(', 1],
  ['[', 1],
  ['{', 1],
  [')', -1],
  [']', -1],
  ['}', -1],
]);

/** Returns the tokens between the bracket at `open` and its closing bracket. */
export function inBrackets(tokens: readonly string[], open: number): string[] {
  let depth = 0;
  for (let at = open; at < tokens.length; at += 1) {
    depth += DEPTHS.get(tokens[at] ?? '') ?? 0;
    if (depth === 0) return tokens.slice(open + 1, at);
  }
  throw new SyntaxError(`no bracket closes the one after ${tokens.slice(Math.max(0, open - 5), open).join(' ')}`);
}

/** Splits tokens at a separator that is not within brackets. Leaves out empty parts. */
export function splitAt(tokens: readonly string[], separator: string): string[][] {
  const parts: string[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    depth += DEPTHS.get(token) ?? 0;
    if (token === separator && depth === 0) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts.map((part) => part.filter((token) => token !== ';')).filter((part) => part.length > 0);
}

export interface GoFile {
  /** Path relative to the root of the source. */
  readonly path: string;
  readonly tokens: readonly string[];
  /** The directories of the imported packages that are part of the source, by their names in this file. */
  readonly imports: ReadonlyMap<string, string>;
}

interface GoPackage {
  readonly files: readonly GoFile[];
  /** The initial values of constants and variables of the package, each with its file. */
  readonly values: ReadonlyMap<string, { readonly tokens: readonly string[]; readonly file: GoFile }>;
}

/** The packages by directory, relative to the root of the source. */
export type GoPackages = ReadonlyMap<string, GoPackage>;

/** Reads the package of a directory and all packages of Kubernetes that it imports, as built for Linux on amd64. */
export function packagesFrom(root: string, directory: string): GoPackages {
  const packages = new Map<string, GoPackage>();
  const queue = [directory];
  for (const next of queue) {
    if (packages.has(next) || !existsSync(join(root, next))) continue;
    const files = readdirSync(join(root, next))
      .filter((name) => name.endsWith('.go') && !name.endsWith('_test.go'))
      .toSorted()
      .map((name) => ({ name, source: readFileSync(join(root, next, name), 'utf8') }))
      .filter(({ name, source }) => isBuilt(name, source))
      .map(({ name, source }) => goFile(`${next}/${name}`, source));
    packages.set(next, { files, values: new Map(files.flatMap((file) => [...valuesOf(file)])) });
    queue.push(...files.flatMap(({ imports }) => [...imports.values()]));
  }
  return packages;
}

const OTHER_PLATFORMS =
  /_(windows|darwin|freebsd|netbsd|openbsd|solaris|plan9|js|wasip1|arm|arm64|386|ppc64le|s390x)\.go$/;
const TAGS = ['linux', 'amd64', 'unix', 'cgo'];

function isBuilt(name: string, source: string): boolean {
  const constraint = /^\/\/go:build (.*)$/m.exec(source)?.[1];
  return !OTHER_PLATFORMS.test(name) && (constraint === undefined || isMet(constraint));
}

/**
 * Whether a build constraint is met. In Kubernetes, a constraint consists of tags, possibly negated with `!`, joined by
 * either `&&` or `||`.
 */
function isMet(constraint: string): boolean {
  const holds = (term: string) =>
    term.startsWith('!') ? !TAGS.includes(term.slice(1)) : TAGS.includes(term) || term.startsWith('go1.');
  return constraint.split('||').some((all) => all.split('&&').every((term) => holds(term.replaceAll(/[()\s]/g, ''))));
}

function goFile(path: string, source: string): GoFile {
  const tokens = tokensOf(source);
  const imports = new Map<string, string>();
  const header = source.slice(0, /^(func|type|var|const) /m.exec(source)?.index ?? source.length);
  for (const [, alias, imported = ''] of header.matchAll(/^(?:import)?[ \t]*(?:([\w.]+)[ \t]+)?"([^"]+)"/gm)) {
    const directory = directoryOf(imported);
    const name =
      alias ??
      imported
        .replace(/\/v\d+$/, '')
        .split('/')
        .at(-1) ??
      '';
    if (directory !== undefined) imports.set(name === '_' || name === '.' ? imported : name, directory);
  }
  return { path, tokens, imports };
}

function directoryOf(imported: string): string | undefined {
  if (imported.startsWith('k8s.io/kubernetes/')) return imported.slice('k8s.io/kubernetes/'.length);
  return imported.startsWith('k8s.io/') ? `staging/src/${imported}` : undefined;
}

function* valuesOf(file: GoFile): Generator<[string, { tokens: readonly string[]; file: GoFile }]> {
  const { tokens } = file;
  let depth = 0;
  for (let at = 0; at < tokens.length; at += 1) {
    if (depth === 0 && (tokens[at] === 'const' || tokens[at] === 'var')) {
      const isGroup = tokens[at + 1] === '(';
      const body = isGroup ? inBrackets(tokens, at + 1) : (statements(tokens.slice(at + 1)).next().value ?? []);
      for (const statement of isGroup ? statements(body) : [body]) {
        const equals = statement.indexOf('=');
        if (equals > 0) yield [statement[0] ?? '', { tokens: statement.slice(equals + 1), file }];
      }
    }
    depth += DEPTHS.get(tokens[at] ?? '') ?? 0;
  }
}

function* statements(tokens: readonly string[]): Generator<string[]> {
  let statement: string[] = [];
  let depth = 0;
  for (const token of tokens) {
    depth += DEPTHS.get(token) ?? 0;
    if (token === ';' && depth === 0) {
      yield statement;
      statement = [];
    } else statement.push(token);
  }
  if (statement.length > 0) yield statement;
}

export type GoValue = string | number | readonly GoValue[];

const DEFAULT_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Functions that `evaluate` supports (`prometheus/histogram.go` of client_golang, `metrics/buckets.go` of
 * component-base).
 */
const FUNCTIONS: Readonly<Record<string, (...args: readonly GoValue[]) => GoValue>> = {
  BuildFQName: (...names) => names.filter((name) => name !== '').join('_'),
  LinearBuckets: (start, width, count) =>
    Array.from({ length: Number(count) }, (_, at) => Number(start) + at * Number(width)),
  ExponentialBuckets: (start, factor, count) => exponential(Number(start), Number(factor), Number(count)),
  ExponentialBucketsRange: (min, max, count) =>
    Array.from(
      { length: Number(count) },
      (_, at) => Number(min) * (Number(max) / Number(min)) ** (at / (Number(count) - 1)),
    ),
  MergeBuckets: (...lists) => [0, ...lists.flat()],
  float64: (value = 0) => value,
};

/** Returns exponential buckets. Multiplies step by step as Go does, because a power would be rounded differently. */
function exponential(start: number, factor: number, count: number): number[] {
  const bounds: number[] = [];
  for (let bound = start; bounds.length < count; bound *= factor) bounds.push(bound);
  return bounds;
}

/**
 * Evaluates a constant expression in a file of a package. Throws if it is not one of the few forms that metrics use.
 */
export function evaluate(tokens: readonly string[], file: GoFile, packages: GoPackages): GoValue {
  const terms = splitAt(tokens, '+').map((term) => splitAt(term, '*').map((factor) => atom(factor, file, packages)));
  const values = terms.map((factors) => (factors.length === 1 ? (factors[0] ?? '') : product(factors)));
  if (values.length === 1) return values[0] ?? '';
  return values.every((value) => typeof value === 'number')
    ? values.reduce((sum, value) => sum + value, 0)
    : values.join('');
}

const product = (factors: readonly GoValue[]): number =>
  factors.reduce<number>((all, factor) => all * Number(factor), 1);

function atom(tokens: readonly string[], file: GoFile, packages: GoPackages): GoValue {
  const [first = '', second, third = '', fourth] = tokens;
  const within = (from: number) => splitAt(inBrackets(tokens, from), ',').map((each) => evaluate(each, file, packages));
  if (first.startsWith('"') || first.startsWith('`')) return first.slice(1, -1);
  if (/^\.?\d/.test(first) && tokens.length === 1) return Number(first);
  if (first === 'nil') return [];
  if (first === '[' && second === ']') return within(3);
  const call = second === '(' ? first : second === '.' && fourth === '(' ? third : undefined;
  const goFunction = call === undefined ? undefined : FUNCTIONS[call];
  if (goFunction) return goFunction(...within(tokens.indexOf('(')));
  if (tokens.length === 3 && third === 'DefBuckets') return DEFAULT_BOUNDS;
  const directory = second === '.' ? file.imports.get(first) : directoryOfFile(file);
  const value = packages.get(directory ?? '')?.values.get(second === '.' ? third : first);
  if (value === undefined || (tokens.length !== 1 && tokens.length !== 3))
    throw new SyntaxError(`${file.path}: the value of ${tokens.join('')} is unknown`);
  return evaluate(value.tokens, value.file, packages);
}

const directoryOfFile = ({ path }: GoFile): string => path.slice(0, path.lastIndexOf('/'));
