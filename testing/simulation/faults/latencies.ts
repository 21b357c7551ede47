/** Latencies of the simulated runtime. */
import { lookUp } from '../../../base/lookUp.ts';

/** The slowest call takes this many times its usual time. */
const SLOWEST = 4;

/** Typical latencies of a real runtime, in milliseconds. The default is 1 ms. */
const USUAL: Readonly<Record<string, number>> = {
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
export const slowest = (call: string): number => (lookUp(USUAL, call) ?? 1) * SLOWEST;
