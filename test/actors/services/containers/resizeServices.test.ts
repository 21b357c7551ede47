import { describe, expect, test } from '@jest/globals';
import { resizeServices } from '../../../../actors/services/containers/resizeServices.ts';
import { NodeFailure } from '../../../../base/failure.ts';
import type { Cri } from '../../../../cri/client/calls.ts';
import type {
  ContainerStats,
  UpdateContainerResourcesRequest,
  UpdatePodSandboxResourcesRequest,
} from '../../../../cri/generated/runtime.ts';
import type { NodeDescription } from '../../../../cri/nodeDescription.ts';
import type { Cgroups } from '../../../../host/cgroup/cgroups.ts';
import type { ResourceRequirements } from '../../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import { containerSize } from '../../../../kubernetes/resources/resources.ts';
import { cgroupFacts } from '../../../fakes/cgroups.ts';
import { containerWith, podWith } from '../../../fakes/pods.ts';

const Mi = 2 ** 20;
const { signal } = new AbortController();

// The resources of containers and sandboxes depend only on these properties of a node.
const description = {
  cgroups: cgroupFacts,
  capacity: { cpuMillis: 4_000, memoryBytes: 2 ** 32, pods: 10 },
  canLowerOomScoreAdj: true,
} as unknown as NodeDescription;

type Amounts = readonly [cpu: string, memory: string];
const limited = ([cpu, memory]: Amounts): ResourceRequirements => ({
  requests: { cpu, memory },
  limits: { cpu, memory, 'hugepages-2Mi': '4Mi' },
});

/** Returns a pod with the containers `a` and `b`, and optionally with its own limits. */
const podOf = (a: Amounts, b: Amounts, own?: Amounts): Pod =>
  podWith('web', {
    containers: [containerWith('a', { resources: limited(a) }), containerWith('b', { resources: limited(b) })],
    ...(own ? { resources: { requests: { cpu: own[0] }, limits: { cpu: own[0], memory: own[1] } } } : {}),
  });

// Only these fields are read.
const containerStats = (id: string, bytes: number) =>
  ({ attributes: { id }, memory: { usageBytes: { value: BigInt(bytes) } } }) as unknown as ContainerStats;

interface Host {
  /** Memory usage of the containers in bytes, by ID. */
  readonly usage?: Readonly<Record<string, number>>;
  /** The call that fails, and its error. */
  readonly failing?: readonly [call: string, error: NodeFailure];
  readonly isCgroupUnknown?: boolean;
  /** Whether an earlier resize may have changed the containers. */
  readonly isUncertain?: boolean;
}

/** Resizes a running pod, and collects the calls in order. */
function resizing(
  before: Pod,
  pod: Pod,
  { usage = {}, failing, isCgroupUnknown = false, isUncertain = false }: Host = {},
) {
  const calls: string[] = [];
  const record = (call: string) => {
    calls.push(call);
    if (failing?.[0] === call) throw failing[1];
  };
  // Only the three calls below are made.
  const cri = {
    listContainerStats: async () => ({
      stats: Object.entries(usage).map(([id, bytes]) => containerStats(id, bytes)),
    }),
    updateContainerResources: async ({ containerId, linux }: UpdateContainerResourcesRequest) => {
      const [quota, memory, hugepages] = [linux?.cpuQuota, linux?.memoryLimitInBytes, linux?.hugepageLimits[0]?.limit];
      record(`container ${containerId}: ${quota} us, ${Number(memory) / Mi} Mi, ${Number(hugepages) / Mi} Mi huge`);
      return {};
    },
    updatePodSandboxResources: async ({ resources }: UpdatePodSandboxResourcesRequest) => {
      record(`announce ${resources?.cpuQuota} us, ${Number(resources?.memoryLimitInBytes) / Mi} Mi`);
      return {};
    },
  } as unknown as Cri;
  const change = (name: string) => async (_pod: Pod, resource: string) => record(`${name} ${resource}`);
  // Only these two calls are made.
  const cgroups = { raise: change('raise'), trim: change('trim') } as unknown as Cgroups;
  const containers = before.spec.containers.map((container) => ({
    name: container.name,
    id: container.name,
    size: containerSize(before.spec, container),
    isUncertain,
  }));
  const result = resizeServices({ cri, cgroups, node: () => description }).resizePod(
    { pod, appliedPod: isCgroupUnknown ? undefined : before, sandboxId: 's', containers },
    { signal },
  );
  return { calls, result };
}

describe('C25: a pod that grows', () => {
  test('gets memory before CPU, and its cgroup grows before its containers', async () => {
    const { calls, result } = resizing(podOf(['1', '64Mi'], ['1', '64Mi']), podOf(['2', '128Mi'], ['1', '64Mi']));
    await result;
    expect(calls).toEqual([
      'announce 200000 us, 192 Mi',
      'raise memory',
      'container a: 100000 us, 128 Mi, 4 Mi huge',
      'announce 300000 us, 192 Mi',
      'raise cpu',
      'container a: 200000 us, 128 Mi, 4 Mi huge',
    ]);
  });
});

describe('C25: a pod that shrinks', () => {
  test('has its cgroup shrunk after its containers', async () => {
    const { calls, result } = resizing(podOf(['2', '64Mi'], ['1', '64Mi']), podOf(['1', '32Mi'], ['1', '64Mi']));
    await expect(result).resolves.toMatchObject({
      resized: [
        { name: 'a', size: { cpuLimit: 1_000, memoryLimit: 32 * Mi } },
        { name: 'b', size: { cpuLimit: 1_000, memoryLimit: 64 * Mi } },
      ],
    });
    expect(calls).toEqual([
      'container a: 200000 us, 32 Mi, 4 Mi huge',
      'announce 300000 us, 96 Mi',
      'trim memory',
      'container a: 100000 us, 32 Mi, 4 Mi huge',
      'announce 200000 us, 96 Mi',
      'trim cpu',
    ]);
  });
});

