import { expect, test } from '@jest/globals';
import { readStatus } from '../../../../kubernetes/api/pods/apiStatus.ts';

const AT = '2026-01-01T00:00:00Z';
const main = { name: 'main', ready: true, restartCount: 3, image: 'busybox:1', imageID: 'sha256:1' };

test('a status is read as the server has it, including unknown fields', () => {
  const status = {
    phase: 'Running',
    startTime: AT,
    podIPs: [{ ip: '10.0.0.1' }],
    qosClass: 'Burstable',
    newField: { a: [1] },
    conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: AT, extra: 'x' }],
    containerStatuses: [
      {
        ...main,
        containerID: 'containerd://c',
        started: true,
        stopSignal: 'SIGTERM',
        state: { running: { startedAt: AT } },
        lastState: { terminated: { exitCode: 1, finishedAt: AT } },
        allocatedResources: { cpu: '1' },
        resources: { limits: { cpu: '1', memory: '1Gi' } },
      },
    ],
  };
  expect(readStatus(status)).toEqual(status);
});

test('malformed fields are ignored without affecting others', () => {
  const status = {
    phase: 'Gone',
    startTime: 'long ago',
    podIP: 5,
    podIPs: [null, { ip: 7 }, { ip: '10.0.0.1' }],
    reason: {},
    hostIPs: 'x',
    resources: [],
    observedGeneration: 1.5,
    qosClass: 'Best',
    conditions: [null, 'x', { type: 'Ready' }, { type: 'Ready', status: 'False', lastTransitionTime: 'x' }],
    containerStatuses: [
      null,
      7,
      { name: 'other' },
      { ...main, state: { terminated: { exitCode: 'x' } }, lastState: 3 },
    ],
    initContainerStatuses: { 0: main },
  };
  expect(readStatus(status)).toEqual({
    podIPs: [{ ip: '10.0.0.1' }],
    conditions: [{ type: 'Ready', status: 'False' }],
    containerStatuses: [{ ...main, state: {} }],
  });
});

test.each([undefined, null, 'Running', 5, []])('%j is not a valid status', (status) => {
  expect(readStatus(status)).toBeUndefined();
});
