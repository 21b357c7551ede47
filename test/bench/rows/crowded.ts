import { readFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
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

/** An image that cannot be pulled. */
const MISSING = 'registry.invalid/missing:1';

/** Something that a node may have much of. */
interface Crowd {
  readonly name: string;
  readonly pods: number;
  readonly spec: object;
  /** Containers of all pods. */
  readonly containers: number;
  /** The state that the containers reach. */
  readonly reaches: 'running' | 'waiting';
  readonly services?: number;
  /** The pods of ten containers that CPU and memory per container are compared with. */
  readonly against?: keyof typeof FEWS;
}

const containersOf = (count: number, image: string) =>
  Array.from({ length: count }, (_, index) => ({ name: `c${index}`, image }));

const crowdOf = (name: string, pods: number, containers: number, image = BUSYBOX_IMAGE): Crowd => ({
  name,
  pods,
  containers: pods * containers,
  reaches: image === MISSING ? 'waiting' : 'running',
  spec: { containers: containersOf(containers, image) },
});

const volumes = Array.from({ length: MANY }, (_, index) => ({ name: `v${index}`, emptyDir: {} }));
const variables = Array.from({ length: 5_000 }, (_, index) => ({ name: `VARIABLE_${index}`, value: `value ${index}` }));
const [single] = containersOf(1, BUSYBOX_IMAGE);

/** The pods of a few containers that those of many are compared with, running and waiting for their images. */
const FEWS = {
  running: crowdOf('running containers, 100 pods of 10', FEW_PODS, FEW),
  waiting: crowdOf('waiting containers, 100 pods of 10', FEW_PODS, FEW, MISSING),
} as const;

const CROWDS: readonly Crowd[] = [
  { ...crowdOf('1,000 running containers of one pod', 1, MANY), against: 'running' },
  { ...crowdOf('1,000 waiting containers of one pod', 1, MANY, MISSING), against: 'waiting' },
  { ...crowdOf('110 pods of 20 containers', 110, 20), against: 'running' },
  { ...crowdOf('1,000 volumes of one pod', 1, 1), spec: { containers: [single], volumes } },
  { ...crowdOf('5,000 variables of one container', 1, 1), spec: { containers: [{ ...single, env: variables }] } },
  { ...crowdOf('1,000 services', 20, 1), services: SERVICES },
  // A container is pulled, created and started, which are three events.
  crowdOf('2,000 events of 134 pods of 5 containers', 134, 5),
];

interface Measured {
  /** The longest response time of /healthz, in milliseconds. */
  readonly healthMs: number;
  /** The longest interval between two renewals of the lease, in milliseconds. */
  readonly leaseMs: number;
  /** CPU time of the agent per container, in milliseconds. */
  readonly cpuMs: number;
  /** Resident memory of the agent per container, in KiB. It is NaN if not measured, because its readings take minutes. */
  readonly memoryKib: number;
  /** Number of events that the node has created at the API server. */
  readonly events: number;
  /** Number of containers that the node reported as running, or as waiting for a missing image, after `seconds`. */
  readonly reportedContainers: number;
  /** Load average of the host over the last minute at the end of the measurement. */
  readonly load: number;
}

/**
 * A node of a cluster whose pods are large: whether its agent stays responsive, and what it takes for each container, against
 * pods of ten containers. Its runtime is simulated.
 */
export async function crowded(node: BenchNode, seconds: number): Promise<Figure[]> {
  const parent = node.place.directory;
  const few = {
    running: await measured(parent, FEWS.running, seconds, releasedMemory),
    waiting: await measured(parent, FEWS.waiting, seconds, releasedMemory),
  };
  const figures: Figure[] = [];
  for (const crowd of CROWDS) {
    const memoryOf = crowd.against === undefined ? unmeasured : releasedMemory;
    const crowdMeasured = await measured(parent, crowd, seconds, memoryOf);
    figures.push(...responsiveness(crowd, crowdMeasured, seconds));
    if (crowd.against !== undefined) figures.push(...perContainer(crowd, crowdMeasured, few[crowd.against]));
  }
  return figures;
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

const perContainer = ({ name }: Crowd, { cpuMs, memoryKib }: Measured, few: Measured): Figure[] => [
  {
    row,
    name: `${name}: CPU per container, against pods of 10`,
    value: cpuMs / few.cpuMs,
    unit: '×',
    goal: 1.5,
    detail: `${cpuMs.toFixed(1)} ms against ${few.cpuMs.toFixed(1)} ms`,
  },
  {
    row,
    name: `${name}: memory per container, against pods of 10`,
    value: memoryKib / few.memoryKib,
    unit: '×',
    goal: 1.2,
    detail: `${memoryKib.toFixed(0)} KiB against ${few.memoryKib.toFixed(0)} KiB`,
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

const unmeasured = async (): Promise<number> => Number.NaN;

type MemoryReading = (pid: number) => Promise<number>;

function measured(parent: string, crowd: Crowd, seconds: number, memoryOf: MemoryReading): Promise<Measured> {
  return withSimulatedPlace(parent, async (place) => {
    const api = await benchCluster(place.directory);
    try {
      return await onNode(place, api, crowd, { seconds, memoryOf });
    } finally {
      await api.end();
    }
  });
}

async function onNode(
  place: AgentPlace,
  api: BenchCluster,
  crowd: Crowd,
  { seconds, memoryOf }: { readonly seconds: number; readonly memoryOf: MemoryReading },
): Promise<Measured> {
  const healthzPort = await freePort();
  const act = async ({ pid, watcher }: { readonly pid: number; readonly watcher: { close(): void } }) => {
    await api.nodeReady();
    watcher.close();
    for (let index = 0; index < (crowd.services ?? 0); index += 1) await api.createService(`service-${index}`);
    await pause(CALM_MS);
    const file = join(place.directory, 'health');
    return withProcess('healthPoller.ts', [`http://127.0.0.1:${healthzPort}/healthz`, file], async () => {
      const memory = await memoryOf(pid);
      const cpu = await cpuTime(pid);
      const leases = api.leaseIntervals();
      const names = namesFor('crowd', crowd.pods);
      for (const name of names) await api.create(name, crowd.spec);
      await pause(seconds * 1_000);
      const cpuMs = ((await cpuTime(pid)) - cpu) / crowd.containers;
      const memoryKib = (((await memoryOf(pid)) - memory) * 1_024) / crowd.containers;
      const reportedContainers = await api.countContainers(crowd.reaches);
      await api.remove(names);
      const healthMs = Number(await readFile(file, 'utf8'));
      const [load = Number.NaN] = loadavg();
      return {
        healthMs,
        leaseMs: (await leases).longest(),
        cpuMs,
        memoryKib,
        events: api.events(),
        reportedContainers,
        load,
      };
    });
  };
  return withAgent(place, act, { kubeconfig: api.kubeconfig, healthzPort });
}
