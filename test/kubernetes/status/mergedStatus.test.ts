import { describe, expect, test } from '@jest/globals';
import { mergedStatus } from '../../../kubernetes/status/mergedStatus.ts';

const ready = (status: string) => ({ type: 'Ready', status, lastProbeTime: null });
const gate = (status: string) => ({ type: 'example.com/gate', status, lastProbeTime: null });
const disrupted = (reason: string) => ({ type: 'DisruptionTarget', status: 'True', reason, lastProbeTime: null });

test('what only the server says of a pod stays, and all else is the node’s to say', () => {
  const server = {
    phase: 'Pending',
    reason: 'Old',
    qosClass: 'Burstable',
    nominatedNodeName: 'node-2',
    resourceClaimStatuses: [{ name: 'gpu' }],
    extendedResourceClaimStatus: { resourceClaimName: 'x' },
  };
  expect(mergedStatus(server, { phase: 'Running', podIP: '10.0.0.1', qosClass: 'BestEffort' })).toEqual({
    phase: 'Running',
    podIP: '10.0.0.1',
    qosClass: 'Burstable',
    nominatedNodeName: 'node-2',
    resourceClaimStatuses: [{ name: 'gpu' }],
    extendedResourceClaimStatus: { resourceClaimName: 'x' },
  });
});

test('what a later server has and nobody knows here stays, of conditions too', () => {
  const server = {
    phase: 'Pending',
    newField: { a: 1 },
    conditions: [{ ...ready('False'), reason: 'Old', extra: 'x' }],
  };
  const own = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  expect(mergedStatus(server, own)).toEqual({
    phase: 'Running',
    newField: { a: 1 },
    conditions: [{ ...ready('True'), extra: 'x' }],
  });
});

test('without conditions there are none', () => {
  expect(mergedStatus({ conditions: null }, { phase: 'Running' })).toEqual({ phase: 'Running' });
});

describe('conditions', () => {
  test('of the node are as it says, with the null of a server for when they were probed', () => {
    const own = { conditions: [{ type: 'Ready', status: 'True' }] };
    expect(mergedStatus({ conditions: [ready('False')] }, own)).toEqual({ conditions: [ready('True')] });
  });

  test('of the node that it does not say any more are gone', () => {
    const server = { conditions: [ready('True'), { type: 'PodResizePending', status: 'True' }] };
    expect(mergedStatus(server, { conditions: [ready('True')] })).toEqual({ conditions: [ready('True')] });
  });

  test('of others are as the server has them, whatever the node has heard', () => {
    const server = { conditions: [gate('True'), ready('False')] };
    expect(mergedStatus(server, { conditions: [ready('True')] })).toEqual({
      conditions: [ready('True'), gate('True')],
    });
    expect(mergedStatus(server, { conditions: [gate('False'), ready('True')] })).toEqual({
      conditions: [gate('True'), ready('True')],
    });
  });

  test('of others that they have taken back do not return because the node has not heard of it', () => {
    const own = { conditions: [gate('True'), ready('True')] };
    expect(mergedStatus({ conditions: [ready('True')] }, own)).toEqual({ conditions: [ready('True')] });
  });
});

describe('that a pod was disrupted', () => {
  const own = { phase: 'Failed', conditions: [disrupted('TerminationByKubelet'), ready('False')] };

  test('the node says as the pod ends, also in the place of what others have said', () => {
    for (const conditions of [[], [disrupted('PreemptionByScheduler')]])
      expect(mergedStatus({ phase: 'Running', conditions }, own).conditions).toEqual(own.conditions);
  });

  test('is for others to say before and after', () => {
    const others = [disrupted('PreemptionByScheduler')];
    for (const [before, after] of [
      ['Running', 'Running'],
      ['Failed', 'Failed'],
    ])
      expect(mergedStatus({ phase: before, conditions: others }, { ...own, phase: after }).conditions).toEqual([
        ...others,
        ready('False'),
      ]);
  });
});

test('C2: how a pod has ended stays as the server has it', () => {
  const server = { phase: 'Failed', message: 'nobody has heard of it' };
  expect(mergedStatus(server, { phase: 'Running', podIP: '10.0.0.1' })).toEqual({ ...server, podIP: '10.0.0.1' });
  expect(mergedStatus(server, { phase: 'Succeeded', reason: 'Evicted', message: 'by us' })).toEqual(server);
});
