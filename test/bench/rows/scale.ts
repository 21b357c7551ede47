import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { agentPlace } from '../agentProcess.ts';
import { interruption } from '../interruption.ts';
import { type BenchNode, namesFor, runPods, withAgent } from '../node.ts';
import { cpuTime } from '../processFacts.ts';
import type { Figure } from '../report.ts';
import { median } from '../statistics.ts';

const SIZES = [100, 200, 400] as const;

/** What the agent computes for the start of a pod, on a simulated runtime, as the pods become more. */
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

/** The CPU time of a fresh agent from the manifests' arrival until all pods run, in milliseconds a pod. */
async function cpuPerPod(parent: string, pods: number): Promise<number> {
  const directory = await mkdtemp(join(parent, 'scale-'));
  const socket = join(directory, 'cri.sock');
  const runtime = spawn(process.execPath, [join(import.meta.dirname, '../simulatedProcess.ts'), socket], {
    stdio: ['ignore', 'pipe', 'inherit'],
    signal: interruption,
    killSignal: 'SIGKILL',
  });
  runtime.on('error', () => {});
  try {
    await once(runtime.stdout, 'data');
    const place = await agentPlace(directory, { endpoint: `unix://${socket}`, cgroupRoot: '' });
    return await withAgent(place, async (daemon) => {
      const before = await cpuTime(daemon.pid);
      await runPods(place, daemon, namesFor('scale', pods));
      return ((await cpuTime(daemon.pid)) - before) / pods;
    });
  } finally {
    runtime.kill();
    await rm(directory, { recursive: true, force: true });
  }
}
