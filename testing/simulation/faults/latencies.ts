/** What calls to the simulated runtime take. */
import { lookUp } from '../../../base/lookUp.ts';

/** The slowest call takes this many times its usual time. */
const SLOWEST = 4;

/** About what a real runtime takes, in milliseconds; what is not here takes one. */
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

/** What a call takes at most, in milliseconds. */
export const slowest = (call: string): number => (lookUp(USUAL, call) ?? 1) * SLOWEST;
