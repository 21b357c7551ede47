/** One metric of /metrics/cadvisor: what a row has of it. */
import type { Family, Sample } from '../exposition.ts';
import { type Label, type Row, withLabels } from './row.ts';

export interface Metric extends Pick<Family, 'name' | 'help' | 'type'> {
  /** What a row has to say; undefined or nothing: it has no such sample. */
  readonly of: (row: Row) => number | undefined | readonly Labelled[];
  /** Absent: when the cgroup was read; null: none, as what is measured is not a moment's. */
  readonly at?: ((row: Row) => number | undefined) | null;
}

export interface Labelled {
  readonly labels: readonly Label[];
  readonly value: number;
}

type Options = Pick<Metric, 'at'>;

export const counter = (name: string, help: string, of: Metric['of'], options: Options = {}): Metric => ({
  name,
  help,
  type: 'counter',
  of,
  ...options,
});

export const gauge = (name: string, help: string, of: Metric['of'], options: Options = {}): Metric => ({
  name,
  help,
  type: 'gauge',
  of,
  ...options,
});

/** What it is in all rows. */
export const familyOf = (metric: Metric, rows: readonly Row[]): Family => ({
  name: metric.name,
  help: metric.help,
  type: metric.type,
  samples: { [Symbol.iterator]: () => samplesOf(metric, rows) },
});

function* samplesOf({ of, at }: Metric, rows: readonly Row[]): Generator<Sample> {
  for (const row of rows) {
    const found = of(row);
    if (found === undefined) continue;
    const time = at === null ? undefined : (at?.(row) ?? row.usage.readAt);
    if (typeof found === 'number') yield { labels: row.labelText, value: found, at: time };
    else for (const { labels, value } of found) yield { labels: withLabels(row, labels), value, at: time };
  }
}

const NS = 1e9;
const US = 1e6;

/** Seconds of nanoseconds; 0 where the kernel does not say, as cAdvisor has it. */
export const secondsOfNs = (ns: number | undefined): number => (ns ?? 0) / NS;

export const secondsOfUs = (us: number | undefined): number => (us ?? 0) / US;
