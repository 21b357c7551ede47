/**
 * Vectors of the kubelet's static memory manager policy and memory manager (`policy_static_test.go` and
 * `memory_manager_test.go` in `pkg/kubelet/cm/memorymanager`), except those of the feature gate
 * PodLevelResourceManagers. All amounts are in MiB, unless they end with `B`.
 */

export interface PodVector {
  readonly uid: string;
  /**
   * The name of each container with its requests, e.g. `main memory 1024`, after `init` or `sidecar` for an init
   * container. A limit that differs from the request follows it, e.g. `memory 1024/2048`.
   */
  readonly containers: readonly string[];
  /** The memory that the pod itself requests. */
  readonly podMemory?: number;
}

export interface MemoryVector {
  readonly title: string;
  /** The total memory and huge pages of each NUMA node, e.g. `0 memory 2048 hugepages-1Gi 1024`. */
  readonly machine?: readonly string[];
  /** The memory that is reserved on each NUMA node, e.g. `0 memory 512`. */
  readonly reserved?: readonly string[];
  /**
   * The state of each NUMA node: its ID, number of blocks and group, and for each kind of memory the amounts that exist,
   * are reserved for the system, are allocatable, are reserved by containers, and are free.
   */
  readonly nodes?: readonly string[];
  /** The blocks of containers with their NUMA nodes, e.g. `pod1/main memory 1024 @0,1`. */
  readonly assignments?: readonly string[];
  readonly pod?: PodVector;
  /** The NUMA nodes that the topology manager has chosen, or `any`, with `!` if they are preferred. */
  readonly hint?: string;
  readonly error?: string;
  readonly expectedNodes?: readonly string[];
  readonly expectedAssignments?: readonly string[];
  /** The hints for each kind of memory, e.g. `0! 1! 0,1`. */
  readonly hints?: Readonly<Record<string, string>>;
}

interface PodRequestVector {
  readonly title: string;
  readonly pod: PodVector;
  readonly requests: string;
}

interface ViolationVector {
  readonly title: string;
  readonly nodes: readonly string[];
  readonly hint: string;
  readonly isViolation: boolean;
}

