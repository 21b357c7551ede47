/** Families of metrics that are counted as things happen, with their series. */
import { messageOf } from '../../base/failure.ts';
import { type Family, labelText, type Sample } from './exposition.ts';

/** How far a name may be relied on (`staging/src/k8s.io/component-base/metrics/opts.go`); the kubelet's HELP begins with it. */
type Stability = 'INTERNAL' | 'ALPHA' | 'BETA' | 'STABLE';

export interface FamilyOptions {
  readonly name: string;
  readonly help: string;
  /** Absent of what no kubelet's library has declared: those of processes, and the agent's own. */
  readonly stability?: Stability;
  /** Absent: it has one series, from its beginning on. */
  readonly labels?: readonly string[];
}

const declared =
  (stability?: Stability) =>
  (name: string, help: string, labels?: readonly string[]): FamilyOptions => ({
    name,
    help,
    ...(stability ? { stability } : {}),
    ...(labels ? { labels } : {}),
  });

/** A family, by its name, what it says, and its labels. */
export const [internal, alpha, beta, stable, plain] = [
  declared('INTERNAL'),
  declared('ALPHA'),
  declared('BETA'),
  declared('STABLE'),
  declared(),
] as const;

/** A family of clients' names, or a fault that makes ever more of them, takes no more memory than so many series. */
const MOST_SERIES = 20_000;

/** No text that was read as UTF-8 has half of a pair. */
const BETWEEN = '\ud800';

interface Series<S> {
  /** As they are written. */
  readonly labels: string;
  readonly value: S;
}

abstract class Metric<S> {
  readonly name: string;
  readonly #options: FamilyOptions;
  readonly #type: Family['type'];
  readonly #series = new Map<string, Series<S>>();

  constructor(options: FamilyOptions, type: Family['type']) {
    this.name = options.name;
    this.#options = options;
    this.#type = type;
  }

  get stability(): Stability | undefined {
    return this.#options.stability;
  }

  protected abstract made(): S;
  protected abstract samplesOf(series: Series<S>): Iterable<Sample>;

