/** Defines the form of the metrics of `/metrics/cadvisor`. */
import type { Family, Sample } from '../exposition.ts';
import { type Label, type Row, withLabels } from './row.ts';

export interface Metric extends Pick<Family, 'name' | 'help' | 'type'> {
  /** Returns the row's value or labelled values. Undefined or empty if the row has no sample of this metric. */
  readonly read: (row: Row) => number | undefined | readonly LabelledValue[];
  /** Defaults to the time at which the cgroup was read. `null` omits the timestamp, e.g. for a limit. */
  readonly timestampOf?: ((row: Row) => number | undefined) | null;
}

export interface LabelledValue {
  readonly labels: readonly Label[];
  readonly value: number;
}

type Options = Pick<Metric, 'timestampOf'>;

export const counter = (name: string, help: string, read: Metric['read'], options: Options = {}): Metric => ({
  name,
  help,
  type: 'counter',
  read,
  ...options,
});

export const gauge = (name: string, help: string, read: Metric['read'], options: Options = {}): Metric => ({
  name,
  help,
  type: 'gauge',
  read,
  ...options,
});

/** Reads the metric from all rows, lazily. */
export const familyOf = (metric: Metric, rows: readonly Row[]): Family => ({
  name: metric.name,
  help: metric.help,
  type: metric.type,
  samples: { [Symbol.iterator]: () => samplesOf(metric, rows) },
});

function* samplesOf({ read, timestampOf }: Metric, rows: readonly Row[]): Generator<Sample> {
  for (const row of rows) {
    const values = read(row);
    if (values === undefined) continue;
    const timestampMs = timestampOf === null ? undefined : (timestampOf?.(row) ?? row.usage.readAt);
    if (typeof values === 'number') yield { labels: row.labelText, value: values, timestampMs };
    else for (const { labels, value } of values) yield { labels: withLabels(row, labels), value, timestampMs };
  }
}

const NS_PER_SECOND = 1e9;
const US_PER_SECOND = 1e6;

/** Converts nanoseconds to seconds. Like cAdvisor, returns 0 for a value that the kernel does not provide. */
export const nsToSeconds = (ns: number | undefined): number => (ns ?? 0) / NS_PER_SECOND;

export const usToSeconds = (us: number | undefined): number => (us ?? 0) / US_PER_SECOND;
