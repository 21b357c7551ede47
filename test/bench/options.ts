import { parseArgs } from 'node:util';

/** The rows of the table, in the order in which they are measured. */
const rowNames = [
  'one-pod',
  'many-pods',
  'kill',
  'idle',
  'probes',
  'adoption',
  'scale',
  'simulation',
  'recording',
  'page',
  'cluster',
  'serving',
  'crowded',
  'resets',
  'eviction',
] as const;
export type RowName = (typeof rowNames)[number];

/** Options of a bench run. */
export interface BenchOptions {
  readonly only: readonly RowName[];
  /** Returns how often a row is measured. The default is what the row needs for a stable median. */
  readonly repeats: (row: RowName) => number;
  /** Time for which the idle node is measured, in seconds. */
  readonly idleSeconds: number;
  readonly quick: boolean;
  /** Path of the file to which the results are written. */
  readonly json: string;
}

export const usage = `usage: npm run bench -- [--only ROW,…] [--repeats N] [--quick] [--json FILE]
rows: ${rowNames.join(', ')}`;

const usualRepeats: Record<RowName, number> = {
  'one-pod': 25,
  'many-pods': 5,
  kill: 12,
  idle: 1,
  probes: 1,
  adoption: 5,
  scale: 3,
  simulation: 1,
  recording: 1,
  page: 1,
  cluster: 3,
  serving: 25,
  crowded: 1,
  resets: 1,
  eviction: 5,
};
const quickRepeats: Record<RowName, number> = {
  'one-pod': 5,
  'many-pods': 1,
  kill: 10,
  idle: 1,
  probes: 1,
  adoption: 2,
  scale: 1,
  simulation: 1,
  recording: 1,
  page: 1,
  cluster: 1,
  serving: 7,
  crowded: 1,
  resets: 1,
  eviction: 2,
};

/** Parses the command line. Throws if it is invalid. */
export function readOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: rowNames.join(',') },
      repeats: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'string', default: 'bench-results.json' },
    },
  });
  const { quick, json } = values;
  const asked = values.repeats === undefined ? undefined : count(values.repeats);
  const usual = quick ? quickRepeats : usualRepeats;
  return {
    only: values.only.split(',').map(rowNamed),
    repeats: (row) => asked ?? usual[row],
    idleSeconds: quick ? 15 : 60,
    quick,
    json,
  };
}

function rowNamed(text: string): RowName {
  const found = rowNames.find((name) => name === text.trim());
  if (found === undefined) throw new Error(`there is no row ${text}`);
  return found;
}

function count(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new Error(`--repeats expects a number from 1 on, got ${text}`);
  return Number(text);
}
