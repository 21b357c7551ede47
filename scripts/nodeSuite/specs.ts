/** Lists the specs of the node suite of Kubernetes 1.36. docs/reference/node-suite.md is generated from this list. */

/** A test of this repository. */
export interface EquivalentTest {
  /** Path below test/. */
  readonly file: string;
  readonly title: string;
  /** Text in the test's table that identifies the row which corresponds to the spec. */
  readonly row?: string;
}

/** A spec, or several specs of a table that assert the same thing. */
export type SuiteSpec = TestedSpec | UntestedSpec;

interface TestedSpec {
  readonly spec: string;
  readonly tests: readonly [EquivalentTest, ...EquivalentTest[]];
  /** Part of the spec that the tests leave out, or a difference between the tests and the spec. */
  readonly remark?: string;
}

interface UntestedSpec {
  readonly spec: string;
  readonly tests?: undefined;
  /** Reason why no test asserts the same thing. */
  readonly remark: string;
}

interface SuiteContext {
  /** Ginkgo containers around the specs, e.g. `CPU Manager > when …`. Absent if each spec is in its own container. */
  readonly context?: string;
  readonly specs: readonly SuiteSpec[];
}

interface SuiteFile {
  /** Path below test/e2e_node. */
  readonly file: string;
  readonly contexts: readonly SuiteContext[];
}

type Tests = TestedSpec['tests'];

const test = (file: string, title: string, row?: string): EquivalentTest => ({
  file,
  title,
  ...(row === undefined ? {} : { row }),
});

const testedSpec = (spec: string, ...tests: Tests): TestedSpec => ({ spec, tests });
const partlyTestedSpec = (spec: string, remark: string, ...tests: Tests): TestedSpec => ({ spec, tests, remark });
const untestedSpec = (spec: string, remark: string): UntestedSpec => ({ spec, remark });

const evictionTest = (row: string): EquivalentTest =>
  test(
    'e2e/eviction.test.ts',
    'C28: a pod that uses up a resource of the node by %s is evicted, and an idle one is not',
    row,
  );
const EVICTED_BY_MEMORY = evictionTest('its memory');
const rankingTest = (row: string): EquivalentTest => test('kubernetes/eviction/ranking.test.ts', '%s', row);
const pressureTest = (row: string): EquivalentTest =>
  test(
    'testing/simulation/invariants/evictions.test.ts',
    'evicts all non-critical pods, one at a time, under pressure on %s with the layout %s',
    row,
  );
const softGrace = (row: string): EquivalentTest =>
  test('machines/eviction/chart.test.ts', 'grants a pod that is evicted for a soft threshold a grace period: %s', row);
const localStorageLimit = (row: string): EquivalentTest => test('kubernetes/eviction/localStorage.test.ts', '%s', row);
const EVICTED_BY_PROCESSES = test(
  'vm/eviction.test.ts',
  'C28: a pod that exhausts the processes is evicted, and its neighbour continues to run',
);
const SOFT_THRESHOLD = test(
  'kubernetes/eviction/pressure.test.ts',
  'is reported at once for a soft threshold, which acts only after its grace period',
);
const RECLAIMS_FIRST = test(
  'machines/eviction/chart.test.ts',
  'removes dead containers and then all unused images, and evicts nothing if that suffices',
);
const POD_LEVEL_RANKING = test(
  'kubernetes/eviction/ranking.test.ts',
  'memory by the pod-level request instead of the requests of the containers',
);
const PRESSURE_SUITES = 'when we run containers that should cause';
const EVICTS = 'should eventually evict all of the correct pods';

const EVICTION: SuiteFile = {
  file: 'eviction_test.go',
  contexts: [
    {
      specs: [
        testedSpec(
          `InodeEviction > ${PRESSURE_SUITES} DiskPressure > ${EVICTS}`,
          evictionTest('the number of its files'),
        ),
        testedSpec(`ImageGCNoEviction > ${PRESSURE_SUITES} DiskPressure > ${EVICTS}`, RECLAIMS_FIRST),
        testedSpec(
          `ImageGCTerminatedPodsContainersCleanup > ${PRESSURE_SUITES} DiskPressure > ${EVICTS}`,
          test(
            'kubernetes/lifecycle/garbage.test.ts',
            'on a full disk, all containers of terminated pods are removed, and those of other pods as usual',
          ),
          RECLAIMS_FIRST,
        ),
        testedSpec(`MemoryAllocatableEviction > ${PRESSURE_SUITES} MemoryPressure > ${EVICTS}`, EVICTED_BY_MEMORY),
        partlyTestedSpec(
          `MemoryAllocatableEvictionPodLevelResources > ${PRESSURE_SUITES} MemoryPressure > ${EVICTS}`,
          'The pod that is evicted from real containers has no resources of its own.',
          POD_LEVEL_RANKING,
          EVICTED_BY_MEMORY,
        ),
        testedSpec(
          `LocalStorageEviction > ${PRESSURE_SUITES} DiskPressure > ${EVICTS}`,
          evictionTest('the files of its emptyDir'),
          test(
            'vm/eviction.test.ts',
            'C28: a pod that exhausts the disk is evicted, and its neighbour continues to run',
          ),
        ),
        testedSpec(
          `LocalStorageSoftEviction > ${PRESSURE_SUITES} DiskPressure > ${EVICTS}`,
          SOFT_THRESHOLD,
          softGrace('its own if that is shorter'),
        ),
        testedSpec(
          `LocalStorageSoftEvictionNotOverwriteTerminationGracePeriodSeconds > ${PRESSURE_SUITES} DiskPressure > ${EVICTS}`,
          softGrace('the maximum if its own is longer'),
          SOFT_THRESHOLD,
        ),
        testedSpec(
          `LocalStorageCapacityIsolationEviction > ${PRESSURE_SUITES} evictions due to pod local storage violations > ${EVICTS}`,
          test('vm/eviction.test.ts', 'C28: a pod whose emptyDir exceeds its size limit is evicted'),
          localStorageLimit('an emptyDir'),
          localStorageLimit('the pod'),
          localStorageLimit('no emptyDir that is just full'),
        ),
        testedSpec(
          `PriorityMemoryEvictionOrdering > ${PRESSURE_SUITES} MemoryPressure > ${EVICTS}`,
          rankingTest('memory: lower priorities before larger usage'),
          EVICTED_BY_MEMORY,
        ),
        partlyTestedSpec(
          `PriorityMemoryEvictionOrderingPodLevelResources > ${PRESSURE_SUITES} MemoryPressure > ${EVICTS}`,
          'The order is that of the ranking, without real containers.',
          POD_LEVEL_RANKING,
          rankingTest('memory: lower priorities before larger usage'),
        ),
        testedSpec(
          `PriorityLocalStorageEvictionOrdering > ${PRESSURE_SUITES} DiskPressure > ${EVICTS}`,
          rankingTest('disk: lower priorities before larger usage'),
          evictionTest('its writable layer'),
        ),
        partlyTestedSpec(
          `PriorityPidEvictionOrdering > when we run containers with PodAndContainerStatsFromCRI=true that should cause PIDPressure > ${EVICTS}`,
          'The gate has no effect, because processes are counted in the cgroups of pods.',
          EVICTED_BY_PROCESSES,
          rankingTest('processes: by priority and then by their number'),
        ),
        testedSpec(
          `PriorityPidEvictionOrdering > when we run containers with PodAndContainerStatsFromCRI=false that should cause PIDPressure > ${EVICTS}`,
          EVICTED_BY_PROCESSES,
          rankingTest('processes: by priority and then by their number'),
        ),
        testedSpec(
          `PriorityPidEvictionOrdering > ${PRESSURE_SUITES} PIDPressure; baseline scenario to verify DisruptionTarget is added > ${EVICTS}`,
          evictionTest('its writable layer'),
          EVICTED_BY_PROCESSES,
        ),
      ],
    },
  ],
};

const GARBAGE: readonly SuiteFile[] = [
  {
    file: 'image_gc_test.go',
    contexts: [
      {
        context: 'ImageGarbageCollect > when ImageMaximumGCAge is set',
        specs: [
          testedSpec(
            'should GC unused images',
            test(
              'actors/images/imageCollector.test.ts',
              'C47: removes images that were unused for too long first, once the agent itself has run for that long',
            ),
          ),
          testedSpec(
            'should not GC unused images prematurely',
            test(
              'actors/garbage.test.ts',
              'C47: after a restart, an unused image is removed by its age only once the agent has run for the maximum age',
            ),
          ),
        ],
      },
    ],
  },
  {
    file: 'garbage_collector_test.go',
    contexts: [
      {
        context: 'GarbageCollect',
        specs: [
          testedSpec(
            'Garbage Collection Test: One Non-restarting Container > Should eventually garbage collect containers when we exceed the number of dead containers per container',
            test('e2e/garbage.test.ts', 'a pod whose manifest is removed leaves no directory, log or link'),
          ),
          testedSpec(
            'Garbage Collection Test: Many Restarting Containers > Should eventually garbage collect containers when we exceed the number of dead containers per container',
            test(
              'e2e/garbage.test.ts',
              'one dead container each is retained after a crash and a new agent, and the remains of a removed pod are deleted',
            ),
            test('kubernetes/lifecycle/garbage.test.ts', 'are retained separately for each container of each pod'),
          ),
          testedSpec(
            'Garbage Collection Test: Many Pods with Many Restarting Containers > Should eventually garbage collect containers when we exceed the number of dead containers per container',
            test('kubernetes/lifecycle/garbage.test.ts', 'are retained separately for each container of each pod'),
            test(
              'actors/garbage.test.ts',
              'C23: only one dead container of a crash-looping container is retained, with its log and link',
            ),
          ),
        ],
      },
    ],
  },
];

const EXCLUSIVE = test(
  'testing/simulation/exclusiveCpus.test.ts',
  'containers of Guaranteed pods with whole CPUs get exclusive CPUs, which all other containers vacate',
);
const EXCLUSIVE_ON_HOST = test(
  'e2e/exclusiveCpus.test.ts',
  'a container has its exclusive CPU to itself and without a quota, even after an agent restart',
);
const EXCLUSIVE_IN_VM = test(
  'vm/managers.test.ts',
  'a container has an exclusive CPU without a quota, and memory of the same NUMA node',
);
const WHOLE_CORES = test(
  'kubernetes/cpus/cpuPolicy.test.ts',
  'the CPU manager assigns whole cores first, and then fills partly used ones',
);
const SEVERAL_CONTAINERS = test(
  'kubernetes/cpus/cpuPolicy.test.ts',
  'containers of a pod can be on different NUMA nodes, unless the scope is the pod',
);
const FIVE_EACH = 'Both containers of the test request five CPUs.';
const STRICT_RESERVATION = test(
  'kubernetes/cpus/cpuPolicy.test.ts',
  'strict-cpu-reservation excludes all containers from the reserved CPUs',
);
const SHARED_CORE_REJECTED = test(
  'kubernetes/cpus/cpuPolicy.test.ts',
  'full-pcpus-only rejects a container that would share a core',
);
const CORES_OUTSIDE_RESERVATION = test(
  'kubernetes/cpus/cpuPolicy.test.ts',
  'full-pcpus-only and strict-cpu-reservation together assign whole cores outside of the reserved CPUs',
);
const assignedCpus = (row: string): EquivalentTest =>
  test('kubernetes/cpus/staticPolicyVectors.test.ts', 'assigns the CPUs that a kubelet assigns: $title', row);