/** Vectors of `TestStaticPolicyStart`. */
export const startVectors: readonly MemoryVector[] = [
  {
    title: 'should fail, if machine state is empty, but it has memory assignments',
    reserved: ['0 memory 512'],
    assignments: ['pod/container1 memory 512 @0'],
    error: '[memorymanager] machine state can not be empty when it has memory assignments',
  },
  {
    title: 'should fill the state with default values, when the state is empty',
    machine: ['0 memory 3072 hugepages-1Gi 1024'],
    reserved: ['0 memory 512'],
    expectedNodes: ['0 x0 [0] memory 3072/512/1536/0/1536 hugepages-1Gi 1024/0/1024/0/1024'],
    expectedAssignments: [],
  },
  {
    title: 'should fail when machine state does not have all NUMA nodes',
    machine: ['0 memory 2048 hugepages-1Gi 1024', '1 memory 2048 hugepages-1Gi 1024'],
    reserved: ['0 memory 512'],
    nodes: ['0 x0 [0] memory 2048/512/1536/0/1536 hugepages-1Gi 1024/0/1024/0/1024'],
    error: '[memorymanager] the expected machine state is different from the real one',
  },
  {
    title: 'should fail when machine state does not have memory resource',
    machine: ['0 memory 2048 hugepages-1Gi 1024'],
    reserved: ['0 memory 512'],
    nodes: ['0 x0 [0] hugepages-1Gi 1024/0/1024/0/1024'],
    error: '[memorymanager] the expected machine state is different from the real one',
  },
  {
    title: 'should fail when machine state has wrong size of total memory',
    machine: ['0 memory 2048 hugepages-1Gi 1024'],
    reserved: ['0 memory 512'],
    nodes: ['0 x0 [0] memory 1536/512/1536/0/1536'],
    error: '[memorymanager] the expected machine state is different from the real one',
  },
  {
    title: 'should fail when machine state has wrong size of system reserved memory',
    machine: ['0 memory 2048 hugepages-1Gi 1024'],
    reserved: ['0 memory 512'],
    nodes: ['0 x0 [0] memory 2048/1024B/1536/0/1536'],
    error: '[memorymanager] the expected machine state is different from the real one',
  },
  {
    title:
      'should fail when machine state reserved memory is different from the memory of all containers memory assignments',
    machine: ['0 memory 2048 hugepages-1Gi 1024'],
    reserved: ['0 memory 512'],
    nodes: ['0 x1 [0] memory 2048/512/1536/0/1536'],
    assignments: ['pod/container1 memory 512 @0'],
    error: '[memorymanager] the expected machine state is different from the real one',
  },
  {
    title: 'should fail when machine state has wrong size of hugepages',
    machine: ['0 memory 2048 hugepages-1Gi 2048'],
    reserved: ['0 memory 512'],
    nodes: ['0 x0 [0] memory 2048/512/1536/0/1536 hugepages-1Gi 1024/0/1024/0/1024'],
    error: '[memorymanager] the expected machine state is different from the real one',
  },
  {
    title: 'should fail when machine state has wrong size of system reserved hugepages',
    machine: ['0 memory 2048 hugepages-1Gi 2048'],
    reserved: ['0 memory 512'],
    nodes: ['0 x0 [0] memory 2048/512/1536/0/1536 hugepages-1Gi 2048/1024/1024/0/1024'],
    error: '[memorymanager] the expected machine state is different from the real one',
  },
  {
    title:
      'should fail when the hugepages reserved machine state is different from the hugepages of all containers memory assignments',
    machine: ['0 memory 2048 hugepages-1Gi 4096'],
    reserved: ['0 memory 512'],
    nodes: ['0 x2 [0] memory 2048/512/1536/0/1536 hugepages-1Gi 4096/0/4096/3072/1024'],
    assignments: ['pod1/container1 hugepages-1Gi 1024 @0', 'pod2/container2 hugepages-1Gi 1024 @0'],
    error: '[memorymanager] the expected machine state is different from the real one',
  },
  {
    title: 'should fail when machine state does not have NUMA node that used under the memory assignment',
    machine: ['0 memory 2048 hugepages-1Gi 1024'],
    reserved: ['0 memory 512'],
    nodes: ['0 x0 [0] memory 2048/512/1536/0/1536 hugepages-1Gi 1024/0/1024/0/1024'],
    assignments: ['pod1/container1 memory 1024 @1'],
    error: '[memorymanager] (pod: pod1, container: container1) the memory assignment uses the NUMA that does not exist',
  },
  {
    title: 'should fail when machine state does not have resource that used under the memory assignment',
    machine: ['0 memory 2048 hugepages-1Gi 1024'],
    reserved: ['0 memory 512'],
    nodes: ['0 x2 [0] memory 2048/512/1536/0/1536 hugepages-1Gi 1024/0/1024/0/1024'],
    assignments: ['pod1/container1 memory 1024 @0', 'pod1/container1 hugepages-2Mi 1024 @0'],
    error:
      '[memorymanager] (pod: pod1, container: container1) the memory assignment uses memory resource that does not exist',
  },
  {
    title: 'should fail when machine state number of assignments is different from the expected one',
    machine: ['0 memory 2048 hugepages-1Gi 1024'],
    reserved: ['0 memory 512'],
    nodes: ['0 x1 [0] memory 2048/512/1536/0/1536 hugepages-1Gi 1024/0/1024/0/1024'],
    assignments: ['pod1/container1 memory 1024 @0', 'pod1/container1 hugepages-1Gi 1024 @0'],
    error: '[memorymanager] the expected machine state is different from the real one',
  },
  {
    title: 'should validate cross NUMA reserved memory vs container assignments',
    machine: ['0 memory 2176 hugepages-1Gi 1024', '1 memory 2176 hugepages-1Gi 1024'],
    reserved: ['0 memory 512', '1 memory 512'],
    nodes: [
      '0 x4 [0,1] memory 2176/512/640/640/0 hugepages-1Gi 1024/0/1024/1024/0',
      '1 x4 [0,1] memory 2176/512/640/384/256 hugepages-1Gi 1024/0/1024/1024/0',
    ],
    assignments: [
      'pod1/container1 memory 768 @0,1',
      'pod1/container1 hugepages-1Gi 1024 @0,1',
      'pod2/container2 memory 256 @0,1',
      'pod2/container2 hugepages-1Gi 1024 @0,1',
    ],
    expectedNodes: [
      '0 x4 [0,1] memory 2176/512/640/640/0 hugepages-1Gi 1024/0/1024/1024/0',
      '1 x4 [0,1] memory 2176/512/640/384/256 hugepages-1Gi 1024/0/1024/1024/0',
    ],
    expectedAssignments: [
      'pod1/container1 memory 768 @0,1',
      'pod1/container1 hugepages-1Gi 1024 @0,1',
      'pod2/container2 memory 256 @0,1',
      'pod2/container2 hugepages-1Gi 1024 @0,1',
    ],
  },
  {
    title: 'should validate the totalFree and totalReserved size for a resource within a group',
    machine: ['0 memory 240', '1 memory 240'],
    reserved: ['0 memory 20', '1 memory 20'],
    nodes: ['0 x2 [0,1] memory 240/20/220/210/10', '1 x2 [0,1] memory 240/20/220/40/180'],
    assignments: ['pod1/container1 memory 240 @0,1', 'pod2/container2 memory 10 @0,1'],
    expectedNodes: ['0 x2 [0,1] memory 240/20/220/190/30', '1 x2 [0,1] memory 240/20/220/60/160'],
    expectedAssignments: ['pod1/container1 memory 240 @0,1', 'pod2/container2 memory 10 @0,1'],
  },
];

