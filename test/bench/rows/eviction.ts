import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../../base/time/clock.ts';
import { readPodList } from '../../../cli/commands/get/readPods.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import { ContainerState } from '../../../cri/generated/runtime.ts';
import { BUSYBOX_IMAGE } from '../../../cri/managed/images/images.ts';
import { findHierarchy, readHierarchies } from '../../../host/cgroup/hierarchies.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { assessMeasurement, initialEvictionContext, nextEviction } from '../../../machines/eviction/context.ts';
import { compileConfig } from '../../../node/config/nodeConfig.ts';
import { createNodeStats } from '../../../node/host/nodeStats.ts';
import { agentClient } from '../../../socket/client.ts';
import { socketPath } from '../../../socket/socketPath.ts';
import { noAbort } from '../../e2e/support/containerd.ts';
import { agentPlace } from '../agentProcess.ts';
import { benchCluster } from '../cluster.ts';
import { nodeName } from '../manifests.ts';
import { type BenchNode, endPods, namesFor, runPods, withAgent } from '../node.ts';
import type { Figure } from '../report.ts';
import { median, milliseconds, preciseNow } from '../statistics.ts';

const row = 'eviction';
const PODS = 110;
/** Number of passes that are measured together, because a single pass is shorter than the resolution of CPU time. */
const PASSES = 8;
/** Interval between two passes. It exceeds the second for which a measurement of the pods is reused. */
const PASS_INTERVAL_MS = 1_100;
const SETTLE_MS = 3_000;

/**
 * Measures a node that runs short of memory: the CPU time of an eviction pass, and the time until a pod that uses up
 * the memory is killed.
 */
export async function eviction(node: BenchNode, repeats: number): Promise<Figure[]> {
  return [...(await passes(node)), await timeToKill(node, repeats)];
}

/**
 * Measures passes over the pods of an agent, with the agent's own modules in this process. The pods are treated as pods
 * from an API server, because static pods are never evicted.
 */
async function passes(node: BenchNode): Promise<Figure[]> {
  const names = namesFor('evict', PODS);
  const { place } = node;
  return withAgent(place, async (daemon) => {
    const { pods: running } = await runPods(place, daemon, names);
    const pods = readPodList(await agentClient(socketPath(place.rootDir)).json('/api/v1/pods')).map(withoutSource);
    await pause(SETTLE_MS);
    const abortController = new AbortController();
    const { signal } = abortController;
    const { resourceMeter } = await createNodeStats({
      config: compileConfig({
        flags: {},
        defaults: {
          hostname: nodeName,
          addresses: [],
          rootDirectory: place.rootDir,
          podLogsDirectory: place.podLogsDir,
        },
      }),
      agent: { pods: () => pods, subscribe: () => () => {} },
      cri: node.cri,
      clock: systemClock,
      cgroupLocation: { cgroupRoot: place.cgroupRoot, cgroupDriver: 'cgroupfs' },
      signal,
    });
    const uids = pods.map(({ metadata }) => metadata.uid);
    const context = {
      ...initialEvictionContext({
        nodeName,
        // More than any host has, so that the threshold is met.
        thresholds: [{ signal: 'memory.available', value: '1Pi', graceMs: 0 }],
        transitionMs: 300_000,
        maxPodGraceSeconds: 0,
        enforcesStorageLimits: true,
      }),
      pods,
    };
    const assessed = async () => {
      const at = Date.now();
      const measurement = { ...(await resourceMeter.measureNode(signal)), usages: {}, at, uptimeMs: at };
      return { ...context, ...assessMeasurement(context, measurement) };
    };
    const evicting = async () => {
      const next = nextEviction(await assessed(), {
        usages: await resourceMeter.measurePods(uids, 'memory', signal),
        at: Date.now(),
      });
      if (next === undefined) throw new Error('the pass finds no pod to evict');
    };
    const [relaxedMs, evictingMs] = [await cpuOf(assessed), await cpuOf(evicting)];
    abortController.abort();
    await endPods(node, names, running);
    const detail = `${PODS} pods, median of ${PASSES} passes`;
    return [
      {
        row,
        name: 'eviction pass without a shortage: CPU',
        value: median(relaxedMs),
        unit: 'ms',
        goal: 25,
        detail: `${detail}: ${milliseconds(relaxedMs)}`,
      },
      {
        row,
        name: 'eviction pass that measures and ranks all pods by memory: CPU',
        value: median(evictingMs),
        unit: 'ms',
        goal: 25,
        detail: `${detail}: ${milliseconds(evictingMs)}`,
      },
    ];
  });
}

/** Returns the pod without the annotation for its source, so that it is not a static pod. */
const withoutSource = (pod: Pod): Pod => ({ ...pod, metadata: { ...pod.metadata, annotations: {} } });