const assignedCores = (row: string): EquivalentTest =>
  test('kubernetes/cpus/staticPolicyVectors.test.ts', 'assigns the same CPUs with full-pcpus-only: $title', row);
const cacheAlignmentTest = (row: string): EquivalentTest =>
  test(
    'kubernetes/cpus/sharedCacheVectors.test.ts',
    'aligns CPUs with last-level caches as a kubelet does: $title',
    row,
  );
const quotaOfPod = (row: string): EquivalentTest =>
  test('kubernetes/resources/cgroupLimits.test.ts', 'have the CPU quota of a Guaranteed pod %s', row);
const podLimits = (row: string): EquivalentTest => test('kubernetes/resources/cgroupLimits.test.ts', '%s', row);
const NO_QUOTA = test('testing/simulation/exclusiveCpus.test.ts', 'containers with exclusive CPUs have no CPU quota');
const QUOTA_GATE = test(
  'node/config/compile/resourceManagers.test.ts',
  'gates enable options in alpha, disable those in beta, and restore the CPU quota',
);
const QUOTA_PERIOD = test(
  'kubernetes/resources/cgroupLimits.test.ts',
  'have no quota unless quotas are enforced, and use the configured period',
);
const CONTAINER_QUOTA_PERIOD = test(
  'cri/config/linuxResources.test.ts',
  'a node without CFS quotas sends none, and a configured period is sent with the quota',
);
const NO_EXCLUSIVE_FOR_POD_LEVEL = test(
  'kubernetes/cpus/cpuPolicy.test.ts',
  'the CPU manager assigns no exclusive CPUs for %s',
  'a pod with resources of its own',
);
const POD_LEVEL_MANAGERS =
  'The alpha feature gate PodLevelResourceManagers has no effect: a pod with resources of its own gets neither exclusive CPUs nor memory of its own.';
const withoutGate = (...specs: readonly string[]): SuiteSpec[] =>
  specs.map((spec) => untestedSpec(spec, POD_LEVEL_MANAGERS));

const GUARANTEED_CPU_SPECS: readonly TestedSpec[] = [
  testedSpec('should allocate exclusively a CPU to a 1-container pod', EXCLUSIVE_ON_HOST, EXCLUSIVE_IN_VM),
  testedSpec('should allocate exclusively a even number of CPUs to a 1-container pod', EXCLUSIVE),
  partlyTestedSpec(
    'should allocate exclusively a odd number of CPUs to a 1-container pod',
    'Three CPUs are allocated with distribute-cpus-across-cores, and five to each of two containers.',
    test('kubernetes/cpus/cpuPolicy.test.ts', 'distribute-cpus-across-cores takes CPUs of different cores'),
    SEVERAL_CONTAINERS,
  ),
  partlyTestedSpec('should allocate exclusively CPUs to a multi-container pod (1+2)', FIVE_EACH, SEVERAL_CONTAINERS),
  partlyTestedSpec('should allocate exclusively CPUs to a multi-container pod (3+2)', FIVE_EACH, SEVERAL_CONTAINERS),
  partlyTestedSpec('should allocate exclusively CPUs to a multi-container pod (4+2)', FIVE_EACH, SEVERAL_CONTAINERS),
  testedSpec('should allocate exclusively a CPU to multiple 1-container pods', WHOLE_CORES),
];

const CPU_MANAGER: SuiteFile = {
  file: 'cpu_manager_test.go',
  contexts: [
    {
      context: 'CPU Manager > running non-guaranteed pods tests',
      specs: [
        testedSpec('should let the container access all the online CPUs without a reserved CPUs set', EXCLUSIVE),
        testedSpec(
          'should let the container access all the online CPUs when using a reserved CPUs set',
          EXCLUSIVE_ON_HOST,
        ),
        testedSpec(
          'should let the container access all the online non-exclusively-allocated CPUs when using a reserved CPUs set',
          EXCLUSIVE_ON_HOST,
          EXCLUSIVE_IN_VM,
        ),
      ],
    },
    { context: 'CPU Manager > running guaranteed pod tests', specs: GUARANTEED_CPU_SPECS },
    {
      context: 'CPU Manager > running guaranteed pod tests with feature gates disabled',
      specs: GUARANTEED_CPU_SPECS,
    },
    {
      context: 'CPU Manager > running with strict CPU reservation',
      specs: [
        testedSpec(
          'should let the container access all the online CPUs without a reserved CPUs set',
          STRICT_RESERVATION,
          test('kubernetes/cpus/cpuPolicy.test.ts', 'the first cores, or the configured CPUs, are reserved'),
        ),
        testedSpec(
          'should let the container access all the online CPUs minus the reserved CPUs set when enabled',
          STRICT_RESERVATION,
        ),
        testedSpec(
          'should let the container access all the online non-exclusively-allocated CPUs minus the reserved CPUs set when enabled',
          STRICT_RESERVATION,
          EXCLUSIVE,
        ),
      ],
    },
    {
      context: 'CPU Manager > running with SMT Alignment',
      specs: [
        testedSpec('should reject workload asking non-SMT-multiple of cpus', SHARED_CORE_REJECTED),
        testedSpec(
          'should admit workload asking SMT-multiple of cpus',
          assignedCores('GuPodMultipleCores, SingleSocketHT, ExpectAllocOneCore'),
        ),
      ],
    },
    {
      context: 'CPU Manager > running with Uncore Cache Alignment',
      specs: [
        testedSpec(
          'should admit container asking odd integer amount of cpus',
          cacheAlignmentTest('odd integer required on smt-enabled'),
          cacheAlignmentTest('odd integer required on HT monolithic uncore'),
        ),
      ],
    },
    {
      context: 'CPU Manager > running with Uncore Cache Alignment disabled',
      specs: [
        testedSpec(
          'should allocate exclusively CPUs to a multi-container pod (1+2)',
          SEVERAL_CONTAINERS,
          assignedCpus('GuPodMultipleCores, SingleSocketHT, ExpectAllocOneCore'),
        ),
      ],
    },
    {
      context: 'CPU Manager > checking the compatibility between options',
      specs: [
        testedSpec(
          'SMT Alignment and strict CPU reservation > should reject workload asking non-SMT-multiple of cpus',
          CORES_OUTSIDE_RESERVATION,
        ),
        testedSpec(
          'SMT Alignment and strict CPU reservation > should admit workload asking SMT-multiple of cpus',
          CORES_OUTSIDE_RESERVATION,
        ),
        testedSpec(
          'SMT Alignment and Uncore Cache Alignment > should assign packed CPUs with prefer-align-cpus-by-uncore-cache disabled and pcpu-only policy options enabled',
          assignedCores('GuPodMultipleCores, SingleSocketHT, ExpectAllocOneCore'),
        ),
        testedSpec(
          'SMT Alignment and Uncore Cache Alignment > should assign CPUs aligned to uncore caches with prefer-align-cpus-by-uncore-cache and pcpu-only policy options enabled',
          cacheAlignmentTest('GuPodSingleContainer, SingleSocketSMTSmallUncore, ExpectAllocOneUncore'),
        ),
        testedSpec(
          'Strict CPU Reservation and Uncore Cache Alignment > should assign CPUs aligned to uncore caches with prefer-align-cpus-by-uncore-cache and avoid reserved cpus',
          cacheAlignmentTest('GuPodSingleContainer, SingleSocketSMTSmallUncore, StrictReserveCompatability'),
          cacheAlignmentTest('GuPodSingleContainer, DualSocketHTMonoUncore, StrictReserveCompatability'),
        ),
        testedSpec(
          'SMT Alignment and distribution across NUMA > should assign packed CPUs with distribute-cpus-across-numa disabled and pcpu-only policy options enabled',
          assignedCores('GuPodMultipleCores, SingleSocketHT, ExpectAllocOneCore'),
        ),
        testedSpec(
          'SMT Alignment and distribution across NUMA > should assign CPUs distributed across NUMA with distribute-cpus-across-numa and pcpu-only policy options enabled',
          test(
            'kubernetes/cpus/cpuPolicy.test.ts',
            'distribute-cpus-across-numa takes the same number of CPUs from each NUMA node',
          ),
          test(
            'kubernetes/cpus/takeCpus.test.ts',
            'CPUs distributed over NUMA nodes are those that a kubelet chooses: $title',
          ),
        ),
      ],
    },
    {
      context: 'CPU Manager > checking the CFS quota management',
      specs: [
        testedSpec('should enforce for best-effort pod', podLimits('BestEffort')),
        testedSpec(
          'should disable for guaranteed pod with exclusive single CPU assigned',
          EXCLUSIVE_IN_VM,
          quotaOfPod('with exclusive CPUs'),
        ),
        testedSpec(
          'should disable for guaranteed pod with exclusive four CPUs assigned',
          NO_QUOTA,
          quotaOfPod('with exclusive CPUs'),
        ),
        testedSpec('should enforce for guaranteed pod', podLimits('Guaranteed'), quotaOfPod('without exclusive CPUs')),
        testedSpec(
          'should enforce for burstable pod',
          test('vm/cgroups.test.ts', 'C25: the limits of a pod are in the files of its slice'),
          test(
            'vm/cgroups.test.ts',
            'C25: the limits of a container are in the files of its scope, which is killed as a whole',
          ),
        ),
        testedSpec(
          'should not enforce with multiple containers without exclusive CPUs',
          podLimits('Burstable, every container limited'),
        ),
        testedSpec(
          'should not enforce with multiple containers only in the container with exclusive CPUs',
          quotaOfPod('of which one container has exclusive CPUs'),
          NO_QUOTA,
        ),
      ],
    },
    {
      context: 'CPU Manager > checking the CFS quota management can be disabled',
      specs: [
        testedSpec(
          'should enforce for a guaranteed pod with exclusive CPUs assigned',
          quotaOfPod('with exclusive CPUs whose quota remains'),
          QUOTA_GATE,
        ),
        testedSpec(
          'should enforce for a guaranteed pod with multiple exclusive CPUs assigned',
          quotaOfPod('with exclusive CPUs whose quota remains'),
          QUOTA_GATE,
        ),
        testedSpec('should enforce for guaranteed pod not requiring exclusive CPUs', podLimits('Guaranteed')),
        testedSpec(
          'should enforce with multiple containers regardless if they require exclusive CPUs or not',
          quotaOfPod('with exclusive CPUs whose quota remains'),
          QUOTA_GATE,
        ),
      ],
    },
    {
      context: 'CPU Manager > using non-default CPU CFS quota period',
      specs: [
        testedSpec('should enforce for guaranteed pod', QUOTA_PERIOD, CONTAINER_QUOTA_PERIOD),
        testedSpec('should enforce for burstable pod', CONTAINER_QUOTA_PERIOD, QUOTA_PERIOD),
      ],
    },
    {
      context: 'CPU Manager > When checking the sidecar containers',
      specs: [
        testedSpec(
          'should reuse init container exclusive CPUs, but not sidecar container exclusive CPUS',
          test(
            'kubernetes/cpus/cpuPolicy.test.ts',
            'the CPU manager reuses the CPUs of init containers, but not those of sidecars',
          ),
        ),
      ],
    },
    {
      context: "CPU Manager Pod Level Resources > when the topology manager scope is 'pod'",
      specs: withoutGate(
        'should allocate exclusive CPUs to a guaranteed pod with pod-level resources and guaranteed container, PodLevelResourceManagers enabled',
        'should allocate exclusive CPUs to a guaranteed pod with pod-level resources and non-guaranteed containers, PodLevelResourceManagers enabled',
        'should allocate exclusive CPUs to a guaranteed pod with pod-level resources and mix of guaranteed and non-guaranteed containers, PodLevelResourceManagers enabled',
        'should allocate exclusive CPUs to a guaranteed pod with pod-level resources and mix of guaranteed and non-guaranteed standard and init containers, PodLevelResourceManagers enabled',
        'should not allocate exclusive CPUs to a non-guaranteed pod with pod-level resources and guaranteed containers, PodLevelResourceManagers enabled',
        'should not allocate exclusive CPUs to a non-guaranteed pod with pod-level resources and non-guaranteed containers, PodLevelResourceManagers enabled',
        'should reject a pod that would result in an empty pod shared pool',
        'should release and re-allocate CPUs correctly for sequential guaranteed pods with guaranteed and non-guaranteed containers',
        'should release resources from the pod shared pool when no containers used it',
        'should not release pod shared pool cpus while at least one container is using them',
        'should admit multiple pods with pod-level resources and many non-guaranteed containers',
        'should not maintain CPU quota for a pod with pod-level resources and guaranteed containers in Pod scope, PodLevelResourceManagers enabled',
        'should maintain CPU quota for a pod with pod-level resources and non-guaranteed containers in Pod scope, PodLevelResourceManagers enabled',
      ),
    },
    {
      context: "CPU Manager Pod Level Resources > when the topology manager scope is 'container'",
      specs: [
        ...withoutGate(
          'should allocate exclusive CPUs to a guaranteed pod with pod-level resources and guaranteed container, PodLevelResourceManagers enabled',
          'should not allocate exclusive CPUs to a guaranteed pod with pod-level resources and non-guaranteed containers, PodLevelResourceManagers enabled',
          'should allocate exclusive CPUs to a guaranteed pod with pod-level resources and mix of guaranteed and non-guaranteed containers, PodLevelResourceManagers enabled',
          'should allocate exclusive CPUs to a guaranteed pod with pod-level resources and mix of guaranteed and non-guaranteed standard and init containers, PodLevelResourceManagers enabled',
          'should not allocate exclusive CPUs to a non-guaranteed pod with pod-level resources and guaranteed containers, PodLevelResourceManagers enabled',
          'should not allocate exclusive CPUs to a non-guaranteed pod with pod-level resources and non-guaranteed containers, PodLevelResourceManagers enabled',
          'should not reject a pod that would result in an empty pod shared pool, no pod shared pool in container scope',
          'should not maintain CPU quota for a pod with pod-level resources and guaranteed containers in Container scope, PodLevelResourceManagers enabled',
          'should maintain CPU quota for a pod with pod-level resources and non-guaranteed containers in Container scope, PodLevelResourceManagers enabled',
        ),
        testedSpec(
          'should run on the shared CPU pool for a pod with pod-level resources when PodLevelResourceManagers is disabled and no reserved system CPUs',
          NO_EXCLUSIVE_FOR_POD_LEVEL,
        ),
        testedSpec(
          'should run on the shared CPU pool for a pod with pod-level resources when PodLevelResourceManagers is disabled and with reserved system CPUs',
          NO_EXCLUSIVE_FOR_POD_LEVEL,
        ),
      ],
    },
  ],
};

