import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod/mini';
import { withProcess } from '../childProcess.ts';
import { ASKED } from '../manifests.ts';
import { type BenchNode, endPods, namesFor, runPods, withAgent } from '../node.ts';
import { shareOf } from '../processFacts.ts';
import type { Figure } from '../report.ts';
import { withSimulatedPlace } from '../simulatedPlace.ts';

const PODS = 100;
/** Number of pods of ten containers on a simulated runtime, which makes 500 probes a second. */
const MANY_PODS = 50;
/** Time after which the agent has finished all work that follows the start of the pods. */
const SETTLE_MS = 5_000;

/**
 * Measures the cost of probes: of a hundred pods on the real runtime, and of five hundred probes a second, some of
 * which hang.
 */
export async function probes(node: BenchNode, seconds: number): Promise<Figure[]> {
  return [...(await ofPods(node, seconds)), ...(await manyProbes(node, seconds))];
}

/** Measures the agent's CPU usage for a hundred pods, each with an HTTP readiness probe every second. */
async function ofPods(node: BenchNode, seconds: number): Promise<Figure[]> {
  const names = namesFor('probes', PODS);
  return withAgent(node.place, async (daemon) => {
    const { pods } = await runPods(node.place, daemon, names, 'probed');
    await pause(SETTLE_MS);
    const share = await shareOf(daemon.pid, seconds);
    const urls = pods.map(({ ip }) => `http://${ip}:8080/passwd`);
    // Measure the bare requests while the agent is suspended, so that neither takes CPU time from the other.
    daemon.freeze();
    const bare = await withProcess('bareGets.ts', urls, async ({ pid }) => {
      await pause(SETTLE_MS);
      return await shareOf(pid, seconds);
    });
    await daemon.thaw();
    await endPods(node, names, pods);
    const bareDetail = `the same GETs by http.get alone: ${bare.toFixed(1)} %, ${costOf(bare, PODS)}`;
    return [
      {
        row: 'probes',
        name: 'an HTTP probe a second: CPU, of one core',
        value: share,
        unit: '%',
        detail: `${PODS} pods, ${seconds} s; ${costOf(share, PODS)}`,
      },
      // The speed of the machine affects both values, so only their ratio shows what the agent adds.
      { row: 'probes', name: '… against bare GETs', value: share / bare, unit: '×', goal: 2, detail: bareDetail },
    ];
  });
}

const figuresSchema = z.object({ asked: z.number(), p99: z.number() });

/**
 * Measures five hundred HTTP probes a second, a tenth of which hang: their cost, and whether the hanging ones delay the
 * others.
 */
function manyProbes({ place: { directory } }: BenchNode, seconds: number): Promise<Figure[]> {
  return withProcess('probedServer.ts', [], ({ said: port }) =>
    withSimulatedPlace(directory, (place) =>
      withAgent(place, async (daemon) => {
        const figures = async () => {
          const response = await fetch(`http://127.0.0.1:${port}/figures`);
          return figuresSchema.parse(await response.json());
        };
        await runPods(place, daemon, namesFor('asked', MANY_PODS), { askedAt: Number(port) });
        await pause(SETTLE_MS);
        await figures();
        const share = await shareOf(daemon.pid, seconds);
        const { asked, p99 } = await figures();
        const rate = asked / seconds;
        const many = `${MANY_PODS * ASKED} probes, a tenth of which hang`;
        return [
          {
            row: 'probes',
            name: `${many}: CPU, of one core`,
            value: share,
            unit: '%',
            goal: 60,
            detail: `${rate.toFixed(0)} tries a second (simulated runtime); ${costOf(share, rate)}`,
          },
          {
            row: 'probes',
            name: 'from a try to the next one of the same probe, p99',
            value: p99,
            unit: 'ms',
            goal: 1_200,
            detail: 'of those that do not hang; the period is 1000 ms',
          },
        ];
      }),
    ),
  );
}

const costOf = (share: number, rate: number): string => `${((share * 10) / rate).toFixed(2)} ms each`;
