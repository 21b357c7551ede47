import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../e2e/support/freePort.ts';
import type { AgentProcess } from '../agentProcess.ts';
import { type BenchCluster, benchCluster, type Span } from '../cluster.ts';
import { type BenchNode, namesFor, withAgent } from '../node.ts';
import { cpuTime, residentMemory, shareOf } from '../processFacts.ts';
import { againstLoop, type RawSample, rawLoop, SETTLE_MS } from '../rawLoop.ts';
import type { Figure } from '../report.ts';
import { SCRAPE_MS, servedClient, whileScraped } from '../served.ts';
import { withSimulatedPlace } from '../simulatedPlace.ts';
import { median, milliseconds } from '../statistics.ts';
import { rawSample } from './onePod.ts';

const row = 'cluster';
const PODS = 100;
const SIZES = [100, 200, 400] as const;
const WARM = 3;
const SCRAPES = 4;
/** Time after which the agent has finished all work that follows the start of many pods. */
const CALM_MS = 5_000;

/**
 * Measures a node of a cluster: the time from the request that creates a pod until clients of the API server see it
 * ready, compared with bare calls.
 */
export async function cluster(node: BenchNode, repeats: number, idleSeconds: number): Promise<Figure[]> {
  const port = await freePort();
  const measure = async (api: BenchCluster, daemon: AgentProcess) => [
    ...(await onePod(node, api, daemon, repeats * 5)),
    ...(await manyPods(node, api, daemon, repeats)),
    ...(await idle(api, daemon, idleSeconds, port)),
  ];
  const figures = await inCluster(node, measure, port);
  return [...figures, await scale(node, repeats)];
}

async function inCluster<T>(
  { place }: Pick<BenchNode, 'place'>,
  use: (api: BenchCluster, daemon: AgentProcess) => Promise<T>,
  port = 0,
): Promise<T> {
  const api = await benchCluster(place.directory);
  try {
    const act = async (daemon: AgentProcess) => {
      await api.nodeReady();
      // The API server provides all times. An additional watcher would take CPU time from the agent and the API server.
      daemon.watcher.close();
      return await use(api, daemon);
    };
    return await withAgent(place, act, { kubeconfig: api.kubeconfig, port });
  } finally {
    await api.end();
  }
}

const lasted = ({ from, to }: Span): number => to - from;
/** Returns the time from the first request to the last result. */
const wall = (spans: readonly Span[]): number =>
  Math.max(...spans.map(({ to }) => to)) - Math.min(...spans.map(({ from }) => from));

async function onePod(node: BenchNode, api: BenchCluster, daemon: AgentProcess, repeats: number): Promise<Figure[]> {
  const sample = async (name: string): Promise<RawSample> => {
    const [started] = await api.run([name]);
    await pause(SETTLE_MS);
    const [removed] = await api.remove([name]);
    return { start: started ? lasted(started) : Number.NaN, removal: removed ? lasted(removed) : Number.NaN };
  };
  for (const name of namesFor('warm-api', WARM)) await sample(name);
  const [raw, agent]: [RawSample[], RawSample[]] = [[], []];
  const names = namesFor('one-api', repeats);
  for (const name of names) {
    daemon.freeze();
    raw.push(await rawSample(node, `raw-${name}`));
    await daemon.thaw();
    agent.push(await sample(name));
  }
  const against = (of: (each: RawSample) => number) => ({
    value: median(agent.map((each, index) => of(each) / of(raw[index] ?? each))),
    detail: `${milliseconds(agent.map(of))}; raw calls ${milliseconds(raw.map(of))}`,
  });
  const patches = names.map((name) => api.patches(name));
  return [
    { row, name: 'API pod: POST to Ready', unit: '×', goal: 1.25, ...against(({ start }) => start) },
    { row, name: 'API pod: DELETE to gone', unit: '×', goal: 1.5, ...against(({ removal }) => removal) },
    {
      row,
      name: 'API pod: status patches in its life',
      unit: 'calls',
      goal: 5,
      value: Math.max(...patches),
      detail: `the most of ${repeats} lives; median ${median(patches)}`,
    },
  ];
}

