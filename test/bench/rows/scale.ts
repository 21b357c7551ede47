import { type BenchNode, namesFor, runPods, withAgent } from '../node.ts';
import { cpuTime } from '../processFacts.ts';
import type { Figure } from '../report.ts';
import { withSimulatedPlace } from '../simulatedPlace.ts';
import { median } from '../statistics.ts';

const SIZES = [100, 200, 400] as const;

/** Measures the CPU time for the start of a pod on a simulated runtime as the number of pods grows. */
export async function scale({ place }: BenchNode, repeats: number): Promise<Figure[]> {
  const samples = new Map<number, number[]>(SIZES.map((size) => [size, []]));
  for (let index = 0; index < repeats; index += 1) {
    for (const [size, values] of samples) values.push(await cpuPerPod(place.directory, size));
  }
  const medians = SIZES.map((size) => median(samples.get(size) ?? []));
  const [fewest = Number.NaN, ...more] = medians;
  return [
    {
      row: 'scale',
      name: `${SIZES.join(', ')} pods: CPU per start, the worst against the first`,
      value: Math.max(...more) / fewest,
      unit: '×',
      goal: 1.5,
      detail: `${medians.map((ms) => ms.toFixed(1)).join(', ')} ms a pod (simulated runtime)`,
    },
  ];
}

/**
 * Returns the CPU time per pod of a new agent from the creation of the manifests until all pods run, in milliseconds.
 */
function cpuPerPod(parent: string, pods: number): Promise<number> {
  return withSimulatedPlace(parent, (place) =>
    withAgent(place, async (daemon) => {
      const before = await cpuTime(daemon.pid);
      await runPods(place, daemon, namesFor('scale', pods));
      return ((await cpuTime(daemon.pid)) - before) / pods;
    }),
  );
}
