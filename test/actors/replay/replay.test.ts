import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { type AnyActorRef, type InspectionEvent, StateMachine } from 'xstate';
import type { RecordedInput } from '../../../actors/boundary.ts';
import type { DevicePlugins } from '../../../actors/devices/devicePlugins.ts';
import type { Keyframe } from '../../../actors/node/nodeAgent.ts';
import { createReplay } from '../../../actors/replay/replay.ts';
import type { ResourceMeter } from '../../../actors/services/eviction/eviction.ts';
import { SimulatedDriverHost } from '../../../actors/simulated/simulatedDrivers.ts';
import type { StatusSink } from '../../../actors/status/statusReports.ts';
import { openGate } from '../../../host/simulated/gate.ts';
import { SimulatedLogind } from '../../../host/simulated/simulatedLogind.ts';
import { NO_EDITS } from '../../../kubernetes/devices/devices.ts';
import { machines } from '../../../machines/drawing/charts.ts';
import { simulatedCpuManager, simulatedMemoryManager } from '../../../testing/simulation/host/cpuTopologies.ts';
import { type Cluster, cluster } from '../../fakes/cluster.ts';
import { type SimulatedNode, simulatedNode } from '../../fakes/node.ts';
import { containerWith, IMAGE, podRunning, podWith } from '../../fakes/pods.ts';

const REMOTE = 'registry.local/app:2';
const cpu = (amount: string) => ({ resources: { requests: { cpu: amount }, limits: { cpu: amount } } });
const probed = containerWith('main', { livenessProbe: { exec: { command: ['check'] }, periodSeconds: 7 } });

interface Cut {
  readonly keyframe: Keyframe;
  /** Number of entries that had been recorded. */
  readonly entries: number;
  /** The machines with at least one active actor. */
  readonly machines: readonly string[];
}

/** Inspects each snapshot of each machine: what JSON loses of its context, and which machines are active. */
class Walk {
  readonly lossy = new Set<string>();
  readonly #refs = new Set<AnyActorRef>();

  readonly inspect = ({ type, actorRef }: InspectionEvent): void => {
    // All actors here are XState actors, which have a logic.
    const ref = actorRef as AnyActorRef & { readonly logic: unknown };
    if (type !== '@xstate.snapshot' || !(ref.logic instanceof StateMachine)) return;
    this.#refs.add(ref);
    for (const path of lossy(ref.getSnapshot().context, ref.logic.id)) this.lossy.add(path);
  };

