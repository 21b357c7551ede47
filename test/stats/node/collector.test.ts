import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { NodeFailure } from '../../../base/failure.ts';
import { StatsWorld } from '../support.ts';

const { signal } = new AbortController();
let world: StatsWorld;

beforeEach(async () => {
  world = new StatsWorld();
  await world.node();
});

afterEach(() => world.close());

const NET_DEV = 'eth0: 1000 2 0 0 0 0 0 0 500 1 0 0 0 0 0 0\n';

test('a sample covers the node, all pods, their QoS class, each pod with its sandbox and containers, and their networks', async () => {
  const { sandbox, container } = await world.pod('a');
  world.procfs.set('/proc/77/net/dev', NET_DEV);
  world.procfs.set('/proc/1/net/dev', NET_DEV.replace('1000', '9000'));
  const sample = await world.collector().sample('everything', signal);
  const pod = 'kubepods/burstable/poduid-of-a';
  expect(sample).toMatchObject({
    kind: 'everything',
    root: { path: '/', usage: { cpu: { usageNs: 99_000_000_000 } } },
    allPods: { path: '/kubepods' },
    qosCgroups: [{ path: '/kubepods/burstable' }],
    network: { interfaces: [{ name: 'eth0', rxBytes: 9_000 }] },
    pods: [
      {
        uid: 'uid-of-a',
        name: 'a',
        namespace: 'default',
        sandboxId: sandbox,
        createdAt: Date.UTC(2026, 0, 1),
        cgroup: { path: `/${pod}`, usage: { memory: { workingSet: 7_340_032 } } },
        sandboxCgroup: { path: `/${pod}/${sandbox}` },
        network: { interfaces: [{ name: 'eth0', rxBytes: 1_000, txBytes: 500 }] },
        containers: [
          { id: container, name: 'main', attempt: 2, cgroup: { path: `/${pod}/${container}`, usage: { pids: {} } } },
        ],
      },
    ],
  });
  expect(sample.failure).toBeUndefined();
});

test('a sample covers the agent, whose cgroup may be the root', async () => {
  await world.pod('a');
  const parts = (path: string | undefined) => ({ findAgentCgroup: () => path });
  const own = await world.collector(parts('kubepods')).sample('cpuAndMemory', signal);
  expect(own.agent).toMatchObject({ path: '/kubepods', usage: { cpu: {} } });
  const root = await world.collector(parts('')).sample('cpuAndMemory', signal);
  expect(root.agent).toBe(root.root);
  expect((await world.collector(parts(undefined)).sample('cpuAndMemory', signal)).agent).toBeUndefined();
});

test('concurrent requests share one sample for 10 s, and a full sample also serves requests for less', async () => {
  await world.pod('a');
  const { runtime, clock } = world.simulation;
  const collector = world.collector();
  const lists = () => runtime.calls.filter(({ call }) => call === 'listContainers').length;
  const [one, other, less] = await Promise.all([
    collector.sample('everything', signal),
    collector.sample('everything', signal),
    collector.sample('everything', signal).then(() => collector.sample('cpuAndMemory', signal)),
  ]);
  expect([other, less]).toEqual([one, one]);
  await clock.advance(9_999);
  expect(await collector.sample('everything', signal)).toBe(one);
  expect(lists()).toBe(1);
  await clock.advance(1);
  expect((await collector.sample('cpuAndMemory', signal)).kind).toBe('cpuAndMemory');
  expect((await collector.sample('cpuAndMemory', signal, 0)).kind).toBe('cpuAndMemory');
  expect(lists()).toBe(3);
});

test('a sample of CPU and memory reads no processes, networks or devices, and no stats from the runtime', async () => {
  await world.pod('a');
  world.procfs.set('/proc/77/net/dev', NET_DEV);
  const { pods, network } = await world.collector().sample('cpuAndMemory', signal);
  expect([pods[0]?.network, pods[0]?.sandboxCgroup, network]).toEqual([undefined, undefined, undefined]);
  expect(pods[0]?.containers[0]?.cgroup?.usage).toMatchObject({ pids: undefined, io: undefined, pressure: {} });
  const asked = world.simulation.runtime.calls.map(({ call }) => call).filter((call) => call.startsWith('list'));
  expect(asked.toSorted()).toEqual(['listContainers', 'listPodSandbox']);
});

test('a sample for ranking pods is taken from a recent sample with more, and leaves the CPU rates unchanged', async () => {
  const { container } = await world.pod('a');
  const collector = world.collector();
  const first = await collector.sample('cpuAndMemory', signal);
  expect(await collector.sample('workingSets', signal, 1_000)).toBe(first);
  const processes = await collector.sample('processes', signal, 1_000);
  expect(processes.pods[0]?.containers[0]?.cgroup?.usage).toMatchObject({ pids: {}, memory: undefined });
  await world.simulation.clock.advance(5_000);
  const workingSets = await collector.sample('workingSets', signal, 1_000);
  expect(workingSets).toMatchObject({ hasRates: false, pods: [{ cgroup: { usage: { memory: {}, cpu: undefined } } }] });
  const cpu = { 'cpu.stat': `usage_usec ${1_234_567 + 5_000_000}\nuser_usec 0\nsystem_usec 0\n` };
  await world.cgroup(`kubepods/burstable/poduid-of-a/${container}`, cpu);
  await world.simulation.clock.advance(5_000);
  const { pods, hasRates } = await collector.sample('cpuAndMemory', signal, 0);
  expect([pods[0]?.containers[0]?.cgroup?.nanoCores, hasRates]).toEqual([500_000_000, true]);
});