/** Returns the CPU time of each pass in milliseconds. Ignores the first one, which also compiles the code. */
async function cpuOf(pass: () => Promise<unknown>): Promise<number[]> {
  const used: number[] = [];
  for (let index = 0; index <= PASSES; index += 1) {
    await pause(PASS_INTERVAL_MS);
    const before = process.cpuUsage();
    await pass();
    const { user, system } = process.cpuUsage(before);
    used.push((user + system) / 1_000);
  }
  return used.slice(1);
}

const MIB = 2 ** 20;
/**
 * The memory of all pods together, the memory that the greedy pod uses in each of its two volumes, because a volume
 * cannot be larger than what the node can allocate, and the eviction threshold.
 */
const PODS_MIB = 256;
const TAKEN_MIB = 95;
const THRESHOLD_MIB = 100;
const LIMIT_MS = 60_000;
const POLL_MS = 5;

/** Measures the time from when the pods' memory falls below the threshold until no process of the victim is left. */
async function timeToKill(node: BenchNode, repeats: number): Promise<Figure> {
  const { endpoint, cgroupRoot } = node.place;
  const place = await agentPlace(
    join(node.place.directory, 'shortage'),
    { endpoint, cgroupRoot },
    {
      systemReserved: { memory: String(totalmem() - PODS_MIB * MIB) },
      evictionHard: { 'memory.available': `${THRESHOLD_MIB}Mi` },
      evictionPressureTransitionPeriod: '1s',
    },
  );
  const api = await benchCluster(place.directory);
  const durations: number[] = [];
  const act = async () => {
    await api.nodeReady();
    for (const name of namesFor('greedy', repeats)) {
      await api.create(name, greedySpec);
      const crossedAt = await momentOf(async () => (await podsMemory(cgroupRoot)) > (PODS_MIB - THRESHOLD_MIB) * MIB);
      durations.push((await momentOf(async () => !(await isRunning(node.cri, name)))) - crossedAt);
      await api.remove([name]);
      // The condition MemoryPressure ends with the next pass. Until then, no further pod is admitted.
      await pause(12_000);
    }
  };
  try {
    await withAgent(place, act, { kubeconfig: api.kubeconfig });
  } finally {
    await api.end();
  }
  return {
    row,
    name: 'memory below a threshold, until the victim is killed',
    value: Math.max(...durations),
    unit: 'ms',
    goal: 3_000,
    detail: `the longest of ${repeats}; ${milliseconds(durations)}; the memory is read every second`,
  };
}

/** Spec of a pod that terminates at once, so that its grace period of a second is not measured. */
const greedySpec = {
  volumes: ['memory', 'more'].map((name) => ({ name, emptyDir: { medium: 'Memory' } })),
  containers: [
    {
      name: 'main',
      image: BUSYBOX_IMAGE,
      command: [
        'sh',
        '-c',
        `trap 'exit 0' TERM; for each in memory more; do dd if=/dev/zero of=/$each/file bs=1M count=${TAKEN_MIB}; done; sleep 1000 & wait`,
      ],
      volumeMounts: ['memory', 'more'].map((name) => ({ name, mountPath: `/${name}` })),
    },
  ],
};

/** Returns the time at which a condition is first met, in milliseconds since the epoch. */
async function momentOf(isMet: () => Promise<boolean>): Promise<number> {
  const limit = preciseNow() + LIMIT_MS;
  while (!(await isMet())) {
    if (preciseNow() > limit) throw new Error('the node evicts nothing');
    await pause(POLL_MS);
  }
  return preciseNow();
}

/** Returns the memory that all pods use, without cached files that the kernel can drop. */
async function podsMemory(cgroupRoot: string): Promise<number> {
  const hierarchy = findHierarchy(await readHierarchies(), 'memory');
  const isV1 = hierarchy?.version === 'v1';
  const read = (file: string) => readFile(join(hierarchy?.root ?? '', cgroupRoot, 'kubepods', file), 'utf8');
  const [usage, stat] = await Promise.all([
    read(isV1 ? 'memory.usage_in_bytes' : 'memory.current'),
    read('memory.stat'),
  ]);
  const inactiveFile = (isV1 ? /^total_inactive_file (\d+)$/m : /^inactive_file (\d+)$/m).exec(stat)?.[1];
  return Number(usage) - Number(inactiveFile);
}

async function isRunning(cri: Cri, pod: string): Promise<boolean> {
  const labelSelector = { 'io.kubernetes.pod.name': pod };
  const filter = { id: '', podSandboxId: '', state: { state: ContainerState.CONTAINER_RUNNING }, labelSelector };
  return (await cri.listContainers({ filter }, { signal: noAbort })).containers.length > 0;
}
