import { setTimeout as pause } from 'node:timers/promises';
import type { AgentProcess } from '../agentProcess.ts';
import { type BenchNode, endPods, fullNameOf, namesFor, runPods, withAgent } from '../node.ts';
import { cpuTime, residentMemory } from '../processFacts.ts';
import type { Figure } from '../report.ts';
import { preciseNow } from '../statistics.ts';
import type { RunningPod } from '../watcher.ts';

const PODS = 50;
/** Time after which the agent has finished all work that follows the start of the pods. */
const SETTLE_MS = 3_000;
const DELAY_SECONDS = 10;

/** Measures the CPU and memory of an agent with fifty idle pods, including the processes of the installed command. */
export async function idle(node: BenchNode, seconds: number): Promise<Figure[]> {
  const names = namesFor('idle', PODS);
  const idleness = await withAgent(node.place, async (daemon) => {
    const { pods } = await runPods(node.place, daemon, names);
    await pause(SETTLE_MS);
    const [began, before] = [preciseNow(), await cpuTime(daemon.pid)];
    await pause(seconds * 1_000);
    const cpu = (await cpuTime(daemon.pid)) - before;
    const share = (cpu / (preciseNow() - began)) * 100;
    return { pods, share, memory: await residentMemory(daemon.pid) };
  });
  const delay = await loopDelay(node, names, idleness.pods);
  const { share, memory } = idleness;
  const detail = `${PODS} pods, ${seconds} s; eviction and image garbage collection are on by default`;
  const whole = 'of all its processes, after that time';
  return [
    { row: 'idle', name: 'idle: CPU, of one core', value: share, unit: '%', goal: 1, detail },
    { row: 'idle', name: 'idle: memory (resident)', value: memory, unit: 'MiB', goal: 80, detail: whole },
    { row: 'idle', name: 'idle: event loop delay, p99', value: delay, unit: 'ms', detail: `over ${DELAY_SECONDS} s` },
  ];
}

/**
 * Measures the delay of the event loop in another agent with the same pods, because this measurement costs more than an
 * idle agent does. Terminates the pods.
 */
function loopDelay(node: BenchNode, names: readonly string[], pods: readonly RunningPod[]): Promise<number> {
  const measure = async (daemon: AgentProcess) => {
    await daemon.watcher.running(names.map(fullNameOf));
    await pause(SETTLE_MS);
    const delay = await daemon.eventLoopDelay(DELAY_SECONDS);
    await endPods(node, names, pods);
    return delay;
  };
  return withAgent(node.place, measure, { measuresDelay: true });
}
