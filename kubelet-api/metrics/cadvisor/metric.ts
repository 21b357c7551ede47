/** Defines the metrics of `/metrics/cadvisor` as functions of a row, which contains the usage of one cgroup. */
import type { MetricFamily, Sample } from '../exposition.ts';
import { appendLabels, type Label, type Row } from './row.ts';

export interface Metric extends Pick<MetricFamily, 'name' | 'help' | 'type'> {
  /** Returns the row's value or labelled values. Undefined or empty if the row has no sample of this metric. */
  readonly readValues: (row: Row) => number | undefined | readonly LabelledValue[];
  /**
   * Returns the timestamp of a sample. The default is the time at which the cgroup was read. `null` omits the
   * timestamp, e.g. for a limit.
   */
  readonly timestampOf?: ((row: Row) => number | undefined) | null;
}

export interface LabelledValue {
  readonly labels: readonly Label[];
  readonly value: number;
}

type MetricOptions = Pick<Metric, 'timestampOf'>;

export const createCounter = (
  name: string,
  help: string,
  readValues: Metric['readValues'],
  options: MetricOptions = {},
): Metric => ({
  name,
  help,
  type: 'counter',
  readValues,
  ...options,
});

export const createGauge = (
  name: string,
  help: string,
  readValues: Metric['readValues'],
  options: MetricOptions = {},
): Metric => ({
  name,
  help,
  type: 'gauge',
  readValues,
  ...options,
});

/** Converts a metric to a metric family, whose samples are read from the rows lazily. */
export const toFamily = (metric: Metric, rows: readonly Row[]): MetricFamily => ({
  name: metric.name,
  help: metric.help,
  type: metric.type,
  samples: { [Symbol.iterator]: () => generateSamples(metric, rows) },
});

function* generateSamples({ readValues, timestampOf }: Metric, rows: readonly Row[]): Generator<Sample> {
  for (const row of rows) {
    const values = readValues(row);
    if (values === undefined) continue;
    const timestampMs = timestampOf === null ? undefined : (timestampOf?.(row) ?? row.usage.readAt);
    if (typeof values === 'number') yield { labels: row.labelText, value: values, timestampMs };
    else for (const { labels, value } of values) yield { labels: appendLabels(row, labels), value, timestampMs };
  }
}

const NS_PER_SECOND = 1e9;
const US_PER_SECOND = 1e6;

/** Converts nanoseconds to seconds. Like cAdvisor, returns 0 for a value that the kernel does not provide. */
export const nsToSeconds = (ns: number | undefined): number => (ns ?? 0) / NS_PER_SECOND;

export const usToSeconds = (us: number | undefined): number => (us ?? 0) / US_PER_SECOND;
