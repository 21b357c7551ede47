/**
 * Measures the disk usage of pods' volumes on demand, at a limited rate
 * (`pkg/kubelet/server/stats/volume_stat_calculator.go`).
 */

import { unlessAborted } from '../../base/async/unlessAborted.ts';
import type { Clock } from '../../base/time/clock.ts';
import { startTimeLimit } from '../../base/time/timeLimit.ts';
import { retainKeys } from '../../base/values/retainKeys.ts';
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
  /**
   * Returns the name of the plugin that manages the volume's directory. Undefined if the volume has no directory of its
   * own.
   */
  readonly findPlugin: (volume: Volume) => string | undefined;
  /** Minimum interval between measurements of a volume, in milliseconds. 0 disables the measurements. */
  readonly periodMs: number;
  /** Measures directory trees and returns the results in the same order. */
  readonly measure: (paths: readonly string[], signal: AbortSignal) => Promise<readonly TimedUsage[]>;
  /** Called after each measurement of a volume, with its duration in milliseconds. */
  readonly onMeasured?: ((ms: number) => void) | undefined;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** Returns a number in [0, 1). */
  readonly jitter: () => number;
  /** Aborts all work in progress. */
  readonly signal: AbortSignal;
}

interface PodMeasurement {
  readonly volumes: ReadonlyMap<string, VolumeMeasurement>;
  /** Monotonic time of the next measurement, in milliseconds. */
  readonly nextMeasurementAt: number;
}

interface VolumeMeasurement {
  readonly stats: VolumeStats;
  /** Whether the volume uses the node's own disk. */
  readonly isLocal: boolean;
}

interface VolumeTree {
  readonly uid: string;
  readonly volume: Volume;
  readonly path: string;
}

const NO_VOLUMES: PodVolumes = { allVolumes: [], localVolumes: [] };
/** Time to wait for a measurement before returning the previous results, in milliseconds. */
const WAIT_MS = 3_000;

/**
 * Measures volumes in a child process, one measurement at a time and only on request. Discards the results of pods that
 * have been removed.
 */
export class VolumeUsage {
  readonly #options: VolumeUsageOptions;
  #measurements = new Map<string, PodMeasurement>();
  #inProgress:
    | { readonly done: Promise<void>; readonly uids: ReadonlySet<string>; readonly end: AbortController }
    | undefined;

  constructor(options: VolumeUsageOptions) {
    this.#options = options;
  }

  /** Returns the results of the last measurement of a pod's volumes. */
  volumesOf(uid: string): PodVolumes {
    const measurement = this.#measurements.get(uid);
    if (measurement === undefined) return NO_VOLUMES;
    const volumes = [...measurement.volumes.values()];
    const toVolumeStats = (volumeMeasurements: readonly VolumeMeasurement[]) =>
      volumeMeasurements.map(({ stats }) => stats);
    return {
      allVolumes: toVolumeStats(volumes),
      localVolumes: toVolumeStats(volumes.filter(({ isLocal }) => isLocal)),
    };
  }

