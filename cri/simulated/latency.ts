import type { CallName } from './callNames.ts';

/** How long each call takes, in milliseconds. */
export type Latencies = Readonly<Record<CallName, number>>;

/** About what containerd 1.6 takes with runc and the bridge plugin on two cores; a pull takes what the registry says. */
const CONTAINERD: Latencies = {
  version: 1,
  status: 1,
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
  containerStats: 2,
  execSync: 30,
  listImages: 1,
  imageStatus: 1,
  pullImage: 0,
  removeImage: 5,
};

/** Every call that is simulated. */
// The keys of a record of calls are calls.
export const CALLS = Object.keys(CONTAINERD) as readonly CallName[];

/** One number for every call, or what differs from a real containerd; milliseconds. */
export type LatencyOption = number | Partial<Latencies>;

/** The latencies of every call for what was asked for. */
export function latenciesOf(option: LatencyOption = {}): Latencies {
  if (typeof option === 'object') return { ...CONTAINERD, ...option };
  // The entries' keys are all calls.
  return Object.fromEntries(CALLS.map((call) => [call, option])) as Record<CallName, number>;
}
