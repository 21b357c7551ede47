/**
 * Stores the CPU assignments in the kubelet's checkpoint file, so that a kubelet and this agent can continue from each
 * other's assignments.
 */
import { join } from 'node:path';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { isMissing } from '../../host/files/fileErrors.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { syncDirectory } from '../../host/files/syncDirectory.ts';
import { type CpuPolicyName, formatCpuCheckpoint, parseCpuCheckpoint } from '../../kubernetes/cpus/cpuCheckpoint.ts';
import {
  assignmentsProblem,
  type CpuAssignments,
  type CpuPolicy,
  findAssignment,
  initialAssignments,
} from '../../kubernetes/cpus/cpuPolicy.ts';
import type { CpuSet } from '../../kubernetes/cpus/cpuSet.ts';

const FILE_NAME = 'cpu_manager_state';

/** The durable CPU assignments, from which new containers get their CPUs. */
export class CpuManagerState {
  readonly #files: FileSystem;
  readonly #rootDir: string;
  #assignments: CpuAssignments | undefined;

  constructor(files: FileSystem, rootDir: string) {
    this.#files = files;
    this.#rootDir = rootDir;
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
    const storedAssignments = await this.#read(policy === undefined ? 'none' : 'static');
    if (policy === undefined) return;
    const assignments = storedAssignments ?? initialAssignments(policy);
    const problem = assignmentsProblem(policy, assignments);
    if (problem !== undefined)
      throw new NodeFailure(
        'InvalidConfig',
        `${problem}, please drain node and remove policy state file ${this.#path}`,
      );
    this.#assignments = assignments.shared.length === 0 ? initialAssignments(policy) : assignments;
  }

  get #path(): string {
    return join(this.#rootDir, FILE_NAME);
  }

  async #read(policyName: CpuPolicyName): Promise<CpuAssignments | undefined> {
    try {
      return parseCpuCheckpoint(await this.#files.readFile(this.#path), policyName);
    } catch (cause) {
      if (isMissing(cause)) return undefined;
      const advice = `please drain this node and delete the CPU manager checkpoint file ${JSON.stringify(this.#path)} before restarting Kubelet`;
      throw new NodeFailure(
        'InvalidConfig',
        `could not restore state from checkpoint: ${messageOf(cause)}, ${advice}`,
        {
          cause,
        },
      );
    }
  }

  /** Replaces the assignments, durably and atomically. */
  async save(assignments: CpuAssignments): Promise<void> {
    const temporaryPath = join(this.#rootDir, `.${FILE_NAME}.tmp`);
    const handle = await this.#files.open(temporaryPath, 'w', 0o600);
    try {
      await handle.writeFile(formatCpuCheckpoint('static', assignments));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await this.#files.rename(temporaryPath, this.#path);
    await syncDirectory(this.#files, this.#rootDir);
    this.#assignments = assignments;
  }

  /** Returns the exclusive CPUs of the container, or the shared CPUs if the container has no exclusive ones. */
  cpusOf(podUid: string, container: string): CpuSet | undefined {
    const assignments = this.#assignments;
    return assignments && (findAssignment(assignments, podUid, container)?.cpus ?? assignments.shared);
  }
}