const cpuMetric = (title: string, row?: string): EquivalentTest =>
  test('kubelet-api/metrics/agent/cpuMetrics.test.ts', title, row);
const CPU_COUNTERS_AT_START = cpuMetric(
  'C42: on a node with exclusive CPUs, the counters exist from the start with the value 0',
);
const CPUS_PER_NUMA_NODE = cpuMetric('C42: exclusive CPUs are counted for each NUMA node, including nodes without any');
const POOL_SIZE = cpuMetric(
  'C42: the size of the shared pool and the number of exclusive CPUs change with a Guaranteed pod',
);
const cacheCountTest = (row: string): EquivalentTest =>
  cpuMetric('C42: a pod with %s counts as aligned unless its CPUs have several caches', row);

const CPU_MANAGER_METRICS: SuiteFile = {
  file: 'cpu_manager_metrics_test.go',
  contexts: [
    {
      context: 'CPU Manager Metrics > when querying /metrics',
      specs: [
        testedSpec('should report zero pinning counters after a fresh restart', CPU_COUNTERS_AT_START),
        testedSpec(
          'should report pinning failures when the cpumanager allocation is known to fail',
          cpuMetric('C42: a pod whose CPUs are not whole cores counts as a request, an error and a failed alignment'),
        ),
        testedSpec(
          'should not report any pinning failures when the cpumanager allocation is expected to succeed',
          cpuMetric('C42: a pod with whole cores counts as a request and an alignment'),
        ),
        testedSpec(
          'should return updated SMT alignment counters when pod successfully run',
          cpuMetric('C42: a pod with whole cores counts as a request and an alignment'),
        ),
        testedSpec('should report the default idle cpu pool size', POOL_SIZE),
        testedSpec('should report mutating cpu pool size when handling guaranteed pods', POOL_SIZE),
        testedSpec(
          'should update alignment counters when pod successfully run taking less than uncore cache group',
          cacheCountTest('fewer CPUs than a last-level cache has'),
        ),
        testedSpec(
          'should update alignment counters when pod successfully run taking a full uncore cache group',
          cacheCountTest('all CPUs of a last-level cache'),
        ),
        testedSpec(
          'should not update alignment counters when pod successfully run taking more than a uncore cache group',
          cacheCountTest('more CPUs than a last-level cache has'),
        ),
        testedSpec('should report zero counters for allocation per NUMA after a fresh restart', CPUS_PER_NUMA_NODE),
        partlyTestedSpec(
          'should report allocation per NUMA metric when handling guaranteed pods',
          'The CPUs of the pod are on one NUMA node. Their distribution over several is a test of its own.',
          CPUS_PER_NUMA_NODE,
          test(
            'kubernetes/cpus/cpuPolicy.test.ts',
            'distribute-cpus-across-numa takes the same number of CPUs from each NUMA node',
          ),
        ),
      ],
    },
  ],
};

const memoryPolicy = (title: string): EquivalentTest => test('kubernetes/numaMemory/memoryPolicy.test.ts', title);
const OWN_MEMORY = test(
  'testing/simulation/numaMemory.test.ts',
  'containers of Guaranteed pods get memory of NUMA nodes, and others that of any node',
);
const MEMORY_OF_POD_RESOURCES = test(
  'kubelet-api/podResources/server.test.ts',
  'C44: shows the memory of containers by NUMA node, and the memory that containers can get',
);
const NOTHING_ALLOCATABLE = test(
  'kubelet-api/podResources/server.test.ts',
  'no device, CPU or memory is allocatable separately',
);
const LISTED_WITHOUT_EXCLUSIVE = test(
  'kubelet-api/podResources/server.test.ts',
  'C44: List returns active pods with sidecars first, and without exclusive resources',
);
const POD_LEVEL_MEMORY = test(
  'kubernetes/numaMemory/memoryPolicy.test.ts',
  'gives the hints of a kubelet for a pod: $title',
  'should not provide pod topology hints for guaranteed pod with pod level resources when PodLevelResourceManagers is disabled',
);
const MEMORY_COUNTS = test(
  'kubelet-api/metrics/decisions.test.ts',
  'C42: containers with memory of their own, those that get none, and all admissions are counted',
);