/** Vectors of `TestStaticPolicyAllocate`, which allocates for the first regular container. */
export const allocationVectors: readonly MemoryVector[] = [
  {
    title: 'should do nothing for non-guaranteed pods',
    reserved: ['0 memory 512'],
    nodes: ['0 x0 [] memory 2048/512/1536/0/1536 hugepages-1Gi 1024/0/1024/0/1024'],
    pod: { uid: 'pod1', containers: ['container1 memory 1024/2048 hugepages-1Gi 1024/2048'] },
    hint: 'any',
    expectedNodes: ['0 x0 [] memory 2048/512/1536/0/1536 hugepages-1Gi 1024/0/1024/0/1024'],
    expectedAssignments: [],
  },
  {
    title: 'should do nothing once container already exists under the state file',
    reserved: ['0 memory 512'],
    nodes: ['0 x0 [] memory 2048/512/1536/1024/512 hugepages-1Gi 1024/0/1024/0/1024'],
    assignments: ['pod1/container1 memory 1024 @0'],
    pod: { uid: 'pod1', containers: ['container1 memory 1024 hugepages-1Gi 1024'] },
    hint: 'any',
    expectedNodes: ['0 x0 [] memory 2048/512/1536/1024/512 hugepages-1Gi 1024/0/1024/0/1024'],
    expectedAssignments: ['pod1/container1 memory 1024 @0'],
  },
  {
    title: 'should calculate a default topology hint when no NUMA affinity was provided by the topology manager hint',
    reserved: ['0 memory 512'],
    nodes: ['0 x0 [0] memory 2048/512/1536/0/1536 hugepages-1Gi 1024/0/1024/0/1024'],
    pod: { uid: 'pod1', containers: ['container1 memory 1024 hugepages-1Gi 1024'] },
    hint: 'any',
    expectedNodes: ['0 x2 [0] memory 2048/512/1536/1024/512 hugepages-1Gi 1024/0/1024/1024/0'],
    expectedAssignments: ['pod1/container1 memory 1024 @0', 'pod1/container1 hugepages-1Gi 1024 @0'],
  },
  {
    title:
      'should fail when no NUMA affinity was provided under the topology manager hint and calculation of the default hint failed',
    reserved: ['0 memory 512'],
    nodes: ['0 x2 [0] memory 2048/512/1536/1024/512 hugepages-1Gi 1024/0/1024/1024/0'],
    assignments: ['pod1/container1 memory 1024 @0', 'pod1/container1 hugepages-1Gi 1024 @0'],
    pod: { uid: 'pod2', containers: ['container2 memory 1024 hugepages-1Gi 1024'] },
    hint: 'any',
    error: '[memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is available',
  },
  {
    title:
      'should fail when no NUMA affinity was provided under the topology manager preferred hint and default hint has preferred false',
    reserved: ['0 memory 512', '1 memory 512', '2 memory 512'],
    nodes: [
      '0 x1 [0] memory 1536/512/1024/512/512 hugepages-1Gi 1024/0/1024/0/1024',
      '1 x0 [1] memory 1536/512/512/0/512 hugepages-1Gi 1024/0/1024/0/1024',
      '2 x0 [2] memory 1536/512/512/0/512 hugepages-1Gi 1024/0/1024/0/1024',
    ],
    assignments: ['pod1/container1 memory 512 @0'],
    pod: { uid: 'pod2', containers: ['container2 memory 1024 hugepages-1Gi 1024'] },
    hint: 'any!',
    error: '[memorymanager] failed to find the default preferred hint',
  },
  {
    title:
      'should fail when NUMA affinity provided under the topology manager hint did not satisfy container requirements and extended hint generation failed',
    reserved: ['0 memory 512', '1 memory 512', '2 memory 512'],
    nodes: [
      '0 x0 [0] memory 1024/512/512/0/512 hugepages-1Gi 1024/0/1024/0/1024',
      '1 x1 [1,2] memory 2048/512/1536/1024/512 hugepages-1Gi 1024/0/1024/0/1024',
      '2 x1 [1,2] memory 2048/512/1536/1024/512 hugepages-1Gi 1024/0/1024/0/1024',
    ],
    pod: { uid: 'pod1', containers: ['container1 memory 1024 hugepages-1Gi 1024'] },
    hint: '0',
    error: '[memorymanager] failed to find NUMA nodes to extend the current topology hint',
  },
  {
    title: 'should fail when the topology manager provided the preferred hint and extended hint has preferred false',
    reserved: ['0 memory 512', '1 memory 512', '2 memory 512'],
    nodes: [
      '0 x1 [0] memory 1536/512/1024/512/512 hugepages-1Gi 1024/0/1024/0/1024',
      '1 x0 [1] memory 1536/512/512/0/512 hugepages-1Gi 1024/0/1024/0/1024',
      '2 x0 [2] memory 1536/512/512/0/512 hugepages-1Gi 1024/0/1024/0/1024',
    ],
    assignments: ['pod1/container1 memory 512 @0'],
    pod: { uid: 'pod2', containers: ['container2 memory 1024 hugepages-1Gi 1024'] },
    hint: '1!',
    error: '[memorymanager] failed to find the extended preferred hint',
  },
  {
    title: 'should succeed to allocate memory from multiple NUMA nodes',
    reserved: ['0 memory 512', '1 memory 512', '2 memory 512', '3 memory 512'],
    nodes: [
      '0 x0 [0] memory 1024/512/512/0/512 hugepages-1Gi 1024/0/1024/0/1024',
      '1 x0 [1] memory 1024/512/512/0/512 hugepages-1Gi 1024/0/1024/0/1024',
      '2 x0 [2] memory 1024/512/512/0/512 hugepages-1Gi 1024/0/1024/0/1024',
      '3 x0 [3] memory 1024/512/512/0/512 hugepages-1Gi 1024/0/1024/0/1024',
    ],
    pod: { uid: 'pod1', containers: ['container1 memory 1024 hugepages-1Gi 1024'] },
    hint: 'any!',
    expectedNodes: [
      '0 x2 [0,1] memory 1024/512/512/512/0 hugepages-1Gi 1024/0/1024/1024/0',
      '1 x2 [0,1] memory 1024/512/512/512/0 hugepages-1Gi 1024/0/1024/0/1024',
      '2 x0 [2] memory 1024/512/512/0/512 hugepages-1Gi 1024/0/1024/0/1024',
      '3 x0 [3] memory 1024/512/512/0/512 hugepages-1Gi 1024/0/1024/0/1024',
    ],
    expectedAssignments: ['pod1/container1 memory 1024 @0,1', 'pod1/container1 hugepages-1Gi 1024 @0,1'],
  },
  {
    title: 'should validate NUMA node can not have both single and cross NUMA node memory allocations',
    reserved: ['0 memory 512', '1 memory 512'],
    nodes: [
      '0 x1 [0] memory 2176/512/1536/1024/512 hugepages-1Gi 1024/0/1024/0/1024',
      '1 x0 [1] memory 2176/512/512/0/512 hugepages-1Gi 1024/0/1024/0/1024',
    ],
    assignments: ['pod1/container1 memory 1024 @0'],
    pod: { uid: 'pod2', containers: ['container1 memory 1024 hugepages-1Gi 1024'] },
    hint: '0,1!',
    error: '[memorymanager] preferred hint violates NUMA node allocation',
  },
  {
    title: 'should do nothing for guaranteed pod with pod level resources',
    reserved: ['0 memory 512'],
    nodes: ['0 x0 [] memory 2048/512/1536/0/1536 hugepages-1Gi 1024/0/1024/0/1024'],
    pod: { uid: 'pod1', podMemory: 1024, containers: ['container1 memory 1024 hugepages-1Gi 1024'] },
    hint: 'any',
    expectedNodes: ['0 x0 [] memory 2048/512/1536/0/1536 hugepages-1Gi 1024/0/1024/0/1024'],
    expectedAssignments: [],
  },
];

