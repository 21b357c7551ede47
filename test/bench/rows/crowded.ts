import { readFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { settleAll } from '../../../base/async/settleAll.ts';
import { BUSYBOX_IMAGE } from '../../../cri/managed/images/images.ts';
import { freePort } from '../../e2e/support/freePort.ts';
import type { AgentPlace } from '../agentProcess.ts';
import { withProcess } from '../childProcess.ts';
import { type BenchCluster, benchCluster } from '../cluster.ts';
import { type BenchNode, namesFor, withAgent } from '../node.ts';
import { cpuTime, residentMemory } from '../processFacts.ts';
import type { Figure } from '../report.ts';
import { withSimulatedPlace } from '../simulatedPlace.ts';

const row = 'crowded';
/** The containers of the pods that the others are compared with. */
const FEW = 10;
const FEW_PODS = 100;
const MANY = 1_000;
const SERVICES = 1_000;
/** Time after which a new node is idle, in milliseconds. */
const CALM_MS = 25_000;
/**
 * Time within which an agent releases memory at least once, in milliseconds. It releases at most once a minute
 * (node/start/observation/releaseWhenQuiet.ts), and V8 compacts the heap some seconds later.
 */
const RELEASE_MS = 75_000;
const MEMORY_INTERVAL_MS = 1_000;
/** Number of nodes that are measured at the same time. */
const NODES_AT_A_TIME = 5;

/** An image that cannot be pulled. */
const MISSING = 'registry.invalid/missing:1';

/** Kinds of objects that a node may have many of. */
type Item = 'container' | 'volume' | 'variable' | 'Service' | 'event';

interface Crowd {
  readonly name: string;
  readonly pods: number;
  readonly spec: object;
  /** Containers of all pods. */
  readonly containers: number;
  /** The state that the containers reach. */
  readonly reaches: 'running' | 'waiting';
  readonly services?: number;
  /** The kind of objects by which CPU and memory are divided. */
  readonly item: Item;
  /** The number of objects. Undefined for events, which are counted. */
  readonly items?: number;
}

/** A crowd and the smaller one with which its CPU and memory per object are compared. */
interface LargeCrowd extends Crowd {
  readonly against: keyof typeof FEWS;
}

const containersOf = (count: number, image: string) =>
  Array.from({ length: count }, (_, index) => ({ name: `c${index}`, image }));
const volumesOf = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `v${index}`, emptyDir: {} }));
const variablesOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `VARIABLE_${index}`, value: `value ${index}` }));

const crowdOf = (name: string, pods: number, containers: number, image = BUSYBOX_IMAGE): Crowd => ({
  name,
  pods,
  containers: pods * containers,
  reaches: image === MISSING ? 'waiting' : 'running',
  item: 'container',
  items: pods * containers,
  spec: { containers: containersOf(containers, image) },
});

const withVolumes = (name: string, pods: number, count: number): Crowd => ({
  ...crowdOf(name, pods, 1),
  item: 'volume',
  items: pods * count,
  spec: { containers: containersOf(1, BUSYBOX_IMAGE), volumes: volumesOf(count) },
});

const withVariables = (name: string, pods: number, count: number): Crowd => {
  const [container] = containersOf(1, BUSYBOX_IMAGE);
  return {
    ...crowdOf(name, pods, 1),
    item: 'variable',
    items: pods * count,
    spec: { containers: [{ ...container, env: variablesOf(count) }] },
  };
};

const withServices = (name: string, services: number): Crowd => ({
  ...crowdOf(name, 20, 1),
  item: 'Service',
  items: services,
  services,
});

/** Pods of five containers. Each container is pulled, created and started, which are three events. */
const withEvents = (name: string, pods: number): Crowd => {
  const { items: _, ...crowd } = crowdOf(name, pods, 5);
  return { ...crowd, item: 'event' };
};