const MEMORY_MANAGER: readonly SuiteFile[] = [
  {
    file: 'memory_manager_test.go',
    contexts: [
      {
        context: 'Memory Manager > with static policy',
        specs: [
          testedSpec(
            'should report memory data during request to pod resources GetAllocatableResources',
            MEMORY_OF_POD_RESOURCES,
          ),
          testedSpec(
            'guaranteed pod has init and app containers > should succeed to start the pod',
            memoryPolicy('later containers use the memory of init containers that have completed'),
            test(
              'testing/simulation/numaMemory.test.ts',
              'other pods get what an init container had beyond its pod, once it has completed',
            ),
          ),
          testedSpec(
            'guaranteed pod has only app containers > should succeed to start the pod',
            EXCLUSIVE_IN_VM,
            test(
              'e2e/numaMemory.test.ts',
              'a container is created with its NUMA nodes, and keeps its memory when the agent restarts',
            ),
          ),
          testedSpec('multiple guaranteed pods started > should succeed to start all pods', OWN_MEMORY),
          testedSpec(
            'multiple guaranteed pods started > should report memory data for each guaranteed pod and container during request to pod resources List',
            MEMORY_OF_POD_RESOURCES,
          ),
          testedSpec(
            'guaranteed pod memory request is bigger than free memory on each NUMA node > should be rejected',
            test(
              'testing/simulation/numaMemory.test.ts',
              'a pod whose memory does not fit is refused with the message of a kubelet',
            ),
            memoryPolicy('containers that fit on one NUMA node get its memory, and larger ones that of several nodes'),
          ),
        ],
      },
      {
        context: 'Memory Manager > with none policy',
        specs: [
          testedSpec(
            'should not report any memory data during request to pod resources GetAllocatableResources',
            NOTHING_ALLOCATABLE,
          ),
          testedSpec(
            'should not report any memory data during request to pod resources List',
            LISTED_WITHOUT_EXCLUSIVE,
          ),
          testedSpec('should succeed to start the pod', OWN_MEMORY),
        ],
      },
      {
        context: "Memory Manager Pod Level Resources > with static policy > when the topology manager scope is 'pod'",
        specs: withoutGate(
          'should allocate exclusive memory to a guaranteed pod with pod-level resources and guaranteed container, PodLevelResourceManagers enabled',
          'should allocate exclusive memory to a guaranteed pod with pod-level resources and non-guaranteed containers, PodLevelResourceManagers enabled',
          'should allocate exclusive memory to a guaranteed pod with pod-level resources and mix of guaranteed and non-guaranteed containers, PodLevelResourceManagers enabled',
          'should allocate exclusive memory to a guaranteed pod with pod-level resources and mix of guaranteed and non-guaranteed standard and init containers, PodLevelResourceManagers enabled',
          'should not allocate exclusive memory to a non-guaranteed pod with pod-level resources and guaranteed containers, PodLevelResourceManagers enabled',
          'should not allocate exclusive memory to a non-guaranteed pod with pod-level resources and non-guaranteed containers, PodLevelResourceManagers enabled',
          'should reject a pod that would result in an empty pod shared pool, topologymanager.PolicyBestEffort, PodLevelResourceManagers enabled',
          'should reject a pod that would result in an empty pod shared pool, topologymanager.PolicyRestricted, PodLevelResourceManagers enabled',
          'should release and re-allocate memory correctly for sequential guaranteed pods with guaranteed containers and empty shared pool',
          'should release resources from the pod shared pool when no containers used it',
          'should not release pod shared pool memory while at least one container is using it',
          'should admit multiple pods with pod-level resources and many non-guaranteed containers',
        ),
      },
      {
        context:
          "Memory Manager Pod Level Resources > with static policy > when the topology manager scope is 'container'",
        specs: withoutGate(
          'should allocate exclusive memory to a guaranteed pod with pod-level resources and guaranteed container, PodLevelResourceManagers enabled',
          'should not allocate exclusive memory to a guaranteed pod with pod-level resources and non-guaranteed containers, PodLevelResourceManagers enabled',
          'should allocate exclusive memory to a guaranteed pod with pod-level resources and mix of guaranteed and non-guaranteed containers, PodLevelResourceManagers enabled',
          'should allocate exclusive memory to a guaranteed pod with pod-level resources and mix of guaranteed and non-guaranteed standard and init containers, PodLevelResourceManagers enabled',
          'should not allocate exclusive memory to a non-guaranteed pod with pod-level resources and guaranteed containers, PodLevelResourceManagers enabled',
          'should not allocate exclusive memory to a non-guaranteed pod with pod-level resources and non-guaranteed containers, PodLevelResourceManagers enabled',
          'should not reject a pod that would result in an empty pod shared pool, no pod shared pool in container scope, PodLevelResourceManagers enabled',
        ),
      },
      {
        context: 'Memory Manager Pod Level Resources > with static policy',
        specs: [
          testedSpec(
            'should not report any memory data during request and run on the shared memory pool for a pod with pod-level resources when PodLevelResourceManagers is disabled',
            POD_LEVEL_MEMORY,
            LISTED_WITHOUT_EXCLUSIVE,
          ),
          testedSpec(
            'should run on the shared memory pool for a pod with pod-level resources when PodLevelResourceManagers is disabled',
            POD_LEVEL_MEMORY,
          ),
        ],
      },
    ],
  },
  {
    file: 'memory_manager_metrics_test.go',
    contexts: [
      {
        context: 'Memory Manager Metrics > when querying /metrics',
        specs: [
          testedSpec('should report zero pinning counters after a fresh restart', MEMORY_COUNTS),
          testedSpec(
            'should report pinning failures when the memorymanager allocation is known to fail',
            MEMORY_COUNTS,
          ),
          testedSpec(
            'should not report any pinning failures when the memorymanager allocation is expected to succeed',
            MEMORY_COUNTS,
          ),
        ],
      },
    ],
  },
];

const alignmentCountTest = (row: string): EquivalentTest =>
  cpuMetric('C42: in the scope %s, alignment is counted for the scope (%s, %s CPUs)', row);
const ADMISSION_COUNTS = cpuMetric(
  'C42: under a topology policy, an admission counts once, and as an error if the pod fits on no NUMA node',
);
const MERGED_HINTS = test(
  'kubernetes/devices/chooseDevices.test.ts',
  'hints for a device on NUMA node %d merge with those for CPUs and memory, also on node %d',
);
const topologyHints = (title: string): EquivalentTest => test('kubernetes/cpus/topologyHints.test.ts', title);
const WITHOUT_SRIOV = 'The devices are those of a simulated plugin instead of an SR-IOV card.';

const topologySpecs = (options: string): readonly SuiteSpec[] => [
  testedSpec(
    `${options} > run Topology Manager policy test suite`,
    EXCLUSIVE_IN_VM,
    topologyHints('best-effort and restricted choose the NUMA nodes that a kubelet chooses: $title'),
    topologyHints('single-numa-node chooses the NUMA node that a kubelet chooses: $title'),
  ),
  partlyTestedSpec(
    `${options} > run Topology Manager node alignment test suite`,
    WITHOUT_SRIOV,
    MERGED_HINTS,
    test(
      'testing/simulation/numaDevices.test.ts',
      'a container gets devices of one NUMA node, also after the agent has restarted',
    ),
    test(
      'machines/admission/devices.test.ts',
      'the topology policy places devices of a pod that is %s, also without a CPU manager and a memory manager',
      'Guaranteed',
    ),
  ),
  partlyTestedSpec(
    `${options} > run the Topology Manager pod scope alignment test suite`,
    WITHOUT_SRIOV,
    test(
      'machines/admission/devices.test.ts',
      'the devices of two containers with policy %s and scope %s',
      'single-numa-node',
    ),
    SEVERAL_CONTAINERS,
    memoryPolicy('with the scope pod, all containers of a pod get memory of the same NUMA nodes'),
  ),
];

const TOPOLOGY_MANAGER: readonly SuiteFile[] = [
  {
    file: 'topology_manager_test.go',
    contexts: [
      {
        context: 'Topology Manager',
        specs: [
          ...topologySpecs('With kubeconfig updated to static CPU Manager policy run the Topology Manager tests'),
          ...topologySpecs(
            "With kubeconfig's topologyOptions updated to static CPU Manager policy run the Topology Manager tests",
          ),
          testedSpec(
            "With kubeconfig's prefer-closes-numa-nodes topologyOptions enabled run the Topology Manager tests > run the Topology Manager prefer-closest-numa policy option test suite",
            topologyHints('prefer-closest-numa-nodes chooses the NUMA nodes that a kubelet chooses: $title'),
            topologyHints('prefers the closest NUMA nodes as a kubelet does: $title'),
          ),
        ],
      },
    ],
  },
  {
    file: 'topology_manager_metrics_test.go',
    contexts: [
      {
        context: 'Topology Manager Metrics > when querying /metrics',
        specs: [
          testedSpec(
            'should report zero admission counters after a fresh restart',
            cpuMetric(
              'C42: under a topology policy, the counters of both scopes exist from the start with the value 0',
            ),
            ADMISSION_COUNTS,
          ),
          testedSpec(
            'should report admission failures when the topology manager alignment is known to fail',
            alignmentCountTest('pod'),
            ADMISSION_COUNTS,
          ),
          testedSpec(
            'should not report any admission failures when the topology manager alignment is expected to succeed',
            alignmentCountTest('pod'),
            test(
              'kubelet-api/metrics/decisions.test.ts',
              'C42: the duration of each decided admission is measured, whether or not the pod is admitted',
            ),
          ),
          testedSpec(
            '[alignment] should return updated alignment counters when pod successfully run',
            alignmentCountTest('pod'),
          ),
        ],
      },
    ],
  },
];

const devicePod = (title: string): EquivalentTest => test('actors/devices/devicePods.test.ts', title);
const deviceAdmission = (title: string): EquivalentTest => test('machines/admission/devices.test.ts', title);
const DEVICE_ON_HOST = test(
  'e2e/devicePlugins.test.ts',
  'a container gets the device of a plugin, and retains it when agent and plugin restart',
);
const DEVICE_RETAINED = devicePod(
  'a container retains its device while it restarts, even if its plugin and the agent restart as well',
);
const DEVICES_AFTER_RESTART = devicePod(
  'the devices of running containers are the same before and after an agent restart',
);
const LISTED_DEVICES = test(
  'kubelet-api/podResources/server.test.ts',
  'C44: shows the devices of containers with their NUMA nodes, and the healthy devices',
);
const REFUSED_WITHOUT_PLUGIN = deviceAdmission(
  'a pod that does not run any more is refused until its plugin has registered',
);
const REFUSED_WITHOUT_CONTAINERS = deviceAdmission(
  'a pod of which only the sandbox is left is refused until its plugin has registered',
);
const DEVICE_UNHEALTHY = devicePod('an unhealthy device is not allocatable on the Node, and its pod continues to run');
const DEVICE_COUNTS = test(
  'kubernetes/devices/reserveDevices.test.ts',
  'all devices count as capacity, and the healthy ones as allocatable: %s',
  '1 2 -3',
);
const PLUGIN_LOST = test(
  'machines/devices/chart.test.ts',
  'the devices of a lost plugin are unhealthy at once, and none are left after five minutes',
);
const NOT_LISTED_AGAIN = test(
  'actors/devices/pluginFailures.test.ts',
  'a plugin that cannot list its devices is disconnected at once, and not called again',
);