/** Vectors of `TestStaticPolicyAllocateWithInitContainers`, which allocates for all containers. */
export const initContainerVectors: readonly MemoryVector[] = [
  {
    title: 'should re-use init containers memory, init containers requests 1Gi and 2Gi, apps containers 3Gi and 4Gi',
    reserved: ['0 memory 512'],
    nodes: ['0 x0 [0] memory 8192/512/7680/0/7680 hugepages-1Gi 8192/0/8192/0/8192'],
    pod: {
      uid: 'pod1',
      containers: [
        'init initContainer1 memory 1024 hugepages-1Gi 1024',
        'init initContainer2 memory 2048 hugepages-1Gi 2048',
        'container1 memory 3072 hugepages-1Gi 3072',
        'container2 memory 4096 hugepages-1Gi 4096',
      ],
    },
    hint: 'any',
    expectedNodes: ['0 x8 [0] memory 8192/512/7680/7168/512 hugepages-1Gi 8192/0/8192/7168/1024'],
    expectedAssignments: [
      'pod1/initContainer1 memory 0 @0',
      'pod1/initContainer1 hugepages-1Gi 0 @0',
      'pod1/initContainer2 memory 0 @0',
      'pod1/initContainer2 hugepages-1Gi 0 @0',
      'pod1/container1 memory 3072 @0',
      'pod1/container1 hugepages-1Gi 3072 @0',
      'pod1/container2 memory 4096 @0',
      'pod1/container2 hugepages-1Gi 4096 @0',
    ],
  },
  {
    title: 'should re-use init containers memory, init containers requests 4Gi and 3Gi, apps containers 2Gi and 1Gi',
    reserved: ['0 memory 512'],
    nodes: ['0 x0 [0] memory 8192/512/7680/0/7680 hugepages-1Gi 8192/0/8192/0/8192'],
    pod: {
      uid: 'pod1',
      containers: [
        'init initContainer1 memory 4096 hugepages-1Gi 4096',
        'init initContainer2 memory 3072 hugepages-1Gi 3072',
        'container1 memory 2048 hugepages-1Gi 2048',
        'container2 memory 1024 hugepages-1Gi 1024',
      ],
    },
    hint: 'any',
    expectedNodes: ['0 x8 [0] memory 8192/512/7680/4096/3584 hugepages-1Gi 8192/0/8192/4096/4096'],
    expectedAssignments: [
      'pod1/initContainer1 memory 0 @0',
      'pod1/initContainer1 hugepages-1Gi 0 @0',
      'pod1/initContainer2 memory 1024 @0',
      'pod1/initContainer2 hugepages-1Gi 1024 @0',
      'pod1/container1 memory 2048 @0',
      'pod1/container1 hugepages-1Gi 2048 @0',
      'pod1/container2 memory 1024 @0',
      'pod1/container2 hugepages-1Gi 1024 @0',
    ],
  },
  {
    title: 'should re-use init containers memory, init containers requests 7Gi and 4Gi, apps containers 4Gi and 3Gi',
    reserved: ['0 memory 512'],
    nodes: ['0 x0 [0] memory 8192/512/7680/0/7680 hugepages-1Gi 8192/0/8192/0/8192'],
    pod: {
      uid: 'pod1',
      containers: [
        'init initContainer1 memory 7168 hugepages-1Gi 7168',
        'init initContainer2 memory 4096 hugepages-1Gi 4096',
        'container1 memory 4096 hugepages-1Gi 4096',
        'container2 memory 3072 hugepages-1Gi 3072',
      ],
    },
    hint: 'any',
    expectedNodes: ['0 x8 [0] memory 8192/512/7680/7168/512 hugepages-1Gi 8192/0/8192/7168/1024'],
    expectedAssignments: [
      'pod1/initContainer1 memory 0 @0',
      'pod1/initContainer1 hugepages-1Gi 0 @0',
      'pod1/initContainer2 memory 0 @0',
      'pod1/initContainer2 hugepages-1Gi 0 @0',
      'pod1/container1 memory 4096 @0',
      'pod1/container1 hugepages-1Gi 4096 @0',
      'pod1/container2 memory 3072 @0',
      'pod1/container2 hugepages-1Gi 3072 @0',
    ],
  },
  {
    title: 'should re-use init containers memory, init containers requests 7Gi and 4Gi, apps containers 5Gi and 2Gi',
    reserved: ['0 memory 512'],
    nodes: ['0 x0 [0] memory 10240/512/10240/0/10240 hugepages-1Gi 10240/0/10240/0/10240'],
    pod: {
      uid: 'pod1',
      containers: [
        'init initContainer1 memory 7168 hugepages-1Gi 7168',
        'init initContainer2 memory 4096 hugepages-1Gi 4096',
        'container1 memory 5120 hugepages-1Gi 5120',
        'container2 memory 2048 hugepages-1Gi 2048',
      ],
    },
    hint: 'any',
    expectedNodes: ['0 x8 [0] memory 10240/512/10240/7168/3072 hugepages-1Gi 10240/0/10240/7168/3072'],
    expectedAssignments: [
      'pod1/initContainer1 memory 0 @0',
      'pod1/initContainer1 hugepages-1Gi 0 @0',
      'pod1/initContainer2 memory 0 @0',
      'pod1/initContainer2 hugepages-1Gi 0 @0',
      'pod1/container1 memory 5120 @0',
      'pod1/container1 hugepages-1Gi 5120 @0',
      'pod1/container2 memory 2048 @0',
      'pod1/container2 hugepages-1Gi 2048 @0',
    ],
  },
];

