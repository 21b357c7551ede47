import type { CgroupFacts } from '../../cri/nodeDescription.ts';

/** Cgroups as the kubelet's defaults have them, on a host of cgroup v1 without huge pages. */
export const cgroupFacts: CgroupFacts = {
  perQos: true,
  version: 'v1',
  countsSwap: false,
  killsWhole: false,
  cfsQuota: true,
  cfsPeriod: 100_000,
  podPids: -1,
  pageSizes: [],
};