const DEVICES: readonly SuiteFile[] = [
  {
    file: 'device_plugin_test.go',
    contexts: [
      {
        context: 'Device Plugin > DevicePlugin',
        specs: [
          testedSpec('Can schedule a pod that requires a device', DEVICE_ON_HOST, LISTED_DEVICES),
          partlyTestedSpec(
            'can make a CDI device accessible in a container',
            'The names of the devices reach the runtime. No test has a runtime with CDI create the device.',
            test(
              'actors/devices/hostDevicePlugins.test.ts',
              'passes requests to the plugin, and decodes its responses',
            ),
            test(
              'actors/claims/claimedPods.test.ts',
              'has it prepared before its sandbox is created, and its container gets the device',
            ),
          ),
          testedSpec(
            'Keeps device plugin assignments across pod restarts (no kubelet restart, no device plugin restart)',
            DEVICE_RETAINED,
            deviceAdmission('reserved devices are not available to a later pod, which is refused at once'),
          ),
          testedSpec(
            'Keeps device plugin assignments across kubelet restarts (no pod restart, no device plugin restart)',
            DEVICES_AFTER_RESTART,
            DEVICE_ON_HOST,
          ),
          testedSpec(
            'Keeps device plugin assignments across pod and kubelet restarts (no device plugin restart)',
            DEVICE_RETAINED,
          ),
          testedSpec(
            'will not attempt to admit the succeeded pod after the kubelet restart and device plugin removed',
            devicePod('a completed pod remains completed when the agent restarts without the device plugin'),
          ),
          testedSpec(
            'Keeps device plugin assignments after the device plugin has restarted (no kubelet restart, pod restart)',
            DEVICE_RETAINED,
          ),
          testedSpec(
            'Keeps device plugin assignments after kubelet restart and device plugin restart (no pod restart)',
            DEVICE_ON_HOST,
            DEVICES_AFTER_RESTART,
          ),
          testedSpec(
            '[OrphanedPods] Ensures pods consuming devices deleted while kubelet is down are cleaned up correctly',
            deviceAdmission('the devices of unknown pods are released'),
          ),
          testedSpec(
            'Can schedule a pod with a restartable init container',
            test('kubernetes/devices/reserveDevices.test.ts', 'a container does not reuse the devices of a sidecar'),
            LISTED_WITHOUT_EXCLUSIVE,
          ),
          testedSpec(
            'Does not keep device plugin assignments across node reboots if fails admission (no pod restart, no device plugin re-registration)',
            REFUSED_WITHOUT_CONTAINERS,
            REFUSED_WITHOUT_PLUGIN,
            LISTED_WITHOUT_EXCLUSIVE,
          ),
        ],
      },
    ],
  },
  {
    file: 'device_manager_test.go',
    contexts: [
      {
        context: 'Device Manager > With sample device plugin',
        specs: [
          testedSpec(
            "should deploy pod consuming devices first but fail with admission error after kubelet restart in case device plugin hasn't re-registered",
            REFUSED_WITHOUT_PLUGIN,
            REFUSED_WITHOUT_CONTAINERS,
          ),
        ],
      },
    ],
  },
  {
    file: 'device_plugin_failures_test.go',
    contexts: [
      {
        context: 'Device Plugin Failures:',
        specs: [
          testedSpec(
            'when GetDevicePluginOptions fails, device plugin will not be used',
            test(
              'actors/devices/pluginFailures.test.ts',
              'a plugin whose options cannot be requested is refused with the reason, and not called again',
            ),
          ),
          testedSpec(
            'will set allocatable to zero when a single device became unhealthy and then back to 1 if it got healthy again',
            DEVICE_UNHEALTHY,
          ),
          testedSpec(
            'will set allocatable to zero when a single device became unhealthy, but capacity will stay at 1',
            DEVICE_UNHEALTHY,
          ),
          testedSpec(
            'will lower allocatable to a number of unhealthy devices and then back if they became healthy again',
            DEVICE_COUNTS,
            test(
              'actors/feeds/devicePlugins.test.ts',
              'a list of devices is reported if a device, its health or its NUMA node has changed',
            ),
          ),
          testedSpec(
            'when ListAndWatch fails immediately, node allocatable will be set to zero and kubelet will not retry to list resources',
            NOT_LISTED_AGAIN,
            devicePod('a resource whose plugin cannot list its devices has no devices on the Node'),
          ),
          testedSpec(
            'when ListAndWatch fails after provisioning devices, node allocatable will be set to zero and kubelet will not retry to list resources',
            PLUGIN_LOST,
            NOT_LISTED_AGAIN,
          ),
          testedSpec(
            'when device plugin is stopped after provisioning devices, node allocatable will be set to zero',
            PLUGIN_LOST,
            test(
              'actors/devices/hostDevicePlugins.test.ts',
              'follows a plugin that registers: its options, its devices and its disconnection',
            ),
          ),
        ],
      },
    ],
  },
  {
    file: 'device_plugin_failures_pod_status_test.go',
    contexts: [
      {
        context: 'Device Plugin Failures Pod Status',
        specs: [
          testedSpec('will report a Healthy and then Unhealthy single device in the pod status', DEVICE_ON_HOST),
          testedSpec(
            'will report a Device Status for the failed pod in the pod status',
            devicePod('the health of a device is in the status of a pod whose image cannot be pulled'),
          ),
        ],
      },
    ],
  },
];

const podResources = (title: string): EquivalentTest => test('kubelet-api/podResources/server.test.ts', title);
const LISTED_CPUS = podResources('C44: shows the exclusive CPUs of containers, and the CPUs that can be exclusive');
const LISTED_TERMINATED = podResources(
  'C44: List returns terminated pods as well if the gate KubeletPodResourcesListUseActivePods is off',
);
const ONE_POD = podResources('C44: Get returns one pod by its name, and ignores unknown fields of the request');
const LISTED_BY_GATE = test(
  'node/serve/podResources.test.ts',
  'terminated pods are listed unless only active pods are: %s',
);
const TERMINATED_PODS =
  'all pods terminated and requiring: cpu and mem single; cpu and mem multi; mem only single; mem only multi';

const POD_RESOURCES: SuiteFile = {
  file: 'podresources_test.go',
  contexts: [
    {
      context: 'POD Resources API > with SRIOV devices in the system',
      specs: [
        partlyTestedSpec(
          'with CPU manager Static policy > with reserved system CPUs > should return the expected responses',
          WITHOUT_SRIOV,
          LISTED_CPUS,
          LISTED_DEVICES,
        ),
        partlyTestedSpec(
          'with CPU manager None policy > should return the expected responses',
          WITHOUT_SRIOV,
          LISTED_DEVICES,
          NOTHING_ALLOCATABLE,
        ),
      ],
    },
    {
      context: 'POD Resources API > without SRIOV devices in the system',
      specs: [
        testedSpec(
          'with CPU manager Static policy > with reserved system CPUs > should succeed when calling Get for a valid pod',
          ONE_POD,
          LISTED_CPUS,
        ),
        testedSpec(
          'with CPU manager Static policy > with reserved system CPUs > should return the expected responses (two specs, one of them with sidecars)',
          LISTED_CPUS,
          LISTED_WITHOUT_EXCLUSIVE,
          ONE_POD,
        ),
        testedSpec('with CPU manager None policy > should return the expected responses', NOTHING_ALLOCATABLE),
      ],
    },
    {
      context:
        'POD Resources API > checking core resource managers assignments > listing with restricted list output enabled',
      specs: [
        testedSpec('should report only the running pods regardless of the QoS', LISTED_WITHOUT_EXCLUSIVE),
        testedSpec('should report only the running pods among many', LISTED_WITHOUT_EXCLUSIVE, LISTED_CPUS),
        testedSpec(TERMINATED_PODS, LISTED_WITHOUT_EXCLUSIVE, LISTED_BY_GATE),
      ],
    },
    {
      context:
        'POD Resources API > checking core resource managers assignments > listing with restricted list output disabled for backward compatible defaults',
      specs: [
        testedSpec('should report all the known pods regardless of the QoS', LISTED_TERMINATED),
        testedSpec('should report all the known pods', LISTED_TERMINATED),
        testedSpec(TERMINATED_PODS, LISTED_TERMINATED, LISTED_BY_GATE),
      ],
    },
    {
      context: 'POD Resources API',
      specs: [
        testedSpec(
          'with a topology-unaware device plugin, which reports resources w/o hardware topology > with CPU manager Static policy > should return proper podresources the same as before the restart of kubelet',
          DEVICES_AFTER_RESTART,
          LISTED_DEVICES,
        ),
        testedSpec(
          'when querying /metrics > should report the values for the podresources metrics',
          podResources('C42: requests are counted by API version, and those of v1 by method'),
        ),
        testedSpec(
          'with the builtin rate limit values > should hit throttling when calling podresources List in a tight loop',
          podResources('C44: bursts of ten requests and a hundred per second are permitted'),
        ),
      ],
    },
  ],
};

const claimedPodTest = (title: string): EquivalentTest => test('actors/claims/claimedPods.test.ts', title);
const driverTest = (title: string, row?: string): EquivalentTest =>
  test('actors/claims/pluginDrivers.test.ts', title, row);
const CLAIM_ON_HOST = test(
  'e2e/claims.test.ts',
  'C50: a pod waits for its driver, runs with its claim prepared, and is gone once it is unprepared',
);
const LATE_SERVICE = 'may create the socket of its service %s after its registration';
const DRIVER_BACK = driverTest(
  'that dies stays registered without a connection, and is registered again when it is back',
);
const ONE_CONNECTION = driverTest('has a single connection for concurrent calls and for the health of its devices');
const SLICES_DELETED = claimedPodTest('are deleted for a driver that has been disconnected for 30 s');
const SLICES_STAY = claimedPodTest('stay if the driver is back within that time');
const HEALTH_OF_CLAIMS = claimedPodTest(
  'is in the status of the container, and Unknown again after the driver has been silent for 30 s',
);
const UNPREPARE_RETRIED = claimedPodTest('terminates once the claim is unprepared, after its containers have stopped');
const RETRIED_BY_NEXT_AGENT = claimedPodTest(
  'whose driver fails starts under the next agent, and terminates under the one after that',
);
const RESTART_DURING_CALL = claimedPodTest(
  'is prepared and unprepared by both if the agent restarts during a call to one of them',
);

