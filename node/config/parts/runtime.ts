import * as z from 'zod/mini';
import { boolean, duration, endpoint, map, oneOf, section, text, whole } from '../fields.ts';

const swapBehavior = oneOf('', 'NoSwap', 'LimitedSwap');
const secondTo5Minutes = duration(1000, 300_000, ' between 1s and 5m');

/** The container runtime, what it is asked for, and how containers are restarted. */
export const runtime = () => ({
  containerRuntimeEndpoint: z.optional(endpoint),
  runtimeRequestTimeout: z.optional(duration()),
  cgroupRoot: z.optional(text),
  cgroupDriver: z.optional(oneOf('', 'cgroupfs', 'systemd')),
  cgroupsPerQOS: z.optional(boolean),
  kubeletCgroups: z.optional(text),
  systemCgroups: z.optional(text),
  singleProcessOOMKill: z.optional(boolean),
  podPidsLimit: z.optional(whole(-1, Number.MAX_SAFE_INTEGER)),
  cpuCFSQuota: z.optional(boolean),
  cpuCFSQuotaPeriod: z.optional(duration(1, 1000, ' between 1ms and 1s')),
  seccompDefault: z.optional(boolean),
  userNamespaces: z.optional(section({ idsPerPod: z.optional(whole(65_536, 2 ** 32 - 1)) })),
  memorySwap: z.optional(section({ swapBehavior: z.optional(swapBehavior) })),
  failSwapOn: z.optional(boolean),
  failCgroupV1: z.optional(boolean),
  crashLoopBackOff: z.optional(section({ maxContainerRestartPeriod: z.optional(secondTo5Minutes) })),
  featureGates: z.optional(map(boolean)),
  runOnce: z.optional(boolean),
});