  atWork(): string[] {
    const active = [...this.#refs].filter((ref) => ref.getSnapshot().status === 'active');
    return active.map((ref) => (ref as AnyActorRef & { readonly logic: { id: string } }).logic.id);
  }
}

/** A sink that accepts every other status. */
function choosySink(): StatusSink {
  let calls = 0;
  const put = async () => {
    calls += 1;
    if (calls % 2 === 0) throw new Error('not now');
  };
  return { name: 'far', mustAcknowledge: false, put };
}

/**
 * Runs a node with pods that start, wait for slots, back off, probe, are resized and stop. Takes keyframes at
 * intervals.
 */
async function busyNode(): Promise<{ node: SimulatedNode; cuts: readonly Cut[]; walk: Walk }> {
  const cuts: Cut[] = [];
  const walk = new Walk();
  const node = await simulatedNode({
    pods: [
      podWith('web', { volumes: [{ name: 'scratch', emptyDir: {} }], containers: [probed] }),
      podRunning('bad', 'exit 1'),
      podWith('sized', { containers: [containerWith('main', cpu('500m'))] }),
      podWith('constructor'),
      podWith('brief', { activeDeadlineSeconds: 20 }),
      podWith('imageless', { containers: [containerWith('main', { image: 'registry.local/none:1' })] }),
    ],
    runtime: { images: { registry: { [REMOTE]: {} } }, behaviours: { [IMAGE]: { termAfterMs: 4_000 } } },
    config: { startSlots: 1, pullSlots: 1 },
    parts: { inspect: walk.inspect, sinks: [choosySink()] },
  });
  const step = async (duration: string) => {
    await node.advance(duration);
    cuts.push({ keyframe: node.agent.keyframe(), entries: node.entries.length, machines: walk.atWork() });
  };
  for (const pause of ['0s', '10ms', '100ms', '500ms', '5s']) await step(pause);
  node.apply(podWith('sized', { containers: [containerWith('main', cpu('700m'))] }));
  for (const pause of ['0s', '50ms', '1s']) await step(pause);
  node.apply(podWith('web', { containers: [containerWith('main', { image: REMOTE })] }));
  node.remove('constructor');
  for (const pause of ['1s', '2s', '10s']) await step(pause);
  node.runtime.down();
  await step('10s');
  node.runtime.restart();
  for (const pause of ['5s', '40s']) await step(pause);
  return { node, cuts, walk };
}

const shown = ({ agent }: Pick<SimulatedNode, 'agent'>) => ({
  pods: agent.pods(),
  trees: Object.fromEntries(agent.trees()),
  overview: agent.overview(),
  node: agent.explainNode().node,
});

/** The directory for the certificates of a cluster's node. */
const directory = await mkdtemp(join(tmpdir(), 'statelet-pki-'));
afterAll(() => rm(directory, { recursive: true }));

const DEVICE = 'example.com/device';

/** A threshold that is never met, so that the node only measures. */
const eviction = {
  thresholds: [{ signal: 'memory.available', value: '1Mi', graceMs: 0 }],
  transitionMs: 0,
  maxPodGraceSeconds: 0,
  enforcesStorageLimits: true,
} as const;

const idleMeter: ResourceMeter = {
  measureNode: async () => ({ layout: 'single', observations: {} }),
  readMemory: () => ({}),
  measureDiskUsage: async () => ({}),
  measurePods: async () => ({}),
};

/** Runs a node of a cluster without pods, and takes keyframes at intervals. */
async function clusterNode(): Promise<{ node: SimulatedNode; cuts: readonly Cut[]; walk: Walk }> {
  const [cuts, walk]: [Cut[], Walk] = [[], new Walk()];
  const certificates = [{ name: 'client', rotates: true }] as const;
  const drivers = new SimulatedDriverHost();
  drivers.connect('gpu.example.com');
  let joined: Cluster | undefined;
  const node = await simulatedNode({
    fromFiles: true,
    config: { eviction, cpuManager: simulatedCpuManager('laptop') },
    parts: { inspect: walk.inspect, resourceMeter: idleMeter, drivers: drivers.accessThrough(openGate) },
    clusterOf: (clock) => {
      joined = cluster(clock);
      return { ...joined, certificates: { certificates, directory, onRenewed: () => {} } };
    },
  });
  const file = join(node.manifestDir, 'web.json');
  const manifest = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: podWith('web').spec };
  await mkdir(node.manifestDir, { recursive: true });
  await writeFile(file, JSON.stringify(manifest));
  for (const pause of ['0s', '10ms', '1s', '20s', '5s', '30s']) {
    if (pause === '5s') await rm(file);
    if (pause === '30s') {
      drivers.disconnect('gpu.example.com');
      // The slices of the driver remain until the API server is reachable again.
      if (joined !== undefined) joined.transport.isAway = true;
    }
    await node.advance(pause);
    cuts.push({ keyframe: node.agent.keyframe(), entries: node.entries.length, machines: walk.atWork() });
  }
  return { node, cuts, walk };
}

/**
 * Runs a node with a pod of so many containers that its status is not computed after each change. Takes keyframes at
 * intervals.
 */
async function largePodNode(): Promise<{ node: SimulatedNode; cuts: readonly Cut[]; walk: Walk }> {
  const [cuts, walk]: [Cut[], Walk] = [[], new Walk()];
  const containers = Array.from({ length: 30 }, (_, index) =>
    containerWith(`c${index}`, index % 10 === 9 ? { command: ['sh', '-c', 'sleep 2; exit 1'] } : {}),
  );
  const node = await simulatedNode({ pods: [podWith('large', { containers })], parts: { inspect: walk.inspect } });
  const pauses = ['0s', '1ms', '10ms', '20ms', '20ms', '20ms', '50ms', '100ms', '1s', '3s', '5ms', '10s'];
  for (const pause of pauses) {
    await node.advance(pause);
    cuts.push({ keyframe: node.agent.keyframe(), entries: node.entries.length, machines: walk.atWork() });
  }
  return { node, cuts, walk };
}

/**
 * Runs a node with a pod of more containers than the node sends commands to in one step. Takes keyframes between such
 * steps.
 */
async function pacedNode(): Promise<{ node: SimulatedNode; cuts: readonly Cut[]; walk: Walk }> {
  const [cuts, walk]: [Cut[], Walk] = [[], new Walk()];
  const node = await simulatedNode({ parts: { inspect: walk.inspect } });
  let isWatching = true;
  const cut = () => {
    const machines = walk.atWork();
    if (machines.includes('pace') && cuts.length < 3)
      cuts.push({ keyframe: node.agent.keyframe(), entries: node.entries.length, machines });
    if (isWatching) node.clock.setTimeout(cut, 1);
  };
  cut();
  const containers = Array.from({ length: 120 }, (_, index) => containerWith(`c${index}`));
  node.apply(podWith('crowd', { containers }));
  await node.advance('10s');
  isWatching = false;
  await node.advance('10s');
  return { node, cuts, walk };
}

