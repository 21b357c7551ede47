/** Latencies of the simulated runtime. */
import { lookUp } from '../../../base/values/lookUp.ts';

/** Ratio of the maximum latency to the typical one. */
const MAX_FACTOR = 4;

/** Typical latencies of a real runtime, in milliseconds. The default is 1 ms. */
const TYPICAL_MS: Readonly<Record<string, number>> = {
  runPodSandbox: 84,
  stopPodSandbox: 30,
  removePodSandbox: 13,
  createContainer: 8,
  startContainer: 56,
  stopContainer: 25,
  removeContainer: 3,
  updateContainerResources: 10,
  execSync: 30,
  pullImage: 20,
};

/** Returns the maximum latency of a call, in milliseconds. */
export const maxLatency = (call: string): number => (lookUp(TYPICAL_MS, call) ?? 1) * MAX_FACTOR;
