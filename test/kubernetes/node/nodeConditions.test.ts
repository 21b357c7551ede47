import { expect, test } from '@jest/globals';
import {
  changedPressure,
  conditionEvents,
  type NodeCondition,
  withPressure,
} from '../../../kubernetes/node/nodeConditions.ts';

const EARLIER = '2026-01-01T00:00:00Z';
const NOW = '2026-01-01T00:01:00Z';

const other: NodeCondition = {
  type: 'FrequentReboots',
  status: 'True',
  lastHeartbeatTime: EARLIER,
  lastTransitionTime: EARLIER,
  reason: 'Elsewhere',
  message: '',
};

/** The reasons and messages of `pkg/kubelet/nodestatus/setters.go`. */
const CONDITIONS = [
  [
    'MemoryPressure',
    ['KubeletHasInsufficientMemory', 'kubelet has insufficient memory available', 'NodeHasInsufficientMemory'],
    ['KubeletHasSufficientMemory', 'kubelet has sufficient memory available', 'NodeHasSufficientMemory'],
  ],
  [
    'DiskPressure',
    ['KubeletHasDiskPressure', 'kubelet has disk pressure', 'NodeHasDiskPressure'],
    ['KubeletHasNoDiskPressure', 'kubelet has no disk pressure', 'NodeHasNoDiskPressure'],
  ],
  [
    'PIDPressure',
    ['KubeletHasInsufficientPID', 'kubelet has insufficient PID available', 'NodeHasInsufficientPID'],
    ['KubeletHasSufficientPID', 'kubelet has sufficient PID available', 'NodeHasSufficientPID'],
  ],
] as const;

test.each(CONDITIONS)('C28: %s has the reasons, messages and events of a kubelet', (type, underPressure, relieved) => {
  const begun = withPressure([other], [type], EARLIER);
  const ended = withPressure(begun, [], NOW);
  const expected = [
    { conditions: begun, status: 'True', at: EARLIER, texts: underPressure, previous: [other] },
    { conditions: ended, status: 'False', at: NOW, texts: relieved, previous: begun },
  ] as const;
  for (const { conditions, status, at, texts, previous } of expected) {
    const [reason, message, event] = texts;
    const times = { lastHeartbeatTime: at, lastTransitionTime: at };
    const condition = { type, status, ...times, reason, message };
    expect(conditions).toEqual([condition, other]);
    const changed = changedPressure(previous, conditions);
    expect(changed).toEqual([condition]);
    expect(changed.flatMap((each) => conditionEvents('node', each))).toEqual([
      { reason: event, message: `Node node status is now: ${event}` },
    ]);
  }
});

test('C28: a condition that has not changed retains its transition time, and causes no event', () => {
  const begun = withPressure([], ['MemoryPressure'], EARLIER);
  const both = withPressure(begun, ['MemoryPressure', 'DiskPressure'], NOW);
  expect(both.map(({ type, lastTransitionTime }) => [type, lastTransitionTime])).toEqual([
    ['MemoryPressure', EARLIER],
    ['DiskPressure', NOW],
  ]);
  expect(changedPressure(begun, both).map(({ type }) => type)).toEqual(['DiskPressure']);
  expect(withPressure([], [], NOW)).toEqual([]);
});