/** Returns a plugin with one device, which it does not allocate before `allocated` resolves. */
const devicePluginsUntil = (allocated: Promise<void>): DevicePlugins => ({
  follow: async (listener, { signal }) => {
    listener.onProblem(undefined);
    listener.onConnected(DEVICE, { needsPreStart: false, hasPreferences: false });
    listener.onDevices(DEVICE, [{ id: 'd0', isHealthy: true, numaNodes: [] }]);
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  },
  preferredDevices: async () => [],
  allocate: async () => {
    await allocated;
    return NO_EDITS;
  },
  preStart: async () => {},
});

/** Runs a node with a device plugin and with memory by NUMA node, whose host shuts down. */
async function resourceNode(): Promise<{ node: SimulatedNode; cuts: readonly Cut[]; walk: Walk }> {
  const [cuts, walk]: [Cut[], Walk] = [[], new Walk()];
  const logind = new SimulatedLogind();
  const allocation = Promise.withResolvers<void>();
  const node = await simulatedNode({
    config: {
      devicePluginDir: join(directory, 'device-plugins'),
      memoryManager: simulatedMemoryManager('laptop'),
      shutdown: { periods: [{ priority: 0, graceSeconds: 5 }] },
    },
    parts: {
      inspect: walk.inspect,
      devicePlugins: devicePluginsUntil(allocation.promise),
      logind: logind.open(),
    },
  });
  const step = async (duration: string) => {
    await node.advance(duration);
    cuts.push({ keyframe: node.agent.keyframe(), entries: node.entries.length, machines: walk.atWork() });
  };
  await step('1s');
  node.apply(podWith('device', { containers: [containerWith('main', { resources: { limits: { [DEVICE]: '1' } } })] }));
  for (const pause of ['0s', '1ms', '1s']) await step(pause);
  allocation.resolve();
  for (const pause of ['0s', '10s']) await step(pause);
  logind.announce(true);
  for (const pause of ['10ms', '1s', '10s']) await step(pause);
  return { node, cuts, walk };
}

/** Returns the paths of all parts of a value that JSON does not preserve. */
function lossy(value: unknown, path: string): string[] {
  if (value === undefined || value === null || ['string', 'boolean'].includes(typeof value)) return [];
  if (typeof value === 'number') return Number.isFinite(value) ? [] : [path];
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain) return [path];
  return Object.entries(value).flatMap(([key, each]) => lossy(each, `${path}.${key}`));
}

const NODES = [
  ['a busy node', busyNode],
  ['a node of a cluster', clusterNode],
  ['a node with a large pod', largePodNode],
  ['a node that sends commands in batches', pacedNode],
  ['a node with devices whose host shuts down', resourceNode],
] as const;

describe('a keyframe of a node', () => {
  test.each(NODES)(
    'contains only plain JSON data in the context of every machine, and no reference to an actor: %s',
    async (_name, make) => {
      const { walk } = await make();
      expect([...walk.lossy]).toEqual([]);
    },
  );

  test('covers every machine that is active', async () => {
    const cuts = [
      ...(await busyNode()).cuts,
      ...(await clusterNode()).cuts,
      ...(await pacedNode()).cuts,
      ...(await resourceNode()).cuts,
    ];
    const covered = new Set(cuts.flatMap(({ machines: atWork }) => atWork));
    expect(machines.map(({ id }) => id).filter((id) => !covered.has(id))).toEqual([]);
  });

  test('can be taken between a change of a large pod and the resulting status', async () => {
    const { cuts } = await largePodNode();
    expect(cuts.some(({ keyframe }) => keyframe.due?.includes('large-uid'))).toBe(true);
    expect(cuts.at(-1)?.keyframe.due).toBeUndefined();
  });

  test('cannot be taken while a recorded input has yet to take effect', async () => {
    const { node } = await busyNode();
    node.agent.send({ type: 'config.podsListed', source: 'more', pods: [podWith('late')], at: node.clock.now() });
    expect(() => node.agent.keyframe()).toThrow('has not taken effect yet');
    await node.advance('0s');
    expect(JSON.stringify(node.agent.keyframe().actors)).toContain('late');
  });

  test.each(NODES)(
    'leads to the same state as the original when the later inputs are replayed, from any moment: %s',
    async (_name, make) => {
      const { node, cuts } = await make();
      const entries: RecordedInput[] = JSON.parse(JSON.stringify(node.entries));
      for (const { keyframe, entries: before } of cuts) {
        const { agent, playEntries } = createReplay(node.agent.input, entries.slice(before), { from: keyframe });
        expect(await playEntries()).toEqual([]);
        expect(shown({ agent })).toEqual(shown(node));
        expect(agent.keyframe()).toEqual(node.agent.keyframe());
        agent.stop();
      }
    },
  );
});
