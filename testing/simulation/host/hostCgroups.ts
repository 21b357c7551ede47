/** The cgroups of a host, and what its agent can do with them. */
import { basename } from 'node:path';
import { cgroupProcesses } from '../../../cri/simulated/cgroupProcesses.ts';
import type { SimulatedRuntime } from '../../../cri/simulated/runtime.ts';
import { CgroupTree } from '../../../host/simulated/cgroupTree.ts';

/** What an agent can do with the cgroups of a host: make and limit those of pods, only see them, or leave them to the runtime. */
export type CgroupsHere = 'writable' | 'readOnly' | 'unused';

export class HostCgroups {
  readonly kind: CgroupsHere;
  readonly #runtime: SimulatedRuntime;
  #tree: CgroupTree;
  /** Those that an agent could not change for a while: it may have left them to the runtime for good. */
  #frozen: readonly string[] = [];

  constructor(runtime: SimulatedRuntime, kind: CgroupsHere) {
    this.kind = kind;
    this.#runtime = runtime;
    this.#tree = this.#newTree();
  }

  /** Those of the present boot. */
  get tree(): CgroupTree {
    return this.#tree;
  }

  /** Those of pods that an agent should remove. */
  get ofPods(): readonly string[] {
    return this.#tree.paths.filter((path) => basename(path).startsWith('pod') && !this.#frozen.includes(path));
  }

  /** After a start of the host there are none. */
  boot(): void {
    this.#tree = this.#newTree();
    this.#frozen = [];
  }

  /** The agent can change none. */
  freeze(): void {
    this.#tree.isReadOnly = true;
    this.#frozen = this.#tree.paths;
  }

  thaw(): void {
    this.#tree.isReadOnly = this.kind === 'readOnly';
  }

  #newTree(): CgroupTree {
    const tree = new CgroupTree('v2', cgroupProcesses(this.#runtime));
    tree.isReadOnly = this.kind === 'readOnly';
    return tree;
  }
}
