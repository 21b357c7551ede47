/** Provides access to the cgroups of the node's pods by name. With systemd, each of these cgroups is also a slice. */

import { type CgroupLocation, cgroupPath } from '../../kubernetes/resources/cgroup.ts';
import type { CgroupLimits } from '../../kubernetes/resources/cgroupLimits.ts';
import type { Cgroupfs } from './cgroupfs.ts';
import { type Cgroup, higherLimits, writeLimits } from './files.ts';
import { findHierarchy, type Hierarchy } from './hierarchies.ts';
import { relativePath } from './remove.ts';
import { type CallSystemd, setSliceLimits, startSlice, stopSlice } from './systemd.ts';

export interface PodsTreeParts {
  readonly cgroupfs: Cgroupfs;
  readonly parentCgroup: CgroupLocation;
  readonly hierarchies: readonly Hierarchy[];
  readonly systemd: CallSystemd;
}

/** Converts names such as `['kubepods', 'burstable']` to cgroups and manages the corresponding systemd slices. */
export class PodsTree {
  readonly #parts: PodsTreeParts;
  readonly #version: Hierarchy['version'];
  readonly #isSystemd: boolean;

  constructor(parts: PodsTreeParts) {
    this.#parts = parts;
    this.#version = findHierarchy(parts.hierarchies, 'cpu')?.version ?? 'v2';
    this.#isSystemd = parts.parentCgroup.cgroupDriver === 'systemd';
  }

  runtimeName(names: readonly string[]): string {
    return cgroupPath(names, this.#parts.parentCgroup);
  }

  toCgroup(names: readonly string[]): Cgroup {
    const { cgroupfs, hierarchies } = this.#parts;
    return { cgroupfs, hierarchies, path: relativePath(this.runtimeName(names)) };
  }

  /**
   * Starts the systemd slice of a cgroup if the node uses systemd. Must be called before the cgroup's directories are
   * created.
   */
  async start(names: readonly string[], limits: CgroupLimits): Promise<void> {
    if (this.#isSystemd) await startSlice(this.#parts.systemd, this.runtimeName(names), limits, this.#version);
  }

  /** Sets the given limits on an existing cgroup, whether they are higher or lower than the current ones. */
  async setLimits(names: readonly string[], limits: CgroupLimits): Promise<void> {
    if (this.#isSystemd) await setSliceLimits(this.#parts.systemd, this.runtimeName(names), limits, this.#version);
    await writeLimits(this.toCgroup(names), limits);
  }

  /** Sets only the limits that are higher than the current ones, so that the limits of child cgroups can be raised. */
  async raiseLimits(names: readonly string[], limits: CgroupLimits): Promise<void> {
    const raisedLimits = higherLimits(this.toCgroup(names), limits);
    if (Object.keys(raisedLimits).length > 0) await this.setLimits(names, raisedLimits);
  }

  /**
   * Stops the systemd slice of a cgroup if the node uses systemd. Must be called before the cgroup's directories are
   * removed.
   */
  async stop(names: readonly string[]): Promise<void> {
    if (this.#isSystemd) await stopSlice(this.#parts.systemd, this.runtimeName(names));
  }
}
