/** Collects the resource usage of the node and its pods for the summary, metrics and evictions. */

import { yieldToEventLoop } from '../../base/async/yieldToEventLoop.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Cri } from '../../cri/client/calls.ts';
import type { Cgroupfs } from '../../host/cgroup/cgroupfs.ts';
import type { UsagePart } from '../../host/cgroup/usage/cgroupUsage.ts';
import type { ExistingCgroups } from '../../host/cgroup/usage/findPodCgroups.ts';
import type { ReadUsage } from '../../host/cgroup/usage/readUsage.ts';
import { parseNetDev } from '../../host/usage/netDev.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { CachedValue } from '../cachedValue.ts';
import { podsFromStatus, type RunningContainer, type RunningPod, runningPods } from '../pods/runtimeLists.ts';
import { type RuntimeStats, requestRuntimeStats } from '../pods/runtimeStats.ts';
import { Rates } from '../rates.ts';
import type { CgroupSample, ContainerSample, NetworkSample, NodeSample, PodSample, SampleKind } from '../sample.ts';

export interface CollectorOptions {
  readonly cri: Pick<Cri, 'listPodSandbox' | 'listContainers' | 'listContainerStats' | 'listPodSandboxStats'>;
  readonly readUsage: ReadUsage;
  /** Lists the existing cgroups. Undefined if pods have no cgroups on this host. */
  readonly findCgroups?: (() => ExistingCgroups) | undefined;
  /** Returns the path of the cgroup that contains all pods. Undefined if there is none. */
  readonly findSharedCgroup?: (() => string | undefined) | undefined;
  /** Returns the path of the agent's own cgroup. Undefined if the agent shares its cgroup with other processes. */
  readonly findAgentCgroup?: (() => string | undefined) | undefined;
  readonly procfs: Pick<Cgroupfs, 'read'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** The pods of the node with their status. They are used until the runtime has listed its pods for the first time. */
  readonly pods: () => readonly Pod[];
  /** Aborts all samples in progress. */
  readonly signal: AbortSignal;
}

/** Maximum age of a sample, in milliseconds, if the caller does not specify one. */
const DEFAULT_MAX_AGE_MS = 10_000;
const RUNTIME_TIMEOUT_MS = 5_000;
/**
 * Number of pods to sample before yielding to the event loop. Sampling a pod takes more than a millisecond, so this
 * number of pods blocks the event loop for about 5 ms.
 */
const PODS_PER_TURN = 4;

const USAGE_PARTS_BY_KIND: Readonly<Record<SampleKind, readonly UsagePart[] | undefined>> = {
  everything: undefined,
  cpuAndMemory: ['cpu', 'memory', 'pressure'],
  workingSets: ['workingSet'],
  processes: ['pids'],
};

/** For each kind of sample, the kinds that contain all of its data, including the kind itself. */
const SUFFICIENT_KINDS: Readonly<Record<SampleKind, readonly SampleKind[]>> = {
  everything: ['everything'],
  cpuAndMemory: ['everything', 'cpuAndMemory'],
  workingSets: ['everything', 'cpuAndMemory', 'workingSets'],
  processes: ['everything', 'processes'],
};

const includesCpu = (kind: SampleKind): boolean => kind === 'everything' || kind === 'cpuAndMemory';

/**
 * Takes samples on demand, one at a time, and shares each sample among concurrent requests. Caches only the last sample
 * of each kind. A sample omits values that cannot be read, so a request rejects only if a signal aborts.
 */
export class Collector {
  readonly #options: CollectorOptions;
  readonly #rates = new Rates();
  readonly #samples: Readonly<Record<SampleKind, CachedValue<NodeSample>>>;
  /** Running pods as last listed by the runtime. */
  #previousPods: readonly RunningPod[] | undefined;
  #previousSample: Promise<unknown> = Promise.resolve();

