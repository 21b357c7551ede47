/** What the volumes of pods take (`pkg/kubelet/server/stats/volume_stat_calculator.go`): counted now and then, when it is asked for. */

import { keepOnly } from '../base/keepOnly.ts';
import { startLimit } from '../base/limit.ts';
import { unlessAborted } from '../base/unlessAborted.ts';
import type { Layout } from '../host/pods/layout.ts';
import type { Counted } from '../host/usage/diskUsages.ts';
import { fileSystemUsage } from '../host/usage/fileSystemUsage.ts';
import type { Pod } from '../kubernetes/api/schema/pod.ts';
import type { Volume } from '../kubernetes/api/schema/volume.ts';
import { fsStats, type PodVolumes } from './podFiles.ts';
import type { StatsClock } from './statsClock.ts';
import type { VolumeStats } from './summary.ts';

export interface VolumeUsageParts {
  readonly pods: () => readonly Pod[];
  readonly layout: Pick<Layout, 'volumeDir'>;
  /** The plugin that has a volume in a folder of its own; undefined: none has. */
  readonly pluginOf: (volume: Volume) => string | undefined;
  /** How often a volume is counted at most, in milliseconds; 0: never. */
  readonly periodMs: number;
  /** Walks trees; in their order. */
  readonly count: (paths: readonly string[], signal: AbortSignal) => Promise<readonly Counted[]>;
  readonly clock: StatsClock;
  /** At least 0 and less than 1. */
  readonly jitter: () => number;
  /** Ends all that is underway. */
  readonly signal: AbortSignal;
}

interface KnownPod {
  readonly volumes: ReadonlyMap<string, KnownVolume>;
  /** When it is counted again. */
  readonly dueAt: number;
}

interface KnownVolume {
  readonly stats: VolumeStats;
  /** Whether it takes of the node's own disk. */
  readonly isLocal: boolean;
}

interface Tree {
  readonly uid: string;
  readonly volume: Volume;
  readonly path: string;
}

const NONE: PodVolumes = { all: [], local: [] };
/** So long whoever asks waits for what is being counted, in milliseconds; then it is what is known. */
const PATIENCE_MS = 3_000;

/** One count is under way at a time, in a process of its own; nothing is counted while nobody asks, nor kept of pods that are gone. */
export class VolumeUsage {
  readonly #parts: VolumeUsageParts;
  #known = new Map<string, KnownPod>();
  #underway:
    | { readonly done: Promise<void>; readonly uids: ReadonlySet<string>; readonly end: AbortController }
    | undefined;

  constructor(parts: VolumeUsageParts) {
    this.#parts = parts;
  }

  /** As they were last counted. */
  of(uid: string): PodVolumes {
    const known = this.#known.get(uid);
    if (known === undefined) return NONE;
    const volumes = [...known.volumes.values()];
    const statsOf = (some: readonly KnownVolume[]) => some.map(({ stats }) => stats);
    return { all: statsOf(volumes), local: statsOf(volumes.filter(({ isLocal }) => isLocal)) };
  }

  /** Counts what has not been counted lately; it is waited for a while. */
  async refresh(): Promise<void> {
    const { periodMs, signal } = this.#parts;
    if (periodMs <= 0) return;
    this.#begin();
    if (this.#underway === undefined) return;
    const limit = startLimit(PATIENCE_MS);
    await unlessAborted(this.#underway.done, AbortSignal.any([signal, limit.signal])).catch(() => {});
    limit.end();
  }

  /** The pod ends: what is mounted for it cannot be unmounted while somebody is in it. */
  leave(uid: string): void {
    this.#known.delete(uid);
    if (this.#underway?.uids.has(uid)) this.#underway.end.abort();
  }

  #begin(): void {
    const { pods, clock, signal } = this.#parts;
    const living = pods().filter(isAlive);
    const uids = new Set(living.map(({ metadata }) => metadata.uid));
    keepOnly(this.#known, uids);
    if (this.#underway !== undefined) return;
    const now = clock.monotonic();
    const due = living.filter(({ metadata }) => now >= (this.#known.get(metadata.uid)?.dueAt ?? now));
    if (due.length === 0) return;
    const end = new AbortController();
    const done = this.#count(due, AbortSignal.any([signal, end.signal]))
      // What could not be counted is counted when it is asked for again.
      .catch(() => {})
      .finally(() => {
        this.#underway = undefined;
      });
    this.#underway = { done, uids: new Set(due.map(({ metadata }) => metadata.uid)), end };
  }

  async #count(pods: readonly Pod[], signal: AbortSignal): Promise<void> {
    const { count, clock, periodMs, jitter } = this.#parts;
    const trees = pods.flatMap((pod) => this.#treesOf(pod));
    const paths = trees.map(({ path }) => path);
    const counted = paths.length > 0 ? await count(paths, signal) : [];
    const found = await Promise.all(trees.map((tree, at) => this.#statsOf(tree, counted[at], signal)));
    signal.throwIfAborted();
    const byPod = Map.groupBy(
      found.filter((each) => each !== undefined),
      ({ uid }) => uid,
    );
    for (const { metadata } of pods) {
      const { uid } = metadata;
      const news = (byPod.get(uid) ?? []).map(({ stats, isLocal }) => [stats.name, { stats, isLocal }] as const);
      const before = this.#known.get(uid)?.volumes ?? [];
      const dueAt = clock.monotonic() + periodMs * (1 + jitter());
      this.#known.set(uid, { volumes: new Map([...before, ...news]), dueAt });
    }
  }

  /** Those whose content the agent writes are counted once. */
  #treesOf({ metadata: { uid }, spec }: Pod): Tree[] {
    const { layout, pluginOf } = this.#parts;
    const known = this.#known.get(uid)?.volumes;
    return (spec.volumes ?? []).flatMap((volume) => {
      const plugin = pluginOf(volume);
      if (plugin === undefined || (known?.has(volume.name) && volume.emptyDir === undefined)) return [];
      if (volume.hostPath !== undefined) return [];
      return [{ uid, volume, path: layout.volumeDir(uid, plugin, volume.name) }];
    });
  }

  async #statsOf({ uid, volume, path }: Tree, counted: Counted | undefined, signal: AbortSignal) {
    if (counted === undefined || 'failure' in counted) return undefined;
    const at = this.#parts.clock.now();
    const stats = { ...fsStats(at, await fileSystemUsage(path, signal), counted), name: volume.name };
    return { uid, stats, isLocal: takesOfNode(volume) };
  }
}

const isAlive = ({ metadata, status }: Pod): boolean =>
  !metadata.deletionTimestamp && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';

/** `IsLocalEphemeralVolume` in `pkg/volume/util/util.go`. */
const takesOfNode = ({ emptyDir, configMap }: Volume): boolean =>
  configMap !== undefined || (emptyDir !== undefined && !emptyDir.medium);
