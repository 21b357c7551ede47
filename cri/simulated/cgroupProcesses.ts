import type { CgroupProcess, CgroupProcesses } from '../../host/simulated/cgroupTree.ts';
import type { SimulatedRuntime } from './runtime.ts';
import type { SimulatedContainer, SimulatedSandbox } from './views.ts';

/**
 * What a simulated runtime runs, as a kernel's cgroups have it: of each container and sandbox one process, also of those
 * that the runtime has forgotten. They count as processes of the pod's own cgroup: those that a runtime makes in it are
 * not in the tree.
 */
export function cgroupProcesses(runtime: SimulatedRuntime): CgroupProcesses {
  return {
    in: (path) => processesOf(runtime).flatMap(({ parent, process }) => (parent === `/${path}` ? [process] : [])),
    kill: (pid, why) => {
      const found = processesOf(runtime).find(({ process }) => process.pid === pid);
      if (found?.container !== undefined && why === 'OOM') runtime.oomKill(found.container);
      else if (found !== undefined) runtime.killCgroup(found.cgroup);
    },
  };
}

interface Found {
  readonly parent: string;
  readonly cgroup: string;
  readonly process: CgroupProcess;
  /** The id of a container that the runtime knows. */
  readonly container?: string;
}

function processesOf(runtime: SimulatedRuntime): Found[] {
  const { strays } = runtime;
  return [
    ...[...runtime.containers()].flatMap((each) =>
      ofContainer(each).map((found) => ({ ...found, container: each.id })),
    ),
    ...[...strays.containers].flatMap(ofContainer),
    ...[...runtime.sandboxes(), ...strays.sandboxes].flatMap(ofSandbox),
  ];
}

const ofContainer = ({ id, state, cgroupParent, cgroup, memoryBytes }: SimulatedContainer): Found[] =>
  state === 'running' ? [{ parent: cgroupParent, cgroup, process: { pid: pidOf(id), memoryBytes } }] : [];

const ofSandbox = ({ id, ready, cgroupParent, cgroup }: SimulatedSandbox): Found[] =>
  ready ? [{ parent: cgroupParent, cgroup, process: { pid: pidOf(id), memoryBytes: 0 } }] : [];

/** The same in each run, and hardly ever that of another. */
const pidOf = (id: string): number => 2 + Number.parseInt(id.slice(0, 8), 16);
