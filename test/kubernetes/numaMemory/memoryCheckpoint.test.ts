import { expect, test } from '@jest/globals';
import type { MemoryAssignments } from '../../../kubernetes/numaMemory/memoryAssignments.ts';
import { formatMemoryCheckpoint, parseMemoryCheckpoint } from '../../../kubernetes/numaMemory/memoryCheckpoint.ts';

/** The checkpoint of `TestCheckpointStateRestore` in `pkg/kubelet/cm/memorymanager/state/state_checkpoint_test.go`. */
const KUBELET_CHECKPOINT = {
  policyName: 'static',
  machineState: {
    '0': {
      numberOfAssignments: 0,
      memoryMap: { memory: { total: 2048, systemReserved: 512, allocatable: 1536, reserved: 512, free: 1024 } },
      cells: [],
    },
  },
  entries: { pod: { container1: [{ numaAffinity: [0], type: 'memory', size: 512 }] } },
  checksum: 4_215_593_881,
};

// Safe cast: the kubelet's vector uses a policy name that no policy has.
const parse = (checkpoint: unknown) => parseMemoryCheckpoint(JSON.stringify(checkpoint), 'static' as 'Static');

const assignments: MemoryAssignments = {
  nodes: [
    {
      id: 0,
      blockCount: 0,
      group: [],
      tables: [{ resource: 'memory', total: 2048, systemReserved: 512, allocatable: 1536, reserved: 512, free: 1024 }],
    },
  ],
  containers: [
    { podUid: 'pod', container: 'container1', blocks: [{ numaNodes: [0], resource: 'memory', bytes: 512 }] },
  ],
};

test("reads a kubelet's checkpoint and writes the same bytes", () => {
  expect(parse(KUBELET_CHECKPOINT)).toEqual(assignments);
  expect(formatMemoryCheckpoint('static' as 'Static', assignments)).toBe(JSON.stringify(KUBELET_CHECKPOINT));
});

test('reads what it has written, with several pods, NUMA nodes and kinds of memory', () => {
  const table = { total: 9, systemReserved: 1, allocatable: 8, reserved: 4, free: 4 };
  const nodes = [0, 1, 10].map((id) => {
    const group = id < 2 ? [0, 1] : [10];
    return {
      id,
      blockCount: 2,
      group,
      tables: ['hugepages-1Gi', 'hugepages-2Mi', 'memory'].map((resource) => ({ resource, ...table })),
    };
  });
  const blocks = [
    { numaNodes: [0, 1], resource: 'memory', bytes: 6 },
    { numaNodes: [0, 1], resource: 'hugepages-2Mi', bytes: 2 },
  ];
  const containers = ['b', 'a'].map((podUid) => ({ podUid, container: 'main', blocks }));
  const text = formatMemoryCheckpoint('Static', { nodes, containers });
  expect(parseMemoryCheckpoint(text, 'Static')).toEqual({ nodes, containers: containers.toReversed() });
});

test.each([
  ['a wrong checksum', { ...KUBELET_CHECKPOINT, checksum: 101_010 }, 'checkpoint is corrupted'],
  [
    'a changed amount',
    { ...KUBELET_CHECKPOINT, entries: { pod: { container1: [{ numaAffinity: [0], type: 'memory', size: 513 }] } } },
    'checkpoint is corrupted',
  ],
  [
    'a different policy',
    { ...KUBELET_CHECKPOINT, policyName: 'None', checksum: 0 },
    '[memorymanager] configured policy "static" differs from state checkpoint policy "None"',
  ],
  ['an amount that is not a number', { ...KUBELET_CHECKPOINT, machineState: { '0': { cells: ['x'] } } }, ''],
])('rejects a checkpoint with %s', (_, checkpoint, message) => {
  expect(() => parse(checkpoint)).toThrow(message);
});

test('accepts a checkpoint without a checksum, as old kubelets wrote them', () => {
  const { checksum: _, ...checkpoint } = KUBELET_CHECKPOINT;
  expect(parse(checkpoint)).toEqual(assignments);
});
