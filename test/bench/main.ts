/** `npm run bench`: measures the agent against the bare CRI calls and shows each figure beside its goal. */
import { writeFile } from 'node:fs/promises';
import { interruption, orInterrupted } from './interruption.ts';
import { type BenchNode, startBenchNode } from './node.ts';
import { type BenchOptions, type RowName, readOptions, usage } from './options.ts';
import { type Figure, hostFacts, isMet, table } from './report.ts';
import { adoption } from './rows/adoption.ts';
import { cluster } from './rows/cluster.ts';
import { crowded } from './rows/crowded.ts';
import { eviction } from './rows/eviction.ts';
import { idle } from './rows/idle.ts';
import { killed } from './rows/killed.ts';
import { manyPods } from './rows/manyPods.ts';
import { onePod } from './rows/onePod.ts';
import { page } from './rows/page.ts';
import { probes } from './rows/probes.ts';
import { recording } from './rows/recording.ts';
import { resets } from './rows/resets.ts';
import { scale } from './rows/scale.ts';
import { serving } from './rows/serving.ts';
import { simulation } from './rows/simulation.ts';

const say = (line: string) => process.stderr.write(`bench: ${line}\n`);

const wordsOf = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error));

function measure(row: RowName, node: BenchNode, options: BenchOptions): Promise<Figure[]> {
  const repeats = options.repeats(row);
  switch (row) {
    case 'one-pod':
      return onePod(node, repeats);
    case 'many-pods':
      return manyPods(node, repeats);
    case 'kill':
      return killed(node, repeats);
    case 'idle':
      return idle(node, options.idleSeconds);
    case 'probes':
      return probes(node, options.quick ? 15 : 30);
    case 'adoption':
      return adoption(node, repeats);
    case 'scale':
      return scale(node, repeats);
    case 'simulation':
      return simulation(options.quick ? 10 : 60);
    case 'recording':
      return recording();
    case 'page':
      return page(node, options.quick ? 10 : 30);
    case 'cluster':
      return cluster(node, repeats, options.idleSeconds);
    case 'serving':
      return serving(node, repeats, options.idleSeconds);
    case 'crowded':
      return crowded(node, options.quick ? 30 : 60);
    case 'resets':
      return resets();
    case 'eviction':
      return eviction(node, repeats);
  }
}

async function run(options: BenchOptions): Promise<void> {
  const { json, quick } = options;
  const startedAt = new Date().toISOString();
  const figures: Figure[] = [];
  const node = await startBenchNode();
  try {
    const { runtimeName, runtimeVersion } = await node.cri.version(
      { version: '' },
      { signal: new AbortController().signal },
    );
    for (const row of options.only) {
      say(`measuring ${row}`);
      try {
        figures.push(...(await orInterrupted(measure(row, node, options))));
      } catch (error) {
        if (interruption.aborted) throw error;
        // The results of the other rows remain valid.
        say(`${row}: ${wordsOf(error)}`);
        process.exitCode = 1;
      }
    }
    const host = { ...hostFacts(), runtime: `${runtimeName} ${runtimeVersion}` };
    process.stdout.write(`${table(figures)}\n`);
    const rows = figures.map((figure) => ({ ...figure, met: isMet(figure) }));
    await writeFile(json, `${JSON.stringify({ startedAt, quick, host, figures: rows }, null, 2)}\n`);
    say(`written to ${json}`);
  } finally {
    await node.end();
  }
}

function optionsOrUsage(): BenchOptions {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    say(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    return process.exit(1);
  }
}

const options = optionsOrUsage();
try {
  await run(options);
} catch (error) {
  say(wordsOf(error));
  process.exitCode = 1;
}
// Do not wait for the pending operations of an interrupted measurement.
process.exit();