/** Vectors of `TestStaticPolicyAllocateWithRestartableInitContainers`, which allocates for all containers. */
export const sidecarVectors: readonly MemoryVector[] = [
  {
    title: 'should do nothing once containers already exist under the state file',
    reserved: ['0 memory 512'],
    nodes: ['0 x0 [] memory 3072/512/2560/2048/512 hugepages-1Gi 2048/0/2048/0/2048'],
    assignments: ['pod1/initContainer1 memory 1024 @0', 'pod1/container1 memory 1024 @0'],
    pod: {
      uid: 'pod1',
      containers: [
        'sidecar initContainer1 memory 1024 hugepages-1Gi 1024',
        'container1 memory 1024 hugepages-1Gi 1024',
      ],
    },
    hint: 'any',
    expectedNodes: ['0 x0 [] memory 3072/512/2560/2048/512 hugepages-1Gi 2048/0/2048/0/2048'],
    expectedAssignments: ['pod1/initContainer1 memory 1024 @0', 'pod1/container1 memory 1024 @0'],
  },
  {
    title: 'should not re-use restartable init containers memory',
    reserved: ['0 memory 512'],
    nodes: ['0 x0 [0] memory 7680/512/7168/0/7168 hugepages-1Gi 7168/0/7168/0/7168'],
    pod: {
      uid: 'pod1',
      containers: [
        'init initContainer1 memory 1024 hugepages-1Gi 1024',
        'sidecar restartableInitContainer2 memory 2048 hugepages-1Gi 2048',
        'init initContainer3 memory 3072 hugepages-1Gi 3072',
        'sidecar restartableInitContainer4 memory 4096 hugepages-1Gi 4096',
        'container1 memory 1024 hugepages-1Gi 1024',
      ],
    },
    hint: 'any',
    expectedNodes: ['0 x10 [0] memory 7680/512/7168/7168/0 hugepages-1Gi 7168/0/7168/7168/0'],
    expectedAssignments: [
      'pod1/initContainer1 memory 0 @0',
      'pod1/initContainer1 hugepages-1Gi 0 @0',
      'pod1/restartableInitContainer2 memory 2048 @0',
      'pod1/restartableInitContainer2 hugepages-1Gi 2048 @0',
      'pod1/initContainer3 memory 0 @0',
      'pod1/initContainer3 hugepages-1Gi 0 @0',
      'pod1/restartableInitContainer4 memory 4096 @0',
      'pod1/restartableInitContainer4 hugepages-1Gi 4096 @0',
      'pod1/container1 memory 1024 @0',
      'pod1/container1 hugepages-1Gi 1024 @0',
    ],
  },
];

/** Vectors of `TestStaticPolicyRemoveContainer`, which removes `pod1/container1`. */
export const removalVectors: readonly MemoryVector[] = [
  {
    title: 'should do nothing when the container does not exist under the state',
    reserved: ['0 memory 512'],
    nodes: ['0 x0 [] memory 2048/512/1536/0/1536 hugepages-1Gi 1024/0/1024/0/1024'],
    expectedNodes: ['0 x0 [] memory 2048/512/1536/0/1536 hugepages-1Gi 1024/0/1024/0/1024'],
    expectedAssignments: [],
  },
  {
    title: 'should delete the container assignment and update the machine state',
    reserved: ['0 memory 512'],
    nodes: ['0 x2 [0] memory 2048/512/1536/1024/512 hugepages-1Gi 1024/0/1024/1024/0'],
    assignments: ['pod1/container1 memory 1024 @0', 'pod1/container1 hugepages-1Gi 1024 @0'],
    expectedNodes: ['0 x0 [0] memory 2048/512/1536/0/1536 hugepages-1Gi 1024/0/1024/0/1024'],
    expectedAssignments: [],
  },
  {
    title: 'should delete the cross NUMA container assignment and update the machine state',
    reserved: ['0 memory 512', '1 memory 512'],
    nodes: [
      '0 x2 [0,1] memory 1024/512/512/512/0 hugepages-1Gi 1024/0/1024/1024/0',
      '1 x2 [0,1] memory 1024/512/512/512/0 hugepages-1Gi 1024/0/1024/0/1024',
    ],
    assignments: ['pod1/container1 memory 1024 @0,1', 'pod1/container1 hugepages-1Gi 1024 @0,1'],
    expectedNodes: [
      '0 x0 [0] memory 1024/512/512/0/512 hugepages-1Gi 1024/0/1024/0/1024',
      '1 x0 [1] memory 1024/512/512/0/512 hugepages-1Gi 1024/0/1024/0/1024',
    ],
    expectedAssignments: [],
  },
];

