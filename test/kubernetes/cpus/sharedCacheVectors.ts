/**
 * Vectors of the option prefer-align-cpus-by-uncorecache (`TestStaticPolicyAddWithUncoreAlignment` in
 * `pkg/kubelet/cm/cpumanager/policy_static_test.go`).
 */
import type { CpuPolicyOptions } from '../../../kubernetes/cpus/cpuPolicy.ts';
import type { kubeletHosts } from './topologies.ts';

export interface SharedCacheVector {
  readonly title: string;
  readonly host: keyof typeof kubeletHosts;
  readonly options: CpuPolicyOptions;
  readonly reserved: string;
  /** The shared CPUs, from which the reserved ones are taken. Undefined if all CPUs of the host are shared. */
  readonly shared?: string;
  /** The CPUs that other containers have, or the last-level caches all of whose CPUs they have. */
  readonly taken?: { readonly cpus?: string; readonly caches?: string };
  /** The number of CPUs that each container of the pod requests. */
  readonly containers: readonly number[];
  /** The last-level caches that contain the CPUs of the pod. */
  readonly caches?: string;
  /** The CPUs of the first container. */
  readonly cpus?: string;
}

const CACHES: CpuPolicyOptions = { preferAlignCpusByUncoreCache: true };
const CACHES_AND_CORES: CpuPolicyOptions = { ...CACHES, fullPcpusOnly: true };
const CACHES_AND_STRICT: CpuPolicyOptions = { ...CACHES, strictCpuReservation: true };

