/**
 * Stores the CPU assignments in the kubelet's checkpoint file, so that a kubelet and this agent can continue from each
 * other's assignments.
 */
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { formatCpuCheckpoint, parseCpuCheckpoint } from '../../kubernetes/cpus/cpuCheckpoint.ts';
import {
  assignmentsProblem,
  type CpuAssignments,
  type CpuPolicy,
  findAssignment,
  initialAssignments,
} from '../../kubernetes/cpus/cpuPolicy.ts';
import type { CpuSet } from '../../kubernetes/cpus/cpuSet.ts';
import { CheckpointFile } from '../store/checkpointFile.ts';

/** The durable CPU assignments, from which new containers get their CPUs. */
export class CpuManagerState {
  readonly #file: CheckpointFile;
  #assignments: CpuAssignments | undefined;

  constructor(files: FileSystem, rootDir: string) {
    this.#file = new CheckpointFile(files, rootDir, { name: 'cpu_manager_state', manager: 'CPU manager' });
  }

  /** Undefined if the node does not assign CPUs. */
  get assignments(): CpuAssignments | undefined {
    return this.#assignments;
  }

  /**
   * Reads the assignments of the previous agent. Rejects with the kubelet's message if the file is damaged, or
   * contradicts the policy or the host. Without a policy, only checks that the previous agent had no policy either.
   */
  async load(policy: CpuPolicy | undefined): Promise<void> {
    const policyName = policy === undefined ? 'none' : 'static';
    const storedAssignments = await this.#file.read((text) => parseCpuCheckpoint(text, policyName));
    if (policy === undefined) return;
    const assignments = storedAssignments ?? initialAssignments(policy);
    const problem = assignmentsProblem(policy, assignments);
    if (problem !== undefined) throw this.#file.contradiction(problem);
    this.#assignments = assignments.shared.length === 0 ? initialAssignments(policy) : assignments;
  }

  /** Replaces the assignments, durably and atomically. */
  async save(assignments: CpuAssignments): Promise<void> {
    await this.#file.write(formatCpuCheckpoint('static', assignments));
    this.#assignments = assignments;
  }

  /** Returns the exclusive CPUs of the container, or the shared CPUs if the container has no exclusive ones. */
  cpusOf(podUid: string, container: string): CpuSet | undefined {
    const assignments = this.#assignments;
    return assignments && (findAssignment(assignments, podUid, container)?.cpus ?? assignments.shared);
  }
}
