/** The cgroups of a node's pods over a kernel's in memory. */

import type { Cgroupfs } from '../cgroup/cgroupfs.ts';
import type { Cgroups } from '../cgroup/cgroups.ts';
import { PodCgroups, type PodCgroupsParts } from '../cgroup/podCgroups.ts';
import type { CgroupTree } from './cgroupTree.ts';
import type { Gate } from './gate.ts';

type SimulatedCgroupsParts = Omit<PodCgroupsParts, 'cgroupfs' | 'hierarchies' | 'systemd'>;

/**
 * What one agent does with cgroups that outlive it. Everything that the agent has to wait for passes the gate; what it
 * looks at is answered on the spot.
 */
export function simulatedCgroups(tree: CgroupTree, gate: Gate, parts: SimulatedCgroupsParts): Cgroups {
  return new PodCgroups({
    ...parts,
    hierarchies: tree.hierarchies,
    cgroupfs: gatedCgroupfs(tree, gate),
    // The cgroups of its slices are those that are made here.
    systemd: (method, _, [slice = '']) => gate({ name: method, about: slice, writes: true }, () => {}),
  });
}

function gatedCgroupfs(tree: CgroupTree, gate: Gate): Cgroupfs {
  const write = (name: string, about: string, act: () => void) => gate({ name, about, writes: true }, act);
  return {
    exists: (path) => tree.exists(path),
    read: (file) => tree.read(file),
    names: (directory) => tree.names(directory),
    mkdir: (directory) => write('mkdir', directory, () => tree.makeDirectories(directory)),
    write: (file, text) => write('write', file, () => tree.write(file, text)),
    rmdir: (directory) => write('rmdir', directory, () => tree.removeDirectory(directory)),
    children: (directory) => gate({ name: 'readdir', about: directory, writes: false }, () => tree.children(directory)),
    kill: (directory) => tree.kill(directory),
    processName: () => 'simulated',
  };
}