/** Vectors of `TestStaticPolicyGetTopologyHints`. */
export const containerHintVectors: readonly MemoryVector[] = [
  {
    title: 'should not provide topology hints for non-guaranteed pods',
    reserved: ['0 memory 512'],
    pod: { uid: 'pod1', containers: ['container1 memory 1024/2048 hugepages-1Gi 1024/2048'] },
    hints: {},
  },
  {
    title: 'should provide topology hints based on the existent memory assignment',
    reserved: ['0 memory 512'],
    assignments: ['pod1/container1 memory 1024 @0', 'pod1/container1 hugepages-1Gi 1024 @0'],
    pod: { uid: 'pod1', containers: ['container1 memory 1024 hugepages-1Gi 1024'] },
    hints: { memory: '0!', 'hugepages-1Gi': '0!' },
  },
  {
    title: 'should calculate new topology hints, when the container does not exist under assignments',
    reserved: ['0 memory 512', '1 memory 512', '2 memory 512', '3 memory 512'],
    nodes: [
      '0 x2 [0,1] memory 2048/512/1536/1536/0 hugepages-1Gi 1024/0/1024/1024/0',
      '1 x2 [0,1] memory 2048/512/1536/512/1024 hugepages-1Gi 1024/0/1024/1024/0',
      '2 x0 [2] memory 2048/512/1536/0/1536 hugepages-1Gi 1024/0/1024/0/1024',
      '3 x0 [3] memory 2048/512/1536/0/1536 hugepages-1Gi 1024/0/1024/0/1024',
    ],
    assignments: ['pod1/container1 memory 2048 @0,1', 'pod1/container1 hugepages-1Gi 2048 @0,1'],
    pod: { uid: 'pod2', containers: ['container2 memory 1024 hugepages-1Gi 1024'] },
    hints: { memory: '2! 3! 2,3', 'hugepages-1Gi': '2! 3! 2,3' },
  },
  {
    title:
      'should fail when number of existing memory assignment resources are different from resources requested by container',
    reserved: ['0 memory 512'],
    assignments: ['pod1/container1 memory 1024 @0'],
    pod: { uid: 'pod1', containers: ['container1 memory 1024 hugepages-1Gi 1024'] },
    hints: {},
  },
  {
    title: 'should fail when existing memory assignment resources are different from resources requested by container',
    reserved: ['0 memory 512'],
    assignments: ['pod1/container1 memory 1024 @0', 'pod1/container1 hugepages-2Mi 1024 @0'],
    pod: { uid: 'pod1', containers: ['container1 memory 1024 hugepages-1Gi 1024'] },
    hints: {},
  },
  {
    title: 'should fail when existing memory assignment size is different from one requested by the container',
    reserved: ['0 memory 512'],
    assignments: ['pod1/container1 memory 512 @0', 'pod1/container1 hugepages-1Gi 1024 @0'],
    pod: { uid: 'pod1', containers: ['container1 memory 1024 hugepages-1Gi 1024'] },
    hints: {},
  },
  {
    title:
      'should not return preferred hints with multiple NUMA nodes for the pod with resources satisfied by a single NUMA node',
    reserved: ['0 memory 512', '1 memory 512'],
    nodes: [
      '0 x2 [0,1] memory 2048/512/1536/1536/0 hugepages-2Mi 20/0/20/20/0',
      '1 x2 [0,1] memory 2048/512/1536/512/1024 hugepages-2Mi 20/0/20/4/16',
    ],
    assignments: ['pod1/container1 memory 2048 @0,1', 'pod1/container1 hugepages-2Mi 24 @0,1'],
    pod: { uid: 'pod2', containers: ['container2 memory 1024 hugepages-2Mi 16'] },
    hints: { memory: '0,1', 'hugepages-2Mi': '0,1' },
  },
  {
    title: 'should not provide topology hints for guaranteed pod with pod level resources',
    reserved: ['0 memory 1024'],
    pod: { uid: 'pod1', podMemory: 1024, containers: ['container1 memory 1024 hugepages-1Gi 1024'] },
    hints: {},
  },
];

/** Vectors of `TestStaticPolicyGetPodTopologyHints`. */
export const podHintVectors: readonly MemoryVector[] = [
  {
    title:
      'should provide pod topology hints for guaranteed pod without container level resources when PodLevelResources and PodLevelResourceManagers are disabled',
    machine: ['0 memory 3072 hugepages-1Gi 1024', '1 memory 3072 hugepages-1Gi 1024'],
    reserved: ['0 memory 1024', '1 memory 1024'],
    nodes: [
      '0 x0 [0] memory 3072/512/2048/0/2048 hugepages-1Gi 1024/0/1024/0/1024',
      '1 x0 [1] memory 3072/512/2048/0/2048 hugepages-1Gi 1024/0/1024/0/1024',
    ],
    pod: { uid: 'pod1', containers: ['container1 memory 1024 hugepages-1Gi 1024'] },
    hints: { memory: '0! 1! 0,1', 'hugepages-1Gi': '0! 1! 0,1' },
  },
  {
    title:
      'should not provide pod topology hints for burstable pod with container level resources when PodLevelResources and PodLevelResourceManagers are disabled',
    reserved: ['0 memory 1024'],
    pod: { uid: 'pod1', containers: ['container1 memory 1024/2048 hugepages-1Gi 1024/2048'] },
    hints: {},
  },
  {
    title:
      'should not provide pod topology hints for guaranteed pod with pod level resources when PodLevelResourceManagers is disabled',
    reserved: ['0 memory 1024'],
    pod: { uid: 'pod1', podMemory: 1024, containers: ['container1 memory 1024 hugepages-1Gi 1024'] },
    hints: {},
  },
];