const CLAIMS: SuiteFile = {
  file: 'dra_test.go',
  contexts: [
    {
      context: 'node > Resource Kubelet Plugin',
      specs: [
        testedSpec(
          'must register after Kubelet restart',
          test(
            'e2e/claims.test.ts',
            'C50: the claim of a running pod outlives the agent, and the slices of the node do not',
          ),
        ),
        testedSpec('must register after plugin restart', DRIVER_BACK),
        testedSpec(
          'must recover and register after registration failure',
          driverTest('that fails to describe itself is registered once it does'),
        ),
        testedSpec(
          'must recover and register after NotifyRegistrationStatus failure',
          driverTest('that fails to acknowledge its registration is registered again, and not called before that'),
        ),
        testedSpec(
          'must process pod created when kubelet is not running',
          claimedPodTest('that was created while no agent ran starts with its claim prepared'),
        ),
        partlyTestedSpec(
          'must keep pod in pending state if NodePrepareResources times out',
          'A call that is given up fails like any other.',
          driverTest('that does not respond is not awaited once the caller aborts'),
          claimedPodTest('the driver fails; the claim is recorded as used, so that it is unprepared with the pod'),
        ),
        testedSpec(
          'must run pod if NodePrepareResources fails and then succeeds',
          claimedPodTest('is prepared by both, again after one of them has failed'),
        ),
        testedSpec('must run pod if NodeUnprepareResources fails and then succeeds', UNPREPARE_RETRIED, CLAIM_ON_HOST),
        testedSpec('must retry NodePrepareResources after Kubelet restart', RETRIED_BY_NEXT_AGENT),
        testedSpec('must retry NodeUnprepareResources after Kubelet restart', RETRIED_BY_NEXT_AGENT),
        testedSpec('must call NodeUnprepareResources for deleted pod', UNPREPARE_RETRIED, CLAIM_ON_HOST),
        testedSpec(
          'must call NodeUnprepareResources for deleted pod after Kubelet restart',
          claimedPodTest('of a pod that was removed while no agent ran is unprepared within a minute'),
        ),
        testedSpec(
          'must not call NodePrepareResources for deleted pod after Kubelet restart',
          claimedPodTest('that was deleted while no agent ran is not prepared again (grace period of %i s)'),
        ),
        testedSpec(
          'must be functional when plugin starts to listen on a service socket after registration: 2 sockets',
          driverTest(LATE_SERVICE, 'in its own directory'),
        ),
        testedSpec(
          'must be functional when plugin starts to listen on a service socket after registration: 1 common socket',
          driverTest(LATE_SERVICE, 'among the registration sockets'),
        ),
        testedSpec(
          'must be functional after service reconnect: 2 sockets; 1 common socket',
          DRIVER_BACK,
          ONE_CONNECTION,
        ),
        untestedSpec(
          'must report gRPC serving error: for registrar; for DRA service',
          'It asserts on the library with which drivers are written, not on a kubelet.',
        ),
        testedSpec('must use one gRPC connection for all service calls', ONE_CONNECTION),
      ],
    },
    {
      context: 'node > Two resource Kubelet Plugins',
      specs: [
        testedSpec(
          'must prepare and unprepare resources',
          claimedPodTest('is prepared by both, again after one of them has failed'),
          claimedPodTest('is unprepared by both, again after one of them has failed'),
        ),
        testedSpec(
          'must provide metrics',
          test(
            'kubelet-api/metrics/agent/claimMetrics.test.ts',
            'C42: the prepared claims are counted by driver, and a driver without any has no series',
          ),
        ),
        testedSpec(
          'must run pod if NodePrepareResources fails for one plugin and then succeeds',
          claimedPodTest('is prepared by both, again after one of them has failed'),
        ),
        testedSpec(
          'must run pod if NodeUnprepareResources fails for one plugin and then succeeds',
          claimedPodTest('is unprepared by both, again after one of them has failed'),
        ),
        testedSpec(
          'must run pod if NodePrepareResources is in progress for one plugin when Kubelet restarts',
          RESTART_DURING_CALL,
        ),
        testedSpec(
          "must call NodeUnprepareResources again if it's in progress for one plugin when Kubelet restarts",
          RESTART_DURING_CALL,
        ),
      ],
    },
    {
      context: 'node > ResourceSlice',
      specs: [
        testedSpec(
          'must be removed on kubelet startup',
          claimedPodTest('are deleted when the agent starts, because no driver has registered yet'),
        ),
        testedSpec(
          'must be removed after plugin unregistration',
          SLICES_DELETED,
          test('machines/claims/chart.test.ts', 'of a driver that is not registered any more are deleted as well'),
        ),
        testedSpec('must be removed if plugin stops after registration: 2 sockets; 1 common socket', SLICES_DELETED),
        testedSpec(
          'must be removed if plugin is unresponsive after registration',
          test(
            'machines/claims/chart.test.ts',
            'of a driver that never connects are deleted 30 s after its registration',
          ),
        ),
        testedSpec('must not be removed if plugin restarts quickly enough: 2 sockets; 1 common socket', SLICES_STAY),
      ],
    },
    {
      context: 'node > Resource Health',
      specs: [
        testedSpec("should reflect device health changes in the Pod's status", HEALTH_OF_CLAIMS, CLAIM_ON_HOST),
        testedSpec('must reuse one gRPC connection for service and health-monitoring calls', ONE_CONNECTION),
        testedSpec(
          'should update health to Unknown when plugin stops and recover upon restart',
          claimedPodTest('is Unknown once the driver has disconnected, and survives a restart of the agent'),
          ONE_CONNECTION,
        ),
        testedSpec('should automatically reconnect both DRA and Health API after connection drop', ONE_CONNECTION),
        testedSpec(
          'should handle concurrent DRA operations and health monitoring without connection issues',
          claimedPodTest('is in the statuses of several pods whose claims are prepared at the same time'),
        ),
        testedSpec(
          'should not add health status to Pod when feature gate is disabled',
          claimedPodTest('is neither followed nor in the status without the feature gate ResourceHealthStatus'),
        ),
        testedSpec(
          'Resource Health with ShareID > should reflect device health changes for devices with ShareID',
          test(
            'kubernetes/claims/containerDevices.test.ts',
            'of the device whose share it has, once for several shares',
          ),
          HEALTH_OF_CLAIMS,
        ),
        testedSpec(
          'Device ShareID > must be functional when plugin starts to listen on a service socket after registration with the specified allocation results: without ShareID',
          driverTest('registers over its socket, is notified, and prepares and unprepares claims'),
        ),
        testedSpec(
          'Device ShareID > must be functional when plugin starts to listen on a service socket after registration with the specified allocation results: with a ShareID; same device with two ShareIDs',
          driverTest('may prepare several shares of a device for a claim'),
          podResources('are listed with all of their devices'),
        ),
      ],
    },
  ],
};

const mountedPages = (row: string): EquivalentTest =>
  test('volume/plugins/emptyDir.test.ts', 'huge pages of %s are mounted', row);
const MOUNTED_PAGES = test(
  'volume/plugins/emptyDir.test.ts',
  'in huge pages it is a hugetlbfs of the size of page that its pod asks for',
);
const PAGE_SIZES = test(
  'actors/cluster/joined.test.ts',
  'has the huge page sizes of its host after an agent restart, and no others',
);
const HUGE_PAGES_IN_PARTS = 'The mount and the limit are tested separately, without a container that uses huge pages.';
const hugePages = (context: string, ...tests: Tests): TestedSpec =>
  partlyTestedSpec(
    `${context} > should set correct hugetlb mount and limit under the container cgroup`,
    HUGE_PAGES_IN_PARTS,
    ...tests,
  );

const HUGE_PAGES: SuiteFile = {
  file: 'hugepages_test.go',
  contexts: [
    {
      context: 'HugePages',
      specs: [
        testedSpec('should remove resources for huge page sizes no longer supported', PAGE_SIZES),
        testedSpec('should add resources for new huge page sizes on kubelet restart', PAGE_SIZES),
        hugePages(
          'start the pod > with the resources requests that contain only one hugepages resource > with the backward compatible API',
          MOUNTED_PAGES,
          podLimits('the sum of the containers, and 0 for other sizes'),
        ),
        hugePages(
          'start the pod > with the resources requests that contain only one hugepages resource > with the new API',
          MOUNTED_PAGES,
          podLimits('the sum of the containers, and 0 for other sizes'),
        ),
        hugePages(
          'start the pod > with the resources requests that contain multiple hugepages resources',
          mountedPages('one of the sizes that only the pod requests'),
          test(
            'cri/config/linuxResources.test.ts',
            '%j',
            "{ limits: { 'hugepages-2Mi': '4Mi', 'hugepages-1Gi': '1Gi' } }",
          ),
        ),
      ],
    },
    {
      context: 'Pod Level HugePages Resources > pod level resources',
      specs: [
        hugePages(
          'pod hugepages, no container hugepages, single page size',
          mountedPages('a size that only the pod requests'),
          podLimits('several sizes of a pod whose containers have none'),
        ),
        hugePages(
          'pod hugepages, container hugepages, single page size',
          MOUNTED_PAGES,
          podLimits('those of the pod instead of the containers'),
        ),
        hugePages(
          'no pod hugepages, container hugepages, single page size',
          MOUNTED_PAGES,
          podLimits('the sum of the containers, and 0 for other sizes'),
        ),
        hugePages(
          'only pod level requests no pod hugepages, container hugepages, single page size',
          MOUNTED_PAGES,
          podLimits('the sum of the containers, and 0 for other sizes'),
        ),
        hugePages(
          'pod hugepages, no container hugepages, multiple page size',
          mountedPages('one of the sizes that only the pod requests'),
          podLimits('several sizes of a pod whose containers have none'),
        ),
        hugePages(
          'pod hugepages, container hugepages, multiple page size',
          mountedPages('one of the sizes that only the pod requests'),
          podLimits('those of the pod instead of the containers'),
        ),
        hugePages(
          'no pod hugepages, container hugepages, multiple page size',
          MOUNTED_PAGES,
          podLimits('the sum of the containers, and 0 for other sizes'),
        ),
        hugePages(
          'only pod level requests no pod hugepages, container hugepages, multiple page size',
          MOUNTED_PAGES,
          podLimits('the sum of the containers, and 0 for other sizes'),
        ),
        hugePages(
          'pod hugepages, container hugepages, different page size between pod and container level',
          mountedPages('a size of the container whose pod requests a different one'),
          podLimits('a size of the pod and a different one of a container'),
        ),
      ],
    },
  ],
};

const NEVER_SWAPS = test(
  'cri/config/linuxResources.test.ts',
  'critical and Guaranteed pods do not swap, nor does any pod under NoSwap or on cgroup v1',
);
const canSwap = (row: string): EquivalentTest => test('kubernetes/resources/swap.test.ts', '%s', row);
const SWAP_IN_VM = test(
  'vm/swap.test.ts',
  'C25: a container of a Burstable pod may swap its share, and one of a Guaranteed pod nothing',
);
const SWAPPED_OUT = test('vm/swap.test.ts', 'C25: the kernel swaps out memory of a container that may swap');

const SWAP: SuiteFile = {
  file: 'swap_test.go',
  contexts: [
    {
      context: 'Swap',
      specs: [
        testedSpec(
          'with configuration: QOS Best-effort; QOS Burstable; QOS Burstable with memory request equals to limit; QOS Guaranteed',
          NEVER_SWAPS,
        ),
        testedSpec('with a critical pod - should avoid swap', NEVER_SWAPS, canSwap('a container of a critical pod')),
      ],
    },
    {
      context: 'Swap > Basic functionality',
      specs: [
        testedSpec('with configuration: QOS Best-effort', canSwap('a container of a BestEffort pod')),
        testedSpec(
          'with configuration: QOS Burstable',
          SWAP_IN_VM,
          canSwap('a container whose memory request is less than its limit'),
        ),
        testedSpec(
          'with configuration: QOS Burstable with memory request equals to limit',
          canSwap('a container whose memory request equals its limit'),
        ),
        testedSpec('with configuration: QOS Guaranteed', SWAP_IN_VM, canSwap('a container of a Guaranteed pod')),
      ],
    },
    {
      context: 'Swap > with swap stress > LimitedSwap',
      specs: [
        partlyTestedSpec(
          'should be able to use more than the node memory capacity',
          'The kernel is told to reclaim the memory; the machine does not run out of it.',
          SWAPPED_OUT,
        ),
        partlyTestedSpec(
          'should be able to use more memory than memory limits',
          'The kernel is told to reclaim the memory; the container does not exceed its limit.',
          SWAPPED_OUT,
        ),
        partlyTestedSpec(
          'ensure summary API properly reports swap',
          'The usage is read from the files of a cgroup, without a container that swaps.',
          test('stats/node/statsProvider.test.ts', 'the summary contains CPU and memory usage from cgroup %s', 'v2'),
        ),
      ],
    },
  ],
};

