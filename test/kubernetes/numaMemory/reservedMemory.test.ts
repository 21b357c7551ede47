import { expect, test } from '@jest/globals';
import { checkReservedMemory } from '../../../kubernetes/numaMemory/reservedMemory.ts';

const nodes = [0, 1].map((id) => ({ id, memoryBytes: 1_000, hugePages: [] }));
const GIB = 2 ** 30;
const PAGES_2_MI = 'hugepages-2Mi';
const PAGES_1_GI = 'hugepages-1Gi';

type Amounts = readonly (readonly [resource: string, bytes: number])[];
type Reservations = readonly (readonly [numaNode: number, resource: string, bytes: number])[];

/** The vectors of `TestValidateReservedMemory`, `TestGetSystemReservedMemory` and `TestNewManager` in `pkg/kubelet/cm/memorymanager/memory_manager_test.go`. */
const vectors: readonly (readonly [title: string, Amounts, Reservations, message: string])[] = [
  ['Node Allocatable not set, reserved not set', [], [], ''],
  ['Node Allocatable set to zero, reserved set to zero', [['memory', 0]], [[0, 'memory', 0]], ''],
  [
    'Node Allocatable not set (equal zero), reserved set',
    [],
    [[0, 'memory', 12]],
    'the total amount "12" of type "memory" is not equal to the value "0" determined by Node Allocatable feature',
  ],
  [
    'Node Allocatable set, reserved not set',
    [[PAGES_2_MI, 5]],
    [],
    'the total amount "0" of type "hugepages-2Mi" is not equal to the value "5" determined by Node Allocatable feature',
  ],
  [
    'Reserved not equal to Node Allocatable',
    [['memory', 5]],
    [[0, 'memory', 12]],
    'the total amount "12" of type "memory" is not equal to the value "5" determined by Node Allocatable feature',
  ],
  [
    'Reserved contains the NUMA node that does not exist under the machine',
    [['memory', 17]],
    [
      [0, 'memory', 12],
      [2, 'memory', 5],
    ],
    'the reserved memory configuration references a NUMA node 2 that does not exist on this machine',
  ],
  [
    'Reserved total equal to Node Allocatable',
    [
      ['memory', 17],
      [PAGES_2_MI, 77],
      [PAGES_1_GI, 13],
    ],
    [
      [0, 'memory', 12],
      [0, PAGES_2_MI, 70],
      [0, PAGES_1_GI, 13],
      [1, 'memory', 5],
      [1, PAGES_2_MI, 7],
    ],
    '',
  ],
  [
    'Reserved total hugapages-2M not equal to Node Allocatable',
    [
      ['memory', 17],
      [PAGES_2_MI, 14],
      [PAGES_1_GI, 13],
    ],
    [
      [0, 'memory', 12],
      [0, PAGES_2_MI, 70],
      [0, PAGES_1_GI, 13],
      [1, 'memory', 5],
      [1, PAGES_2_MI, 7],
    ],
    'the total amount "77" of type "hugepages-2Mi" is not equal to the value "14" determined by Node Allocatable feature',
  ],
  [
    'one NUMA node has a reservation of 1 GiB, and the node none',
    [],
    [[0, 'memory', GIB]],
    'the total amount "1Gi" of type "memory" is not equal to the value "0" determined by Node Allocatable feature',
  ],
  [
    'each NUMA node has half of what is reserved',
    [['memory', 2 * GIB]],
    [
      [0, 'memory', GIB],
      [1, 'memory', GIB],
    ],
    '',
  ],
  [
    'the NUMA nodes have reservations of 3 GiB together, and the node of 2 GiB',
    [['memory', 2 * GIB]],
    [
      [0, 'memory', GIB],
      [1, 'memory', 2 * GIB],
    ],
    'the total amount "3Gi" of type "memory" is not equal to the value "2Gi" determined by Node Allocatable feature',
  ],
];

test.each(vectors)('checks the reserved memory like a kubelet: %s', (_, nodeReserved, reservations, message) => {
  const check = () =>
    checkReservedMemory(
      nodes,
      nodeReserved.map(([resource, bytes]) => ({ resource, bytes })),
      reservations.map(([numaNode, resource, bytes]) => ({ numaNode, resource, bytes })),
    );
  if (message === '') expect(check()).toBeUndefined();
  else expect(check).toThrow(message);
});