/** Vectors of `Test_getPodRequestedResources`. The requests are in MiB. */
export const podRequestVectors: readonly PodRequestVector[] = [
  {
    title: 'maximum resources of init containers > total resources of containers',
    pod: {
      uid: 'pod',
      containers: [
        'init initContainer1 memory 1024 hugepages-1Gi 1024',
        'init initContainer2 memory 4096 hugepages-1Gi 4096',
        'container1 memory 1024 hugepages-1Gi 1024',
        'container2 memory 2048 hugepages-1Gi 2048',
      ],
    },
    requests: 'memory 4096 hugepages-1Gi 4096',
  },
  {
    title: 'maximum resources of init containers < total resources of containers',
    pod: {
      uid: 'pod',
      containers: [
        'init initContainer1 memory 1024 hugepages-1Gi 1024',
        'init initContainer2 memory 3072 hugepages-1Gi 3072',
        'container1 memory 2048 hugepages-1Gi 2048',
        'container2 memory 3072 hugepages-1Gi 3072',
      ],
    },
    requests: 'memory 5120 hugepages-1Gi 5120',
  },
  {
    title: 'calculate different resources independently',
    pod: {
      uid: 'pod',
      containers: [
        'init initContainer1 memory 1024 hugepages-1Gi 1024',
        'init initContainer2 memory 3072 hugepages-1Gi 4096',
        'container1 memory 2048 hugepages-1Gi 1024',
        'container2 memory 3072 hugepages-1Gi 2048',
      ],
    },
    requests: 'memory 5120 hugepages-1Gi 4096',
  },
  {
    title:
      'maximum resources of init containers > total resources of long running containers, including restartable init containers',
    pod: {
      uid: 'pod',
      containers: [
        'sidecar restartableInit1 memory 2048 hugepages-1Gi 2048',
        'init initContainer2 memory 4096 hugepages-1Gi 4096',
        'container1 memory 1024 hugepages-1Gi 1024',
        'container2 memory 2048 hugepages-1Gi 2048',
      ],
    },
    requests: 'memory 6144 hugepages-1Gi 6144',
  },
  {
    title:
      'maximum resources of init containers < total resources of long running containers, including restartable init containers',
    pod: {
      uid: 'pod',
      containers: [
        'sidecar restartableInit1 memory 2048 hugepages-1Gi 2048',
        'init initContainer2 memory 4096 hugepages-1Gi 4096',
        'container1 memory 2048 hugepages-1Gi 2048',
        'container2 memory 3072 hugepages-1Gi 3072',
      ],
    },
    requests: 'memory 7168 hugepages-1Gi 7168',
  },
];

/** Vectors of `Test_isAffinityViolatingNUMAAllocations`. */
export const violationVectors: readonly ViolationVector[] = [
  {
    title: 'violating NUMA allocations because given affinity asks for NUMA ID 1 which is on different cells group',
    nodes: ['0 x1 [0,1]', '1 x1 [0,1]', '2 x1 [2]', '3 x0 [3]'],
    hint: '1,2',
    isViolation: true,
  },
  {
    title:
      'violating NUMA allocations because given affinity with multiple nodes asks for NUMA ID 1 which is used for a single NUMA node memory allocation',
    nodes: ['0 x0 [0,1]', '1 x1 [1]'],
    hint: '0,1',
    isViolation: true,
  },
  { title: 'valid affinity, no prior assignments', nodes: ['0 x0 [0]', '1 x0 [1]'], hint: '0,1', isViolation: false },
];

const TEN_GIB_NODE = 'memory 10240/1024/9216/0/9216 hugepages-1Gi 5120/0/5120/0/5120';
/** Two NUMA nodes of the manager's vectors, each with 10 GiB of memory and 5 GiB of huge pages. */
const UNUSED_NODES = [`0 x0 [0] ${TEN_GIB_NODE}`, `1 x0 [1] ${TEN_GIB_NODE}`];
const SMALL_POD_ASSIGNMENTS = ['pod1/container1 memory 1024 @0', 'pod1/container1 hugepages-1Gi 1024 @0'];
const SMALL_POD_NODES = [
  '0 x2 [0] memory 10240/1024/9216/1024/8192 hugepages-1Gi 5120/0/5120/1024/4096',
  `1 x0 [1] ${TEN_GIB_NODE}`,
];
const TWO_CONTAINERS = [
  ...SMALL_POD_ASSIGNMENTS,
  'pod1/container2 memory 1024 @0',
  'pod1/container2 hugepages-1Gi 1024 @0',
];
const TWO_CONTAINER_NODES = [
  '0 x4 [0] memory 10240/1024/9216/2048/7168 hugepages-1Gi 5120/0/5120/2048/3072',
  `1 x0 [1] ${TEN_GIB_NODE}`,
];