  constructor(options: CollectorOptions) {
    this.#options = options;
    const createCache = (kind: SampleKind) =>
      new CachedValue({
        computeValue: () => this.#runSequentially(() => this.#takeSample(kind)),
        clock: options.clock,
      });
    this.#samples = {
      everything: createCache('everything'),
      cpuAndMemory: createCache('cpuAndMemory'),
      workingSets: createCache('workingSets'),
      processes: createCache('processes'),
    };
  }

  /**
   * Returns a sample that started at most `maxAgeMs` ago. A recent sample of a more comprehensive kind also satisfies
   * the request.
   */
  async sample(kind: SampleKind, signal: AbortSignal, maxAgeMs = DEFAULT_MAX_AGE_MS): Promise<NodeSample> {
    for (const sufficientKind of SUFFICIENT_KINDS[kind]) {
      const cachedSample = this.#samples[sufficientKind].getCached(maxAgeMs);
      if (cachedSample !== undefined) return cachedSample;
    }
    return this.#samples[kind].get(maxAgeMs, signal);
  }

  /** Lists the running pods without measuring them. */
  async runningPods(): Promise<readonly RunningPod[]> {
    return (await this.#listPods()).pods;
  }

  /**
   * Reads the memory usage of the root cgroup and of the cgroup that contains all pods. This is cheap, because it
   * neither lists nor reads the cgroups of individual pods. The memory limit of the pods' cgroup is read each time,
   * because the agent may change it and evictions depend on it.
   */
  memory(): { readonly root: CgroupSample | undefined; readonly allPods: CgroupSample | undefined } {
    const { readUsage, findSharedCgroup } = this.#options;
    const sampleMemory = (path: string): CgroupSample | undefined => {
      const usage = readUsage(path, ['memory'], { isLimitCurrent: true });
      return usage && { path: `/${path}`, usage };
    };
    const sharedPath = findSharedCgroup?.();
    return { root: sampleMemory(''), allPods: sharedPath === undefined ? undefined : sampleMemory(sharedPath) };
  }

  /**
   * Runs sampling tasks sequentially, because concurrent tasks would compute their rates from each other's counters.
   */
  #runSequentially<T>(task: () => Promise<T>): Promise<T> {
    const sample = this.#previousSample.then(task);
    this.#previousSample = sample.catch(() => {});
    return sample;
  }

  async #takeSample(kind: SampleKind): Promise<NodeSample> {
    const { clock, findCgroups, findAgentCgroup, signal } = this.#options;
    signal.throwIfAborted();
    const startedAt = clock.now();
    const { pods: runningPods, failure } = await this.#listPods();
    const cgroupPaths = indexCgroups(findCgroups?.() ?? { shared: [], pods: [] });
    const pods = failure === undefined ? runningPods : filterExisting(runningPods, cgroupPaths);
    this.#previousPods = pods;
    // Do not touch the counters for a sample without CPU usage, because the rates of the next sample are computed from
    // them.
    const hasRates = includesCpu(kind) && this.#rates.startSample(clock.monotonic());
    const [allPods, ...qosCgroups] = cgroupPaths.sharedPaths.map((path) => this.#sampleCgroup(path, kind));
    const root = this.#sampleCgroup('', kind);
    const agentPath = findAgentCgroup?.();
    const podSamples: PodSample[] = [];
    for (const [index, pod] of pods.entries()) {
      if (index % PODS_PER_TURN === 0) await yieldToEventLoop();
      podSamples.push(this.#samplePod(pod, kind, cgroupPaths));
    }
    return {
      kind,
      startedAt,
      hasRates,
      failure,
      root,
      allPods,
      qosCgroups: qosCgroups.filter((tier) => tier !== undefined),
      // Reuse the sample of the root cgroup, because the CPU rate of a cgroup can be computed only once per sample of
      // the node.
      agent: agentPath === undefined ? undefined : agentPath === '' ? root : this.#sampleCgroup(agentPath, kind),
      network: kind === 'everything' ? this.#sampleNetwork(1) : undefined,
      pods: await this.#addRuntimeStats(podSamples, kind),
    };
  }

  /** Lists the running pods. If the runtime does not respond, returns the previous list and the failure. */
  async #listPods(): Promise<{ readonly pods: readonly RunningPod[]; readonly failure?: unknown }> {
    const { cri, signal, pods } = this.#options;
    try {
      return { pods: await runningPods(cri, { signal, timeoutMs: RUNTIME_TIMEOUT_MS }) };
    } catch (failure) {
      signal.throwIfAborted();
      return { pods: this.#previousPods ?? podsFromStatus(pods()), failure };
    }
  }

  #samplePod(pod: RunningPod, kind: SampleKind, { pods }: CgroupPaths): PodSample {
    const { path, containers: containerPaths } = pods.get(pod.uid) ?? {};
    const sandboxPath = kind === 'everything' ? containerPaths?.get(pod.sandboxId) : undefined;
    const sandboxCgroup = sandboxPath === undefined ? undefined : this.#sampleCgroup(sandboxPath, kind);
    const pid = sandboxCgroup?.usage.pids?.processes?.[0];
    const sampleContainer = (each: RunningContainer): ContainerSample => {
      const containerPath = containerPaths?.get(each.id);
      return {
        ...each,
        cgroup: containerPath === undefined ? undefined : this.#sampleCgroup(containerPath, kind, each.createdAt),
      };
    };
    return {
      ...pod,
      cgroup: path === undefined ? undefined : this.#sampleCgroup(path, kind, pod.createdAt),
      sandboxCgroup,
      network: pid === undefined ? undefined : this.#sampleNetwork(pid),
      containers: pod.containers.map(sampleContainer),
    };
  }

  #sampleCgroup(path: string, kind: SampleKind, createdAt?: number): CgroupSample | undefined {
    const { readUsage, clock } = this.#options;
    const at = clock.monotonic();
    const usage = readUsage(path, USAGE_PARTS_BY_KIND[kind]);
    if (usage === undefined) return undefined;
    const usedNs = usage.cpu?.usageNs;
    const createdAgoMs = createdAt === undefined ? undefined : Math.max(0, usage.readAt - createdAt);
    const nanoCores = usedNs === undefined ? undefined : this.#rates.rateOf(path, { usedNs, at }, createdAgoMs);
    return { path: `/${path}`, usage, nanoCores };
  }

  #sampleNetwork(pid: number): NetworkSample | undefined {
    const { procfs, clock } = this.#options;
    const netDevText = procfs.read(`/proc/${pid}/net/dev`);
    return netDevText === undefined ? undefined : { readAt: clock.now(), interfaces: parseNetDev(netDevText) };
  }

  /**
   * Adds the runtime's statistics for pods and containers without cgroups. Requests them only if needed, because the
   * call costs more than reading cgroups.
   */
  async #addRuntimeStats(pods: readonly PodSample[], kind: SampleKind): Promise<readonly PodSample[]> {
    const hasPodsWithoutCgroup = pods.some(({ cgroup }) => cgroup === undefined);
    const needsRuntimeStats =
      hasPodsWithoutCgroup || pods.some(({ containers }) => containers.some(({ cgroup }) => cgroup === undefined));
    if (!needsRuntimeStats) return pods;
    const { cri, signal, clock } = this.#options;
    const options = { signal, timeoutMs: RUNTIME_TIMEOUT_MS };
    const stats = await requestRuntimeStats(cri, options, {
      includesPods: hasPodsWithoutCgroup,
      rates: includesCpu(kind) ? this.#rates : undefined,
      clock,
    });
    signal.throwIfAborted();
    return pods.map((pod) => withRuntimeStats(pod, stats));
  }
}

