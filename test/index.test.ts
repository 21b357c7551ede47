import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  charts,
  createNodeAgent,
  createReplay,
  createSimulatedRuntime,
  type Entry,
  inProcessCri,
  type NodeAgent,
  type NodeAgentConfig,
  type NodeFacts,
  nodeServices,
  openNodeStore,
  startSimulatedNode,
  systemClock,
} from '../index.ts';
import { cgroupFacts } from './fakes/cgroups.ts';

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
const config: NodeAgentConfig = {
  nodeName,
  owner: `test@${nodeName}`,
  hostIps: ['192.0.2.1'],
  sources: ['file'],
  capacity: { cpuMillis: 4000, memoryBytes: 2 ** 32, pods: 10 },
  startSlots: 2,
  pullSlots: 2,
  crashLoop: { baseMs: 10_000, maxMs: 300_000 },
  statuses: {},
  allocations: {},
  left: [],
};

const factsBelow = (directory: string): NodeFacts => ({
  nodeName,
  rootDir: directory,
  podLogsDir: join(directory, 'log'),
  owner: config.owner,
  runtimeEndpoint: 'simulated',
  cgroupRoot: `/statelet-test-${process.pid}`,
  cgroupDriver: 'cgroupfs',
  cgroups: cgroupFacts,
  hostIps: ['192.0.2.1'],
  resolvConf: { servers: [], searches: [], options: [] },
  clusterDns: [],
  clusterDomain: '',
  memoryCapacityBytes: config.capacity.memoryBytes,
  cpuCount: 4,
  canLowerOomScoreAdj: false,
  seccompDefault: false,
  podDirectory: (uid) => join(directory, 'pods', uid),
});

const idle = async () => {};

async function phaseReached(agent: NodeAgent, phase: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const unsubscribe = agent.subscribe(({ pod }) => {
    if (pod.status?.phase === phase) resolve();
  });
  agent.start();
  await promise;
  unsubscribe();
}

test('a node of the public parts alone runs a pod to its end, and its recording tells the same', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'statelet-library-'));
  const staticPodPath = join(directory, 'manifests');
  await mkdir(staticPodPath);
  await writeFile(join(staticPodPath, 'hello.yaml'), manifest);
  const { store, durable } = await openNodeStore(directory);
  const runtime = createSimulatedRuntime({ clock: systemClock, images: { anyPullable: true }, latency: 0 });
  const cri = inProcessCri(runtime);
  const problems: unknown[] = [];
  const services = nodeServices({
    cri,
    clock: systemClock,
    node: factsBelow(directory),
    store,
    durable,
    staticPodPath,
    fileCheckMs: 20_000,
    onError: (source, error) => void problems.push([source, error]),
    onManifestProblem: (...problem) => void problems.push(problem),
  });
  const entries: Entry[] = [];
  const record = (entry: Entry) => void entries.push(structuredClone(entry));
  const agent = createNodeAgent(config, services, { clock: systemClock, record });
  try {
    await phaseReached(agent, 'Succeeded');
    const replay = createReplay(config, entries);
    await replay.play();
    expect(replay.agent.pods()).toEqual(agent.pods());
    expect(agent.pods().map(({ metadata }) => metadata.name)).toEqual(['hello-node-1']);
    expect(problems).toEqual([]);
  } finally {
    agent.stop();
    await store.flush();
    cri.close();
    await rm(directory, { recursive: true });
  }
});

test('each machine has a chart', () => {
  const folder = join(import.meta.dirname, '..', 'machines');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8'));
  const ids = texts.flatMap((text) => /\.createMachine\(\{\s+id: '(\w+)'/.exec(text)?.[1] ?? []);
  const names = charts().map(({ name }) => name);
  expect(ids).toContain('pod');
  expect(names.toSorted()).toEqual(ids.toSorted());
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

test('a node over the simulated runtime is one call, and another changes its pods', async () => {
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

describe('an incomplete call is an error at once', () => {
  const services = {
    ports: {},
    feeds: { runtimeHealth: idle, pleg: idle, sources: idle, nodeFacts: idle, ticker: idle },
  };
  // As a program in JavaScript would call it.
  const create = (...args: unknown[]) => Reflect.apply(createNodeAgent, undefined, args);
  const given = { ...config };

  test.each<[string, object, object, object]>([
    ['capacity: Required value', { ...given, capacity: undefined }, services, { clock: systemClock }],
    ['capacity.pods: ', { ...given, capacity: { cpuMillis: 1, memoryBytes: 1 } }, services, { clock: systemClock }],
    ['startSlots: ', { ...given, startSlots: Number.NaN }, services, { clock: systemClock }],
    ['crashLoop.maxMs: ', { ...given, crashLoop: { baseMs: 1 } }, services, { clock: systemClock }],
    ['owner: ', { ...given, owner: '' }, services, { clock: systemClock }],
    ['feeds.pleg: ', given, { ...services, feeds: { ...services.feeds, pleg: undefined } }, { clock: systemClock }],
    ['ports.runSandbox: ', given, { ...services, ports: { runSandbox: 1 } }, { clock: systemClock }],
    ['clock: ', given, services, {}],
  ])('%s', (said, ...args) => {
    expect(() => create(...args)).toThrow(new RegExp(`^createNodeAgent: ${said}`));
  });

  test('what may be absent has a default', () => {
    const { nodeName: name, owner, sources, capacity } = given;
    expect(() => create({ nodeName: name, owner, sources, capacity }, services, { clock: systemClock })).not.toThrow();
  });

  test('so are services without their parts, and a pod that is not valid', async () => {
    expect(() => Reflect.apply(nodeServices, undefined, [{ clock: systemClock }])).toThrow(/^nodeServices: \w+: /);
    const nameless = { ...hello, metadata: {} };
    await expect(startSimulatedNode({ pods: [nameless] })).rejects.toThrow(/^startSimulatedNode: .*metadata.name/);
  });
});
