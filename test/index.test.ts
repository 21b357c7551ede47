import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { EventFromLogic } from 'xstate';
import * as library from '../index.ts';
import {
  createNode,
  createReplay,
  createSimulatedRuntime,
  inProcessCri,
  type NodeAgent,
  type RecordedInput,
  startSimulatedNode,
  systemClock,
} from '../index.ts';
import { machines } from '../machines/drawing/charts.ts';

const manifest = `
apiVersion: v1
kind: Pod
metadata: {name: hello}
spec:
  restartPolicy: Never
  containers:
    - {name: main, image: example.org/hello:1, command: [sleep, '0']}
`;

const nodeName = 'node-1';
const config = {
  nodeName,
  runtimeEndpoint: 'simulated',
  capacity: { cpuMillis: 4000, memoryBytes: 2 ** 32, pods: 10 },
};

async function phaseReached(agent: NodeAgent, phase: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const unsubscribe = agent.subscribe(({ pod }) => {
    if (pod.status?.phase === phase) resolve();
  });
  agent.start();
  await promise;
  unsubscribe();
}

test('a node built from public parts alone runs a pod to completion, and its recording replays the same', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'statelet-library-'));
  const staticPodPath = join(directory, 'manifests');
  await mkdir(staticPodPath);
  await writeFile(join(staticPodPath, 'hello.yaml'), manifest);
  const runtime = createSimulatedRuntime({ clock: systemClock, images: { anyPullable: true }, latency: 0 });
  const cri = inProcessCri(runtime);
  const problems: unknown[] = [];
  const entries: RecordedInput[] = [];
  const agent = await createNode(
    { ...config, rootDir: directory, staticPodPath },
    {
      cri,
      onInput: (entry) => void entries.push(structuredClone(entry)),
      onError: (source, error) => void problems.push([source, error]),
      onManifestProblem: (...problem) => void problems.push(problem),
    },
  );
  try {
    await phaseReached(agent, 'Succeeded');
    const replay = createReplay(agent.input, entries);
    await replay.playEntries();
    expect(replay.agent.pods()).toEqual(agent.pods());
    expect(agent.pods().map(({ metadata }) => metadata.name)).toEqual(['hello-node-1']);
    expect(problems).toEqual([]);
  } finally {
    await agent.stop();
    cri.close();
    await rm(directory, { recursive: true });
  }
});

const hello = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'hello' },
  spec: {
    restartPolicy: 'Never',
    containers: [{ name: 'main', image: 'example.org/hello:1', command: ['sleep', '0'] }],
  },
};

test('one call creates a node on the simulated runtime, and another changes its pods', async () => {
  const node = await startSimulatedNode({ pods: [hello], runtime: { latency: 0 } });
  try {
    const { promise, resolve } = Promise.withResolvers<void>();
    node.agent.subscribe(({ pod }) => pod.status?.phase === 'Succeeded' && resolve());
    await promise;
    expect(node.agent.explain('hello')?.name).toBe('hello-node-1');
    expect(node.agent.explain('hello-node-1')?.name).toBe('hello-node-1');
    const gone = Promise.withResolvers<void>();
    node.agent.subscribe(({ removed }) => removed && gone.resolve());
    node.apply([]);
    await gone.promise;
    expect(node.agent.pods()).toEqual([]);
  } finally {
    await node.stop();
  }
});

test('every machine that is drawn is exported', () => {
  const exported = new Set<unknown>(Object.values(library));
  expect(machines.filter((machine) => !exported.has(machine)).map(({ id }) => id)).toEqual([]);
  expect(machines.length).toBeGreaterThan(15);
});

/** True for two types that can be assigned to each other. */
type IsSame<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

