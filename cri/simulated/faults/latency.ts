import type { CallName } from './callNames.ts';

/** Duration of each call in milliseconds. */
type Latencies = Readonly<Record<CallName, number>>;

/**
 * Approximate durations with containerd 1.6, runc and the bridge plugin on two cores. The duration of a pull depends on
 * the registry.
 */
const CONTAINERD_LATENCIES: Latencies = {
  version: 1,
  status: 1,
  updateRuntimeConfig: 1,
  runtimeConfig: 1,
  runPodSandbox: 84,
  stopPodSandbox: 30,
  removePodSandbox: 13,
  podSandboxStatus: 1,
  listPodSandbox: 1,
  updatePodSandboxResources: 1,
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

/** All simulated calls. */
// Safe cast, because the keys of the record are the call names.
export const CALL_NAMES = Object.keys(CONTAINERD_LATENCIES) as readonly CallName[];

/** Returns the duration of a call in milliseconds. Called once for each simulated call. */
export type GetLatency = (call: CallName) => number;

/**
 * A duration in milliseconds for all calls, durations of individual calls that override those of containerd, or a
 * function that returns the duration of a call.
 */
export type LatencyOption = number | Partial<Latencies> | GetLatency;

export function resolveLatency(option: LatencyOption = {}): GetLatency {
  if (typeof option === 'function') return option;
  if (typeof option === 'number') return () => option;
  const latencyTable = { ...CONTAINERD_LATENCIES, ...option };
  return (call) => latencyTable[call];
}
