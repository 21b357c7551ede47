import { setTimeout as pause } from 'node:timers/promises';
import { type BenchNode, endPods, runPods, withAgent } from '../node.ts';
import { removeRawPod, startRawPod } from '../rawPods.ts';
import type { Figure } from '../report.ts';
import { median, milliseconds, preciseNow } from '../statistics.ts';

/** Time in which a container becomes ready to handle SIGTERM, in milliseconds. */
const SETTLE_MS = 300;

const WARM = 3;

interface Sample {
  readonly start: number;
  readonly removal: number;
}

/**
 * Measures one pod: the time from the creation of its manifest until a watcher receives it as running, and from the
 * removal of the manifest until nothing is left of the pod, compared with bare calls.
 */
export async function onePod(node: BenchNode, repeats: number): Promise<Figure[]> {
  const raw: Sample[] = [];
  const agent: Sample[] = [];
  await withAgent(node.place, async (daemon) => {
    // The first pods of a process take longer, because code is still being loaded and compiled.
    for (let index = 0; index < WARM; index += 1) await agentSample(node, daemon, `warm-${index}`);
    for (let index = 0; index < repeats; index += 1) {
      daemon.freeze();
      raw.push(await rawSample(node, `raw-one-${index}`));
      await daemon.thaw();
      agent.push(await agentSample(node, daemon, `one-${index}`));
    }
  });
  return [
    figure(
      'one pod: manifest to Running',
      1.2,
      agent.map(({ start }) => start),
      raw.map(({ start }) => start),
    ),
    figure(
      'one pod: removed',
      1.3,
      agent.map(({ removal }) => removal),
      raw.map(({ removal }) => removal),
    ),
  ];
}

function figure(name: string, goal: number, agent: readonly number[], raw: readonly number[]): Figure {
  const ratios = agent.map((ms, index) => ms / (raw[index] ?? Number.NaN));
  const detail = `${milliseconds(agent)}; raw calls ${milliseconds(raw)}`;
  return { row: 'one-pod', name, value: median(ratios), unit: '×', goal, detail };
}

/** Starts and removes a pod with bare calls, and returns the duration of both in milliseconds. */
export async function rawSample({ cri, raw }: BenchNode, name: string): Promise<Sample> {
  const [pod] = await raw.prepare([name]);
  if (pod === undefined) throw new Error('there is no pod');
  const began = preciseNow();
  const running = await startRawPod(cri, pod);
  const start = preciseNow() - began;
  await pause(SETTLE_MS);
  const ended = preciseNow();
  await removeRawPod(cri, running);
  const removal = preciseNow() - ended;
  await raw.tidy();
  return { start, removal };
}

async function agentSample(node: BenchNode, daemon: Parameters<typeof runPods>[1], name: string): Promise<Sample> {
  const { addedAt, pods } = await runPods(node.place, daemon, [name]);
  const start = Math.max(...pods.map(({ at }) => at)) - addedAt;
  await pause(SETTLE_MS);
  return { start, removal: await endPods(node, [name], pods) };
}