  /** What is kept of these values of its labels; undefined where it has too many series already. */
  protected of(values: readonly string[]): S | undefined {
    const key = keyOf(values);
    const known = this.#series.get(key);
    if (known !== undefined) return known.value;
    const { labels: names = [] } = this.#options;
    if (values.length !== names.length)
      throw new TypeError(`${this.name}: ${values.length} labels, not ${names.length}`);
    if (this.#series.size >= MOST_SERIES) return undefined;
    const labels = labelText(names.map((name, at) => [name, values[at] ?? ''] as const));
    const made = { labels, value: this.made() };
    this.#series.set(key, made);
    return made.value;
  }

  has(values: readonly string[]): boolean {
    return this.#series.has(keyOf(values));
  }

  remove(values: readonly string[]): void {
    this.#series.delete(keyOf(values));
  }

  clear(): void {
    this.#series.clear();
    if (this.#options.labels === undefined) this.of([]);
  }

  /** It as it is while it is written. */
  get family(): Family {
    const { help, stability } = this.#options;
    const said = stability === undefined ? help : `[${stability}] ${help}`;
    return { name: this.name, help: said, type: this.#type, samples: this.#samples() };
  }

  *#samples(): Generator<Sample> {
    for (const series of this.#series.values()) yield* this.samplesOf(series);
  }
}

const keyOf = (values: readonly string[]): string => (values.length === 1 ? String(values[0]) : values.join(BETWEEN));

interface Amount {
  now: number;
}

abstract class Single extends Metric<Amount> {
  protected override made = (): Amount => ({ now: 0 });
  protected override samplesOf = ({ labels, value }: Series<Amount>): Sample[] => [{ labels, value: value.now }];
}

/** It only grows. */
export class Counter extends Single {
  constructor(options: FamilyOptions) {
    super(options, 'counter');
    this.clear();
  }

  add(labels: readonly string[], by = 1): void {
    const series = this.of(labels);
    if (series) series.now += by;
  }

  /** To what something else has counted. */
  set(labels: readonly string[], to: number): void {
    const series = this.of(labels);
    if (series) series.now = to;
  }
}

export class Gauge extends Single {
  constructor(options: FamilyOptions) {
    super(options, 'gauge');
    this.clear();
  }

  set(labels: readonly string[], to: number): void {
    const series = this.of(labels);
    if (series) series.now = to;
  }

  add(labels: readonly string[], by: number): void {
    const series = this.of(labels);
    if (series) series.now += by;
  }
}

interface Spread {
  /** How many were in each bucket, and above the last. */
  readonly counts: number[];
  sum: number;
}

export class Histogram extends Metric<Spread> {
  readonly #bounds: readonly number[];

  /** `bounds` are the upper ones of its buckets, growing. */
  constructor(options: FamilyOptions, bounds: readonly number[]) {
    super(options, 'histogram');
    this.#bounds = bounds;
    this.clear();
  }

  observe(labels: readonly string[], value: number): void {
    const series = this.of(labels);
    if (series === undefined) return;
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > Number(bounds[at])) at += 1;
    series.counts[at] = (series.counts[at] ?? 0) + 1;
    series.sum += value;
  }

  protected override made(): Spread {
    return { counts: Array(this.#bounds.length + 1).fill(0), sum: 0 };
  }

  protected override *samplesOf({ labels, value: { counts, sum } }: Series<Spread>): Generator<Sample> {
    const before = labels === '' ? '' : `${labels},`;
    let count = 0;
    for (const [at, inIt] of counts.entries()) {
      count += inIt;
      yield { suffix: '_bucket', labels: `${before}le="${this.#bounds[at] ?? '+Inf'}"`, value: count };
    }
    yield { suffix: '_sum', labels, value: sum };
    yield { suffix: '_count', labels, value: count };
  }
}

/** What one path shows. */
export class Registry {
  readonly #metrics: Metric<unknown>[] = [];
  readonly #collects: (() => void | Promise<void>)[] = [];
  readonly #onError: (error: unknown) => void;

  /** Told of what could not be looked up for a scrape: the rest is there all the same. */
  constructor(onError: (error: unknown) => void = () => {}) {
    this.#onError = onError;
  }

  counter = (options: FamilyOptions): Counter => this.#add(new Counter(options));
  gauge = (options: FamilyOptions): Gauge => this.#add(new Gauge(options));
  histogram = (options: FamilyOptions, bounds: readonly number[]): Histogram =>
    this.#add(new Histogram(options, bounds));

  /** The number of families by their stability, as a kubelet counts them. Families of other libraries have none. */
  stabilities(): ReadonlyMap<Stability, number> {
    const counts = new Map<Stability, number>();
    for (const { stability } of this.#metrics) if (stability) counts.set(stability, (counts.get(stability) ?? 0) + 1);
    return counts;
  }

  /** Has something looked up for each scrape. */
  collect(look: () => void | Promise<void>): void {
    this.#collects.push(look);
  }

  /** Begins anew. */
  clear(): void {
    for (const metric of this.#metrics) metric.clear();
  }

  /** All families by their names, with what was looked up for this scrape. */
  async families(): Promise<readonly Family[]> {
    for (const look of this.#collects) {
      try {
        await look();
      } catch (error) {
        this.#onError(new Error(`metrics: ${messageOf(error)}`, { cause: error }));
      }
    }
    return this.#metrics.map(({ family }) => family);
  }

  #add<M extends Metric<unknown>>(metric: M): M {
    const place = this.#metrics.findIndex(({ name }) => name >= metric.name);
    if (this.#metrics[place]?.name === metric.name) throw new TypeError(`${metric.name} is there already`);
    this.#metrics.splice(place === -1 ? this.#metrics.length : place, 0, metric);
    return metric;
  }
}

/** Counts the families of all paths (`staging/src/k8s.io/component-base/metrics/prometheus/meta/metrics.go`). */
export function registeredMetrics(registry: Registry, paths: readonly Registry[]): void {
  const total = registry.counter(
    beta('registered_metrics_total', 'Families of metrics, by their stability.', [
      'deprecated_version',
      'stability_level',
    ]),
  );
  registry.collect(() => {
    const counts = new Map<string, number>();
    for (const path of paths)
      for (const [level, count] of path.stabilities()) counts.set(level, (counts.get(level) ?? 0) + count);
    for (const [level, count] of counts) total.set(['', level], count);
  });
}