const memoryQos = (title: string, row?: string): EquivalentTest =>
  test('kubernetes/resources/memoryQos.test.ts', title, row);
const PROTECTED_IN_VM = test('vm/cgroups.test.ts', 'C25: the memory of a Burstable pod is protected and throttled');
const PROTECTED_CGROUPS = test(
  'host/cgroup/podCgroups.test.ts',
  'v2: requested memory is protected in the cgroups of the pod, its class and all pods, and follows the pods',
);
const PROTECTED_POD = memoryQos('is protected in the cgroup of the pod');
const throttlingTest = (row: string): EquivalentTest => memoryQos('is throttled at a fraction %s, in whole pages', row);
const UNPROTECTED = memoryQos('loses an earlier protection if the pod requests none or the memory is not tiered');
const UNPROTECTED_CLASSES = memoryQos('is not protected under the policy None, and is left alone without the feature');
const NOT_THROTTLED = memoryQos(
  'is not throttled if request and limit are equal, or if the threshold is not above the request',
);

const MEMORY_QOS: SuiteFile = {
  file: 'memory_qos_test.go',
  contexts: [
    {
      context: 'MemoryQoS > memory protection [memoryReservationPolicy=TieredReservation]',
      specs: [
        testedSpec('should set memory.low = requests.memory for Burstable pod containers', PROTECTED_IN_VM),
        testedSpec(
          'should set memory.min for Guaranteed pod containers',
          memoryQos('is protected hard for Guaranteed pods, which are not throttled'),
          PROTECTED_CGROUPS,
        ),
        testedSpec('should NOT set memory.min for BestEffort pod', PROTECTED_POD, UNPROTECTED),
        testedSpec('should set pod-level memory.low = sum(container requests) for multi-container pod', PROTECTED_POD),
        testedSpec(
          'should propagate memory protection through QoS cgroup hierarchy',
          PROTECTED_CGROUPS,
          PROTECTED_IN_VM,
        ),
      ],
    },
    {
      context: 'MemoryQoS > memory.high throttling',
      specs: [
        testedSpec('should set memory.high for Burstable pod using formula', PROTECTED_IN_VM),
        testedSpec(
          'should NOT set memory.high for Guaranteed pod',
          memoryQos('is protected hard for Guaranteed pods, which are not throttled'),
        ),
        testedSpec('should NOT set memory.high on pod-level cgroup', PROTECTED_CGROUPS),
        testedSpec(
          'should set memory.high = limit when memoryThrottlingFactor=1.0',
          throttlingTest('of the whole memory between request and limit'),
        ),
        testedSpec(
          'should set memory.high using node allocatable when no limit is set',
          throttlingTest('between request and the memory of the node'),
        ),
      ],
    },
    {
      context: 'MemoryQoS',
      specs: [
        untestedSpec(
          'memory.events observability > should have memory.events file with expected counters',
          'It asserts on the kernel alone.',
        ),
        untestedSpec(
          'feature rollback > should reset memory protection to 0 when MemoryQoS is disabled',
          'Kubernetes skips this spec. Without the feature gate, the protection of QoS classes is left as it is.',
        ),
        testedSpec(
          'memory.high formula verification across request/limit ratios > should correctly compute memory.high for various request/limit combinations',
          throttlingTest('between request and limit'),
          NOT_THROTTLED,
        ),
      ],
    },
    {
      context: 'MemoryQoS > memoryReservationPolicy',
      specs: [
        testedSpec('should NOT set memory protection when policy is None', UNPROTECTED, PROTECTED_POD),
        testedSpec('should set memory.high independent of memoryReservationPolicy', UNPROTECTED),
        testedSpec(
          'should set memory protection when policy is TieredReservation',
          PROTECTED_IN_VM,
          memoryQos('is protected softly for Burstable pods'),
        ),
        testedSpec(
          'should clear memory protection at QoS level when switching from TieredReservation to None',
          UNPROTECTED_CLASSES,
        ),
      ],
    },
    {
      context: 'MemoryQoS > memory.high throttling behavior',
      specs: [
        partlyTestedSpec(
          'should increment memory.events high counter when usage exceeds memory.high',
          'The test reads the stalls of the container instead of the counter.',
          test('vm/pressure.test.ts', 'PSI: %s', 'a container above its throttling threshold stalls for memory'),
        ),
        testedSpec(
          'should OOM kill container when memory usage exceeds memory.max',
          test('vm/cgroups.test.ts', 'an OOM kill of a container is reported, and the container restarts'),
        ),
      ],
    },
    {
      context: 'MemoryQoS > tiered protection edge cases',
      specs: [
        testedSpec('should use memory.low for Burstable pod where memory req == limit but CPU differs', NOT_THROTTLED),
        testedSpec('should include burstable requests in kubepods root memory.min', PROTECTED_IN_VM, PROTECTED_CGROUPS),
        testedSpec('should remove burstable memory.low contribution when pod is deleted', PROTECTED_CGROUPS),
        testedSpec(
          'should persist container-level memory.low after rollback [known limitation]',
          memoryQos('has no files without the feature'),
        ),
      ],
    },
  ],
};

const OOM_KILLED = test('e2e/containers.test.ts', 'by exceeding the memory limit are reported as OOMKilled');
const OOM_SPEC = 'The containers terminated by OOM killer should have the reason set to OOMKilled';
const PREEMPTED = test(
  'actors/preemption.test.ts',
  'preempts another pod within its grace period, and starts when that pod has terminated',
);
const PREEMPTED_ON_HOST = test(
  'e2e/source.test.ts',
  'preempts another pod, which has the phase of its exits and the reason, and its resources and port are released',
);
const shutdownTest = (title: string): EquivalentTest => test('machines/shutdown/chart.test.ts', title);
const SHUTDOWN_OF_NODE = test(
  'actors/services/shutdown/shutdownServices.test.ts',
  'terminates its pods, is not ready, and delays the shutdown until then',
);

const POD_ENDS: readonly SuiteFile[] = [
  {
    file: 'pids_test.go',
    contexts: [
      {
        context: 'PodPidsLimit > With config updated with pids limits',
        specs: [
          testedSpec(
            'should set pids.max for Pod',
            test('vm/cgroups.test.ts', 'C25: the limits of a pod are in the files of its slice'),
            test('kubernetes/resources/cgroupLimits.test.ts', 'include the number of processes if the node limits it'),
          ),
        ],
      },
    ],
  },
  {
    file: 'node_shutdown_linux_test.go',
    contexts: [
      {
        context: 'GracefulNodeShutdown',
        specs: [
          testedSpec(
            'graceful node shutdown; baseline scenario to verify DisruptionTarget is added > should add the DisruptionTarget pod failure condition to the evicted pods',
            SHUTDOWN_OF_NODE,
          ),
          testedSpec(
            'when gracefully shutting down > should be able to gracefully shutdown pods with various grace periods',
            shutdownTest('terminates ordinary pods first, within the time of their group'),
            shutdownTest('terminates the next group when the time of the first is over'),
            test(
              'vm/shutdown.test.ts',
              'a reboot waits until the pod has stopped by itself, and the pod runs again after it',
            ),
            test(
              'machines/pod/leftBehind.test.ts',
              'C15: PodReadyToStartContainers turns False with its sandbox, and the address remains',
            ),
          ),
          testedSpec(
            'when gracefully shutting down > should be able to handle a cancelled shutdown',
            shutdownTest('takes the lock again, and admits pods'),
            test(
              'actors/services/shutdown/shutdownServices.test.ts',
              'rejects new pods until the shutdown is cancelled',
            ),
          ),
          testedSpec(
            'when gracefully shutting down with Pod priority > should be able to gracefully shutdown pods with various grace periods',
            test(
              'kubernetes/shutdown/periods.test.ts',
              'begin at their priority, and the first and the last contain all others',
            ),
            shutdownTest('terminates the next group as soon as the pods of the first are cleaned up'),
            test('node/config/compile/shutdown.test.ts', 'pods terminate in the order of the configured priorities'),
          ),
        ],
      },
    ],
  },
  {
    file: 'critical_pod_test.go',
    contexts: [
      {
        context: 'when we need to admit a critical pod',
        specs: [
          testedSpec('CriticalPod > should be able to create and delete a critical pod', PREEMPTED_ON_HOST, PREEMPTED),
          testedSpec(
            'CriticalPod > should add DisruptionTarget condition to the preempted pod',
            PREEMPTED_ON_HOST,
            PREEMPTED,
          ),
          testedSpec(
            'CriticalPodWithPodLevelResources > should be able to create and delete a critical pod',
            test(
              'actors/preemption.test.ts',
              'preempts pods by the resources of the pods themselves, and no BestEffort pod',
            ),
          ),
        ],
      },
    ],
  },
  {
    file: 'system_node_critical_test.go',
    contexts: [
      {
        context: 'SystemNodeCriticalPod > when create a system-node-critical pod',
        specs: [testedSpec('should not be evicted upon DiskPressure', pressureTest("'disk', 'single'"))],
      },
    ],
  },
  {
    file: 'oomkiller_linux_test.go',
    contexts: [
      {
        specs: [
          untestedSpec(
            `OOMKiller for pod using more memory than node allocatable [LinuxOnly] > single process container without resource limits > ${OOM_SPEC}`,
            'No test uses up the memory of all pods before one of them is evicted. A container that is killed at this limit has the reason of any other OOM kill.',
          ),
        ],
      },
      {
        context: 'OOMKiller [LinuxOnly]',
        specs: [
          testedSpec(`single process container > ${OOM_SPEC}`, OOM_KILLED),
          partlyTestedSpec(
            `init container > ${OOM_SPEC}`,
            'On real containers, only regular containers are killed.',
            test(
              'actors/restarts.test.ts',
              'an init container killed for its memory usage is shown as OOMKilled, and fails its pod',
            ),
          ),
          partlyTestedSpec(
            `multi process container > ${OOM_SPEC}`,
            'The test reads the setting of the cgroup (`memory.oom.group`) by which the kernel kills all processes.',
            test(
              'vm/cgroups.test.ts',
              'C25: the limits of a container are in the files of its scope, which is killed as a whole',
            ),
            test('vm/cgroups.test.ts', 'an OOM kill of a container is reported, and the container restarts'),
          ),
          testedSpec(
            'multi process container (single process kill enabled) > The containers should not be OOMKilled',
            test(
              'vm/oom.test.ts',
              'C48: an OOM kill of a child process is an event, and its container continues to run',
            ),
            test(
              'e2e/containers.test.ts',
              'are absent for a container that survives the OOM kill of a process, which is reported as an event',
            ),
          ),
          partlyTestedSpec(
            `multi process container (single process kill disabled) > ${OOM_SPEC}`,
            'The setting has the effect of the default on cgroup v2.',
            test(
              'node/host/cgroups.test.ts',
              'include the configured process limit, OOM kill mode, CPU quota and swap',
            ),
          ),
        ],
      },
    ],
  },
];

