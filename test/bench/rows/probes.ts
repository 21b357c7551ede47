import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod/mini';
import { withProcess } from '../childProcess.ts';
import { ASKED } from '../manifests.ts';
import { type BenchNode, endPods, namesFor, runPods, withAgent } from '../node.ts';
import { shareOf } from '../processFacts.ts';
import type { Figure } from '../report.ts';
import { withSimulatedPlace } from '../simulatedPlace.ts';

const PODS = 100;
/** So many pods of ten containers, on a simulated runtime: 500 probes a second. */
const MANY_PODS = 50;
/** What starting the pods leaves to do is over after this time. */
const SETTLE_MS = 5_000;

/** What probes cost: of a hundred pods on the real runtime, and five hundred a second of which some hang. */
export async function probes(node: BenchNode, seconds: number): Promise<Figure[]> {
  return [...(await ofPods(node, seconds)), ...(await manyProbes(node, seconds))];
}

/** A hundred pods, each asked over HTTP every second whether it is ready: what the agent's own process takes. */
async function ofPods(node: BenchNode, seconds: number): Promise<Figure[]> {
  const names = namesFor('probes', PODS);
  return withAgent(node.place, async (daemon) => {
    const { pods } = await runPods(node.place, daemon, names, 'probed');
    await pause(SETTLE_MS);
    const share = await shareOf(daemon.pid, seconds);
    const urls = pods.map(({ ip }) => `http://${ip}:8080/passwd`);
    // At another time than the agent's, so that neither takes time from the other.
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
      // How fast the machine is counts in both: only their ratio tells what the agent adds.
      { row: 'probes', name: '… against bare GETs', value: share / bare, unit: '×', goal: 2, detail: bareDetail },
    ];
  });
}

const figuresSchema = z.object({ asked: z.number(), p99: z.number() });

/** Five hundred probes a second over HTTP, of which a tenth hangs: what they cost, and whether those hold up the others. */
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
