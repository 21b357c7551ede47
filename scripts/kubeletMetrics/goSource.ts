/**
 * Parses as much of the Go source of Kubernetes as the declarations of metrics require: tokens, constants and
 * expressions.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const TOKEN_PATTERN =
  /\s+|\/\/.*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\])*"|`[^`]*`|'(?:\\.|[^'\\])+'|[\p{L}_]\w*|\.?\d[\w.]*(?:(?<=\de)-\d+)?|[^\s]/gu;

/** Splits a source into tokens without its comments. A newline that ends a statement is the token `;`, as in Go. */
function tokenize(source: string): string[] {
  const tokens: string[] = [];
  for (const [token] of source.matchAll(TOKEN_PATTERN)) {
    const previousToken = tokens.at(-1) ?? '';
    if (/^\s/.test(token)) {
      if (token.includes('\n') && /^["'`\w)\]}]/.test(previousToken.slice(-1))) tokens.push(';');
    } else if (!token.startsWith('//') && !token.startsWith('/*')) tokens.push(token);
  }
  return tokens;
}

const DEPTH_CHANGES: ReadonlyMap<string, number> = new Map([
  ['(', 1],
  ['[', 1],
  ['{', 1],
  [')', -1],
  [']', -1],
  ['}', -1],
]);

/** Returns the tokens between the bracket at `open` and its closing bracket. */
export function tokensInBrackets(tokens: readonly string[], open: number): string[] {
  let depth = 0;
  for (let at = open; at < tokens.length; at += 1) {
    depth += DEPTH_CHANGES.get(tokens[at] ?? '') ?? 0;
    if (depth === 0) return tokens.slice(open + 1, at);
  }
  throw new SyntaxError(`no bracket closes the one after ${tokens.slice(Math.max(0, open - 5), open).join(' ')}`);
}

/** Splits tokens at a separator that is not within brackets. Omits empty parts. */
export function splitTokens(tokens: readonly string[], separator: string): string[][] {
  const splitParts: string[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    depth += DEPTH_CHANGES.get(token) ?? 0;
    if (token === separator && depth === 0) splitParts.push([]);
    else splitParts.at(-1)?.push(token);
  }
  return splitParts.map((part) => part.filter((token) => token !== ';')).filter((part) => part.length > 0);
}

export interface GoFile {
  /** Path relative to the root of the Kubernetes source tree. */
  readonly path: string;
  readonly tokens: readonly string[];
  /**
   * The directories of the imported packages that are part of the Kubernetes source tree, keyed by the names that this
   * file uses for them.
   */
  readonly imports: ReadonlyMap<string, string>;
}

interface GoPackage {
  readonly files: readonly GoFile[];
  /** The initial values of constants and variables of the package, each with its file. */
  readonly values: ReadonlyMap<string, { readonly tokens: readonly string[]; readonly file: GoFile }>;
}

/** The packages by directory, relative to the root of the Kubernetes source tree. */
export type GoPackages = ReadonlyMap<string, GoPackage>;

/** Reads the package of a directory and all packages of Kubernetes that it imports, as built for Linux on amd64. */
export function readPackagesFrom(root: string, directory: string): GoPackages {
  const packages = new Map<string, GoPackage>();
  const queue = [directory];
  for (const next of queue) {
    if (packages.has(next) || !existsSync(join(root, next))) continue;
    const files = readdirSync(join(root, next))
      .filter((name) => name.endsWith('.go') && !name.endsWith('_test.go'))
      .toSorted()
      .map((name) => ({ name, source: readFileSync(join(root, next, name), 'utf8') }))
      .filter(({ name, source }) => isIncludedInBuild(name, source))
      .map(({ name, source }) => parseGoFile(`${next}/${name}`, source));
    packages.set(next, { files, values: new Map(files.flatMap((file) => [...readValues(file)])) });
    queue.push(...files.flatMap(({ imports }) => [...imports.values()]));
  }
  return packages;
}

const OTHER_PLATFORM_PATTERN =
  /_(windows|darwin|freebsd|netbsd|openbsd|solaris|plan9|js|wasip1|arm|arm64|386|ppc64le|s390x)\.go$/;
const BUILD_TAGS = ['linux', 'amd64', 'unix', 'cgo'];

function isIncludedInBuild(name: string, source: string): boolean {
  const constraint = /^\/\/go:build (.*)$/m.exec(source)?.[1];
  return !OTHER_PLATFORM_PATTERN.test(name) && (constraint === undefined || isConstraintMet(constraint));
}

/**
 * Whether a build constraint is met. In Kubernetes, a constraint consists of tags, possibly negated with `!`, joined by
 * either `&&` or `||`.
 */
function isConstraintMet(constraint: string): boolean {
  const isTermMet = (term: string) =>
    term.startsWith('!') ? !BUILD_TAGS.includes(term.slice(1)) : BUILD_TAGS.includes(term) || term.startsWith('go1.');
  return constraint
    .split('||')
    .some((term) => term.split('&&').every((term) => isTermMet(term.replaceAll(/[()\s]/g, ''))));
}

function parseGoFile(path: string, source: string): GoFile {
  const tokens = tokenize(source);
  const imports = new Map<string, string>();
  const fileHeader = source.slice(0, /^(func|type|var|const) /m.exec(source)?.index ?? source.length);
  for (const [, alias, imported = ''] of fileHeader.matchAll(/^(?:import)?[ \t]*(?:([\w.]+)[ \t]+)?"([^"]+)"/gm)) {
    const directory = packageDirectory(imported);
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

function packageDirectory(imported: string): string | undefined {
  if (imported.startsWith('k8s.io/kubernetes/')) return imported.slice('k8s.io/kubernetes/'.length);
  return imported.startsWith('k8s.io/') ? `staging/src/${imported}` : undefined;
}

function* readValues(file: GoFile): Generator<[string, { tokens: readonly string[]; file: GoFile }]> {
  const { tokens } = file;
  let depth = 0;
  for (let at = 0; at < tokens.length; at += 1) {
    if (depth === 0 && (tokens[at] === 'const' || tokens[at] === 'var')) {
      const isGroupDeclaration = tokens[at + 1] === '(';
      const body = isGroupDeclaration
        ? tokensInBrackets(tokens, at + 1)
        : (splitStatements(tokens.slice(at + 1)).next().value ?? []);
      for (const statement of isGroupDeclaration ? splitStatements(body) : [body]) {
        const equalsIndex = statement.indexOf('=');
        if (equalsIndex > 0) yield [statement[0] ?? '', { tokens: statement.slice(equalsIndex + 1), file }];
      }
    }
    depth += DEPTH_CHANGES.get(tokens[at] ?? '') ?? 0;
  }
}

function* splitStatements(tokens: readonly string[]): Generator<string[]> {
  let statement: string[] = [];
  let depth = 0;
  for (const token of tokens) {
    depth += DEPTH_CHANGES.get(token) ?? 0;
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
const GO_FUNCTIONS: Readonly<Record<string, (...args: readonly GoValue[]) => GoValue>> = {
  BuildFQName: (...names) => names.filter((name) => name !== '').join('_'),
  LinearBuckets: (start, width, count) =>
    Array.from({ length: Number(count) }, (_, at) => Number(start) + at * Number(width)),
  ExponentialBuckets: (start, factor, count) => exponentialBuckets(Number(start), Number(factor), Number(count)),
  ExponentialBucketsRange: (min, max, count) =>
    Array.from(
      { length: Number(count) },
      (_, at) => Number(min) * (Number(max) / Number(min)) ** (at / (Number(count) - 1)),
    ),
  MergeBuckets: (...lists) => [0, ...lists.flat()],
  float64: (value = 0) => value,
};

/** Returns exponential buckets. Multiplies step by step as Go does, because a power would be rounded differently. */
function exponentialBuckets(start: number, factor: number, count: number): number[] {
  const bounds: number[] = [];
  for (let bound = start; bounds.length < count; bound *= factor) bounds.push(bound);
  return bounds;
}

/**
 * Evaluates a constant expression in a file of a package. Throws unless the expression has one of the few forms that
 * metrics use.
 */
export function evaluate(tokens: readonly string[], file: GoFile, packages: GoPackages): GoValue {
  const terms = splitTokens(tokens, '+').map((term) =>
    splitTokens(term, '*').map((factor) => evaluateAtom(factor, file, packages)),
  );
  const termValues = terms.map((factors) => (factors.length === 1 ? (factors[0] ?? '') : multiply(factors)));
  if (termValues.length === 1) return termValues[0] ?? '';
  return termValues.every((value) => typeof value === 'number')
    ? termValues.reduce((sum, value) => sum + value, 0)
    : termValues.join('');
}

const multiply = (factors: readonly GoValue[]): number =>
  factors.reduce<number>((product, factor) => product * Number(factor), 1);

function evaluateAtom(tokens: readonly string[], file: GoFile, packages: GoPackages): GoValue {
  const [first = '', second, third = '', fourth] = tokens;
  const evaluateArguments = (from: number) =>
    splitTokens(tokensInBrackets(tokens, from), ',').map((each) => evaluate(each, file, packages));
  if (first.startsWith('"') || first.startsWith('`')) return first.slice(1, -1);
  if (/^\.?\d/.test(first) && tokens.length === 1) return Number(first);
  if (first === 'nil') return [];
  if (first === '[' && second === ']') return evaluateArguments(3);
  const functionName = second === '(' ? first : second === '.' && fourth === '(' ? third : undefined;
  const goFunction = functionName === undefined ? undefined : GO_FUNCTIONS[functionName];
  if (goFunction) return goFunction(...evaluateArguments(tokens.indexOf('(')));
  if (tokens.length === 3 && third === 'DefBuckets') return DEFAULT_BOUNDS;
  const directory = second === '.' ? file.imports.get(first) : directoryOfFile(file);
  const value = packages.get(directory ?? '')?.values.get(second === '.' ? third : first);
  if (value === undefined || (tokens.length !== 1 && tokens.length !== 3))
    throw new SyntaxError(`${file.path}: the value of ${tokens.join('')} is unknown`);
  return evaluate(value.tokens, value.file, packages);
}

const directoryOfFile = ({ path }: GoFile): string => path.slice(0, path.lastIndexOf('/'));