const diskSteps = (row: string): EquivalentTest =>
  test('kubernetes/eviction/layout.test.ts', 'C28: with the layout %s, %s ranks pods by %j and reclaims %j', row);

const DISKS: readonly SuiteFile[] = [
  {
    file: 'split_disk_test.go',
    contexts: [
      {
        context: 'KubeletSeparateDiskGC',
        specs: [
          testedSpec(
            'should display different stats for imageFs and containerFs',
            test(
              'stats/node/statsProvider.test.ts',
              'C43: the container file system is the image file system unless the runtime reports a different one',
            ),
          ),
          partlyTestedSpec(
            'when there is disk pressure > on imageFs > should evict all of the correct pods',
            'Real images and layers are on one file system in the tests.',
            diskSteps("'split', 'imagefs'"),
            pressureTest("'inodes', 'split'"),
          ),
          partlyTestedSpec(
            'when there is disk pressure > on containerFs > should eventually evict all of the correct pods',
            'Real images and layers are on one file system in the tests.',
            diskSteps("'split', 'containerfs'"),
            pressureTest("'inodes', 'split'"),
            evictionTest('its writable layer'),
          ),
        ],
      },
    ],
  },
  {
    file: 'quota_lsci_test.go',
    contexts: [
      {
        context:
          'LocalStorageCapacityIsolationFSQuotaMonitoring > when we run containers that should cause use quotas for LSCI monitoring',
        specs: [
          untestedSpec(
            '(quotas enabled: true, userNamespacesEnabled: true); (quotas enabled: true, userNamespacesEnabled: false) > should eventually evict all of the correct pods',
            'The feature gate LocalStorageCapacityIsolationFSQuotaMonitoring has no effect: files that are deleted while a process has them open do not count.',
          ),
          partlyTestedSpec(
            '(quotas enabled: false, userNamespacesEnabled: true) > should eventually evict all of the correct pods',
            'The file is measured without a pod.',
            test('host/usage/diskUsage.test.ts', 'does not count a deleted file that a process still has open'),
          ),
        ],
      },
    ],
  },
];

const restartTest = (title: string): EquivalentTest => test('actors/cluster/podsAcrossRestarts.test.ts', title);
const SUMMARY_ON_HOST = test(
  'e2e/stats.test.ts',
  'C43: the summary contains CPU, memory, volumes, layers, logs and network of a busy pod',
);
const stallTest = (row: string): EquivalentTest => test('vm/pressure.test.ts', 'PSI: %s', row);
const POD_CGROUPS = test(
  'e2e/resources.test.ts',
  'have the limits of the pod and its QoS class, and disappear with the pod',
);
const QOS_CGROUPS = test(
  'e2e/resources.test.ts',
  'are outside the QoS classes for a Guaranteed pod, and have minimal shares for a BestEffort pod',
);
const AGENT_SCORE = test(
  'vm/systemd.test.ts',
  'C43: the agent lowers its own oom_score_adj, and its containers have those of their QoS classes',
);
const oomScore = (row: string): EquivalentTest =>
  test('kubernetes/resources/cgroup.test.ts', 'include the oom_score_adj: %s', row);

const NODE: readonly SuiteFile[] = [
  {
    file: 'restart_test.go',
    contexts: [
      {
        context: 'Restart',
        specs: [
          partlyTestedSpec(
            'Container Runtime > Network > should recover from ip leak',
            'The runtime is killed with a few pods. Their addresses belong to its network plugin.',
            test('e2e/losses.test.ts', 'a killed containerd is restarted, and its pods never stop'),
          ),
          testedSpec(
            'Kubelet > should correctly account for terminated pods after restart',
            restartTest('a completed pod uses no resources of the node after an agent restart'),
          ),
          testedSpec(
            'Kubelet > should delete pods which are marked as terminal and have a deletion timestamp set after restart',
            restartTest('a pod that was deleted and marked as failed while no agent ran is gone after a restart'),
          ),
          testedSpec(
            'Kubelet > should force-delete non-admissible pods created and deleted during kubelet restart',
            restartTest('a pod without room that was created and deleted while no agent ran is gone after a restart'),
          ),
          testedSpec(
            'Kubelet > should force-delete non-admissible pods that was admitted and running before kubelet restart',
            restartTest(
              'a running pod that no longer has room and was deleted while no agent ran is gone after a restart',
            ),
          ),
        ],
      },
    ],
  },
  {
    file: 'resource_metrics_test.go',
    contexts: [
      {
        context: 'ResourceMetricsAPI > when querying /resource/metrics',
        specs: [
          testedSpec(
            'should report resource usage through the resource metrics api',
            test('e2e/stats.test.ts', 'the resource metrics contain CPU, memory and start time of every container'),
            test('kubelet-api/metrics/resource.test.ts', 'C42: the text equals that of a kubelet, byte for byte'),
          ),
        ],
      },
    ],
  },
  {
    file: 'summary_test.go',
    contexts: [
      {
        context: 'Summary API',
        specs: [
          testedSpec(
            'when querying /stats/summary > should report resource usage through the stats api',
            SUMMARY_ON_HOST,
            test('vm/cgroups.test.ts', '/stats/summary has the PSI of the node, the pod and the container'),
          ),
          testedSpec(
            'when querying /stats/summary under pressure > should report CPU pressure in PSI metrics',
            stallTest('a container at its CPU limit stalls for CPU'),
          ),
          testedSpec(
            'when querying /stats/summary under pressure > should report Memory pressure in PSI metrics',
            stallTest('a container above its throttling threshold stalls for memory'),
          ),
          testedSpec(
            'when querying /stats/summary under pressure > should report I/O pressure in PSI metrics',
            stallTest('a container that writes to the disk stalls for I/O'),
          ),
        ],
      },
    ],
  },
  {
    file: 'node_container_manager_test.go',
    contexts: [
      {
        context: 'Node Container Manager',
        specs: [
          partlyTestedSpec(
            'Validate Node Allocatable > sets up the node and runs the test',
            'Kubernetes skips this spec.',
            test(
              'e2e/reservations.test.ts',
              'C25: a node limits the existing cgroup of the system daemons, and mounts volumes in memory without swap',
            ),
            test(
              'vm/cgroups.test.ts',
              'C25: the slice of the system daemons has the reserved resources, also for systemd',
            ),
          ),
          partlyTestedSpec(
            'Validate CGroup management > should correctly start with cpumanager none policy in use with systemd',
            'Kubernetes skips this spec.',
            test(
              'vm/cgroups.test.ts',
              'C25: systemd knows the slices, and the limit of all pods is the allocatable memory',
            ),
          ),
        ],
      },
    ],
  },
  {
    file: 'pods_container_manager_test.go',
    contexts: [
      {
        context: 'Kubelet Cgroup Manager',
        specs: [
          testedSpec(
            'QOS containers > On enabling QOS cgroup hierarchy > Top level QoS containers should have been created',
            POD_CGROUPS,
          ),
          testedSpec(
            'Pod containers > On scheduling a Guaranteed Pod > Pod containers should have been created under the cgroup-root',
            QOS_CGROUPS,
          ),
          testedSpec(
            'Pod containers > On scheduling a BestEffort Pod > Pod containers should have been created under the BestEffort cgroup',
            QOS_CGROUPS,
          ),
          testedSpec(
            'Pod containers > On scheduling a Burstable Pod > Pod containers should have been created under the Burstable cgroup',
            POD_CGROUPS,
          ),
        ],
      },
    ],
  },
  {
    file: 'container_manager_test.go',
    contexts: [
      {
        context: 'Container Manager Misc > Validate OOM score adjustments > once the node is setup',
        specs: [
          untestedSpec(
            "container runtime's oom-score-adj should be -999",
            'The unit of the runtime or its own configuration sets this value. A kubelet does not change it either.',
          ),
          testedSpec(
            "Kubelet's oom-score-adj should be -999",
            AGENT_SCORE,
            test('e2e/stats.test.ts', 'the agent has the lowest OOM score, or reports that the host forbids it'),
          ),
          partlyTestedSpec(
            "with test pods > pod infra containers oom-score-adj should be -998 and best effort container's should be 1000",
            'The runtime itself sets the value of sandboxes.',
            AGENT_SCORE,
            oomScore('BestEffort'),
            test('cri/config/linuxResources.test.ts', '%s', 'BestEffort'),
          ),
          partlyTestedSpec(
            "with test pods > guaranteed container's oom-score-adj should be -998",
            'A kubelet 1.36 sets −997, as the node does.',
            AGENT_SCORE,
            oomScore('Guaranteed'),
            test('cri/config/linuxResources.test.ts', '%s', 'Guaranteed'),
          ),
          testedSpec(
            "with test pods > burstable container's oom-score-adj should be between [2, 1000)",
            AGENT_SCORE,
            oomScore('Burstable, half of it'),
            oomScore('Burstable, next to nothing'),
          ),
        ],
      },
    ],
  },
  {
    file: 'lock_contention_linux_test.go',
    contexts: [
      {
        context: 'Lock contention',
        specs: [
          untestedSpec(
            'Kubelet should stop when the test acquires the lock on lock file and restart once the lock is released',
            'The flags `--lock-file` and `--exit-on-lock-contention` are not supported, because the root directory is locked.',
          ),
        ],
      },
    ],
  },
];

export const NODE_SUITE: readonly SuiteFile[] = [
  EVICTION,
  ...GARBAGE,
  CPU_MANAGER,
  CPU_MANAGER_METRICS,
  ...MEMORY_MANAGER,
  ...TOPOLOGY_MANAGER,
  ...DEVICES,
  POD_RESOURCES,
  CLAIMS,
  HUGE_PAGES,
  SWAP,
  MEMORY_QOS,
  ...POD_ENDS,
  ...DISKS,
  ...NODE,
];
