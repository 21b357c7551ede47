/**
 * Vectors of the kubelet's static CPU manager policy (`policy_static_test.go` and `topology_hints_test.go` in
 * `pkg/kubelet/cm/cpumanager`), except those of the feature gate PodLevelResourceManagers.
 */
import type { CpuPolicyOptions } from '../../../kubernetes/cpus/cpuPolicy.ts';
import type { kubeletHosts } from './topologies.ts';

interface CpuStateVector {
  readonly title: string;
  readonly host: keyof typeof kubeletHosts;
  readonly options?: CpuPolicyOptions;
  readonly shared: string;
  /** The exclusive CPUs of containers, e.g. `pod/main 1,5`. */
  readonly exclusive?: readonly string[];
  /** The pod's UID and the container's name with its request of CPU, and the limit if it differs. */
  readonly container: string;
}

export interface CpuAllocationVector extends CpuStateVector {
  /** Whether the result is the same with the option full-pcpus-only. */
  readonly isRegardlessOfOptions?: boolean;
  /** The reserved CPUs, or `none`. If undefined, one CPU is reserved. */
  readonly reserved?: string;
  /** The NUMA nodes that the topology manager has chosen. */
  readonly numaNodes?: string;
  /** The message of the failure, if there is one. */
  readonly error?: string;
  /** The CPUs that the container gets. Undefined if it uses the shared ones. */
  readonly cpus?: string;
}

export interface CpuHintVector extends CpuStateVector {
  /** The CPU request and limit of the pod itself. */
  readonly podCpu?: string;
  /** The hints, each followed by `!` if it is preferred. */
  readonly hints: string;
}

