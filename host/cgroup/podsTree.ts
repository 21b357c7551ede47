/** The node's tree of cgroups by the names in it: as directories and, where systemd makes them, also as slices. */

import { type CgroupPlace, cgroupPath } from '../../kubernetes/resources/cgroup.ts';
import type { CgroupLimits } from '../../kubernetes/resources/cgroupLimits.ts';
import type { Cgroupfs } from './cgroupfs.ts';
import { type Cgroup, writeLimits } from './files.ts';
import { type Hierarchy, hierarchyOf } from './hierarchies.ts';
import { relativePath } from './remove.ts';
import { type CallSystemd, setSlice, startSlice, stopSlice } from './systemd.ts';

export interface PodsTreeParts {
  readonly cgroupfs: Cgroupfs;
  readonly place: CgroupPlace;
  readonly hierarchies: readonly Hierarchy[];
  readonly systemd: CallSystemd;
}

/** Names cgroups as the runtime does (`['kubepods', 'burstable']`), and tells systemd what becomes of them. */
export class PodsTree {
  readonly #parts: PodsTreeParts;
  readonly #version: Hierarchy['version'];
  readonly #isSystemd: boolean;

  constructor(parts: PodsTreeParts) {
    this.#parts = parts;
    this.#version = hierarchyOf(parts.hierarchies, 'cpu')?.version ?? 'v2';
    this.#isSystemd = parts.place.cgroupDriver === 'systemd';
  }

  nameOf(names: readonly string[]): string {
    return cgroupPath(names, this.#parts.place);
  }

  cgroupOf(names: readonly string[]): Cgroup {
    const { cgroupfs, hierarchies } = this.#parts;
    return { cgroupfs, hierarchies, path: relativePath(this.nameOf(names)) };
  }

  /** Before its directories are made. */
  async start(names: readonly string[], limits: CgroupLimits): Promise<void> {
    if (this.#isSystemd) await startSlice(this.#parts.systemd, this.nameOf(names), limits, this.#version);
  }

  /** Gives one that is there exactly these limits. */
  async set(names: readonly string[], limits: CgroupLimits): Promise<void> {
    if (this.#isSystemd) await setSlice(this.#parts.systemd, this.nameOf(names), limits, this.#version);
    await writeLimits(this.cgroupOf(names), limits);
  }

  /** Before its directories are removed. */
  async stop(names: readonly string[]): Promise<void> {
    if (this.#isSystemd) await stopSlice(this.#parts.systemd, this.nameOf(names));
  }
}
