import { setTimeout as pause } from 'node:timers/promises';
import { type BenchNode, endPods, namesFor, runPods, withAgent } from '../node.ts';
import { cpuTime, residentMemory } from '../processFacts.ts';
import type { Figure } from '../report.ts';
import { preciseNow } from '../statistics.ts';

const PODS = 50;
/** What starting the pods leaves to do is over after this time. */
const SETTLE_MS = 3_000;
const DELAY_SECONDS = 10;

/** Fifty pods of which nothing happens: what the agent's own process takes. */
export async function idle(node: BenchNode, seconds: number): Promise<Figure[]> {
  const names = namesFor('idle', PODS);
  return withAgent(node.place, async (daemon) => {
    const { pods } = await runPods(node.place, daemon, names);
    await pause(SETTLE_MS);
    const [began, before] = [preciseNow(), await cpuTime(daemon.pid)];
    await pause(seconds * 1_000);
    const cpu = (await cpuTime(daemon.pid)) - before;
    const share = (cpu / (preciseNow() - began)) * 100;
    const memory = await residentMemory(daemon.pid);
    // Measured by itself, because the measurement takes more CPU time than the idle agent.
    const delay = await daemon.eventLoopDelay(DELAY_SECONDS);
    await endPods(node, names, pods);
    const detail = `${PODS} pods, ${seconds} s`;
    return [
      { row: 'idle', name: 'idle: CPU, of one core', value: share, unit: '%', goal: 1, detail },
      { row: 'idle', name: 'idle: memory (resident)', value: memory, unit: 'MiB', goal: 95, detail: 'after that time' },
      { row: 'idle', name: 'idle: event loop delay, p99', value: delay, unit: 'ms', detail: `over ${DELAY_SECONDS} s` },
    ];
  });
}