/** Vectors of `TestStaticPolicyAdd` and `TestStaticPolicyAddWithResvList`. */
export const cpuAllocationVectors: readonly CpuAllocationVector[] = [
  {
    title: 'GuPodMultipleCores, SingleSocketHT, ExpectAllocOneCore',
    host: 'singleSocketSmt',
    shared: '0-1,4-5',
    exclusive: ['fakePod/fakeContainer100 2-3,6-7'],
    container: 'fakePod/fakeContainer3 2000m',
    cpus: '1,5',
    isRegardlessOfOptions: true,
  },
  {
    title: 'GuPodMultipleCores, DualSocketHT, ExpectAllocOneSocket',
    host: 'dualSocketSmt',
    shared: '0-1,3-11',
    exclusive: ['fakePod/fakeContainer100 2'],
    container: 'fakePod/fakeContainer3 6000m',
    cpus: '1,3,5,7,9,11',
    isRegardlessOfOptions: true,
  },
  {
    title: 'GuPodMultipleCores, DualSocketHT, ExpectAllocThreeCores',
    host: 'dualSocketSmt',
    shared: '0,2-4,6-11',
    exclusive: ['fakePod/fakeContainer100 1,5'],
    container: 'fakePod/fakeContainer3 6000m',
    cpus: '2-4,8-10',
    isRegardlessOfOptions: true,
  },
  {
    title: 'GuPodMultipleCores, DualSocketNoHT, ExpectAllocOneSocket',
    host: 'dualSocket',
    shared: '0-1,3-7',
    exclusive: ['fakePod/fakeContainer100 '],
    container: 'fakePod/fakeContainer1 4000m',
    cpus: '4-7',
    isRegardlessOfOptions: true,
  },
  {
    title: 'GuPodMultipleCores, DualSocketNoHT, ExpectAllocFourCores',
    host: 'dualSocket',
    shared: '0-1,3,6-7',
    exclusive: ['fakePod/fakeContainer100 4-5'],
    container: 'fakePod/fakeContainer1 4000m',
    cpus: '1,3,6-7',
    isRegardlessOfOptions: true,
  },
  {
    title: 'GuPodMultipleCores, DualSocketHT, ExpectAllocOneSocketOneCore',
    host: 'dualSocketSmt',
    shared: '0-1,3-11',
    exclusive: ['fakePod/fakeContainer100 2'],
    container: 'fakePod/fakeContainer3 8000m',
    cpus: '1,3-5,7,9-11',
    isRegardlessOfOptions: true,
  },
  {
    title: 'NonGuPod, SingleSocketHT, NoAlloc',
    host: 'singleSocketSmt',
    shared: '0-7',
    container: 'fakePod/fakeContainer1 1000m/2000m',
    isRegardlessOfOptions: true,
  },
  {
    title: 'GuPodNonIntegerCore, SingleSocketHT, NoAlloc',
    host: 'singleSocketSmt',
    shared: '0-7',
    container: 'fakePod/fakeContainer4 977m',
    isRegardlessOfOptions: true,
  },
  {
    title: 'GuPodMultipleCores, topoQuadSocketFourWayHT, ExpectAllocSock0',
    host: 'quadSocketFourWaySmt',
    shared: '0-2,8-10,12-287',
    exclusive: ['fakePod/fakeContainer100 3-7,11'],
    reserved: 'none',
    container: 'fakePod/fakeContainer5 72000m',
    cpus: '0-2,9-10,13-14,21-22,25-26,33-34,38-39,46-47,50,57-58,71-72,79-80,87-88,95-96,103-104,109-110,117-118,131-132,139-140,147-148,155-156,163-164,169-170,177-178,191-192,199-200,207-208,215-216,223-224,229-230,237-238,251-252,259-260,267-268,275-276,283-284',
    isRegardlessOfOptions: true,
  },
  {
    title: 'GuPodMultipleCores, topoQuadSocketFourWayHT, ExpectAllocAllFullCoresFromThreeSockets',
    host: 'quadSocketFourWaySmt',
    shared: '1-2,9,11-13,23,25,35,38,48,51,53-54,61,113,173,233',
    exclusive: [
      'fakePod/fakeContainer100 0,3-8,10,14-22,24,26-34,36-37,39-47,49-50,52,55-60,62-112,114-172,174-232,234-287',
    ],
    reserved: 'none',
    container: 'fakePod/fakeCcontainer5 12000m',
    cpus: '1,11,13,23,25,35,38,48,53,113,173,233',
    isRegardlessOfOptions: true,
  },
  {
    title: 'GuPodMultipleCores, topoQuadSocketFourWayHT, ExpectAllocAllSock1+FullCore',
    host: 'quadSocketFourWaySmt',
    shared:
      '3-4,10-12,15-16,22-24,27-28,34-36,40-41,47-49,51-53,59-61,65-66,73-74,81-82,89-90,97-98,108,111-112,115,119-120,125-126,133-134,141-142,149-150,157-158,171-173,179-181,185-186,193-194,201-202,209-210,217-218,228,231-232,235,239-240,245-246,253-254,261-262,269-270,277-278',
    exclusive: [
      'fakePod/fakeContainer100 0-2,5-9,13-14,17-21,25-26,29-33,37-39,42-46,50,54-58,62-64,67-72,75-80,83-88,91-96,99-107,109-110,113-114,116-118,121-124,127-132,135-140,143-148,151-156,159-170,174-178,182-184,187-192,195-200,203-208,211-216,219-227,229-230,233-234,236-238,241-244,247-252,255-260,263-268,271-276,279-287',
    ],
    reserved: 'none',
    container: 'fakePod/fakeContainer5 76000m',
    cpus: '3-4,10-12,15-16,22-24,27-28,34-36,40-41,47-49,51-52,59-60,65-66,73-74,81-82,89-90,97-98,111-112,119-120,125-126,133-134,141-142,149-150,157-158,171-172,179-180,185-186,193-194,201-202,209-210,217-218,231-232,239-240,245-246,253-254,261-262,269-270,277-278',
    isRegardlessOfOptions: true,
  },
  {
    title: 'GuPodSingleCore, SingleSocketHT, ExpectAllocOneCPU',
    host: 'singleSocketSmt',
    shared: '0-7',
    container: 'fakePod/fakeContainer2 1000m',
    cpus: '4',
  },
  {
    title: 'GuPodMultipleCores, topoQuadSocketFourWayHT, ExpectAllocCPUs',
    host: 'quadSocketFourWaySmt',
    shared: '10-11,52-53,67',
    exclusive: ['fakePod/fakeContainer100 0-9,12-36,38-51,54,56-66,68-287'],
    reserved: 'none',
    container: 'fakePod/fakeContainer5 5000m',
    cpus: '10-11,52-53,67',
  },
  {
    title: 'GuPodSingleCore, SingleSocketHT, ExpectError',
    host: 'singleSocketSmt',
    shared: '0-7',
    container: 'fakePod/fakeContainer2 8000m',
    error: 'not enough cpus available to satisfy request: requested=8, available=7',
  },
  {
    title: 'GuPodMultipleCores, SingleSocketHT, ExpectSameAllocation',
    host: 'singleSocketSmt',
    shared: '0-1,4-5',
    exclusive: ['fakePod/fakeContainer3 2-3,6-7'],
    container: 'fakePod/fakeContainer3 4000m',
    cpus: '2-3,6-7',
  },
  {
    title: 'GuPodMultipleCores, DualSocketHT, NoAllocExpectError',
    host: 'dualSocketSmt',
    shared: '0,4-11',
    exclusive: ['fakePod/fakeContainer100 1-3'],
    container: 'fakePod/fakeContainer5 10000m',
    error: 'not enough cpus available to satisfy request: requested=10, available=8',
  },
  {
    title: 'GuPodMultipleCores, SingleSocketHT, NoAllocExpectError',
    host: 'singleSocketSmt',
    shared: '0,7',
    exclusive: ['fakePod/fakeContainer100 1-6'],
    container: 'fakePod/fakeContainer5 2000m',
    error: 'not enough cpus available to satisfy request: requested=2, available=1',
  },
  {
    title: 'GuPodMultipleCores, topoQuadSocketFourWayHT, NoAlloc',
    host: 'quadSocketFourWaySmt',
    shared: '10-11,37,52-53,55,67',
    exclusive: ['fakePod/fakeContainer100 0-9,12-36,38-51,54,56-66,68-287'],
    reserved: 'none',
    container: 'fakePod/fakeContainer5 76000m',
    error: 'not enough cpus available to satisfy request: requested=76, available=7',
  },
  {
    title: 'GuPodSingleCore, SingleSocketHT, ExpectAllocOneCPU',
    host: 'singleSocketSmt',
    shared: '0-7',
    container: 'fakePod/fakeContainer2 1000m',
    options: { fullPcpusOnly: true },
    error: 'SMT Alignment Error: requested 1 cpus not multiple cpus per core = 2',
  },
  {
    title: 'GuPodMultipleCores, topoQuadSocketFourWayHT, ExpectAllocOneCPUs',
    host: 'quadSocketFourWaySmt',
    shared: '0-287',
    container: 'fakePod/fakeContainer15 15000m',
    options: { fullPcpusOnly: true },
    error: 'SMT Alignment Error: requested 15 cpus not multiple cpus per core = 4',
  },
  {
    title: 'GuPodManyCores, topoDualSocketHT, ExpectDoNotAllocPartialCPU',
    host: 'dualSocketSmt',
    shared: '0,2-5,7-11',
    reserved: '1,6',
    container: 'fakePod/fakeContainerBug113537_1 10000m',
    options: { fullPcpusOnly: true },
    error:
      'SMT Alignment Error: not enough free physical CPUs: available physical CPUs = 8, requested CPUs = 10, CPUs per core = 2',
  },
  {
    title: 'GuPodManyCores, topoDualSocketHT, AutoReserve, ExpectAllocAllCPUs',
    host: 'dualSocketSmt',
    shared: '1-5,7-11',
    container: 'fakePod/fakeContainerBug113537_2 10000m',
    options: { fullPcpusOnly: true },
    cpus: '1-5,7-11',
  },
  {
    title: 'GuPodManyCores, topoDualSocketHT, ExpectAllocAllCPUs',
    host: 'dualSocketSmt',
    shared: '1-5,7-11',
    reserved: '0,6',
    container: 'fakePod/fakeContainerBug113537_2 10000m',
    options: { fullPcpusOnly: true },
    cpus: '1-5,7-11',
  },
  {
    title: "Align by socket: true, cpu's within same socket of numa in hint are part of allocation",
    host: 'dualSocketFourNodesSmt',
    shared: '2,11,21-22',
    container: 'fakePod/fakeContainer2 2000m',
    options: { alignBySocket: true },
    numaNodes: '0,2',
    cpus: '2,11',
  },
  {
    title: "Align by socket: false, cpu's are taken strictly from NUMA nodes in hint",
    host: 'dualSocketFourNodesSmt',
    shared: '2,11,21-22',
    container: 'fakePod/fakeContainer2 2000m',
    options: { alignBySocket: false },
    numaNodes: '0,2',
    cpus: '2,21',
  },
  {
    title: 'GuPodSingleCore, SingleSocketHT, ExpectError',
    host: 'singleSocketSmt',
    shared: '0-7',
    reserved: '0',
    container: 'fakePod/fakeContainer2 8000m',
    error: 'not enough cpus available to satisfy request: requested=8, available=7',
  },
  {
    title: 'GuPodSingleCore, SingleSocketHT, ExpectAllocOneCPU',
    host: 'singleSocketSmt',
    shared: '0-7',
    reserved: '0-1',
    container: 'fakePod/fakeContainer2 1000m',
    cpus: '4',
  },
  {
    title: 'GuPodMultipleCores, SingleSocketHT, ExpectAllocOneCore',
    host: 'singleSocketSmt',
    shared: '0-1,4-5',
    exclusive: ['fakePod/fakeContainer100 2-3,6-7'],
    reserved: '0-1',
    container: 'fakePod/fakeContainer3 2000m',
    cpus: '4-5',
  },
];

