import { describe, expect, test } from '@jest/globals';
import { mergedStatus } from '../../../kubernetes/status/mergedStatus.ts';

const ready = (status: string) => ({ type: 'Ready', status, lastProbeTime: null });
const gate = (status: string) => ({ type: 'example.com/gate', status, lastProbeTime: null });
const disrupted = (reason: string) => ({ type: 'DisruptionTarget', status: 'True', reason, lastProbeTime: null });

test('fields that only the server sets are retained, and those of the node are replaced', () => {
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

test('unknown fields of a newer server are retained, including those of conditions', () => {
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

test('a merged status has no conditions if neither status has any', () => {
  expect(mergedStatus({ conditions: null }, { phase: 'Running' })).toEqual({ phase: 'Running' });
});

describe('conditions', () => {
  test('of the node replace those of the server, with a null probe time', () => {
    const own = { conditions: [{ type: 'Ready', status: 'True' }] };
    expect(mergedStatus({ conditions: [ready('False')] }, own)).toEqual({ conditions: [ready('True')] });
  });

  test('of the node are removed if it no longer sets them', () => {
    const server = { conditions: [ready('True'), { type: 'PodResizePending', status: 'True' }] };
    expect(mergedStatus(server, { conditions: [ready('True')] })).toEqual({ conditions: [ready('True')] });
  });

  test('of other components are those of the server, whatever copy the node has', () => {
    const server = { conditions: [gate('True'), ready('False')] };
    expect(mergedStatus(server, { conditions: [ready('True')] })).toEqual({
      conditions: [ready('True'), gate('True')],
    });
    expect(mergedStatus(server, { conditions: [gate('False'), ready('True')] })).toEqual({
      conditions: [gate('True'), ready('True')],
    });
  });

  test('of other components do not return after they were removed', () => {
    const own = { conditions: [gate('True'), ready('True')] };
    expect(mergedStatus({ conditions: [ready('True')] }, own)).toEqual({ conditions: [ready('True')] });
  });
});

describe('the DisruptionTarget condition', () => {
  const own = { phase: 'Failed', conditions: [disrupted('TerminationByKubelet'), ready('False')] };

  test('is set by the node when the pod terminates, replacing that of other components', () => {
    for (const conditions of [[], [disrupted('PreemptionByScheduler')]])
      expect(mergedStatus({ phase: 'Running', conditions }, own).conditions).toEqual(own.conditions);
  });

  test('belongs to other components otherwise', () => {
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

test('C2: the terminal phase of the server is retained', () => {
  const server = { phase: 'Failed', message: 'nobody has heard of it' };
  expect(mergedStatus(server, { phase: 'Running', podIP: '10.0.0.1' })).toEqual({ ...server, podIP: '10.0.0.1' });
  expect(mergedStatus(server, { phase: 'Succeeded', reason: 'Evicted', message: 'by us' })).toEqual(server);
});
