/**
 * Measures the disk usage of pods' volumes on demand, at a limited rate
 * (`pkg/kubelet/server/stats/volume_stat_calculator.go`).
 */

import type { Clock } from '../../base/clock.ts';
import { retainKeys } from '../../base/retainKeys.ts';
import { startTimeLimit } from '../../base/timeLimit.ts';
import { unlessAborted } from '../../base/unlessAborted.ts';
import type { Layout } from '../../host/pods/layout.ts';
import type { TimedUsage, UsageResult } from '../../host/usage/diskUsages.ts';
import { readFileSystemUsage } from '../../host/usage/fileSystemUsage.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { Volume } from '../../kubernetes/api/schema/volume.ts';
import type { VolumeStats } from '../node/summary.ts';
import { fsStats, type PodVolumes } from './podFiles.ts';

export interface VolumeUsageOptions {
  readonly pods: () => readonly Pod[];
  readonly layout: Pick<Layout, 'volumeDir'>;
  /** Returns the plugin whose directory contains the volume. Undefined if the volume has no directory of its own. */
  readonly pluginOf: (volume: Volume) => string | undefined;
  /** Minimum interval between measurements of a volume, in milliseconds. 0 disables them. */
  readonly periodMs: number;
  /** Measures directory trees and returns the results in the same order. */
  readonly measure: (paths: readonly string[], signal: AbortSignal) => Promise<readonly TimedUsage[]>;
  /** Called with the duration of the measurement of each volume, in milliseconds. */
  readonly onMeasured?: ((ms: number) => void) | undefined;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** Returns a number in [0, 1). */
  readonly jitter: () => number;
  /** Aborts all work in progress. */
  readonly signal: AbortSignal;
}

interface MeasuredPod {
  readonly volumes: ReadonlyMap<string, MeasuredVolume>;
  /** Monotonic time of the next measurement, in milliseconds. */
  readonly dueAt: number;
}

interface MeasuredVolume {
  readonly stats: VolumeStats;
  /** Whether the volume uses the node's own disk. */
  readonly isLocal: boolean;
}

interface Tree {
  readonly uid: string;
  readonly volume: Volume;
  readonly path: string;
}

const NO_VOLUMES: PodVolumes = { all: [], local: [] };
/** Time to wait for a measurement before returning the previous results, in milliseconds. */
const WAIT_MS = 3_000;

/**
 * Runs one measurement at a time, in a child process. Measures nothing without requests, and forgets pods that have
 * been removed.
 */
export class VolumeUsage {
  readonly #parts: VolumeUsageOptions;
  #measured = new Map<string, MeasuredPod>();
  #inProgress:
    | { readonly done: Promise<void>; readonly uids: ReadonlySet<string>; readonly end: AbortController }
    | undefined;

  constructor(parts: VolumeUsageOptions) {
    this.#parts = parts;
  }

  /** Returns the results of the last measurement. */
  volumesOf(uid: string): PodVolumes {
    const measuredPod = this.#measured.get(uid);
    if (measuredPod === undefined) return NO_VOLUMES;
    const volumes = [...measuredPod.volumes.values()];
    const statsOf = (some: readonly MeasuredVolume[]) => some.map(({ stats }) => stats);
    return { all: statsOf(volumes), local: statsOf(volumes.filter(({ isLocal }) => isLocal)) };
  }

  /** Starts a measurement of the pods that are due and waits for it up to a limit. */
  async refresh(): Promise<void> {
    const { periodMs, signal } = this.#parts;
    if (periodMs <= 0) return;
    this.#startMeasurement();
    if (this.#inProgress === undefined) return;
    const limit = startTimeLimit(WAIT_MS);
    await unlessAborted(this.#inProgress.done, AbortSignal.any([signal, limit.signal])).catch(() => {});
    limit.clear();
  }

  /** Aborts the measurement of a pod that stops, because a volume cannot be unmounted while a process is inside it. */
  abortPod(uid: string): void {
    this.#measured.delete(uid);
    if (this.#inProgress?.uids.has(uid)) this.#inProgress.end.abort();
  }

  #startMeasurement(): void {
    const { pods, clock, signal } = this.#parts;
    const runningPods = pods().filter(isAlive);
    const uids = new Set(runningPods.map(({ metadata }) => metadata.uid));
    retainKeys(this.#measured, uids);
    if (this.#inProgress !== undefined) return;
    const now = clock.monotonic();
    const due = runningPods.filter(({ metadata }) => now >= (this.#measured.get(metadata.uid)?.dueAt ?? now));
    if (due.length === 0) return;
    const abortController = new AbortController();
    const done = this.#measure(due, AbortSignal.any([signal, abortController.signal]))
      // Volumes that could not be measured are measured again on the next request.
      .catch(() => {})
      .finally(() => {
        this.#inProgress = undefined;
      });
    this.#inProgress = { done, uids: new Set(due.map(({ metadata }) => metadata.uid)), end: abortController };
  }

  async #measure(pods: readonly Pod[], signal: AbortSignal): Promise<void> {
    const { measure: count, clock, periodMs, jitter, onMeasured } = this.#parts;
    const trees = pods.flatMap((pod) => this.#treesOf(pod));
    const paths = trees.map(({ path }) => path);
    const counted = paths.length > 0 ? await count(paths, signal) : [];
    for (const { ms } of counted) onMeasured?.(ms);
    const stats = await Promise.all(trees.map((tree, at) => this.#statsOf(tree, counted[at], signal)));
    signal.throwIfAborted();
    const byPod = Map.groupBy(
      stats.filter((each) => each !== undefined),
      ({ uid }) => uid,
    );
    for (const { metadata } of pods) {
      const { uid } = metadata;
      const measured = (byPod.get(uid) ?? []).map(({ stats, isLocal }) => [stats.name, { stats, isLocal }] as const);
      const previousVolumes = this.#measured.get(uid)?.volumes ?? [];
      const dueAt = clock.monotonic() + periodMs * (1 + jitter());
      this.#measured.set(uid, { volumes: new Map([...previousVolumes, ...measured]), dueAt });
    }
  }

  /** Returns the trees to measure. A volume whose content the agent writes is measured only once. */
  #treesOf({ metadata: { uid }, spec }: Pod): Tree[] {
    const { layout, pluginOf } = this.#parts;
    const measuredVolumes = this.#measured.get(uid)?.volumes;
    return (spec.volumes ?? []).flatMap((volume) => {
      const plugin = pluginOf(volume);
      if (plugin === undefined || (measuredVolumes?.has(volume.name) && volume.emptyDir === undefined)) return [];
      if (volume.hostPath !== undefined) return [];
      return [{ uid, volume, path: layout.volumeDir(uid, plugin, volume.name) }];
    });
  }

  async #statsOf({ uid, volume, path }: Tree, counted: UsageResult | undefined, signal: AbortSignal) {
    if (counted === undefined || 'failure' in counted) return undefined;
    const at = this.#parts.clock.now();
    const stats = { ...fsStats(at, await readFileSystemUsage(path, signal), counted), name: volume.name };
    return { uid, stats, isLocal: usesNodeDisk(volume) };
  }
}

const isAlive = ({ metadata, status }: Pod): boolean =>
  !metadata.deletionTimestamp && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';

/** Whether a volume uses the node's own disk (`IsLocalEphemeralVolume` in `pkg/volume/util/util.go`). */
const usesNodeDisk = ({ emptyDir, configMap }: Volume): boolean =>
  configMap !== undefined || (emptyDir !== undefined && !emptyDir.medium);