/** Vectors of `TestGetTopologyHints` and `TestGetPodTopologyHints`, which expect the same for the container and the pod. */
export const cpuHintVectors: readonly CpuHintVector[] = [
  {
    title: 'Request 2 CPUs, 4 available on NUMA 0, 6 available on NUMA 1',
    host: 'hintHost',
    shared: '2-11',
    container: 'fakePod/fakeContainer 2',
    hints: '0! 1! 0,1',
  },
  {
    title: 'Request 5 CPUs, 4 available on NUMA 0, 6 available on NUMA 1',
    host: 'hintHost',
    shared: '2-11',
    container: 'fakePod/fakeContainer 5',
    hints: '1! 0,1',
  },
  {
    title: 'Request 7 CPUs, 4 available on NUMA 0, 6 available on NUMA 1',
    host: 'hintHost',
    shared: '2-11',
    container: 'fakePod/fakeContainer 7',
    hints: '0,1!',
  },
  {
    title: 'Request 11 CPUs, 4 available on NUMA 0, 6 available on NUMA 1',
    host: 'hintHost',
    shared: '2-11',
    container: 'fakePod/fakeContainer 11',
    hints: '',
  },
  {
    title: 'Request 2 CPUs, 1 available on NUMA 0, 1 available on NUMA 1',
    host: 'hintHost',
    shared: '0,3',
    container: 'fakePod/fakeContainer 2',
    hints: '0,1',
  },
  {
    title: 'Request more CPUs than available',
    host: 'hintHost',
    shared: '0-3',
    container: 'fakePod/fakeContainer 5',
    hints: '',
  },
  {
    title: 'Regenerate Single-Node NUMA Hints if already allocated 1/2',
    host: 'hintHost',
    shared: '',
    exclusive: ['fakePod/fakeContainer 0,6'],
    container: 'fakePod/fakeContainer 2',
    hints: '0! 0,1',
  },
  {
    title: 'Regenerate Single-Node NUMA Hints if already allocated 1/2',
    host: 'hintHost',
    shared: '',
    exclusive: ['fakePod/fakeContainer 3,9'],
    container: 'fakePod/fakeContainer 2',
    hints: '1! 0,1',
  },
  {
    title: 'Regenerate Cross-NUMA Hints if already allocated',
    host: 'hintHost',
    shared: '',
    exclusive: ['fakePod/fakeContainer 0-10'],
    container: 'fakePod/fakeContainer 11',
    hints: '0,1!',
  },
  {
    title: 'Requested less than already allocated',
    host: 'hintHost',
    shared: '',
    exclusive: ['fakePod/fakeContainer 0,3,6,9'],
    container: 'fakePod/fakeContainer 2',
    hints: '',
  },
  {
    title: 'Requested more than already allocated',
    host: 'hintHost',
    shared: '',
    exclusive: ['fakePod/fakeContainer 0,3,6,9'],
    container: 'fakePod/fakeContainer 11',
    hints: '',
  },
  {
    title: 'Pod has pod level resources but PodLevelResourceManagersEnabled is disabled, no hint generation',
    host: 'hintHost',
    shared: '0-3',
    container: 'fakePod/fakeContainer 2',
    podCpu: '3/3',
    hints: '',
  },
];

