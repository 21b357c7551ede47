/**
 * Implements metric families whose values are updated as events occur, and the registry that collects them for a
 * scrape.
 */
import { messageOf } from '../../base/failure.ts';
import { formatLabels, type MetricFamily, type Sample } from './exposition.ts';

/**
 * The stability level of a metric (`staging/src/k8s.io/component-base/metrics/opts.go`). The kubelet's HELP lines start
 * with it.
 */
type Stability = 'INTERNAL' | 'ALPHA' | 'BETA' | 'STABLE';

export interface FamilyOptions {
  readonly name: string;
  readonly help: string;
  /** Undefined for metrics without a stability level, i.e. process metrics and the agent's own metrics. */
  readonly stability?: Stability;
  /** If undefined, the family has exactly one series, which exists from the start. */
  readonly labels?: readonly string[];
}

const createOptions =
  (stability?: Stability) =>
  (name: string, help: string, labels?: readonly string[]): FamilyOptions => ({
    name,
    help,
    ...(stability ? { stability } : {}),
    ...(labels ? { labels } : {}),
  });

/** One function per stability level, which creates the options of a family from its name, help text and label names. */
export const [internal, alpha, beta, stable, plain] = [
  createOptions('INTERNAL'),
  createOptions('ALPHA'),
  createOptions('BETA'),
  createOptions('STABLE'),
  createOptions(),
] as const;

/**
 * Maximum number of series per family. Further series are dropped, which bounds the memory usage if clients choose
 * label values or a bug creates many series.
 */
const MAX_SERIES = 20_000;

/** Separates the label values in a key. A lone surrogate cannot occur in text decoded from UTF-8. */
const KEY_SEPARATOR = '\ud800';

interface TimeSeries<S> {
  readonly labels: string;
  readonly value: S;
}

abstract class Metric<S> {
  readonly name: string;
  readonly #options: FamilyOptions;
  readonly #metricType: MetricFamily['type'];
  readonly #series = new Map<string, TimeSeries<S>>();

  constructor(options: FamilyOptions, type: MetricFamily['type']) {
    this.name = options.name;
    this.#options = options;
    this.#metricType = type;
  }

  get stability(): Stability | undefined {
    return this.#options.stability;
  }

  protected abstract createValue(): S;
  protected abstract samplesOf(series: TimeSeries<S>): Iterable<Sample>;

