/** Manages the cgroups of a node's pods in a simulated cgroup tree. */

import type { Cgroupfs } from '../cgroup/cgroupfs.ts';
import type { Cgroups } from '../cgroup/cgroups.ts';
import { PodCgroups, type PodCgroupsParts } from '../cgroup/podCgroups.ts';
import type { CgroupTree } from './cgroupTree.ts';
import type { Gate } from './gate.ts';

type SimulatedCgroupsParts = Omit<PodCgroupsParts, 'cgroupfs' | 'hierarchies' | 'systemd'>;

/**
 * Returns the cgroups of one agent, which survive the agent. All asynchronous operations go through the gate.
 * Synchronous reads do not.
 */
export function simulatedCgroups(tree: CgroupTree, gate: Gate, parts: SimulatedCgroupsParts): Cgroups {
  return new PodCgroups({
    ...parts,
    hierarchies: tree.hierarchies,
    cgroupfs: gatedCgroupfs(tree, gate),
    // The simulated systemd changes nothing, because the agent itself creates the cgroup of each slice.
    systemd: (method, _, [slice = '']) => gate({ name: method, about: slice, writes: true }, () => {}),
  });
}

function gatedCgroupfs(tree: CgroupTree, gate: Gate): Cgroupfs {
  const runWrite = (name: string, about: string, operation: () => void) =>
    gate({ name, about, writes: true }, operation);
  return {
    exists: (path) => tree.exists(path),
    read: (file) => tree.read(file),
    names: (directory) => tree.childNames(directory),
    mkdir: (directory) => runWrite('mkdir', directory, () => tree.makeDirectories(directory)),
    write: (file, text) => runWrite('write', file, () => tree.write(file, text)),
    rmdir: (directory) => runWrite('rmdir', directory, () => tree.removeDirectory(directory)),
    children: (directory) => gate({ name: 'readdir', about: directory, writes: false }, () => tree.children(directory)),
    kill: (directory) => tree.kill(directory),
    processName: () => 'simulated',
  };
}