/** The crowds of small pods, or of few objects, with which larger ones are compared. */
const FEWS = {
  running: crowdOf('running containers, 100 pods of 10', FEW_PODS, FEW),
  waiting: crowdOf('waiting containers, 100 pods of 10', FEW_PODS, FEW, MISSING),
  volumes: withVolumes('volumes, 100 pods of 10', FEW_PODS, FEW),
  variables: withVariables('variables, 100 containers of 50', FEW_PODS, 50),
  services: withServices('100 Services', SERVICES / 10),
  events: withEvents('200 events of 13 pods of 5 containers', 13),
} as const;

const CROWDS: readonly LargeCrowd[] = [
  { ...crowdOf('1,000 running containers of one pod', 1, MANY), against: 'running' },
  { ...crowdOf('1,000 waiting containers of one pod', 1, MANY, MISSING), against: 'waiting' },
  { ...crowdOf('110 pods of 20 containers', 110, 20), against: 'running' },
  { ...withVolumes('1,000 volumes of one pod', 1, MANY), against: 'volumes' },
  { ...withVariables('5,000 variables of one container', 1, 5_000), against: 'variables' },
  { ...withServices('1,000 Services', SERVICES), against: 'services' },
  { ...withEvents('2,000 events of 134 pods of 5 containers', 134), against: 'events' },
];

interface Measured {
  /** The longest response time of /healthz, in milliseconds. */
  readonly healthMs: number;
  /** The longest interval between two renewals of the lease, in milliseconds. */
  readonly leaseMs: number;
  /** CPU time of the agent per object, in milliseconds. */
  readonly cpuMs: number;
  /** Resident memory of the agent per object, in KiB. */
  readonly memoryKib: number;
  /** Number of events that the node has created at the API server. */
  readonly events: number;
  /** Number of containers that the node reported as running, or as waiting for a missing image, after `seconds`. */
  readonly reportedContainers: number;
  /** Load average of the host over the last minute at the end of the measurement. */
  readonly load: number;
}

/**
 * Measures nodes of a cluster with large pods, or with many objects of one kind: whether the agent stays responsive, and
 * the CPU and memory per object compared with small pods or few objects. The runtime is simulated. A node spends most of
 * its measurement idle, so several nodes are measured at the same time, of which at most one is busy.
 */
export async function crowded(node: BenchNode, seconds: number): Promise<Figure[]> {
  const measurements = new Map<Crowd, Measured>();
  const waiting: Crowd[] = [...Object.values(FEWS), ...CROWDS];
  const inTurn = createTurns();
  const measureWaiting = async () => {
    for (let crowd = waiting.shift(); crowd !== undefined; crowd = waiting.shift()) {
      measurements.set(crowd, await measured({ parent: node.place.directory, crowd, seconds, inTurn }));
    }
  };
  await settleAll(Array.from({ length: NODES_AT_A_TIME }, measureWaiting));
  return CROWDS.flatMap((crowd) => {
    const [measurement, few] = [measurements.get(crowd), measurements.get(FEWS[crowd.against])];
    if (measurement === undefined || few === undefined) return [];
    return [...responsiveness(crowd, measurement, seconds), ...perItem(crowd, measurement, few)];
  });
}

/** Runs a task after all earlier tasks have ended. */
type InTurn = <T>(task: () => Promise<T>) => Promise<T>;

function createTurns(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const result = last.then(task);
    last = result.catch(() => {});
    return result;
  };
}

const responsiveness = (
  { name, containers, reaches }: Crowd,
  { healthMs, leaseMs, events, reportedContainers, load }: Measured,
  seconds: number,
): Figure[] => [
  {
    row,
    name: `${name}: /healthz, the longest response`,
    value: healthMs,
    unit: 'ms',
    goal: 100,
    detail: `${seconds} s from the request that creates them, and until they are gone; ${reportedContainers} of ${containers} containers ${reaches}, ${events} events, load average ${load.toFixed(1)}`,
  },
  {
    row,
    name: `${name}: interval of the lease, the longest`,
    value: leaseMs,
    unit: 'ms',
    goal: 15_000,
    detail: 'a lease of 40 s, to be renewed every 10 s',
  },
];