export const sharedCacheVectors: readonly SharedCacheVector[] = [
  {
    title: 'GuPodSingleContainerSaturating, DualSocketHTUncore, ExpectAllocOneUncore, FullUncoreAvail',
    host: 'dualSocket384Uncore',
    options: CACHES_AND_CORES,
    reserved: '0-1,96-97,192-193,288-289',
    taken: { caches: '0,12' },
    containers: [16],
    caches: '1',
  },
  {
    title: 'GuPodMainAndSidecarContainer, DualSocketHTUncore, ExpectAllocOneUncore, FullUncoreAvail',
    host: 'dualSocket384Uncore',
    options: CACHES_AND_CORES,
    reserved: '0-1,96-97,192-193,288-289',
    taken: { caches: '0,12' },
    containers: [12, 2],
    caches: '1',
  },
  {
    title: 'GuPodSidecarAndMainContainer, DualSocketHTUncore, ExpectAllocOneUncore, FullUncoreAvail',
    host: 'dualSocket384Uncore',
    options: CACHES_AND_CORES,
    reserved: '0-1,96-97,192-193,288-289',
    taken: { caches: '0,12' },
    containers: [2, 12],
    caches: '1',
  },
  {
    title: 'GuPodMainAndManySidecarContainer, DualSocketHTUncore, ExpectAllocOneUncore, FullUncoreAvail',
    host: 'dualSocket384Uncore',
    options: CACHES_AND_CORES,
    reserved: '0-1,96-97,192-193,288-289',
    taken: { caches: '0,12' },
    containers: [10, 2, 2, 2],
    caches: '1',
  },
  {
    title: 'GuPodMainAndSidecarContainer, DualSocketHTUncore, ExpectAllocTwoUncore',
    host: 'dualSocket384Uncore',
    options: CACHES_AND_CORES,
    reserved: '0-1,96-97,192-193,288-289',
    containers: [12, 2],
    caches: '0-1',
  },
  {
    title: 'GuPodSingleContainer, SingleSocketSMTSmallUncore, ExpectAllocOneUncore',
    host: 'singleSocket128Uncore',
    options: CACHES_AND_CORES,
    reserved: '0-1,64-65',
    containers: [8],
    caches: '1',
  },
  {
    title: 'GuPodSingleContainer, SingleSocketSMTSmallUncore, ExpectAllocTwoUncore',
    host: 'singleSocket128Uncore',
    options: CACHES_AND_CORES,
    reserved: '0-1,64-65',
    taken: { caches: '1' },
    containers: [12],
    caches: '0,2',
  },
  {
    title: 'GuPodSingleContainer, SingleSocketNoSMTSmallUncore, FragmentedUncore, ExpectAllocThreeUncore',
    host: 'singleSocket64SmallUncore',
    options: CACHES_AND_CORES,
    reserved: '0-3',
    taken: { caches: '2-3,5' },
    containers: [12],
    caches: '1,4,6',
  },
  {
    title: 'GuPodMultiContainer, DualSocketSMTUncore, FragmentedUncore, ExpectAllocOneUncore',
    host: 'dualSocket64Uncore',
    options: CACHES_AND_CORES,
    reserved: '0-1,32-33',
    taken: { caches: '1' },
    containers: [4, 2],
    caches: '0',
  },
  {
    title: 'GuPodMultiContainer, DualSocketSMTUncore, FragmentedUncore, ExpectAllocTwoUncore',
    host: 'dualSocket64Uncore',
    options: CACHES_AND_CORES,
    reserved: '0-1,32-33',
    taken: { caches: '1' },
    containers: [4, 4],
    caches: '0,2',
  },
  {
    title: 'GuPodMultiContainer, LargeSingleSocketSMTUncore, PartialUncoreFit, ExpectAllocTwoUncore',
    host: 'singleSocket256Uncore',
    options: CACHES_AND_CORES,
    reserved: '0-1,128-129',
    taken: { cpus: '8-9,136-137' },
    containers: [12, 12],
    caches: '0-1',
  },
  {
    title: 'GuPodMultiContainer, LargeSingleSocketSMTUncore, PartialUncoreNoFit, ExpectAllocTwoUncore',
    host: 'singleSocket256Uncore',
    options: CACHES_AND_CORES,
    reserved: '0-1,128-129',
    taken: { cpus: '8-9,136-137' },
    containers: [14, 14],
    caches: '2-3',
  },
  {
    title: 'GuPodLargeSingleContainer, DualSocketNoSMTUncore, FullNUMAsAvail, ExpectAllocFullNUMA',
    host: 'dualSocketFourNodes192Uncore',
    options: CACHES_AND_CORES,
    reserved: '0-3',
    containers: [48],
    caches: '6-11',
  },
  {
    title: 'GuPodSingleContainer, MonoUncoreCacheHT, ExpectAllocCPUSet 1/2',
    host: 'dualSocketSubNodes240',
    options: CACHES_AND_CORES,
    reserved: '0-1,120-121',
    containers: [6],
    cpus: '2-4,122-124',
    caches: '0',
  },
  {
    title: 'GuPodSingleContainer, MonoUncoreCacheHT, ExpectAllocCPUSet 2/2',
    host: 'hybridCores24',
    options: CACHES_AND_CORES,
    reserved: '0-1',
    taken: { cpus: '4-7' },
    containers: [6],
    cpus: '2-3,8-9,16-17',
    caches: '0',
  },
  {
    title: 'GuPodSingleContainer, LargeSingleSocketUncore, ExpectAllocOneUncore',
    host: 'singleSocket128UncoreNoSmt',
    options: CACHES_AND_CORES,
    reserved: '0-3',
    containers: [8],
    caches: '1',
  },
  {
    title: 'GuPodSingleContainer, MonoUncoreCacheHT, ExpectFragmentedAllocCPUSet',
    host: 'singleSocket64',
    options: CACHES_AND_CORES,
    reserved: '0-1',
    taken: { cpus: '6-9,12-15,18-19' },
    containers: [12],
    cpus: '2-5,10-11,16-17,20-23',
    caches: '0',
  },
  {
    title: 'GuPodSingleContainer, SingleSocketUncore, PartialUncore, ExpectBestEffortAllocTwoUncore',
    host: 'singleSocket32Uncore',
    options: CACHES_AND_CORES,
    reserved: '0-3',
    taken: { cpus: '8-11,16-19,24-27' },
    containers: [8],
    caches: '0-1',
  },
  {
    title: 'odd integer cpu required on smt-disabled',
    host: 'singleSocket32Uncore',
    options: CACHES_AND_CORES,
    reserved: '0-3',
    containers: [5],
    cpus: '8-12',
  },
  {
    title: 'odd integer required on smt-enabled',
    host: 'singleSocket128Uncore',
    options: CACHES,
    reserved: '0-1,64-65',
    containers: [3],
    cpus: '2-3,66',
  },
  {
    title: 'odd integer required on odd integer partial uncore',
    host: 'singleSocket128Uncore',
    options: CACHES,
    reserved: '0-1,64',
    containers: [3],
    cpus: '2,65-66',
  },
  {
    title: 'even integer required on odd integer partial uncore',
    host: 'singleSocket128Uncore',
    options: CACHES,
    reserved: '0-1,64',
    containers: [4],
    cpus: '4-5,68-69',
  },
  {
    title: 'large odd integer required on smt-enabled',
    host: 'singleSocket128Uncore',
    options: CACHES,
    reserved: '0-1,64',
    containers: [11],
    cpus: '2,4-7,65-66,68-71',
  },
  {
    title: 'odd integer required on HT monolithic uncore',
    host: 'dualSocketSubNodes240',
    options: CACHES,
    reserved: '0-1,120',
    shared: '0-127',
    containers: [5],
    cpus: '2-3,121-123',
  },
  {
    title: 'even integer required on HT monolithic uncore',
    host: 'dualSocketSubNodes240',
    options: CACHES,
    reserved: '0-1,120',
    shared: '0-127',
    containers: [4],
    cpus: '2-3,122-123',
  },
  {
    title: 'GuPodSingleContainer, SingleSocketSMTSmallUncore, StrictReserveCompatability',
    host: 'singleSocket128Uncore',
    options: CACHES_AND_STRICT,
    reserved: '0-1,64-65',
    containers: [2],
    cpus: '2,66',
  },
  {
    title: 'GuPodSingleContainer, DualSocketHTMonoUncore, StrictReserveCompatability',
    host: 'dualSocketSubNodes240',
    options: CACHES_AND_STRICT,
    reserved: '0-1,120-121',
    containers: [4],
    cpus: '2-3,122-123',
  },
];