test('the events of every machine have an exported type', () => {
  // An event type without an exported name does not compile here.
  const typed: Readonly<Record<string, true>> = {
    nodeAgent: true satisfies IsSame<EventFromLogic<typeof library.nodeAgentMachine>, library.NodeEvent>,
    pod: true satisfies IsSame<EventFromLogic<typeof library.podMachine>, library.PodEvent>,
    activeDeadline: true satisfies IsSame<EventFromLogic<typeof library.activeDeadlineMachine>, library.TimerEvent>,
    container: true satisfies IsSame<EventFromLogic<typeof library.containerMachine>, library.ContainerEvent>,
    probe: true satisfies IsSame<EventFromLogic<typeof library.probeMachine>, library.TimerEvent>,
    image: true satisfies IsSame<EventFromLogic<typeof library.imageMachine>, library.ImageEvent>,
    pace: true satisfies IsSame<EventFromLogic<typeof library.paceMachine>, library.TimerEvent>,
    volume: true satisfies IsSame<EventFromLogic<typeof library.volumeMachine>, library.VolumeEvent>,
    limiter: true satisfies IsSame<EventFromLogic<typeof library.limiterMachine>, library.LimiterEvent>,
    admission: true satisfies IsSame<EventFromLogic<typeof library.admissionMachine>, library.AdmissionEvent>,
    cgroups: true satisfies IsSame<EventFromLogic<typeof library.cgroupsMachine>, library.TimerEvent>,
    garbage: true satisfies IsSame<EventFromLogic<typeof library.garbageMachine>, library.GarbageEvent>,
    imageGarbage: true satisfies IsSame<EventFromLogic<typeof library.imageGarbageMachine>, library.ImageGarbageEvent>,
    eviction: true satisfies IsSame<EventFromLogic<typeof library.evictionMachine>, library.EvictionEvent>,
    shutdown: true satisfies IsSame<EventFromLogic<typeof library.shutdownMachine>, library.ShutdownEvent>,
    cpus: true satisfies IsSame<EventFromLogic<typeof library.cpusMachine>, library.CpusEvent>,
    memoryManager: true satisfies IsSame<
      EventFromLogic<typeof library.memoryManagerMachine>,
      library.MemoryManagerEvent
    >,
    claims: true satisfies IsSame<EventFromLogic<typeof library.claimsMachine>, library.ClaimsEvent>,
    driver: true satisfies IsSame<EventFromLogic<typeof library.driverMachine>, library.DriverEvent>,
    slices: true satisfies IsSame<EventFromLogic<typeof library.slicesMachine>, library.TimerEvent>,
    devices: true satisfies IsSame<EventFromLogic<typeof library.devicesMachine>, library.DevicesEvent>,
    devicePlugin: true satisfies IsSame<EventFromLogic<typeof library.devicePluginMachine>, library.DevicePluginEvent>,
    deviceAllocation: true satisfies IsSame<
      EventFromLogic<typeof library.deviceAllocationMachine>,
      library.DeviceAllocationEvent
    >,
    logRotation: true satisfies IsSame<EventFromLogic<typeof library.logRotationMachine>, library.LogsEvent>,
    statusSink: true satisfies IsSame<EventFromLogic<typeof library.statusSinkMachine>, library.StatusSinkEvent>,
    registration: true satisfies IsSame<EventFromLogic<typeof library.registrationMachine>, library.RegistrationEvent>,
    nodeStatus: true satisfies IsSame<EventFromLogic<typeof library.nodeStatusMachine>, library.NodeStatusEvent>,
    lease: true satisfies IsSame<EventFromLogic<typeof library.leaseMachine>, library.LeaseEvent>,
    certificate: true satisfies IsSame<EventFromLogic<typeof library.certificateMachine>, library.CertificateEvent>,
    mirror: true satisfies IsSame<EventFromLogic<typeof library.mirrorMachine>, library.MirrorEvent>,
  };
  expect(machines.map(({ id }) => id).filter((id) => !Object.hasOwn(typed, id))).toEqual([]);
});

describe('an incomplete call is an error at once', () => {
  const given = { ...config, rootDir: '/nowhere' };
  const parts = { cri: {} };
  const sink = { name: 'api', mustAcknowledge: true, put: async () => {} };
  // Calls the function without type checking, as a JavaScript program would.
  const create = (...args: unknown[]) => Promise.resolve(Reflect.apply(createNode, undefined, args));

  test.each<[string, object, object]>([
    ['capacity: Required value', { ...given, capacity: undefined }, parts],
    ['allocatable.pods: ', { ...given, allocatable: { cpuMillis: 1, memoryBytes: 1 } }, parts],
    ['capacity.pods: ', { ...given, capacity: { cpuMillis: 1, memoryBytes: 1 } }, parts],
    ['startSlots: ', { ...given, startSlots: Number.NaN }, parts],
    ['crashLoop.maxMs: ', { ...given, crashLoop: { baseMs: 1 } }, parts],
    ['nodeName: ', { ...given, nodeName: '' }, parts],
    ['rootDir: Required value', { ...given, rootDir: undefined }, parts],
    ['rootDir: .*without NUL', { ...given, rootDir: '/a\0b' }, parts],
    ['manifestUrl.everyMs: ', { ...given, manifestUrl: { url: 'http://127.0.0.1/', headers: [], everyMs: 0 } }, parts],
    ['manifestUrl.headers: ', { ...given, manifestUrl: { url: 'http://127.0.0.1/', everyMs: 1_000 } }, parts],
    ['hostIps: expected the addresses', { ...given, hostIps: () => '192.0.2.1' }, parts],
    ['cri: Required value', given, {}],
    ['feeds.pleg: .*expected a function', given, { ...parts, feeds: { pleg: 1 } }],
    ['ports.runSandbox: .*expected a function', given, { ...parts, ports: { runSandbox: 1 } }],
    ['clock.setTimeout: ', given, { ...parts, clock: { now: () => 0 } }],
    ['sinks\\[1\\].name: Invalid value: "api": another sink has this name', given, { ...parts, sinks: [sink, sink] }],
    ['onInput: .*expected a function', given, { ...parts, onInput: [] }],
  ])('%s', async (said, ...args) => {
    await expect(create(...args)).rejects.toThrow(new RegExp(`^createNode: ${said}`));
  });

  test('a feed or port that is set to undefined uses the real one, and optional parts have defaults', async () => {
    const rootDir = await mkdtemp(join(tmpdir(), 'statelet-library-'));
    const cri = inProcessCri(createSimulatedRuntime({ clock: systemClock }));
    const undefinedParts = { cri, feeds: { pleg: undefined }, ports: { runSandbox: undefined } };
    const agent = (await create({ ...config, rootDir, pullSlots: undefined }, undefinedParts)) as NodeAgent;
    try {
      const listed = Promise.withResolvers<void>();
      const look = setInterval(() => agent.overview().state === 'running' && listed.resolve(), 5);
      agent.start();
      await listed.promise;
      clearInterval(look);
      expect(agent.input).toMatchObject({ startSlots: 4, pullSlots: 1, sources: [], left: [], statuses: {} });
    } finally {
      await agent.stop();
      cri.close();
      await rm(rootDir, { recursive: true });
    }
  });

  test('so is a pod that is not valid', async () => {
    const nameless = { ...hello, metadata: {} };
    await expect(startSimulatedNode({ pods: [nameless] })).rejects.toThrow(/^startSimulatedNode: .*metadata.name/);
  });
});
