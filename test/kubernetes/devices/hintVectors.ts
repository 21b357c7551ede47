/** Hints for the NUMA nodes of devices (`getCommonTestCases` in `devicemanager/topology_hints_test.go`). */

export interface HintCase {
  readonly title: string;
  /** The numbers of devices that the container `fakeContainer` of the pod `fakePod` requests. */
  readonly requests: readonly (readonly [resource: string, count: number])[];
  /** The devices by resource, each with its NUMA nodes. */
  readonly devices: readonly (readonly [
    resource: string,
    devices: readonly (readonly [id: string, nodes: readonly number[]])[],
  ])[];
  readonly allocated: readonly (readonly [pod: string, container: string, resource: string, ids: readonly string[]])[];
  /** The hints by resource. Undefined without a preference. */
  readonly hints: readonly (readonly [
    resource: string,
    hints: readonly (readonly [nodes: readonly number[], isPreferred: boolean])[] | undefined,
  ])[];
}

export const hintCases: readonly HintCase[] = [
  {
    title: 'Single Request, no alignment',
    requests: [['testdevice', 1]],
    devices: [
      [
        'testdevice',
        [
          ['Dev1', []],
          ['Dev2', []],
          ['Dev3', []],
          ['Dev4', []],
        ],
      ],
    ],
    allocated: [],
    hints: [['testdevice', undefined]],
  },
  {
    title: 'Single Request, only one with alignment',
    requests: [['testdevice', 1]],
    devices: [
      [
        'testdevice',
        [
          ['Dev1', []],
          ['Dev2', [1]],
        ],
      ],
    ],
    allocated: [],
    hints: [['testdevice', [[[1], true]]]],
  },
  {
    title: 'Single Request, one device per socket',
    requests: [['testdevice', 1]],
    devices: [
      [
        'testdevice',
        [
          ['Dev1', [0]],
          ['Dev2', [1]],
        ],
      ],
    ],
    allocated: [],
    hints: [
      [
        'testdevice',
        [
          [[0], true],
          [[1], true],
          [[0, 1], false],
        ],
      ],
    ],
  },
  {
    title: 'Request for 2, one device per socket',
    requests: [['testdevice', 2]],
    devices: [
      [
        'testdevice',
        [
          ['Dev1', [0]],
          ['Dev2', [1]],
        ],
      ],
    ],
    allocated: [],
    hints: [['testdevice', [[[0, 1], true]]]],
  },
  {
    title: 'Request for 2, 2 devices per socket',
    requests: [['testdevice', 2]],
    devices: [
      [
        'testdevice',
        [
          ['Dev1', [0]],
          ['Dev2', [1]],
          ['Dev3', [0]],
          ['Dev4', [1]],
        ],
      ],
    ],
    allocated: [],
    hints: [
      [
        'testdevice',
        [
          [[0], true],
          [[1], true],
          [[0, 1], false],
        ],
      ],
    ],
  },
  {
    title: 'Request for 2, optimal on 1 NUMA node, forced cross-NUMA',
    requests: [['testdevice', 2]],
    devices: [
      [
        'testdevice',
        [
          ['Dev1', [0]],
          ['Dev2', [1]],
          ['Dev3', [0]],
          ['Dev4', [1]],
        ],
      ],
    ],
    allocated: [['fakePod', 'fakeOtherContainer', 'testdevice', ['Dev1', 'Dev2']]],
    hints: [['testdevice', [[[0, 1], false]]]],
  },
  {
    title: '2 device types, mixed configuration',
    requests: [
      ['testdevice1', 2],
      ['testdevice2', 1],
    ],
    devices: [
      [
        'testdevice1',
        [
          ['Dev1', [0]],
          ['Dev2', [1]],
          ['Dev3', [0]],
          ['Dev4', [1]],
        ],
      ],
      ['testdevice2', [['Dev1', [0]]]],
    ],
    allocated: [],
    hints: [
      [
        'testdevice1',
        [
          [[0], true],
          [[1], true],
          [[0, 1], false],
        ],
      ],
      ['testdevice2', [[[0], true]]],
    ],
  },
  {
    title: 'Single device type, more requested than available',
    requests: [['testdevice', 6]],
    devices: [
      [
        'testdevice',
        [
          ['Dev1', [0]],
          ['Dev2', [0]],
          ['Dev3', [1]],
          ['Dev4', [1]],
        ],
      ],
    ],
    allocated: [],
    hints: [['testdevice', []]],
  },
  {
    title: 'Single device type, all already allocated to container',
    requests: [['testdevice', 2]],
    devices: [
      [
        'testdevice',
        [
          ['Dev1', [0]],
          ['Dev2', [0]],
        ],
      ],
    ],
    allocated: [['fakePod', 'fakeContainer', 'testdevice', ['Dev1', 'Dev2']]],
    hints: [['testdevice', [[[0], true]]]],
  },
  {
    title: 'Single device type, less already allocated to container than requested',
    requests: [['testdevice', 4]],
    devices: [
      [
        'testdevice',
        [
          ['Dev1', [0]],
          ['Dev2', [0]],
          ['Dev3', [1]],
          ['Dev4', [1]],
        ],
      ],
    ],
    allocated: [['fakePod', 'fakeContainer', 'testdevice', ['Dev1', 'Dev2']]],
    hints: [['testdevice', []]],
  },
  {
    title: 'Single device type, more already allocated to container than requested',
    requests: [['testdevice', 2]],
    devices: [
      [
        'testdevice',
        [
          ['Dev1', [0]],
          ['Dev2', [0]],
          ['Dev3', [1]],
          ['Dev4', [1]],
        ],
      ],
    ],
    allocated: [['fakePod', 'fakeContainer', 'testdevice', ['Dev1', 'Dev2', 'Dev3', 'Dev4']]],
    hints: [['testdevice', []]],
  },
];