/** Vectors of `TestGetPodTopologyHintsWithPolicyOptions`. */
export const podCpuHintVectors: readonly CpuHintVector[] = [
  {
    title: 'AlignBySocket:false, Preferred hints does not contains socket aligned hints',
    host: 'dualSocketFourNodesSmt',
    shared: '2-3,11',
    container: 'fakePod/fakeContainer 2',
    options: { alignBySocket: false },
    hints: '0! 0,1 0,2 0,3 0,1,2 0,1,3 0,2,3 0,1,2,3',
  },
  {
    title: 'AlignBySocket:true Preferred hints contains socket aligned hints',
    host: 'dualSocketFourNodesSmt',
    shared: '2-3,11',
    container: 'fakePod/fakeContainer 2',
    options: { alignBySocket: true },
    hints: '0! 0,1! 0,2 0,3 0,1,2 0,1,3 0,2,3 0,1,2,3',
  },
  {
    title: 'AlignBySocket:true Preferred hints are spread across socket since 2 sockets are required',
    host: 'dualSocketFourNodesSmt',
    shared: '0-28,40-57',
    container: 'fakePod/fakeContainer 41',
    options: { alignBySocket: true },
    hints: '0,1,2! 0,1,2,3!',
  },
];

export interface PodCpuVector {
  readonly title: string;
  /** The CPU request of each init container. A sidecar's request is followed by `sidecar`. */
  readonly initContainers: readonly string[];
  readonly containers: readonly string[];
  /** The CPUs of each container in the order of the requests. Empty if a container uses the shared CPUs. */
  readonly cpus: readonly string[];
}

