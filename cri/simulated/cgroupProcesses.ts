import type { CgroupProcess, CgroupProcesses } from '../../host/simulated/cgroupTree.ts';
import type { SimulatedContainer, SimulatedSandbox } from './objects/views.ts';
import type { SimulatedRuntime } from './runtime.ts';

/**
 * Provides the processes of a simulated runtime for the simulated cgroup tree. Each container and sandbox has one
 * process, including those that the runtime has lost track of. A process belongs to the pod's cgroup, because the tree
 * does not contain the cgroups that a runtime creates below it.
 */
export function cgroupProcesses(runtime: SimulatedRuntime): CgroupProcesses {
  return {
    in: (path) =>
      listProcesses(runtime).flatMap(({ parentCgroup, process }) => (parentCgroup === `/${path}` ? [process] : [])),
    kill: (pid, killReason) => {
      const matchingProcess = listProcesses(runtime).find(({ process }) => process.pid === pid);
      if (matchingProcess?.container !== undefined && killReason === 'OOM') runtime.oomKill(matchingProcess.container);
      else if (matchingProcess !== undefined) runtime.killCgroup(matchingProcess.cgroup);
    },
  };
}

interface ListedProcess {
  readonly parentCgroup: string;
  readonly cgroup: string;
  readonly process: CgroupProcess;
  /** ID of the container if the runtime has a record of it. */
  readonly container?: string;
}

function listProcesses(runtime: SimulatedRuntime): ListedProcess[] {
  const { strays } = runtime;
  return [
    ...[...runtime.containers()].flatMap((container) =>
      containerProcesses(container).map((listed) => ({ ...listed, container: container.id })),
    ),
    ...[...strays.containers].flatMap(containerProcesses),
    ...[...runtime.sandboxes(), ...strays.sandboxes].flatMap(sandboxProcesses),
  ];
}

const containerProcesses = ({ id, state, cgroupParent, cgroup, memoryBytes }: SimulatedContainer): ListedProcess[] =>
  state === 'running' ? [{ parentCgroup: cgroupParent, cgroup, process: { pid: pidFromId(id), memoryBytes } }] : [];

const sandboxProcesses = ({ id, ready, cgroupParent, cgroup }: SimulatedSandbox): ListedProcess[] =>
  ready ? [{ parentCgroup: cgroupParent, cgroup, process: { pid: pidFromId(id), memoryBytes: 0 } }] : [];

/** Returns a PID that is derived from the ID and therefore the same in every run. Collisions are very unlikely. */
const pidFromId = (id: string): number => 2 + Number.parseInt(id.slice(0, 8), 16);
