/** Determines and changes the cgroup of this process. */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { messageOf } from '../../base/failure.ts';
import { type Cgroupfs, hostCgroupfs } from './cgroupfs.ts';
import { createCgroup } from './files.ts';
import type { Hierarchy } from './hierarchies.ts';

/**
 * Returns the path of the agent's cgroup relative to the root of the hierarchy, from the contents of
 * `/proc/self/cgroup` (`getContainer` in `pkg/kubelet/cm/container_manager_linux.go`). Empty for the root. Undefined on
 * cgroup v1 if cpu and memory have different cgroups, because then no single cgroup accounts for the agent's usage.
 */
export function parseAgentCgroup(contents: string): string | undefined {
  const pathsByController = new Map<string, string>();
  for (const line of contents.split('\n')) {
    const [, controllers = '', path = ''] = /^\d+:([^:]*):\/(.*)$/.exec(line) ?? [];
    if (line !== '') for (const controller of controllers.split(',')) pathsByController.set(controller, path);
  }
  const [cpu, memory] = [pathsByController.get('cpu'), pathsByController.get('memory')];
  if (cpu === undefined && memory === undefined) return pathsByController.get('');
  if (cpu === undefined || cpu !== memory) return undefined;
  return pathsByController.get('name=systemd') ?? cpu;
}

/** Reads the path of the agent's cgroup. Undefined if the host has no cgroups. */
export function readAgentCgroup(): string | undefined {
  try {
    return parseAgentCgroup(readFileSync('/proc/self/cgroup', 'utf8'));
  } catch {
    return undefined;
  }
}

/** Returns the path of a configured cgroup relative to the root of a hierarchy. */
const configuredPath = (name: string): string => normalize(`/${name}`).slice(1);

export const isAgentInCgroup = (name: string, current = readAgentCgroup()): boolean => current === configuredPath(name);

interface MoveOptions {
  readonly hierarchies: readonly Hierarchy[];
  readonly cgroupfs?: Cgroupfs;
  readonly pid?: number;
}

/**
 * Creates a cgroup in each hierarchy and moves this process to it, as the kubelet does for `kubeletCgroups`
 * (`ensureProcessInContainerWithOOMScore` in `pkg/kubelet/cm/container_manager_linux.go`). Returns an error message, or
 * undefined on success.
 */
export async function moveAgentToCgroup(
  name: string,
  { hierarchies, cgroupfs = hostCgroupfs, pid = process.pid }: MoveOptions,
): Promise<string | undefined> {
  const path = configuredPath(name);
  try {
    await createCgroup({ cgroupfs, hierarchies, path }, () => true);
    for (const { root, version, controllers } of hierarchies) {
      // Skip this hierarchy, because on a host with v1 hierarchies, a v2 hierarchy without controllers is only used by
      // systemd.
      if (version === 'v2' && controllers.length === 0) continue;
      await cgroupfs.mkdir(join(root, path));
      if (version === 'v1' && controllers.includes('cpuset')) await copyCpusetFromParent(cgroupfs, root, path);
      await cgroupfs.write(join(root, path, 'cgroup.procs'), String(pid));
    }
    return undefined;
  } catch (error) {
    return `the agent cannot move to the cgroup ${name}, and stays in the one that it was started in: ${messageOf(error)}`;
  }
}

/**
 * Copies `cpuset.cpus` and `cpuset.mems` from the ancestors, because no process can be added to a v1 cpuset cgroup in
 * which they are empty.
 */
async function copyCpusetFromParent(cgroupfs: Cgroupfs, root: string, path: string): Promise<void> {
  if (path === '' || path === '.') return;
  await copyCpusetFromParent(cgroupfs, root, dirname(path));
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    const currentValue = cgroupfs.read(join(root, path, file))?.trim();
    const inheritedValue = cgroupfs.read(join(root, dirname(path), file))?.trim();
    if (currentValue === '' && inheritedValue) await cgroupfs.write(join(root, path, file), inheritedValue);
  }
}
