import { setTimeout as pause } from 'node:timers/promises';
import type { Cri } from '../../../cri/client/calls.ts';
import { ContainerState } from '../../../cri/generated/runtime.ts';
import { noAbort } from '../../e2e/support/containerd.ts';
import type { AgentProcess } from '../agentProcess.ts';
import { type BenchNode, endPods, fullNameOf, namesFor, runPods, withAgent } from '../node.ts';
import { inParallel, type RunningRawPod, removeRawPod, startRawContainer, startRawPod } from '../rawPods.ts';
import type { Figure } from '../report.ts';
import { processOf, startedAt } from '../runtimeObjects.ts';
import { median, milliseconds, preciseNow } from '../statistics.ts';
import type { RunningPod } from '../watcher.ts';

/**
 * Measures the time from the SIGKILL of a container until the runtime reports that its replacement has started,
 * compared with bare calls that create and start a container in such a pod. Each pod is killed only once, because only
 * the first restart is immediate.
 */
export async function killed(node: BenchNode, repeats: number): Promise<Figure[]> {
  const names = namesFor('kill', repeats);
  const raw: number[] = [];
  const agent: number[] = [];
  await withAgent(node.place, async (daemon) => {
    const { pods } = await runPods(node.place, daemon, names);
    const bare = await runRawPods(node, repeats);
    await pause(1_000);
    const last: RunningPod[] = [];
    for (const [index, pod] of pods.entries()) {
      daemon.freeze();
      const rawPod = bare[index];
      if (rawPod !== undefined) raw.push(await restartBare(node.cri, rawPod));
      await daemon.thaw();
      const restarted = await killAgents(node.cri, daemon, names[index] ?? '', pod);
      agent.push(restarted.took);
      last.push(restarted.pod);
    }
    await inParallel(bare, 2, (pod) => removeRawPod(node.cri, pod));
    await node.raw.tidy();
    await endPods(node, names, last);
  });
  return [
    {
      row: 'kill',
      name: 'container killed: replacement started',
      value: median(agent.map((ms, index) => ms / (raw[index] ?? Number.NaN))),
      unit: '×',
      goal: 2.5,
      detail: `${milliseconds(agent)}; raw create and start ${milliseconds(raw)}`,
    },
  ];
}

async function runRawPods({ cri, raw }: BenchNode, count: number): Promise<RunningRawPod[]> {
  return inParallel(await raw.prepare(namesFor('raw-kill', count)), 2, (pod) => startRawPod(cri, pod));
}

/** Returns the duration of the bare calls after the pod's container was killed, in milliseconds. */
async function restartBare(cri: Cri, pod: RunningRawPod): Promise<number> {
  const { containerId } = pod;
  process.kill(await processOf(cri, containerId), 'SIGKILL');
  const look = () => cri.containerStatus({ containerId, verbose: false }, { signal: noAbort });
  while ((await look()).status?.state !== ContainerState.CONTAINER_EXITED) await pause(5);
  const began = preciseNow();
  await startRawContainer(cri, pod, 1);
  return preciseNow() - began;
}

async function killAgents(
  cri: Cri,
  { watcher }: AgentProcess,
  name: string,
  { containerId }: RunningPod,
): Promise<{ took: number; pod: RunningPod }> {
  const pid = await processOf(cri, containerId);
  const killedAt = preciseNow();
  process.kill(pid, 'SIGKILL');
  const pods = await watcher.running([fullNameOf(name)], new Set([containerId]));
  const pod = pods.get(fullNameOf(name));
  if (pod === undefined) throw new Error(`${name} does not run`);
  return { took: (await startedAt(cri, pod.containerId)) - killedAt, pod };
}
