/** The one who collects what the node and its pods use: for the summary, for metrics, for whoever has to decide by it. */

import { nextTurn } from '../base/nextTurn.ts';
import type { Cri } from '../cri/calls.ts';
import type { Cgroupfs } from '../host/cgroup/cgroupfs.ts';
import type { UsagePart } from '../host/cgroup/usage/cgroupUsage.ts';
import type { CgroupsFound } from '../host/cgroup/usage/podCgroupsFound.ts';
import type { ReadUsage } from '../host/cgroup/usage/readUsage.ts';
import { parseNetDev } from '../host/usage/netDev.ts';
import type { Pod } from '../kubernetes/api/schema/pod.ts';
import { Moment } from './moment.ts';
import { Rates } from './rates.ts';
import { type RunningContainer, type RunningPod, runningPods, toldPods } from './runtimeLists.ts';
import { type RuntimeStats, runtimeStats } from './runtimeStats.ts';
import type { CgroupSample, ContainerSample, NetworkSample, NodeSample, PodSample, SampleKind } from './sample.ts';
import type { StatsClock } from './statsClock.ts';

export interface CollectorParts {
  readonly cri: Pick<Cri, 'listPodSandbox' | 'listContainers' | 'listContainerStats' | 'listPodSandboxStats'>;
  readonly readUsage: ReadUsage;
  /** Absent: pods have no cgroups here. */
  readonly findCgroups?: (() => CgroupsFound) | undefined;
  /** Finds the path of the agent's own cgroup. Absent or undefined if no cgroup has the agent's usage. */
  readonly findAgent?: (() => string | undefined) | undefined;
  readonly procfs: Pick<Cgroupfs, 'read'>;
  readonly clock: StatsClock;
  /** The pods of the node with their status, for when the runtime is away. */
  readonly pods: () => readonly Pod[];
  /** Ends all that is underway. */
  readonly signal: AbortSignal;
}

/** How old a sample may be that answers whoever does not ask for another. */
const SAMPLE_MS = 10_000;
/** A runtime that does not answer within it is taken for away, in milliseconds. */
const CALL_MS = 5_000;
/** So many pods are read in a turn of the event loop: some 5 ms, as each takes more than a millisecond. */
const PODS_A_TURN = 4;

const PARTS: Readonly<Record<SampleKind, readonly UsagePart[] | undefined>> = {
  everything: undefined,
  cpuAndMemory: ['cpu', 'memory', 'pressure'],
};

/**
 * Takes samples when it is asked for them: one at a time, shared by all who ask meanwhile. It keeps the last of each kind,
 * and nothing of pods that are gone. What fails leaves what else is known: it never rejects but by a signal.
 */
export class Collector {
  readonly #parts: CollectorParts;
  readonly #rates = new Rates();
  readonly #samples: Readonly<Record<SampleKind, Moment<NodeSample>>>;
  /** What ran when it was looked last. */
  #last: readonly RunningPod[] | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: CollectorParts) {
    this.#parts = parts;
    const moment = (kind: SampleKind) =>
      new Moment({ make: () => this.#inTurn(() => this.#take(kind)), clock: parts.clock });
    this.#samples = { everything: moment('everything'), cpuAndMemory: moment('cpuAndMemory') };
  }

  /** One that was begun so many milliseconds ago at most; one of everything answers who asks for less. */
  async sample(kind: SampleKind, signal: AbortSignal, maxAgeMs = SAMPLE_MS): Promise<NodeSample> {
    return this.#samples.everything.latest(maxAgeMs) ?? this.#samples[kind].get(maxAgeMs, signal);
  }

  /** The rates of two at a time would be those of neither. */
  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(act);
    this.#turn = done.catch(() => {});
    return done;
  }