async function manyPods(node: BenchNode, api: BenchCluster, daemon: AgentProcess, repeats: number): Promise<Figure[]> {
  const floor = await rawLoop(node, daemon, { pods: PODS, repeats });
  const raw = [await floor.sample('api-first')];
  const spans: (readonly Span[])[] = [];
  for (let index = 0; index < repeats; index += 1) {
    const names = namesFor(`many-api-${index}`, PODS);
    spans.push(await api.run(names));
    await pause(SETTLE_MS);
    await api.remove(names);
    raw.push(await floor.sample(`api-${index}`));
  }
  const starts = againstLoop(
    spans.map(wall),
    raw.map(({ start }) => start),
    floor.starts,
  );
  const middles = spans.map((each) => median(each.map(({ to }) => to)) - Math.min(...each.map(({ from }) => from)));
  return [
    { row, name: `${PODS} API pods: all Ready`, unit: '×', goal: 1.15, ...starts },
    {
      row,
      name: `${PODS} API pods: the median pod Ready, of the wall`,
      unit: '×',
      goal: 0.6,
      value: median(middles.map((middle, index) => middle / wall(spans[index] ?? []))),
      detail: `${milliseconds(middles)} of ${milliseconds(spans.map(wall))}`,
    },
  ];
}

async function idle(api: BenchCluster, daemon: AgentProcess, seconds: number, port: number): Promise<Figure[]> {
  const names = namesFor('idle-api', PODS);
  await api.run(names);
  await pause(CALM_MS);
  const share = await shareOf(daemon.pid, seconds);
  const memory = await residentMemory(daemon.pid);
  const client = servedClient(port, api.token);
  const scraped = await whileScraped(client, async () => {
    await pause(SCRAPES * SCRAPE_MS);
    return residentMemory(daemon.pid);
  });
  client.close();
  await api.remove(names);
  const detail = `${PODS} pods, ${seconds} s, with lease and status`;
  return [
    { row, name: 'idle API pods: CPU, of one core', value: share, unit: '%', goal: 1, detail },
    { row, name: 'idle API pods: memory (resident)', value: memory, unit: 'MiB', goal: 110, detail: 'after that time' },
    {
      row,
      name: '… scraped every 15 s: memory (resident)',
      value: scraped,
      unit: 'MiB',
      goal: 120,
      detail: `after ${SCRAPES} scrapes of all that Prometheus and metrics-server ask for`,
    },
  ];
}

async function scale({ place }: BenchNode, repeats: number): Promise<Figure> {
  const samples = new Map<number, number[]>(SIZES.map((size) => [size, []]));
  for (let index = 0; index < repeats; index += 1) {
    for (const [size, values] of samples) values.push(await cpuPerPod(place.directory, size));
  }
  const medians = SIZES.map((size) => median(samples.get(size) ?? []));
  const [fewest = Number.NaN, ...more] = medians;
  return {
    row,
    name: `${SIZES.join(', ')} API pods: CPU per start, the worst against the first`,
    unit: '×',
    goal: 1.5,
    value: Math.max(...more) / fewest,
    detail: `${medians.map((ms) => ms.toFixed(1)).join(', ')} ms a pod (simulated runtime)`,
  };
}

/** Returns the CPU time per pod of a new agent from the first request until all pods are ready, in milliseconds. */
const cpuPerPod = (parent: string, pods: number): Promise<number> =>
  withSimulatedPlace(parent, (place) =>
    inCluster({ place }, async (api, daemon) => {
      const before = await cpuTime(daemon.pid);
      await api.run(namesFor('scale-api', pods));
      return ((await cpuTime(daemon.pid)) - before) / pods;
    }),
  );
