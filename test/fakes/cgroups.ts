import type { CgroupFacts } from '../../cri/nodeDescription.ts';

/** Cgroup settings with the kubelet's defaults, on a host with cgroup v1 and without huge pages. */
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
