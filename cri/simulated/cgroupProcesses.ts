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
    in: (path) => listProcesses(runtime).flatMap(({ parent, process }) => (parent === `/${path}` ? [process] : [])),
    kill: (pid, why) => {
      const match = listProcesses(runtime).find(({ process }) => process.pid === pid);
      if (match?.container !== undefined && why === 'OOM') runtime.oomKill(match.container);
      else if (match !== undefined) runtime.killCgroup(match.cgroup);
    },
  };
}

interface ListedProcess {
  readonly parent: string;
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
  state === 'running' ? [{ parent: cgroupParent, cgroup, process: { pid: pidOf(id), memoryBytes } }] : [];

const sandboxProcesses = ({ id, ready, cgroupParent, cgroup }: SimulatedSandbox): ListedProcess[] =>
  ready ? [{ parent: cgroupParent, cgroup, process: { pid: pidOf(id), memoryBytes: 0 } }] : [];

/** Returns a PID that is derived from the ID and therefore the same in every run. Collisions are very unlikely. */
const pidOf = (id: string): number => 2 + Number.parseInt(id.slice(0, 8), 16);
