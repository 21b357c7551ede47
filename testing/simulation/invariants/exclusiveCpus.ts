import type { SimulatedContainer } from '../../../cri/simulated/objects/views.ts';
import { parseCpuCheckpoint } from '../../../kubernetes/cpus/cpuCheckpoint.ts';
import { type CpuAssignments, findAssignment } from '../../../kubernetes/cpus/cpuPolicy.ts';
import { formatCpuSet, intersectionOf, parseCpuSet } from '../../../kubernetes/cpus/cpuSet.ts';
import { fullName, type SimulatedHost } from '../host/host.ts';
import { NODE_PATHS } from '../run/nodeConfig.ts';
import type { Invariant } from './invariant.ts';

/** Returns the CPU assignments in the checkpoint on disk, or undefined if the node does not assign CPUs. */
function assignmentsOnDisk({ files }: SimulatedHost): CpuAssignments | undefined {
  const path = `${NODE_PATHS.rootDir}/cpu_manager_state`;
  return files.lstatSync(path) === undefined ? undefined : parseCpuCheckpoint(files.readFileSync(path), 'static');
}

const cpusOf = ({ config }: SimulatedContainer): string => config.linux?.resources?.cpusetCpus ?? '';

const nameOf = (each: SimulatedContainer): string => `${fullName(each)} ${each.containerName}`;

export const exclusiveCpus: Invariant = {
  description:
    'Two running containers never have an exclusive CPU in common, and a running container keeps its exclusive CPUs, ' +
    'also when the agent restarts.',
  follow: ({ host }, violated) => {
    /** Exclusive CPUs of running containers, by container ID. */
    const previousCpus = new Map<string, string>();
    const check = () => {
      const assignments = assignmentsOnDisk(host);
      if (assignments === undefined) return;
      const exclusive = host
        .running()
        .filter(({ podUid, containerName }) => findAssignment(assignments, podUid, containerName) !== undefined);
      for (const [index, each] of exclusive.entries()) {
        const cpus = cpusOf(each);
        const previous = previousCpus.get(each.id) ?? cpus;
        previousCpus.set(each.id, cpus);
        if (previous !== cpus) violated(`${nameOf(each)} had the exclusive CPUs ${previous} and now has ${cpus}`);
        for (const other of exclusive.slice(index + 1)) {
          const common = intersectionOf(parseCpuSet(cpus), parseCpuSet(cpusOf(other)));
          if (other.podUid === each.podUid || common.length === 0) continue;
          violated(`${nameOf(each)} and ${nameOf(other)} share the exclusive CPUs ${formatCpuSet(common)}`);
        }
      }
    };
    return {
      onEffect: ({ kind }) => {
        if (kind === 'started') check();
      },
      whole: check,
      atRest: () => {
        const assignments = assignmentsOnDisk(host);
        if (assignments === undefined) return;
        for (const each of host.running()) {
          const { cpus = assignments.shared } = findAssignment(assignments, each.podUid, each.containerName) ?? {};
          if (cpusOf(each) !== formatCpuSet(cpus))
            violated(`${nameOf(each)} runs on the CPUs ${cpusOf(each)} instead of ${formatCpuSet(cpus)}`);
        }
      },
    };
  },
};