/**
 * Vectors of `TestCPUManagerAddWithInitContainers` (`cpu_manager_test.go`), `TestStaticPolicyReuseCPUs` and
 * `TestStaticPolicyDoNotReuseCPUs`, on the host `singleSocketSmt` without reserved CPUs.
 */
export const podCpuVectors: readonly PodCpuVector[] = [
  { title: 'No Guaranteed Init CPUs', initContainers: ['100m'], containers: ['4'], cpus: ['', '0-1,4-5'] },
  { title: 'Equal Number of Guaranteed CPUs', initContainers: ['4'], containers: ['4'], cpus: ['0-1,4-5', '0-1,4-5'] },
  {
    title: 'More Init Container Guaranteed CPUs',
    initContainers: ['6'],
    containers: ['4'],
    cpus: ['0-2,4-6', '0-1,4-5'],
  },
  { title: 'Less Init Container Guaranteed CPUs', initContainers: ['2'], containers: ['4'], cpus: ['0,4', '0-1,4-5'] },
  {
    title: 'Multi Init Container Equal CPUs',
    initContainers: ['2', '2'],
    containers: ['2'],
    cpus: ['0,4', '0,4', '0,4'],
  },
  {
    title: 'Multi Init Container Less CPUs',
    initContainers: ['4', '4'],
    containers: ['2'],
    cpus: ['0-1,4-5', '0-1,4-5', '0,4'],
  },
  {
    title: 'Multi Init Container More CPUs',
    initContainers: ['2', '2'],
    containers: ['4'],
    cpus: ['0,4', '0,4', '0-1,4-5'],
  },
  {
    title: 'Multi Init Container Increasing CPUs',
    initContainers: ['2', '4'],
    containers: ['6'],
    cpus: ['0,4', '0-1,4-5', '0-2,4-6'],
  },
  {
    title: 'Multi Init, Multi App Container Split CPUs',
    initContainers: ['2', '4'],
    containers: ['2', '2'],
    cpus: ['0,4', '0-1,4-5', '0,4', '1,5'],
  },
  {
    title: 'SingleSocketHT, DeAllocOneInitContainer',
    initContainers: ['4'],
    containers: ['2'],
    cpus: ['0-1,4-5', '0,4'],
  },
  {
    title: "SingleSocketHT, Don't reuse CPUs of a restartable init container",
    initContainers: ['4 sidecar'],
    containers: ['2'],
    cpus: ['0-1,4-5', '2,6'],
  },
];