test('C25: a cgroup whose limits are unknown after a restart of the agent gets those of its pod', async () => {
  const pod = podOf(['1', '64Mi'], ['1', '64Mi']);
  const { calls, result } = resizing(pod, pod, { isCgroupUnknown: true });
  await result;
  expect(calls.filter((call) => !call.startsWith('announce'))).toEqual([
    'raise memory',
    'trim memory',
    'raise cpu',
    'trim cpu',
  ]);
});

test('C25: containers that an earlier resize may have changed are updated, even to the size that they had', async () => {
  const pod = podOf(['1', '64Mi'], ['1', '64Mi']);
  const { calls, result } = resizing(pod, pod, { isUncertain: true });
  await result;
  expect(calls).toEqual([
    'container a: 100000 us, 64 Mi, 4 Mi huge',
    'container b: 100000 us, 64 Mi, 4 Mi huge',
    'container a: 100000 us, 64 Mi, 4 Mi huge',
    'container b: 100000 us, 64 Mi, 4 Mi huge',
  ]);
});

describe('C25: memory that moves between containers', () => {
  test('is taken from one before the other gets it, and the cgroup remains as it is', async () => {
    const { calls, result } = resizing(podOf(['1', '64Mi'], ['1', '64Mi']), podOf(['1', '96Mi'], ['1', '32Mi']));
    await result;
    expect(calls).toEqual(['container b: 100000 us, 32 Mi, 4 Mi huge', 'container a: 100000 us, 96 Mi, 4 Mi huge']);
  });
});

describe('C25: a memory limit below the usage', () => {
  const before = podOf(['1', '64Mi'], ['1', '64Mi']);
  test('of a container is refused, and nothing is changed, not even for other containers', async () => {
    const after = podOf(['2', '32Mi'], ['1', '128Mi']);
    const { calls, result } = resizing(before, after, { usage: { a: 32 * Mi, b: 1 } });
    await expect(result).rejects.toMatchObject({
      reason: 'ResizePodInPlaceError',
      message: `cannot decrease memory limits: attempting to set container "a" memory limit (${32 * Mi}) below current usage (${32 * Mi})`,
    });
    expect(calls).toEqual([]);
  });

  test('of the pod itself is refused', async () => {
    const own = (memory: string) => podOf(['1', '64Mi'], ['1', '64Mi'], ['2', memory]);
    const { result } = resizing(own('256Mi'), own('128Mi'), { usage: { a: 60 * Mi, b: 68 * Mi } });
    await expect(result).rejects.toThrow(
      `cannot decrease memory limits: attempting to set pod memory limit (${128 * Mi}) below current usage (${128 * Mi})`,
    );
  });

  test('is refused only if the usage exceeds it, where the current limit is unknown and may be the same', async () => {
    const unknown = { isCgroupUnknown: true, isUncertain: true };
    const { result } = resizing(before, before, { ...unknown, usage: { a: 64 * Mi, b: 64 * Mi } });
    await expect(result).resolves.toBeDefined();
    const { result: larger } = resizing(before, before, { ...unknown, usage: { a: 65 * Mi, b: 64 * Mi } });
    await expect(larger).rejects.toThrow(
      `[attempting to set pod memory limit (${128 * Mi}) below current usage (${129 * Mi}), attempting to set container "a"`,
    );
  });

  test('is not checked for a container whose limit does not decrease, although the page cache fills it', async () => {
    const { result } = resizing(before, podOf(['2', '64Mi'], ['1', '64Mi']), { usage: { a: 64 * Mi, b: 64 * Mi } });
    await expect(result).resolves.toBeDefined();
  });
});

describe('C25: the announcement of new limits to the runtime', () => {
  const [before, after] = [podOf(['1', '64Mi'], ['1', '64Mi']), podOf(['1', '96Mi'], ['1', '64Mi'])];
  const announcement = 'announce 200000 us, 160 Mi';

  test.each([
    ['Unimplemented', 'unknown method UpdatePodSandboxResources'],
    ['CreateContainerError', `not ${'implemented'} yet`],
  ] as const)('may be unimplemented: %s, %s', async (reason, message) => {
    const error = new NodeFailure(reason, message);
    const { calls, result } = resizing(before, after, { failing: [announcement, error] });
    await result;
    expect(calls).toContain('container a: 100000 us, 96 Mi, 4 Mi huge');
  });

  test('can reject the resize', async () => {
    const { calls, result } = resizing(before, after, {
      failing: [announcement, new NodeFailure('CreateContainerError', 'too large')],
    });
    await expect(result).rejects.toThrow(
      'failed to notify runtime for UpdatePodSandboxResources (resource=memory); resize rejected: too large',
    );
    expect(calls).toEqual([announcement]);
  });

  test('is withdrawn if the cgroup cannot be changed', async () => {
    const { calls, result } = resizing(before, after, {
      failing: ['raise memory', new NodeFailure('ResizePodInPlaceError', 'read-only')],
    });
    await expect(result).rejects.toThrow('read-only');
    expect(calls).toEqual([announcement, 'raise memory', 'announce 200000 us, 128 Mi']);
  });
});