test('the second sample has CPU rates, also for containers that have started since the first', async () => {
  const { container } = await world.pod('a');
  const collector = world.collector();
  expect((await collector.sample('cpuAndMemory', signal)).hasRates).toBe(false);
  const cpu = (usec: number) => ({ 'cpu.stat': `usage_usec ${usec}\nuser_usec 0\nsystem_usec 0\n` });
  await world.cgroup(`kubepods/burstable/poduid-of-a/${container}`, cpu(1_234_567 + 5_000_000));
  await world.simulation.clock.advance(6_000);
  const later = await world.pod('b', cpu(1_000_000));
  await world.simulation.clock.advance(4_000);
  const { pods, root, hasRates } = await collector.sample('everything', signal, 0);
  const rateOf = (id: string) => pods.flatMap(({ containers }) => containers).find((each) => each.id === id)?.cgroup;
  expect(rateOf(container)?.nanoCores).toBe(500_000_000);
  expect(rateOf(later.container)?.nanoCores).toBe(250_000_000);
  expect([root?.nanoCores, hasRates]).toEqual([0, true]);
});

test('pods without cgroups have the usage that the runtime reports', async () => {
  await world.pod('a');
  world.remove('kubepods');
  const { pods, allPods } = await world.collector().sample('cpuAndMemory', signal);
  expect(allPods).toBeUndefined();
  expect(pods).toMatchObject([
    {
      runtime: { cpu: { usageNanoCores: 10_000_000 }, memory: {}, network: { name: 'eth0' }, processes: 1 },
      containers: [
        { cgroup: undefined, runtime: { cpu: { usageNanoCores: 10_000_000 }, layer: { usedBytes: 32_768 } } },
      ],
    },
  ]);
});

test('a sample for ranking pods without cgroups leaves the CPU rates unchanged', async () => {
  const { container } = await world.pod('a');
  world.remove('kubepods');
  const { cri, clock } = world.simulation;
  let usedNs = 0n;
  const collector = world.collector({
    cri: {
      listPodSandbox: (...call) => cri.listPodSandbox(...call),
      listContainers: (...call) => cri.listContainers(...call),
      listPodSandboxStats: async () => ({ stats: [] }),
      listContainerStats: async () => ({
        stats: [
          {
            attributes: { id: container, metadata: undefined, labels: {}, annotations: {} },
            cpu: {
              timestamp: BigInt(clock.now()) * 1_000_000n,
              usageCoreNanoSeconds: { value: usedNs },
              usageNanoCores: undefined,
              psi: undefined,
            },
            memory: undefined,
            writableLayer: undefined,
            swap: undefined,
            io: undefined,
          },
        ],
      }),
    },
  });
  await collector.sample('cpuAndMemory', signal);
  await clock.advance(9_900);
  await collector.sample('workingSets', signal, 1_000);
  await clock.advance(100);
  usedNs = 1_000_000_000n;
  const { pods } = await collector.sample('cpuAndMemory', signal, 0);
  expect(pods[0]?.containers[0]?.runtime?.cpu?.usageNanoCores).toBe(100_000_000);
});

test('while the runtime is down or hangs, a sample has the last known pods that still have cgroups', async () => {
  await world.pod('a');
  await world.pod('b');
  const collector = world.collector();
  await collector.sample('everything', signal);
  const { runtime, clock } = world.simulation;
  runtime.faults.add({ call: 'listContainers', hang: true });
  world.remove('kubepods/burstable/poduid-of-b');
  const asked = collector.sample('everything', signal, 0);
  const { pods, failure } = await clock.advanceUntilSettled(asked);
  expect(pods.map(({ name }) => name)).toEqual(['a']);
  expect(pods[0]?.containers).toHaveLength(1);
  expect(failure).toBeInstanceOf(NodeFailure);
  expect(clock.now()).toBe(Date.UTC(2026, 0, 1) + 5_000);
});

test('if the runtime has never responded, a sample has the containers from the pod statuses', async () => {
  const { container } = await world.pod('a');
  world.simulation.runtime.down();
  const startedAt = '2026-01-01T00:00:00Z';
  const status = {
    containerStatuses: [
      { name: 'main', containerID: `containerd://${container}`, state: { running: { startedAt } } },
      { name: 'gone', containerID: 'containerd://dead', state: { running: { startedAt } } },
      { name: 'waits', state: { waiting: {} } },
    ],
  };
  const metadata = { uid: 'uid-of-a', name: 'a', namespace: 'default' };
  // The collector reads only these fields of a pod.
  const pods = [{ metadata, spec: { containers: [{ name: 'main', image: 'i:1' }] }, status }] as never;
  const { pods: found, failure } = await world.collector({ pods: () => pods }).sample('everything', signal);
  expect(failure).toBeDefined();
  expect(found).toMatchObject([{ name: 'a', containers: [{ id: container, name: 'main', image: 'i:1' }] }]);
});

test('a removed pod is dropped from the next sample', async () => {
  const { sandbox } = await world.pod('a');
  const collector = world.collector();
  await collector.sample('everything', signal);
  await world.simulation.play.removeSandbox(sandbox);
  await world.pod('b');
  const { pods } = await collector.sample('everything', signal, 0);
  expect(pods.map(({ name }) => name)).toEqual(['b']);
});

test('a sample in progress is aborted when the node stops', async () => {
  await world.pod('a');
  world.simulation.runtime.faults.add({ call: 'listPodSandbox', hang: true });
  const asked = world.collector().sample('everything', signal);
  world.end.abort(new Error('ends'));
  await expect(asked).rejects.toThrow('ends');
});