export interface CpuReleaseVector extends Omit<CpuStateVector, 'container' | 'host'> {
  readonly released: string;
  readonly sharedAfterwards: string;
}

/** Vectors of `TestStaticPolicyRemove`, and the release of `TestStaticPolicyReuseCPUs`. */
export const cpuReleaseVectors: readonly CpuReleaseVector[] = [
  {
    title: 'SingleSocketHT, DeAllocOneContainer',
    shared: '4-7',
    exclusive: ['fakePod/fakeContainer1 1-3'],
    released: 'fakePod/fakeContainer1',
    sharedAfterwards: '1-7',
  },
  {
    title: 'SingleSocketHT, DeAllocOneContainer, BeginEmpty',
    shared: '',
    exclusive: ['fakePod/fakeContainer1 1-3', 'fakePod/fakeContainer2 4-7'],
    released: 'fakePod/fakeContainer1',
    sharedAfterwards: '1-3',
  },
  {
    title: 'SingleSocketHT, DeAllocTwoContainer',
    shared: '6-7',
    exclusive: ['fakePod/fakeContainer1 1,3,5', 'fakePod/fakeContainer2 2,4'],
    released: 'fakePod/fakeContainer1',
    sharedAfterwards: '1,3,5-7',
  },
  {
    title: 'SingleSocketHT, NoDeAlloc',
    shared: '2,4,6-7',
    exclusive: ['fakePod/fakeContainer1 1,3,5'],
    released: 'fakePod/fakeContainer2',
    sharedAfterwards: '2,4,6-7',
  },
  {
    title: 'SingleSocketHT, DeAllocOneInitContainer',
    shared: '2-3,6-7',
    exclusive: ['pod/initContainer-0 0-1,4-5', 'pod/appContainer-0 0,4'],
    released: 'pod/initContainer-0',
    sharedAfterwards: '1-3,5-7',
  },
];

export interface CpuStartVector extends Omit<CpuStateVector, 'container' | 'host'> {
  /** The reserved CPUs, or their number. */
  readonly reserved: string | number;
  /** The error message of the kubelet. Undefined if it starts. */
  readonly error?: string;
  /** The shared CPUs after the start. */
  readonly sharedAfterwards?: string;
}

const STRICT: CpuPolicyOptions = { strictCpuReservation: true };

/**
 * Vectors of `TestStaticPolicyStart` and `TestStaticPolicyStartWithResvList` on the host `dualSocketSmt`, except those
 * of management partitions, which only OpenShift has.
 */
export const cpuStartVectors: readonly CpuStartVector[] = [
  {
    title: 'non-corrupted state',
    reserved: 0,
    shared: '1-11',
    exclusive: ['fakePod/0 0'],
    sharedAfterwards: '1-11',
  },
  { title: 'empty cpuset', reserved: 1, shared: '', sharedAfterwards: '0-11' },
  {
    title: 'reserved cores 0 & 6 are not present in available cpuset',
    reserved: 2,
    shared: '0-1',
    error: 'not all reserved cpus: "0,6" are present in defaultCpuSet: "0-1"',
  },
  {
    title: 'some of reserved cores are present in available cpuset (StrictCPUReservationOption)',
    options: STRICT,
    reserved: 2,
    shared: '0-1',
    error: 'some of strictly reserved cpus: "0" are present in defaultCpuSet: "0-1"',
  },
  {
    title: 'assigned core 2 is still present in available cpuset',
    reserved: 0,
    shared: '2-11',
    exclusive: ['fakePod/0 0-2'],
    error: 'pod: fakePod, container: 0 cpuset: "0-2" overlaps with default cpuset "2-11"',
  },
  {
    title: 'assigned core 2 is still present in available cpuset (StrictCPUReservationOption)',
    options: STRICT,
    reserved: 0,
    shared: '2-11',
    exclusive: ['fakePod/0 0-2'],
    error: 'pod: fakePod, container: 0 cpuset: "0-2" overlaps with default cpuset "2-11"',
  },
  {
    title: 'core 12 is not present in topology but is in state cpuset',
    reserved: 0,
    shared: '5-12',
    exclusive: ['fakePod/0 0-2', 'fakePod/1 3-4'],
    error: 'current set of available CPUs "0-11" doesn\'t match with CPUs in state "0-12"',
  },
  {
    title: 'core 11 is present in topology but is not in state cpuset',
    reserved: 0,
    shared: '5-10',
    exclusive: ['fakePod/0 0-2', 'fakePod/1 3-4'],
    error: 'current set of available CPUs "0-11" doesn\'t match with CPUs in state "0-10"',
  },
  { title: 'empty cpuset, reserved by number', reserved: '0-1', shared: '', sharedAfterwards: '0-11' },
  {
    title: 'empty cpuset with StrictCPUReservationOption enabled',
    options: STRICT,
    reserved: '0-1',
    shared: '',
    sharedAfterwards: '2-11',
  },
  {
    title: 'reserved cores 0 & 1 are not present in available cpuset',
    reserved: '0-1',
    shared: '2-5',
    error: 'not all reserved cpus: "0-1" are present in defaultCpuSet: "2-5"',
  },
  {
    title: 'reserved cores 0 & 1 are present in available cpuset with StrictCPUReservationOption enabled',
    options: STRICT,
    reserved: '0-1',
    shared: '0-5',
    error: 'some of strictly reserved cpus: "0-1" are present in defaultCpuSet: "0-5"',
  },
];

