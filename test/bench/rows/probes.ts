import { setTimeout as pause } from 'node:timers/promises';
import { type BenchNode, endPods, namesFor, runPods, withAgent } from '../node.ts';
import { cpuTime } from '../processFacts.ts';
import type { Figure } from '../report.ts';
import { preciseNow } from '../statistics.ts';

const PODS = 100;
/** What starting the pods leaves to do is over after this time. */
const SETTLE_MS = 5_000;

/** A hundred pods, each asked over HTTP every second whether it is ready: what the agent's own process takes. */
export async function probes(node: BenchNode, seconds: number): Promise<Figure[]> {
  const names = namesFor('probes', PODS);
  return withAgent(node.place, async (daemon) => {
    const { pods } = await runPods(node.place, daemon, names, 'probed');
    await pause(SETTLE_MS);
    const [began, before] = [preciseNow(), await cpuTime(daemon.pid)];
    await pause(seconds * 1_000);
    const share = (((await cpuTime(daemon.pid)) - before) / (preciseNow() - began)) * 100;
    await endPods(node, names, pods);
    const detail = `${PODS} pods, ${seconds} s`;
    return [
      { row: 'probes', name: 'an HTTP probe a second: CPU, of one core', value: share, unit: '%', goal: 10, detail },
    ];
  });
}