/** Vectors of `TestAddContainer` and `TestAllocateAndAddPodWithInitContainers`, which allocate for all containers. */
export const managerAllocationVectors: readonly MemoryVector[] = [
  {
    title: 'a small container gets memory of the first NUMA node',
    nodes: UNUSED_NODES,
    pod: { uid: 'pod1', containers: ['container1 memory 1024 hugepages-1Gi 1024'] },
    expectedNodes: SMALL_POD_NODES,
    expectedAssignments: SMALL_POD_ASSIGNMENTS,
  },
  {
    title: 'a container that needs more memory than one NUMA node has gets a group',
    nodes: UNUSED_NODES,
    pod: { uid: 'pod1', containers: ['container1 memory 12288 hugepages-1Gi 4096'] },
    expectedNodes: [
      '0 x2 [0,1] memory 10240/1024/9216/9216/0 hugepages-1Gi 5120/0/5120/4096/1024',
      '1 x2 [0,1] memory 10240/1024/9216/3072/6144 hugepages-1Gi 5120/0/5120/0/5120',
    ],
    expectedAssignments: ['pod1/container1 memory 12288 @0,1', 'pod1/container1 hugepages-1Gi 4096 @0,1'],
  },
  {
    title: 'a large container gets no group with a NUMA node that serves a small one',
    nodes: SMALL_POD_NODES,
    assignments: SMALL_POD_ASSIGNMENTS,
    pod: { uid: 'pod2', containers: ['container2 memory 12288 hugepages-1Gi 4096'] },
    error: '[memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is available',
  },
];

/** The vector of `TestAllocateAndAddPodWithInitContainers`. The init container has completed at the end. */
export const completedInitVector: MemoryVector & { readonly pod: PodVector } = {
  title: 'the memory of an init container is released once its pod has been initialized',
  nodes: [
    '0 x0 [0] memory 10240/512/9728/0/9728 hugepages-1Gi 5120/0/5120/0/5120',
    '1 x0 [1] memory 10240/512/9728/0/9728 hugepages-1Gi 5120/0/5120/0/5120',
  ],
  pod: {
    uid: 'pod1',
    containers: ['init initContainer1 memory 7168 hugepages-1Gi 5120', 'container1 memory 4096 hugepages-1Gi 4096'],
  },
  expectedNodes: [
    '0 x2 [0] memory 10240/512/9728/4096/5632 hugepages-1Gi 5120/0/5120/4096/1024',
    '1 x0 [1] memory 10240/512/9728/0/9728 hugepages-1Gi 5120/0/5120/0/5120',
  ],
  expectedAssignments: ['pod1/container1 memory 4096 @0', 'pod1/container1 hugepages-1Gi 4096 @0'],
};

/** Vectors of `TestRemoveContainer`, which removes `pod1/container2`. */
export const managerRemovalVectors: readonly MemoryVector[] = [
  {
    title: 'a container on one NUMA node',
    nodes: TWO_CONTAINER_NODES,
    assignments: TWO_CONTAINERS,
    expectedNodes: SMALL_POD_NODES,
    expectedAssignments: SMALL_POD_ASSIGNMENTS,
  },
  {
    title: 'a container of a group that another container still uses',
    nodes: [
      '0 x4 [0,1] memory 10240/1024/9216/9216/0 hugepages-1Gi 5120/0/5120/2048/3072',
      '1 x4 [0,1] memory 10240/1024/9216/4096/5120 hugepages-1Gi 5120/0/5120/0/5120',
    ],
    assignments: [
      'pod1/container1 memory 1024 @0,1',
      'pod1/container1 hugepages-1Gi 1024 @0,1',
      'pod1/container2 memory 12288 @0,1',
      'pod1/container2 hugepages-1Gi 1024 @0,1',
    ],
    expectedNodes: [
      '0 x2 [0,1] memory 10240/1024/9216/0/9216 hugepages-1Gi 5120/0/5120/1024/4096',
      '1 x2 [0,1] memory 10240/1024/9216/1024/8192 hugepages-1Gi 5120/0/5120/0/5120',
    ],
    expectedAssignments: ['pod1/container1 memory 1024 @0,1', 'pod1/container1 hugepages-1Gi 1024 @0,1'],
  },
];

/** Vectors of `TestRemoveStaleState`, which releases the memory of a pod that is gone. */
export const stalePodVectors: readonly MemoryVector[] = [
  {
    title: 'containers on one NUMA node',
    nodes: TWO_CONTAINER_NODES,
    assignments: TWO_CONTAINERS,
    expectedNodes: UNUSED_NODES,
    expectedAssignments: [],
  },
  {
    title: 'containers on a group of NUMA nodes',
    nodes: [
      '0 x4 [0,1] memory 10240/1024/9216/9216/0 hugepages-1Gi 5120/0/5120/1024/4096',
      '1 x4 [0,1] memory 10240/1024/9216/4096/5120 hugepages-1Gi 5120/0/5120/1024/4096',
    ],
    assignments: [
      'pod1/container1 memory 12288 @0,1',
      'pod1/container1 hugepages-1Gi 1024 @0,1',
      'pod1/container2 memory 1024 @0,1',
      'pod1/container2 hugepages-1Gi 1024 @0,1',
    ],
    expectedNodes: UNUSED_NODES,
    expectedAssignments: [],
  },
];

/** The vector of the manager's `TestGetTopologyHints`, which first releases the memory of pods that are gone. */
export const managerHintVector: MemoryVector & { readonly pod: PodVector } = {
  title: 'a pod that was gone before its admission has no preference for its earlier NUMA node',
  nodes: TWO_CONTAINER_NODES,
  assignments: TWO_CONTAINERS,
  pod: { uid: 'pod1', containers: ['container1 memory 1024 hugepages-1Gi 1024'] },
  hints: { memory: '0! 1! 0,1', 'hugepages-1Gi': '0! 1! 0,1' },
};