/** Vectors of `TestTopologyAwareAllocateCPUs`. Its socket masks are masks of NUMA nodes. */
export const alignedCpuVectors: readonly CpuAllocationVector[] = [
  { title: 'Request 2 CPUs, No BitMask', request: 2, cpus: '0,6' },
  { title: 'Request 2 CPUs, BitMask on Socket 0', request: 2, numaNodes: '0', cpus: '0,6' },
  { title: 'Request 2 CPUs, BitMask on Socket 1', request: 2, numaNodes: '1', cpus: '1,7' },
  { title: 'Request 8 CPUs, BitMask on Socket 0', request: 8, numaNodes: '0', cpus: '0-2,4,6-8,10' },
  { title: 'Request 8 CPUs, BitMask on Socket 1', request: 8, numaNodes: '1', cpus: '0-1,3,5-7,9,11' },
].map(({ request, ...vector }) => ({
  ...vector,
  host: 'dualSocketSmt',
  shared: '0-11',
  reserved: 'none',
  container: `pod/main ${request}`,
}));

export interface PodCpuCountVector {
  readonly title: string;
  readonly initContainers: readonly string[];
  readonly containers: readonly string[];
  /** Number of exclusive CPUs that the pod needs at any one time. */
  readonly count: number;
}

/** Vectors of `TestPodGuaranteedCPUs`. */
export const podCpuCountVectors: readonly PodCpuCountVector[] = [
  { title: 'TestCase01', initContainers: ['0'], containers: ['0'], count: 0 },
  { title: 'TestCase02', initContainers: ['0'], containers: ['2'], count: 0 },
  { title: 'TestCase03', initContainers: ['2'], containers: ['0'], count: 0 },
  { title: 'TestCase04', initContainers: ['2'], containers: ['2'], count: 2 },
  { title: 'TestCase05', initContainers: ['5'], containers: ['5'], count: 5 },
  { title: 'TestCase06', initContainers: ['2'], containers: ['5'], count: 5 },
  { title: 'TestCase07', initContainers: ['5'], containers: ['2'], count: 5 },
  { title: 'TestCase08', initContainers: ['2', '4'], containers: ['2', '4'], count: 6 },
  { title: 'TestCase09 1/2', initContainers: ['1 sidecar'], containers: ['1'], count: 2 },
  {
    title: 'TestCase09 2/2',
    initContainers: ['5', '1 sidecar', '2 sidecar', '3 sidecar'],
    containers: ['1'],
    count: 7,
  },
  {
    title: 'TestCase11',
    initContainers: ['5', '1 sidecar', '2 sidecar', '5', '3 sidecar'],
    containers: ['1'],
    count: 8,
  },
  { title: 'TestCase12', initContainers: ['10 sidecar', '200'], containers: ['100'], count: 210 },
];
