import { expect, test } from '@jest/globals';
import type { ContainerStatus, PodStatus } from '../../../pod/api/schema/status.ts';
import { type Between, goneBack } from '../../../simulation/invariants/goneBack.ts';

const [AT, LATER] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:09Z'];
const main: ContainerStatus = {
  ...{ name: 'main', image: 'i', imageID: '', ready: true, restartCount: 3, containerID: 'containerd://1' },
  state: { running: { startedAt: LATER } },
};
const before: PodStatus = {
  ...{ phase: 'Running', startTime: AT, observedGeneration: 2, containerStatuses: [main] },
  conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: LATER }],
};
const inOneLife: Between = { isOneLife: true, mayComeInTurn: (first, then) => first <= then, knownRestarts: () => 0 };
const overRestart: Between = { ...inOneLife, isOneLife: false, knownRestarts: () => 3 };

const of = (over: Partial<ContainerStatus>): Partial<PodStatus> => ({ containerStatuses: [{ ...main, ...over }] });
const cases: readonly (readonly [string, Partial<PodStatus>, Between])[] = [
  [`startTime ${AT} became ${LATER}`, { startTime: LATER }, inOneLife],
  ['observedGeneration 2 became 1', { observedGeneration: 1 }, overRestart],
  [
    `condition Ready: True of ${LATER} became False of ${AT}`,
    { conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: AT }] },
    inOneLife,
  ],
  ['container main is gone from the status', { containerStatuses: [] }, overRestart],
  ['main: restartCount 3 became 2', of({ restartCount: 2 }), inOneLife],
  ['main: restartCount 3 became 2', of({ restartCount: 2 }), overRestart],
  [`main: its start ${LATER} became ${AT}`, of({ state: { running: { startedAt: AT } } }), overRestart],
];

test.each(cases)('%s', (message, over, between) => {
  expect(goneBack(before, before, between)).toEqual([]);
  expect(goneBack(before, { ...before, ...over }, between)).toEqual([message]);
});

test('a container is gone that its pod has not any more, or that never ran in a pod that is rejected', () => {
  const without: PodStatus = { ...before, containerStatuses: [] };
  const withMain = { containers: [{ name: 'main', image: 'i' }] };
  const withHelper = { containers: [{ name: 'helper', image: 'i' }] };
  const gone = ['container main is gone from the status'];
  expect(goneBack(before, without, { ...inOneLife, spec: withMain })).toEqual(gone);
  expect(goneBack(before, without, { ...inOneLife, spec: withHelper })).toEqual([]);
  const rejected: PodStatus = { ...without, phase: 'Failed', message: 'Pod was rejected: no room' };
  expect(goneBack(before, rejected, inOneLife)).toEqual(gone);
  expect(goneBack({ ...before, phase: 'Running' }, rejected, overRestart)).toEqual([]);
  const { containerID: _, ...unmade } = main;
  expect(goneBack({ ...before, containerStatuses: [unmade] }, rejected, inOneLife)).toEqual([]);
});

test('a terminal phase never changes', () => {
  const ended: PodStatus = { ...before, phase: 'Failed' };
  expect(goneBack(ended, before, overRestart)).toEqual(['phase Failed became Running']);
  expect(goneBack(before, ended, overRestart)).toEqual([]);
});

test('a later agent need not tell what nobody knows any more, nor over a clock that was set when something was', () => {
  const lower = { ...before, ...of({ restartCount: 1 }), startTime: LATER };
  expect(goneBack(before, lower, { ...overRestart, knownRestarts: () => 1 })).toEqual([]);
  const conditions = [{ type: 'Ready', status: 'False' as const, lastTransitionTime: AT }];
  expect(goneBack(before, { ...before, conditions }, { ...inOneLife, mayComeInTurn: () => true })).toEqual([]);
});
