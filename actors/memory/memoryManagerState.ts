/**
 * Stores the memory assignments in the kubelet's checkpoint file, so that a kubelet and this agent can continue from
 * each other's assignments.
 */
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { type CpuSet, unionOf } from '../../kubernetes/cpus/cpuSet.ts';
import {
  findMemory,
  initialMemoryAssignments,
  type MemoryAssignments,
  type MemoryPolicy,
  memoryProblem,
  withPresentSizes,
} from '../../kubernetes/numaMemory/memoryAssignments.ts';
import { formatMemoryCheckpoint, parseMemoryCheckpoint } from '../../kubernetes/numaMemory/memoryCheckpoint.ts';
import { CheckpointFile } from '../store/checkpointFile.ts';

/** The durable memory assignments, from which new containers get their NUMA nodes. */
export class MemoryManagerState {
  readonly #file: CheckpointFile;
  #assignments: MemoryAssignments | undefined;

  constructor(files: FileSystem, rootDir: string) {
    this.#file = new CheckpointFile(files, rootDir, { name: 'memory_manager_state', manager: 'memory manager' });
  }

  /** Undefined if the node does not assign NUMA memory. */
  get assignments(): MemoryAssignments | undefined {
    return this.#assignments;
  }

  /**
   * Reads the assignments that the previous agent persisted. Rejects with the kubelet's message if the file is damaged,
   * or contradicts the policy or the host. Accepts small changes in the memory size of a NUMA node. Without a policy,
   * only checks that the previous agent had no policy either.
   */
  async load(policy: MemoryPolicy | undefined): Promise<void> {
    const policyName = policy === undefined ? 'None' : 'Static';
    const storedAssignments = await this.#file.read((text) => parseMemoryCheckpoint(text, policyName));
    if (policy === undefined) return;
    const assignments = withPresentSizes(policy, storedAssignments ?? initialMemoryAssignments(policy));
    const problem = memoryProblem(policy, assignments);
    if (problem !== undefined) throw this.#file.contradiction(problem);
    this.#assignments = assignments.nodes.length === 0 ? initialMemoryAssignments(policy) : assignments;
  }

  /** Replaces the assignments, durably and atomically. */
  async save(assignments: MemoryAssignments): Promise<void> {
    await this.#file.write(formatMemoryCheckpoint('Static', assignments));
    this.#assignments = assignments;
  }

  /** Returns the NUMA nodes of a container's memory. Empty if the container may use the memory of any node. */
  numaNodesOf(podUid: string, container: string): CpuSet {
    const { blocks = [] } = (this.#assignments && findMemory(this.#assignments, podUid, container)) ?? {};
    return unionOf(...blocks.map(({ numaNodes }) => numaNodes));
  }
}
