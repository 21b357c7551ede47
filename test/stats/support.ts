/** A simulated runtime whose pods have cgroups in a directory, and the collectors of their usage. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostCgroupfs } from '../../host/cgroup/cgroupfs.ts';
import { findPodCgroups } from '../../host/cgroup/usage/findPodCgroups.ts';
import { createUsageReader } from '../../host/cgroup/usage/readUsage.ts';
import { Collector, type CollectorOptions } from '../../stats/node/collector.ts';
import { runIn, type Simulation, simulate } from '../cri/simulated/support.ts';
import {
  V1_CONTAINER,
  V1_ROOT,
  V2_CONTAINER,
  V2_ROOT,
  v1Hierarchies,
  v2Hierarchies,
  writeCgroup,
} from '../host/cgroup/usage/cgroupFixtures.ts';

type Files = Readonly<Record<string, string>>;

export class StatsWorld {
  readonly root = mkdtempSync(join(tmpdir(), 'statelet-stats-'));
  readonly simulation: Simulation = simulate();
  readonly version: 'v1' | 'v2';
  readonly end = new AbortController();
  /** Contents of files in /proc. */
  readonly procfs = new Map<string, string>();

  constructor(version: 'v1' | 'v2' = 'v2') {
    this.version = version;
  }

  get hierarchies() {
    return this.version === 'v1' ? v1Hierarchies(this.root) : v2Hierarchies(this.root);
  }

  /** Creates the cgroups of the node itself. */
  async node(): Promise<void> {
    const root = this.version === 'v1' ? V1_ROOT : V2_ROOT;
    await writeCgroup(this.root, '', root, this.version);
    for (const path of ['kubepods', 'kubepods/burstable']) await this.cgroup(path);
  }

  cgroup(path: string, changed: Files = {}): Promise<void> {
    const files = { ...(this.version === 'v1' ? V1_CONTAINER : V2_CONTAINER), ...changed };
    return writeCgroup(this.root, path, files, this.version);
  }

  /** Creates a pod that runs one container, `main`. */
  async pod(name: string, changed: Files = {}): Promise<{ sandbox: string; container: string }> {
    const made = await runIn(this.simulation, name);
    const path = `kubepods/burstable/poduid-of-${name}`;
    await this.cgroup(path, changed);
    await this.cgroup(`${path}/${made.sandbox}`, {
      [this.version === 'v1' ? 'pids/cgroup.procs' : 'cgroup.procs']: '77\n',
    });
    await this.cgroup(`${path}/${made.container}`, changed);
    return made;
  }

  remove(path: string): void {
    for (const { root } of this.hierarchies) rmSync(join(root, path), { recursive: true, force: true });
  }

  collector(more: Partial<CollectorOptions> = {}): Collector {
    const { hierarchies, simulation } = this;
    return new Collector({
      cri: simulation.cri,
      readUsage: createUsageReader({ hierarchies, now: () => simulation.clock.now() }),
      findCgroups: () =>
        findPodCgroups({ location: { cgroupRoot: '', cgroupDriver: 'cgroupfs' }, hierarchies, cgroupfs: hostCgroupfs }),
      procfs: { read: (file) => this.procfs.get(file) },
      clock: simulation.clock,
      pods: () => [],
      signal: this.end.signal,
      ...more,
    });
  }

  close(): void {
    this.end.abort();
    rmSync(this.root, { recursive: true });
  }
}