function withRuntimeStats(pod: PodSample, { containers, pods }: RuntimeStats): PodSample {
  return {
    ...pod,
    runtime: pod.cgroup === undefined ? pods.get(pod.sandboxId) : undefined,
    containers: pod.containers.map((each) => ({ ...each, runtime: containers.get(each.id) })),
  };
}

/** Paths of existing cgroups, keyed by pod UID and container ID. */
interface CgroupPaths {
  readonly sharedPaths: readonly string[];
  readonly pods: ReadonlyMap<string, { readonly path: string; readonly containers: ReadonlyMap<string, string> }>;
}

/** Removes the pods and containers whose cgroups no longer exist from an outdated list of the runtime's pods. */
const filterExisting = (listedPods: readonly RunningPod[], { pods }: CgroupPaths): readonly RunningPod[] =>
  listedPods.flatMap((pod) => {
    const existingContainers = pods.get(pod.uid)?.containers;
    return existingContainers === undefined
      ? []
      : [{ ...pod, containers: pod.containers.filter(({ id }) => existingContainers.has(id)) }];
  });

function indexCgroups({ shared: sharedPaths, pods }: ExistingCgroups): CgroupPaths {
  const cgroups = pods.map(({ uid, path, containers }) => {
    // Skip the cgroups of CRI-O's conmon processes, which have the same IDs as the containers' cgroups and are located
    // next to them.
    const containerCgroups = containers.filter(({ path: inner }) => !inner.includes('conmon'));
    return [uid, { path, containers: new Map(containerCgroups.map((each) => [each.id, each.path])) }] as const;
  });
  return { sharedPaths, pods: new Map(cgroups) };
}