  async #take(kind: SampleKind): Promise<NodeSample> {
    const { clock, findCgroups, findAgent, signal } = this.#parts;
    signal.throwIfAborted();
    const takenAt = clock.now();
    const { told, failure } = await this.#told();
    const found = placesOf(findCgroups?.() ?? { shared: [], pods: [] });
    const pods = failure === undefined ? told : stillThere(told, found);
    this.#last = pods;
    const hasRates = this.#rates.begin(clock.monotonic());
    const [allPods, ...tiers] = found.shared.map((path) => this.#cgroup(path, kind));
    const root = this.#cgroup('', kind);
    const own = findAgent?.();
    const read: PodSample[] = [];
    for (const [at, pod] of pods.entries()) {
      if (at % PODS_A_TURN === 0) await nextTurn();
      read.push(this.#pod(pod, kind, found));
    }
    return {
      kind,
      takenAt,
      hasRates,
      failure,
      root,
      allPods,
      tiers: tiers.filter((tier) => tier !== undefined),
      // The rates of one path are computed once for each sample.
      agent: own === undefined ? undefined : own === '' ? root : this.#cgroup(own, kind),
      network: kind === 'everything' ? this.#network(1) : undefined,
      pods: await this.#withRuntime(read),
    };
  }

  /** What runs; where the runtime does not say, what did. */
  async #told(): Promise<{ readonly told: readonly RunningPod[]; readonly failure?: unknown }> {
    const { cri, signal, pods } = this.#parts;
    try {
      return { told: await runningPods(cri, { signal, timeoutMs: CALL_MS }) };
    } catch (failure) {
      signal.throwIfAborted();
      return { told: this.#last ?? toldPods(pods()), failure };
    }
  }

  #pod(pod: RunningPod, kind: SampleKind, { pods }: Places): PodSample {
    const { path, containers: inside } = pods.get(pod.uid) ?? {};
    const sandbox = kind === 'everything' ? inside?.get(pod.sandboxId) : undefined;
    const sandboxCgroup = sandbox === undefined ? undefined : this.#cgroup(sandbox, kind);
    const pid = sandboxCgroup?.usage.pids?.processes?.[0];
    const container = (each: RunningContainer): ContainerSample => {
      const own = inside?.get(each.id);
      return { ...each, cgroup: own === undefined ? undefined : this.#cgroup(own, kind, each.createdAt) };
    };
    return {
      ...pod,
      cgroup: path === undefined ? undefined : this.#cgroup(path, kind, pod.createdAt),
      sandboxCgroup,
      network: pid === undefined ? undefined : this.#network(pid),
      containers: pod.containers.map(container),
    };
  }

  #cgroup(path: string, kind: SampleKind, madeAt?: number): CgroupSample | undefined {
    const { readUsage, clock } = this.#parts;
    const at = clock.monotonic();
    const usage = readUsage(path, PARTS[kind]);
    if (usage === undefined) return undefined;
    const usedNs = usage.cpu?.usageNs;
    const madeAgoMs = madeAt === undefined ? undefined : Math.max(0, usage.readAt - madeAt);
    const nanoCores = usedNs === undefined ? undefined : this.#rates.of(path, { usedNs, at }, madeAgoMs);
    return { path: `/${path}`, usage, nanoCores };
  }

  #network(pid: number): NetworkSample | undefined {
    const { procfs, clock } = this.#parts;
    const text = procfs.read(`/proc/${pid}/net/dev`);
    return text === undefined ? undefined : { readAt: clock.now(), interfaces: parseNetDev(text) };
  }

  /** The runtime is asked about pods and containers without cgroups: it costs more than to read these. */
  async #withRuntime(pods: readonly PodSample[]): Promise<readonly PodSample[]> {
    const lacksPods = pods.some(({ cgroup }) => cgroup === undefined);
    const lacks = lacksPods || pods.some(({ containers }) => containers.some(({ cgroup }) => cgroup === undefined));
    if (!lacks) return pods;
    const { cri, signal, clock } = this.#parts;
    const options = { signal, timeoutMs: CALL_MS };
    const stats = await runtimeStats(cri, options, { lacksPods, rates: this.#rates, clock });
    signal.throwIfAborted();
    return pods.map((pod) => withStats(pod, stats));
  }
}

function withStats(pod: PodSample, { containers, pods }: RuntimeStats): PodSample {
  return {
    ...pod,
    runtime: pod.cgroup === undefined ? pods.get(pod.sandboxId) : undefined,
    containers: pod.containers.map((each) => ({ ...each, runtime: containers.get(each.id) })),
  };
}

/** Where cgroups are, by the uids of pods and the ids of containers. */
interface Places {
  readonly shared: readonly string[];
  readonly pods: ReadonlyMap<string, { readonly path: string; readonly containers: ReadonlyMap<string, string> }>;
}

/** Of what is not told any more only cgroups are left to show that it is there. */
const stillThere = (told: readonly RunningPod[], { pods }: Places): readonly RunningPod[] =>
  told.flatMap((pod) => {
    const inside = pods.get(pod.uid)?.containers;
    return inside === undefined ? [] : [{ ...pod, containers: pod.containers.filter(({ id }) => inside.has(id)) }];
  });

function placesOf({ shared, pods }: CgroupsFound): Places {
  const places = pods.map(({ uid, path, containers }) => {
    // CRI-O's monitors have cgroups of their own beside those of their containers, by the same ids.
    const own = containers.filter(({ path: inner }) => !inner.includes('conmon'));
    return [uid, { path, containers: new Map(own.map((each) => [each.id, each.path])) }] as const;
  });
  return { shared, pods: new Map(places) };
}
