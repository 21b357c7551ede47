/** The cgroup that this process is in. */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { messageOf } from '../../base/failure.ts';
import { type Cgroupfs, hostCgroupfs } from './cgroupfs.ts';
import { makeCgroup } from './files.ts';
import type { Hierarchy } from './hierarchies.ts';

/**
 * The path of the agent's own cgroup below the root of the hierarchy, by the text of `/proc/self/cgroup` (`getContainer`
 * in `pkg/kubelet/cm/container_manager_linux.go`). Empty for the root. Undefined on cgroup v1 if cpu and memory have
 * different cgroups, because no cgroup then has the usage of the agent.
 */
export function agentCgroup(text: string): string | undefined {
  const paths = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, controllers = '', path = ''] = /^\d+:([^:]*):\/(.*)$/.exec(line) ?? [];
    if (line !== '') for (const controller of controllers.split(',')) paths.set(controller, path);
  }
  const [cpu, memory] = [paths.get('cpu'), paths.get('memory')];
  if (cpu === undefined && memory === undefined) return paths.get('');
  if (cpu === undefined || cpu !== memory) return undefined;
  return paths.get('name=systemd') ?? cpu;
}

/** Reads the path of the agent's own cgroup. Undefined if the host has no cgroups. */
export function readAgentCgroup(): string | undefined {
  try {
    return agentCgroup(readFileSync('/proc/self/cgroup', 'utf8'));
  } catch {
    return undefined;
  }
}

/** The path of a configured cgroup below the root of a hierarchy. */
const pathOf = (name: string): string => normalize(`/${name}`).slice(1);

/** Whether the process is in this cgroup. */
export const isAgentIn = (name: string, current = readAgentCgroup()): boolean => current === pathOf(name);

interface MoveParts {
  readonly hierarchies: readonly Hierarchy[];
  readonly cgroupfs?: Cgroupfs;
  readonly pid?: number;
}

/**
 * Creates a cgroup in each hierarchy and moves this process to it, as a kubelet does for `kubeletCgroups`
 * (`ensureProcessInContainerWithOOMScore` in `pkg/kubelet/cm/container_manager_linux.go`). Returns a sentence that says why
 * the process could not be moved, or undefined if it was.
 */
export async function moveAgentTo(
  name: string,
  { hierarchies, cgroupfs = hostCgroupfs, pid = process.pid }: MoveParts,
): Promise<string | undefined> {
  const path = pathOf(name);
  try {
    await makeCgroup({ cgroupfs, hierarchies, path }, () => true);
    for (const { root, version, controllers } of hierarchies) {
      // On a host with v1, the hierarchy of v2 has no controllers, and only systemd uses it.
      if (version === 'v2' && controllers.length === 0) continue;
      await cgroupfs.mkdir(join(root, path));
      if (version === 'v1' && controllers.includes('cpuset')) await inheritCpus(cgroupfs, root, path);
      await cgroupfs.write(join(root, path, 'cgroup.procs'), String(pid));
    }
    return undefined;
  } catch (error) {
    return `the agent cannot move to the cgroup ${name}, and stays in the one that it was started in: ${messageOf(error)}`;
  }
}

/** Copies CPUs and memory nodes from parent to child, because on v1 a cgroup of cpuset without them takes no process. */
async function inheritCpus(cgroupfs: Cgroupfs, root: string, path: string): Promise<void> {
  if (path === '' || path === '.') return;
  await inheritCpus(cgroupfs, root, dirname(path));
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    const own = cgroupfs.read(join(root, path, file))?.trim();
    const inherited = cgroupfs.read(join(root, dirname(path), file))?.trim();
    if (own === '' && inherited) await cgroupfs.write(join(root, path, file), inherited);
  }
}