  /**
   * Starts measuring the pods whose next measurement is due, unless a measurement is in progress. Waits for the results
   * for a limited time.
   */
  async refresh(): Promise<void> {
    const { periodMs, signal } = this.#options;
    if (periodMs <= 0) return;
    this.#startMeasurement();
    if (this.#inProgress === undefined) return;
    const limit = startTimeLimit(WAIT_MS);
    await unlessAborted(this.#inProgress.done, AbortSignal.any([signal, limit.signal])).catch(() => {});
    limit.clear();
  }

  /**
   * Aborts the measurement of a terminating pod, because a volume cannot be unmounted while a process is accessing it.
   */
  abortPod(uid: string): void {
    this.#measurements.delete(uid);
    if (this.#inProgress?.uids.has(uid)) this.#inProgress.end.abort();
  }

  #startMeasurement(): void {
    const { pods, clock, signal } = this.#options;
    const runningPods = pods().filter(isRunning);
    const uids = new Set(runningPods.map(({ metadata }) => metadata.uid));
    retainKeys(this.#measurements, uids);
    if (this.#inProgress !== undefined) return;
    const now = clock.monotonic();
    const due = runningPods.filter(
      ({ metadata }) => now >= (this.#measurements.get(metadata.uid)?.nextMeasurementAt ?? now),
    );
    if (due.length === 0) return;
    const abortController = new AbortController();
    const measurement = this.#measurePods(due, AbortSignal.any([signal, abortController.signal]))
      // A failed measurement is repeated on the next request, because `nextMeasurementAt` is unchanged.
      .catch(() => {})
      .finally(() => {
        this.#inProgress = undefined;
      });
    this.#inProgress = {
      done: measurement,
      uids: new Set(due.map(({ metadata }) => metadata.uid)),
      end: abortController,
    };
  }

  async #measurePods(pods: readonly Pod[], signal: AbortSignal): Promise<void> {
    const { measure: measureTrees, clock, periodMs, jitter, onMeasured } = this.#options;
    const volumeTrees = pods.flatMap((pod) => this.#listTrees(pod));
    const treePaths = volumeTrees.map(({ path }) => path);
    const usageResults = treePaths.length > 0 ? await measureTrees(treePaths, signal) : [];
    for (const { ms } of usageResults) onMeasured?.(ms);
    const stats = await Promise.all(
      volumeTrees.map((tree, index) => this.#readStats(tree, usageResults[index], signal)),
    );
    signal.throwIfAborted();
    const measurementsByPod = Map.groupBy(
      stats.filter((each) => each !== undefined),
      ({ uid }) => uid,
    );
    for (const { metadata } of pods) {
      const { uid } = metadata;
      const measuredVolumes = (measurementsByPod.get(uid) ?? []).map(
        ({ stats, isLocal }) => [stats.name, { stats, isLocal }] as const,
      );
      const previousVolumes = this.#measurements.get(uid)?.volumes ?? [];
      const nextMeasurementAt = clock.monotonic() + periodMs * (1 + jitter());
      this.#measurements.set(uid, { volumes: new Map([...previousVolumes, ...measuredVolumes]), nextMeasurementAt });
    }
  }

  /**
   * Returns the directory trees to measure. The agent itself writes the contents of every volume other than an
   * emptyDir, so such a volume is measured only once.
   */
  #listTrees({ metadata: { uid }, spec }: Pod): VolumeTree[] {
    const { layout, findPlugin } = this.#options;
    const previousVolumes = this.#measurements.get(uid)?.volumes;
    return (spec.volumes ?? []).flatMap((volume) => {
      const plugin = findPlugin(volume);
      if (plugin === undefined || (previousVolumes?.has(volume.name) && volume.emptyDir === undefined)) return [];
      if (volume.hostPath !== undefined) return [];
      return [{ uid, volume, path: layout.volumeDir(uid, plugin, volume.name) }];
    });
  }

  async #readStats({ uid, volume, path }: VolumeTree, usageResult: UsageResult | undefined, signal: AbortSignal) {
    if (usageResult === undefined || 'failure' in usageResult) return undefined;
    const at = this.#options.clock.now();
    const stats = { ...fsStats(at, await readFileSystemUsage(path, signal), usageResult), name: volume.name };
    return { uid, stats, isLocal: usesNodeDisk(volume) };
  }
}

const isRunning = ({ metadata, status }: Pod): boolean =>
  !metadata.deletionTimestamp && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';

/** Whether a volume uses the node's own disk (`IsLocalEphemeralVolume` in `pkg/volume/util/util.go`). */
const usesNodeDisk = ({ emptyDir, configMap }: Volume): boolean =>
  configMap !== undefined || (emptyDir !== undefined && !emptyDir.medium);
