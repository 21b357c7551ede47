/** Collects the metrics that the packages of a Kubernetes program declare. */
import { evaluate, type GoFile, type GoPackages, type GoValue, splitTokens, tokensInBrackets } from './goSource.ts';

export interface DeclaredMetric {
  readonly name: string;
  readonly type: string;
  readonly stability: string;
  readonly labels: readonly string[];
  /** The upper bounds of the buckets of a histogram. */
  readonly bounds: readonly number[];
  /** The file that contains the declaration, relative to the root of the Kubernetes source tree. */
  readonly file: string;
}

/** The metrics, and a message for each declaration that could not be parsed. */
export interface Declarations {
  readonly metrics: readonly DeclaredMetric[];
  readonly unreadMessages: readonly string[];
}

/** The package of the metrics library. Inside it, metrics are declared without a package qualifier. */
const METRICS_PACKAGE = 'staging/src/k8s.io/component-base/metrics';
const OPTIONS_TYPE_PATTERN = /^(Counter|Gauge|Histogram|Summary|TimingHistogram)Opts$/;

/** Collects the metrics that the given packages declare, in the order of the packages' files. */
export function readDeclarations(packages: GoPackages): Declarations {
  const files = [...packages.values()]
    .flatMap((each) => each.files)
    .toSorted((left, right) => (left.path < right.path ? -1 : 1));
  const metricTypes = readDescribedTypes(files);
  const metrics: DeclaredMetric[] = [];
  const unreadMessages: string[] = [];
  for (const file of files) {
    for (const read of findDeclarations({ file, packages }, metricTypes)) {
      try {
        metrics.push(read());
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        unreadMessages.push(error.message);
      }
    }
  }
  return { metrics, unreadMessages };
}

interface SourceLocation {
  readonly file: GoFile;
  readonly packages: GoPackages;
}

/**
 * Returns a function for each metric that a file declares. The function reads the metric's declaration, which is an
 * options literal or a call of `NewDesc`.
 */
function findDeclarations(
  location: SourceLocation,
  types: ReadonlyMap<string, string>,
): readonly (() => DeclaredMetric)[] {
  const { tokens } = location.file;
  return tokens.flatMap((token, at) => {
    const [, kind] = OPTIONS_TYPE_PATTERN.exec(token) ?? [];
    if (kind !== undefined && tokens[at + 1] === '{' && isFromMetricsPackage(location.file, at)) {
      return [() => readOptionsLiteral(at + 1, kind, location)];
    }
    if (token !== 'NewDesc' || tokens[at + 1] !== '(' || !isFromMetricsPackage(location.file, at)) return [];
    const variable = tokens[at - (tokens[at - 4] === ':' ? 5 : 4)] ?? '';
    return [() => readDescription(at + 1, types.get(variable) ?? inferType(location.file), location)];
  });
}

function isFromMetricsPackage({ path, tokens, imports }: GoFile, at: number): boolean {
  if (tokens[at - 1] === '.') return imports.get(tokens[at - 2] ?? '') === METRICS_PACKAGE;
  return path.slice(0, path.lastIndexOf('/')) === METRICS_PACKAGE && tokens[at - 1] === '&';
}

/**
 * Returns the types of the metrics that are collected on each scrape, keyed by the variable that contains the metric's
 * description.
 */
function readDescribedTypes(files: readonly GoFile[]): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const { tokens } of files) {
    for (const [at, token] of tokens.entries()) {
      if (token !== 'NewLazyConstMetric' || tokens[at + 1] !== '(') continue;
      const [description = [], value = []] = splitTokens(tokensInBrackets(tokens, at + 1), ',');
      types.set(description.at(-1) ?? '', (value.at(-1) ?? '').replace(/Value$/, '').toLowerCase());
    }
  }
  return types;
}

/**
 * Returns the type of a metric whose description is passed to a function. The type is inferred from the value types in
 * the same file.
 */
const inferType = ({ tokens }: GoFile): string => (tokens.includes('CounterValue') ? 'counter' : 'gauge');

const DEFAULT_BUCKETS = ['metrics', '.', 'DefBuckets'];

/** Reads a metric that is declared with an options literal. The arguments after the literal are the labels. */
function readOptionsLiteral(open: number, kind: string, { file, packages }: SourceLocation): DeclaredMetric {
  const literal = tokensInBrackets(file.tokens, open);
  const fields = new Map(splitTokens(literal, ',').map(([name = '', , ...value]) => [name, value] as const));
  const fieldValue = (name: string) => evaluate(fields.get(name) ?? ['""'], file, packages);
  const name = ['Namespace', 'Subsystem', 'Name'].map(fieldValue).filter((part) => part !== '');
  const type = kind === 'TimingHistogram' ? 'histogram' : kind.toLowerCase();
  const bounds = type === 'histogram' ? evaluate(fields.get('Buckets') ?? DEFAULT_BUCKETS, file, packages) : [];
  const tokensAfterLiteral = file.tokens.slice(open + literal.length + 2);
  const otherArguments =
    tokensAfterLiteral[0] === ',' ? splitTokens(tokensInBrackets(['(', ...tokensAfterLiteral.slice(1)], 0), ',') : [];
  const labels = otherArguments.filter(isLabelList).flatMap((each) => toList(evaluate(each, file, packages)));
  return {
    name: name.join('_'),
    type,
    stability: stabilityLevel(fields.get('StabilityLevel')),
    labels: labels.map(String),
    bounds: toList(bounds).map(Number),
    file: file.path,
  };
}

/**
 * Whether an argument contains labels, as a list or as single constants. Other arguments are possible, e.g. a function
 * that returns the metric's value.
 */
const isLabelList = (tokens: readonly string[]): boolean =>
  tokens.slice(0, 3).join('') === '[]string' ||
  (tokens.length <= 3 && tokens.every((token) => /^[\w."]+$/.test(token)));

function readDescription(open: number, type: string, { file, packages }: SourceLocation): DeclaredMetric {
  const [name = [], , labels = [], , level] = splitTokens(tokensInBrackets(file.tokens, open), ',');
  return {
    name: String(evaluate(name, file, packages)),
    type,
    stability: stabilityLevel(level),
    labels: toList(evaluate(labels, file, packages)).map(String),
    bounds: [],
    file: file.path,
  };
}

/**
 * Returns the stability level. A metric without a level is ALPHA (`setDefaults` in `metrics/opts.go` of
 * component-base).
 */
const stabilityLevel = (tokens: readonly string[] | undefined): string =>
  (tokens?.at(-1) ?? '').replaceAll('"', '') || 'ALPHA';

const toList = (value: GoValue): readonly GoValue[] =>
  typeof value === 'string' || typeof value === 'number' ? [value] : value;
