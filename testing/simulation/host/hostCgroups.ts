/** The cgroups of a host, and the agent's access to them. */
import { basename } from 'node:path';
import { cgroupProcesses } from '../../../cri/simulated/cgroupProcesses.ts';
import type { SimulatedRuntime } from '../../../cri/simulated/runtime.ts';
import { CgroupTree } from '../../../host/simulated/cgroupTree.ts';

/**
 * The agent's access to the cgroups of the host. It may create and limit those of pods, only read them, or leave them
 * to the runtime.
 */
export type CgroupAccess = 'writable' | 'readOnly' | 'unused';

export class HostCgroups {
  readonly access: CgroupAccess;
  readonly #runtime: SimulatedRuntime;
  #tree: CgroupTree;
  /** The cgroups that existed while they were read-only. An agent may have left these to the runtime for good. */
  #frozen: readonly string[] = [];

  constructor(runtime: SimulatedRuntime, kind: CgroupAccess) {
    this.access = kind;
    this.#runtime = runtime;
    this.#tree = this.#newTree();
  }

  /** The cgroups since the last boot. */
  get tree(): CgroupTree {
    return this.#tree;
  }

  /** The cgroups of pods that an agent should remove. */
  get podCgroups(): readonly string[] {
    return this.#tree.paths.filter((path) => basename(path).startsWith('pod') && !this.#frozen.includes(path));
  }

  /** Removes all cgroups, as a boot of the host does. */
  boot(): void {
    this.#tree = this.#newTree();
    this.#frozen = [];
  }

  freeze(): void {
    this.#tree.isReadOnly = true;
    this.#frozen = this.#tree.paths;
  }

  thaw(): void {
    this.#tree.isReadOnly = this.access === 'readOnly';
  }

  #newTree(): CgroupTree {
    const tree = new CgroupTree('v2', cgroupProcesses(this.#runtime));
    tree.isReadOnly = this.access === 'readOnly';
    return tree;
  }
}
