import { expect, test } from '@jest/globals';
import { formatCpuCheckpoint, parseCpuCheckpoint } from '../../../kubernetes/cpus/cpuCheckpoint.ts';
import { parseCpuSet } from '../../../kubernetes/cpus/cpuSet.ts';

/** Checkpoints that the kubelet reads (`pkg/kubelet/cm/cpumanager/state/state_checkpoint_test.go`). */
const checkpoint = (defaultCPUSet: string, checksum: number, entries: object | undefined = {}, policyName = 'none') =>
  JSON.stringify({ policyName, defaultCPUSet, entries, checksum });

test.each([
  ['without containers', checkpoint('4-6', 354655845), '4-6', {}],
  [
    'with containers',
    checkpoint('1-3', 3610638499, { pod: { container1: '4-6', container2: '1-3' } }),
    '1-3',
    { container1: '4-6', container2: '1-3' },
  ],
  ['without a checksum', checkpoint('1-3', 0), '1-3', {}],
])('the CPU assignments of a kubelet are read from a checkpoint %s', (_, text, shared, containers) => {
  expect(parseCpuCheckpoint(text, 'none')).toEqual({
    shared: parseCpuSet(shared),
    exclusive: Object.entries(containers).map(([container, cpus]) => ({
      podUid: 'pod',
      container,
      cpus: parseCpuSet(cpus),
    })),
  });
});

test.each([
  [checkpoint('4-6', 1337), 'checkpoint is corrupted'],
  ['{', 'JSON'],
  [checkpoint('1-3', 1394507217, {}, 'other'), 'configured policy "none" differs from state checkpoint policy "other"'],
  [checkpoint('1.3', 3021697696), 'could not parse default cpu set "1.3": strconv.Atoi: parsing "1.3": invalid syntax'],
  [
    checkpoint('1-3', 962272150, { pod: { container1: '4-6', container2: 'asd' } }),
    'could not parse cpuset "asd" for container "container2" in pod "pod": strconv.Atoi: parsing "asd": invalid syntax',
  ],
  // Pod-level assignments need a feature gate that is off by default, so the checksum does not match.
  [
    JSON.stringify({
      policyName: 'none',
      defaultCPUSet: '1-3',
      entries: { pod: { container1: '4-6', container2: '1-3' } },
      podEntries: { pod: { cpuSet: '4-6' } },
      checksum: 2649431787,
    }),
    'checkpoint is corrupted',
  ],
])('the checkpoint %s is rejected with the message of a kubelet', (text, message) => {
  expect(() => parseCpuCheckpoint(text, 'none')).toThrow(message);
});

test('the checkpoint of a kubelet before 1.18 is rejected', () => {
  const text = JSON.stringify({ policyName: 'none', defaultCPUSet: '1-3', checksum: 1694838852 });
  expect(() => parseCpuCheckpoint(text, 'none')).toThrow('checkpoint is corrupted');
});

test('CPU assignments are written in the format of a kubelet', () => {
  const exclusive = [
    { podUid: 'pod', container: 'container2', cpus: [1, 2, 3] },
    { podUid: 'pod', container: 'container1', cpus: [4, 5, 6] },
  ];
  expect(formatCpuCheckpoint('none', { shared: [1, 2, 3], exclusive })).toBe(
    '{"policyName":"none","defaultCpuSet":"1-3","entries":{"pod":{"container1":"4-6","container2":"1-3"}},"checksum":3610638499}',
  );
  expect(formatCpuCheckpoint('none', { shared: [4, 5, 6], exclusive: [] })).toBe(
    '{"policyName":"none","defaultCpuSet":"4-6","checksum":354655845}',
  );
});
