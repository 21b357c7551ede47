import { setTimeout as pause } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { freePort } from '../../e2e/support/freePort.ts';
import { startBrowser } from '../../web/support/browser.ts';
import type { AgentProcess } from '../agentProcess.ts';
import { answerTime, firstPaints, frameTime, lookAt, momentTime } from '../lookedAt.ts';
import type { Kind } from '../manifests.ts';
import { type BenchNode, namesFor, runPods, withAgent } from '../node.ts';
import { shareOf } from '../processFacts.ts';
import type { Figure } from '../report.ts';
import { withSimulatedPlace } from '../simulatedPlace.ts';
import { median, milliseconds } from '../statistics.ts';

const PODS = 100;
/** Each pod has a container, a volume and a probe, which makes a thousand actors. */
const MANY_PODS = 250;
/** Time after which the agent has finished all work that follows the start of the pods. */
const SETTLE_MS = 5_000;
const PAINTS = 7;
/** Number of pods that are selected one after the other. */
const ANSWERS = 7;
/** Time that a viewer spends on each moment and each pod. */
const VIEWING_MS = 2_000;
/** Shares of the rail's width at which the viewer clicks. No two successive ones are near each other. */
const SHARES = [0.5, 0.93, 0.2, 0.75, 0.35, 0.88, 0.6, 0.1, 0.8, 0.45];

/** Measures what the page costs the viewer and the agent, in a real browser. The runtime is simulated. */
export async function page(node: BenchNode, seconds: number): Promise<Figure[]> {
  const browser = await startBrowser();
  try {
    return [...(await ofPods(node, browser, seconds)), ...(await ofManyActors(node, browser, seconds))];
  } finally {
    await browser.close();
  }
}

interface Lookable {
  readonly daemon: AgentProcess;
  readonly url: string;
}

/** Calls `use` with an agent that runs `count` pods, each with a probe, a volume and a container. */
function withPods<T>(
  { place: { directory } }: BenchNode,
  { count, kind }: { count: number; kind: Kind },
  use: (agent: Lookable) => Promise<T>,
): Promise<T> {
  return withSimulatedPlace(directory, async (place) => {
    const address = `127.0.0.1:${await freePort()}`;
    const looked = async (daemon: AgentProcess) => {
      await runPods(place, daemon, namesFor('page', count), kind);
      await pause(SETTLE_MS);
      return use({ daemon, url: `http://${address}/` });
    };
    return withAgent(place, looked, { inspectAddress: `${address}?open` });
  });
}

/** Measures a node of a hundred pods. */
function ofPods(node: BenchNode, browser: Browser, seconds: number): Promise<Figure[]> {
  const row = 'page' as const;
  return withPods(node, { count: PODS, kind: { execSeconds: 10 } }, async ({ daemon, url }) => {
    const without = await shareOf(daemon.pid, seconds);
    const paints = await firstPaints(browser, url, PAINTS);
    const { share, answers, first, later } = await lookAt(browser, url, async (shown) => {
      const share = await shareOf(daemon.pid, seconds);
      const answers: number[] = [];
      for (let row = 0; row < ANSWERS; row += 1) {
        answers.push(await answerTime(shown, row));
        await pause(VIEWING_MS);
      }
      const [first = Number.NaN, ...later] = await momentsOf((at) => momentTime(shown, at));
      return { share, answers, first, later };
    });
    const pods = `${PODS} pods, a probe each every 10 s (simulated runtime)`;
    return [
      {
        row,
        name: 'the agent with one viewer: CPU, of one core',
        value: share,
        unit: '%',
        goal: 5,
        detail: `${pods}; without a viewer ${without.toFixed(2)} %`,
      },
      {
        row,
        name: 'the first paint of its page',
        unit: 'ms',
        goal: 300,
        value: median(paints.map(({ page: shown }) => shown)),
        detail: `what it says: ${milliseconds(paints.map(({ content }) => content))}`,
      },
      {
        row,
        name: 'the answer about a pod after a click, the longest',
        value: Math.max(...answers),
        unit: 'ms',
        goal: 300,
        detail: milliseconds(answers),
      },
      {
        row,
        name: 'a moment of its past, drawn',
        value: median(later),
        unit: 'ms',
        goal: 300,
        detail: `${milliseconds(later)}; the first one ${first.toFixed(0)} ms`,
      },
    ];
  });
}

async function momentsOf(timeAt: (share: number) => Promise<number>): Promise<number[]> {
  const times: number[] = [];
  for (const share of SHARES) {
    times.push(await timeAt(share));
    // The rest of what the page shows of a moment arrives later.
    await pause(VIEWING_MS);
  }
  return times;
}

/** Measures a node of a thousand actors with five hundred events a second. */
function ofManyActors(node: BenchNode, browser: Browser, seconds: number): Promise<Figure[]> {
  return withPods(node, { count: MANY_PODS, kind: { execSeconds: 1 } }, ({ url }) =>
    lookAt(browser, url, async (shown) => [
      {
        row: 'page',
        name: 'from one frame of the page to the next, p95',
        value: await frameTime(shown, seconds),
        unit: 'ms',
        goal: 50,
        detail: `${MANY_PODS} pods: 1,000 actors, a probe each every second`,
      },
    ]),
  );
}