  /** Returns the value of the series with these label values. Undefined if the series is new and the family is full. */
  protected getOrCreate(values: readonly string[]): S | undefined {
    const key = toSeriesKey(values);
    const existingSeries = this.#series.get(key);
    if (existingSeries !== undefined) return existingSeries.value;
    const { labels: names = [] } = this.#options;
    if (values.length !== names.length)
      throw new TypeError(`${this.name}: ${values.length} labels, not ${names.length}`);
    if (this.#series.size >= MAX_SERIES) return undefined;
    const labels = formatLabels(names.map((name, at) => [name, values[at] ?? ''] as const));
    const series = { labels, value: this.createValue() };
    this.#series.set(key, series);
    return series.value;
  }

  has(values: readonly string[]): boolean {
    return this.#series.has(toSeriesKey(values));
  }

  remove(values: readonly string[]): void {
    this.#series.delete(toSeriesKey(values));
  }

  clear(): void {
    this.#series.clear();
    if (this.#options.labels === undefined) this.getOrCreate([]);
  }

  /** The metric family to write. Its samples are read lazily and are therefore current when they are written. */
  get family(): MetricFamily {
    const { help, stability } = this.#options;
    const fullHelp = stability === undefined ? help : `[${stability}] ${help}`;
    return { name: this.name, help: fullHelp, type: this.#metricType, samples: this.#samples() };
  }

  *#samples(): Generator<Sample> {
    for (const series of this.#series.values()) yield* this.samplesOf(series);
  }
}

const toSeriesKey = (values: readonly string[]): string =>
  values.length === 1 ? String(values[0]) : values.join(KEY_SEPARATOR);

interface NumberValue {
  value: number;
}

abstract class SingleValueMetric extends Metric<NumberValue> {
  protected override createValue = (): NumberValue => ({ value: 0 });
  protected override samplesOf = ({ labels, value }: TimeSeries<NumberValue>): Sample[] => [
    { labels, value: value.value },
  ];
}

export class Counter extends SingleValueMetric {
  constructor(options: FamilyOptions) {
    super(options, 'counter');
    this.clear();
  }

  add(labels: readonly string[], amount = 1): void {
    const series = this.getOrCreate(labels);
    if (series) series.value += amount;
  }

  /** Sets the counter to a count that the caller maintains. */
  set(labels: readonly string[], to: number): void {
    const series = this.getOrCreate(labels);
    if (series) series.value = to;
  }
}

export class Gauge extends SingleValueMetric {
  constructor(options: FamilyOptions) {
    super(options, 'gauge');
    this.clear();
  }

  set(labels: readonly string[], to: number): void {
    const series = this.getOrCreate(labels);
    if (series) series.value = to;
  }

  add(labels: readonly string[], amount: number): void {
    const series = this.getOrCreate(labels);
    if (series) series.value += amount;
  }
}

interface HistogramValue {
  /** Number of values in each bucket, and of values above the last bound. The numbers are not cumulative. */
  readonly bucketCounts: number[];
  sum: number;
}

export class Histogram extends Metric<HistogramValue> {
  readonly #bucketBounds: readonly number[];

  /** `bounds` are the upper bounds of the buckets, in ascending order. */
  constructor(options: FamilyOptions, bounds: readonly number[]) {
    super(options, 'histogram');
    this.#bucketBounds = bounds;
    this.clear();
  }

  observe(labels: readonly string[], value: number): void {
    const series = this.getOrCreate(labels);
    if (series === undefined) return;
    const bounds = this.#bucketBounds;
    let bucketIndex = 0;
    while (bucketIndex < bounds.length && value > Number(bounds[bucketIndex])) bucketIndex += 1;
    series.bucketCounts[bucketIndex] = (series.bucketCounts[bucketIndex] ?? 0) + 1;
    series.sum += value;
  }

  protected override createValue(): HistogramValue {
    return { bucketCounts: Array(this.#bucketBounds.length + 1).fill(0), sum: 0 };
  }

  protected override *samplesOf({
    labels,
    value: { bucketCounts, sum },
  }: TimeSeries<HistogramValue>): Generator<Sample> {
    const labelPrefix = labels === '' ? '' : `${labels},`;
    let count = 0;
    for (const [bucket, bucketCount] of bucketCounts.entries()) {
      count += bucketCount;
      yield { suffix: '_bucket', labels: `${labelPrefix}le="${this.#bucketBounds[bucket] ?? '+Inf'}"`, value: count };
    }
    yield { suffix: '_sum', labels, value: sum };
    yield { suffix: '_count', labels, value: count };
  }
}

/** The metric families of one HTTP path. */
export class Registry {
  readonly #metrics: Metric<unknown>[] = [];
  readonly #collectors: (() => void | Promise<void>)[] = [];
  readonly #onError: (error: unknown) => void;

  /** `onError` receives the error of a failed collector. The scrape continues with the other collectors. */
  constructor(onError: (error: unknown) => void = () => {}) {
    this.#onError = onError;
  }

  counter = (options: FamilyOptions): Counter => this.#addMetric(new Counter(options));
  gauge = (options: FamilyOptions): Gauge => this.#addMetric(new Gauge(options));
  histogram = (options: FamilyOptions, bounds: readonly number[]): Histogram =>
    this.#addMetric(new Histogram(options, bounds));

  /** Counts the families by stability level. As in the kubelet, families without a level are not counted. */
  stabilities(): ReadonlyMap<Stability, number> {
    const counts = new Map<Stability, number>();
    for (const { stability } of this.#metrics) if (stability) counts.set(stability, (counts.get(stability) ?? 0) + 1);
    return counts;
  }

  /** Adds a function that updates metrics at each scrape. */
  collect(collector: () => void | Promise<void>): void {
    this.#collectors.push(collector);
  }

  clear(): void {
    for (const metric of this.#metrics) metric.clear();
  }

  /** Runs the collectors and returns all families, sorted by name. */
  async families(): Promise<readonly MetricFamily[]> {
    for (const collect of this.#collectors) {
      try {
        await collect();
      } catch (error) {
        this.#onError(new Error(`metrics: ${messageOf(error)}`, { cause: error }));
      }
    }
    return this.#metrics.map(({ family }) => family);
  }

  #addMetric<M extends Metric<unknown>>(metric: M): M {
    const index = this.#metrics.findIndex(({ name }) => name >= metric.name);
    if (this.#metrics[index]?.name === metric.name) throw new TypeError(`${metric.name} is already registered`);
    this.#metrics.splice(index === -1 ? this.#metrics.length : index, 0, metric);
    return metric;
  }
}

/**
 * Registers the metric that counts the metric families of all registries
 * (`staging/src/k8s.io/component-base/metrics/prometheus/meta/metrics.go`).
 */
export function registerMetricCounts(registry: Registry, registries: readonly Registry[]): void {
  const metricsCounter = registry.counter(
    beta('registered_metrics_total', 'Registered metric families, by stability level.', [
      'deprecated_version',
      'stability_level',
    ]),
  );
  registry.collect(() => {
    const counts = new Map<string, number>();
    for (const registry of registries)
      for (const [level, count] of registry.stabilities()) counts.set(level, (counts.get(level) ?? 0) + count);
    for (const [level, count] of counts) metricsCounter.set(['', level], count);
  });
}