const perItem = ({ name, item, against }: LargeCrowd, { cpuMs, memoryKib }: Measured, few: Measured): Figure[] => [
  {
    row,
    name: `${name}: CPU per ${item}, against ${FEWS[against].name}`,
    value: cpuMs / few.cpuMs,
    unit: '×',
    goal: 1.5,
    detail: `${cpuMs.toFixed(2)} ms against ${few.cpuMs.toFixed(2)} ms`,
  },
  {
    row,
    name: `${name}: memory per ${item}, against ${FEWS[against].name}`,
    // There is no ratio if the memory of the few objects is less than what the agent releases in the meantime.
    value: few.memoryKib > 0 ? memoryKib / few.memoryKib : Number.NaN,
    unit: '×',
    goal: 1.2,
    detail: `${memoryKib.toFixed(1)} KiB against ${few.memoryKib.toFixed(1)} KiB`,
  },
];

/** Returns the lowest resident memory of a process and its children within `RELEASE_MS`, in MiB. */
async function releasedMemory(pid: number): Promise<number> {
  let lowest = Number.POSITIVE_INFINITY;
  for (let elapsedMs = 0; elapsedMs < RELEASE_MS; elapsedMs += MEMORY_INTERVAL_MS) {
    await pause(MEMORY_INTERVAL_MS);
    lowest = Math.min(lowest, await residentMemory(pid));
  }
  return lowest;
}

interface Measurement {
  readonly parent: string;
  readonly crowd: Crowd;
  readonly seconds: number;
  readonly inTurn: InTurn;
}

function measured(measurement: Measurement): Promise<Measured> {
  return withSimulatedPlace(measurement.parent, async (place) => {
    const api = await benchCluster(place.directory);
    try {
      return await onNode(place, api, measurement);
    } finally {
      await api.end();
    }
  });
}

async function onNode(
  place: AgentPlace,
  api: BenchCluster,
  { crowd, seconds, inTurn }: Measurement,
): Promise<Measured> {
  const healthzPort = await freePort();
  /** Performs a busy step in turn, and returns the longest response time of /healthz during it, in milliseconds. */
  const healthDuring = (step: () => Promise<void>): Promise<number> =>
    inTurn(() => {
      const file = join(place.directory, 'health');
      return withProcess('healthPoller.ts', [`http://127.0.0.1:${healthzPort}/healthz`, file], async () => {
        await step();
        return Number(await readFile(file, 'utf8'));
      });
    });
  const act = async ({ pid, watcher }: { readonly pid: number; readonly watcher: { close(): void } }) => {
    await api.nodeReady();
    watcher.close();
    await pause(CALM_MS);
    const memory = await releasedMemory(pid);
    const names = namesFor('crowd', crowd.pods);
    const leases = await api.leaseIntervals();
    let cpuMs = 0;
    let load = Number.NaN;
    const creationHealthMs = await healthDuring(async () => {
      const cpu = await cpuTime(pid);
      for (let index = 0; index < (crowd.services ?? 0); index += 1) await api.createService(`service-${index}`);
      for (const name of names) await api.create(name, crowd.spec);
      await pause(seconds * 1_000);
      cpuMs = (await cpuTime(pid)) - cpu;
      [load = Number.NaN] = loadavg();
    });
    const { items = api.events() } = crowd;
    const memoryKib = (((await releasedMemory(pid)) - memory) * 1_024) / items;
    const reportedContainers = await api.countContainers(crowd.reaches);
    const removalHealthMs = await healthDuring(async () => {
      await api.remove(names);
    });
    return {
      healthMs: Math.max(creationHealthMs, removalHealthMs),
      leaseMs: leases.longest(),
      cpuMs: cpuMs / items,
      memoryKib,
      events: api.events(),
      reportedContainers,
      load,
    };
  };
  return withAgent(place, act, { kubeconfig: api.kubeconfig, healthzPort });
}
