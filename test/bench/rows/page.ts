import { setTimeout as pause } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { freePort } from '../../e2e/support/freePort.ts';
import { startBrowser } from '../../web/support/browser.ts';
import type { AgentProcess } from '../agentProcess.ts';
import { firstPaints, frameTime, lookAt, momentTime } from '../lookedAt.ts';
import type { Kind } from '../manifests.ts';
import { type BenchNode, namesFor, runPods, withAgent } from '../node.ts';
import { shareOf } from '../processFacts.ts';
import type { Figure } from '../report.ts';
import { withSimulatedPlace } from '../simulatedPlace.ts';
import { median, milliseconds } from '../statistics.ts';

const PODS = 100;
/** With a container, a volume and a probe each they are a thousand actors. */
const MANY_PODS = 250;
/** What starting the pods leaves to do is over after this time. */
const SETTLE_MS = 5_000;
const PAINTS = 7;
/** So long somebody looks at a moment before the next one. */
const LOOKS_MS = 2_000;
/** Where on the rail one goes to: no two are near each other. */
const SHARES = [0.5, 0.93, 0.2, 0.75, 0.35, 0.88, 0.6, 0.1, 0.8, 0.45];

/** What the page costs those who look at it and the agent: in a real browser, on agents over a simulated runtime. */
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

/** Does something with an agent of so many pods, each with a probe, a volume and a container. */
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

/** A node of a hundred pods. */
function ofPods(node: BenchNode, browser: Browser, seconds: number): Promise<Figure[]> {
  const row = 'page' as const;
  return withPods(node, { count: PODS, kind: { execSeconds: 10 } }, async ({ daemon, url }) => {
    const without = await shareOf(daemon.pid, seconds);
    const paints = await firstPaints(browser, url, PAINTS);
    const { share, first, later } = await lookAt(browser, url, async (shown) => {
      const share = await shareOf(daemon.pid, seconds);
      const [first = Number.NaN, ...later] = await momentsOf((at) => momentTime(shown, at));
      return { share, first, later };
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
    // What else is shown of a moment comes after it.
    await pause(LOOKS_MS);
  }
  return times;
}

/** A thousand actors, of which five hundred events a second tell. */
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
