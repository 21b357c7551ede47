/** Collects the metrics that the packages of a Kubernetes program declare. */
import { evaluate, type GoFile, type GoPackages, type GoValue, inBrackets, splitAt } from './goSource.ts';

export interface DeclaredMetric {
  readonly name: string;
  readonly type: string;
  readonly stability: string;
  readonly labels: readonly string[];
  /** The upper bounds of the buckets of a histogram. */
  readonly bounds: readonly number[];
  /** The file of the declaration, relative to the root of the source. */
  readonly file: string;
}

/** The metrics, and a message for each declaration that could not be read. */
export interface Declarations {
  readonly metrics: readonly DeclaredMetric[];
  readonly unread: readonly string[];
}

/** The package of the metrics library. The library's own metrics are declared without this package's name. */
const METRICS = 'staging/src/k8s.io/component-base/metrics';
const OPTIONS = /^(Counter|Gauge|Histogram|Summary|TimingHistogram)Opts$/;

/** Collects the metrics of packages, in the order of their files. */
export function declarationsIn(packages: GoPackages): Declarations {
  const files = [...packages.values()]
    .flatMap((each) => each.files)
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));
  const types = describedTypes(files);
  const metrics: DeclaredMetric[] = [];
  const unread: string[] = [];
  for (const file of files) {
    for (const read of declaredIn({ file, packages }, types)) {
      try {
        metrics.push(read());
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        unread.push(error.message);
      }
    }
  }
  return { metrics, unread };
}

interface Place {
  readonly file: GoFile;
  readonly packages: GoPackages;
}

/** Finds the metrics of a file. Each one is declared by a literal of its options or by a description. */
function declaredIn(place: Place, types: ReadonlyMap<string, string>): readonly (() => DeclaredMetric)[] {
  const { tokens } = place.file;
  return tokens.flatMap((token, at) => {
    const [, kind] = OPTIONS.exec(token) ?? [];
    if (kind !== undefined && tokens[at + 1] === '{' && isOfMetrics(place.file, at)) {
      return [() => withOptions(at + 1, kind, place)];
    }
    if (token !== 'NewDesc' || tokens[at + 1] !== '(' || !isOfMetrics(place.file, at)) return [];
    const variable = tokens[at - (tokens[at - 4] === ':' ? 5 : 4)] ?? '';
    return [() => described(at + 1, types.get(variable) ?? typeIn(place.file), place)];
  });
}

function isOfMetrics({ path, tokens, imports }: GoFile, at: number): boolean {
  if (tokens[at - 1] === '.') return imports.get(tokens[at - 2] ?? '') === METRICS;
  return path.slice(0, path.lastIndexOf('/')) === METRICS && tokens[at - 1] === '&';
}

/** Returns the types of the metrics that are collected on each scrape, keyed by the variable of their description. */
function describedTypes(files: readonly GoFile[]): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const { tokens } of files) {
    for (const [at, token] of tokens.entries()) {
      if (token !== 'NewLazyConstMetric' || tokens[at + 1] !== '(') continue;
      const [description = [], value = []] = splitAt(inBrackets(tokens, at + 1), ',');
      types.set(description.at(-1) ?? '', (value.at(-1) ?? '').replace(/Value$/, '').toLowerCase());
    }
  }
  return types;
}

/** Returns the type of a description that is passed to a function, inferred from the values in its file. */
const typeIn = ({ tokens }: GoFile): string => (tokens.includes('CounterValue') ? 'counter' : 'gauge');

const DEFAULT_BUCKETS = ['metrics', '.', 'DefBuckets'];

/** Reads a metric with a literal of its options. The labels are the arguments after the literal. */
function withOptions(open: number, kind: string, { file, packages }: Place): DeclaredMetric {
  const literal = inBrackets(file.tokens, open);
  const fields = new Map(splitAt(literal, ',').map(([name = '', , ...value]) => [name, value] as const));
  const field = (name: string) => evaluate(fields.get(name) ?? ['""'], file, packages);
  const name = ['Namespace', 'Subsystem', 'Name'].map(field).filter((part) => part !== '');
  const type = kind === 'TimingHistogram' ? 'histogram' : kind.toLowerCase();
  const bounds = type === 'histogram' ? evaluate(fields.get('Buckets') ?? DEFAULT_BUCKETS, file, packages) : [];
  const afterLiteral = file.tokens.slice(open + literal.length + 2);
  const others = afterLiteral[0] === ',' ? splitAt(inBrackets(['(', ...afterLiteral.slice(1)], 0), ',') : [];
  const labels = others.filter(isOfStrings).flatMap((each) => listOf(evaluate(each, file, packages)));
  return {
    name: name.join('_'),
    type,
    stability: stabilityOf(fields.get('StabilityLevel')),
    labels: labels.map(String),
    bounds: listOf(bounds).map(Number),
    file: file.path,
  };
}

/**
 * Whether an argument contains labels, which are a list or single constants. Another argument may be a function that
 * returns the value.
 */
const isOfStrings = (tokens: readonly string[]): boolean =>
  tokens.slice(0, 3).join('') === '[]string' ||
  (tokens.length <= 3 && tokens.every((token) => /^[\w."]+$/.test(token)));

function described(open: number, type: string, { file, packages }: Place): DeclaredMetric {
  const [name = [], , labels = [], , level] = splitAt(inBrackets(file.tokens, open), ',');
  return {
    name: String(evaluate(name, file, packages)),
    type,
    stability: stabilityOf(level),
    labels: listOf(evaluate(labels, file, packages)).map(String),
    bounds: [],
    file: file.path,
  };
}

/**
 * Returns the stability level. A metric without a level is ALPHA (`setDefaults` in `metrics/opts.go` of
 * component-base).
 */
const stabilityOf = (tokens: readonly string[] | undefined): string =>
  (tokens?.at(-1) ?? '').replaceAll('"', '') || 'ALPHA';

const listOf = (value: GoValue): readonly GoValue[] =>
  typeof value === 'string' || typeof value === 'number' ? [value] : value;
