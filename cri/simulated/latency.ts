import type { CallName } from './callNames.ts';

/** How long each call takes, in milliseconds. */
type Latencies = Readonly<Record<CallName, number>>;

/** About what containerd 1.6 takes with runc and the bridge plugin on two cores; a pull takes what the registry says. */
const CONTAINERD: Latencies = {
  version: 1,
  status: 1,
  updateRuntimeConfig: 1,
  runtimeConfig: 1,
  runPodSandbox: 84,
  stopPodSandbox: 30,
  removePodSandbox: 13,
  podSandboxStatus: 1,
  listPodSandbox: 1,
  createContainer: 8,
  startContainer: 56,
  stopContainer: 25,
  removeContainer: 3,
  listContainers: 1,
  containerStatus: 1,
  reopenContainerLog: 1,
  updateContainerResources: 10,
  checkpointContainer: 200,
  containerStats: 2,
  listContainerStats: 5,
  podSandboxStats: 5,
  listPodSandboxStats: 10,
  imageFsInfo: 1,
  execSync: 30,
  exec: 1,
  attach: 1,
  portForward: 1,
  listImages: 1,
  imageStatus: 1,
  pullImage: 0,
  removeImage: 5,
};

/** Every call that is simulated. */
// The keys of a record of calls are calls.
export const CALLS = Object.keys(CONTAINERD) as readonly CallName[];

/** How long this call takes, in milliseconds; asked anew for each call. */
export type LatencyOf = (call: CallName) => number;

/** One number for every call, what differs from a real containerd, or a function that draws it; milliseconds. */
export type LatencyOption = number | Partial<Latencies> | LatencyOf;

/** The latency of each call for what was asked for. */
export function latencyFrom(option: LatencyOption = {}): LatencyOf {
  if (typeof option === 'function') return option;
  if (typeof option === 'number') return () => option;
  const latencies = { ...CONTAINERD, ...option };
  return (call) => latencies[call];
}
