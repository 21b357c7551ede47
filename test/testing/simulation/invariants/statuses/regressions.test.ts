import { expect, test } from '@jest/globals';
import type { ContainerStatus, PodStatus } from '../../../../../kubernetes/api/schema/status.ts';
import { regressions, type StatusRelation } from '../../../../../testing/simulation/invariants/statuses/regressions.ts';

const [AT, LATER] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:09Z'];
const main: ContainerStatus = {
  name: 'main',
  image: 'i',
  imageID: '',
  ready: true,
  restartCount: 3,
  containerID: 'containerd://1',
  state: { running: { startedAt: LATER } },
};
const before: PodStatus = {
  phase: 'Running',
  startTime: AT,
  observedGeneration: 2,
  containerStatuses: [main],
  conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: LATER }],
};
const inOneLife: StatusRelation = {
  isSameAgent: true,
  mayPrecede: (first, then) => first <= then,
  knownRestarts: () => 0,
};
const overRestart: StatusRelation = { ...inOneLife, isSameAgent: false, knownRestarts: () => 3 };

const of = (over: Partial<ContainerStatus>): Partial<PodStatus> => ({ containerStatuses: [{ ...main, ...over }] });
const cases: readonly (readonly [string, Partial<PodStatus>, StatusRelation])[] = [
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
  [
    'main: it was running and is waiting, without a termination of its run',
    of({ state: { waiting: { reason: 'ContainerCreating' } } }),
    inOneLife,
  ],
  [`main: its start time ${LATER} became ${AT}`, of({ state: { running: { startedAt: AT } } }), overRestart],
];

test.each(cases)('%s', (message, over, between) => {
  expect(regressions(before, before, between)).toEqual([]);
  expect(regressions(before, { ...before, ...over }, between)).toEqual([message]);
});

test('a container may be missing from the status if it left the pod, or never ran in a rejected pod', () => {
  const without: PodStatus = { ...before, containerStatuses: [] };
  const withMain = { containers: [{ name: 'main', image: 'i' }] };
  const withHelper = { containers: [{ name: 'helper', image: 'i' }] };
  const gone = ['container main is gone from the status'];
  expect(regressions(before, without, { ...inOneLife, spec: withMain })).toEqual(gone);
  expect(regressions(before, without, { ...inOneLife, spec: withHelper })).toEqual([]);
  const rejected: PodStatus = { ...without, phase: 'Failed', message: 'Pod was rejected: no room' };
  expect(regressions(before, rejected, inOneLife)).toEqual(gone);
  expect(regressions({ ...before, phase: 'Running' }, rejected, overRestart)).toEqual([]);
  const { containerID: _, ...unmade } = main;
  expect(regressions({ ...before, containerStatuses: [unmade] }, rejected, inOneLife)).toEqual([]);
});

test('a terminal phase never changes', () => {
  const ended: PodStatus = { ...before, phase: 'Failed' };
  expect(regressions(ended, before, overRestart)).toEqual(['phase Failed became Running']);
  expect(regressions(before, ended, overRestart)).toEqual([]);
});

test('a later agent need not report information that was lost, nor times from before the clock was set', () => {
  const lower = { ...before, ...of({ restartCount: 1 }), startTime: LATER };
  expect(regressions(before, lower, { ...overRestart, knownRestarts: () => 1 })).toEqual([]);
  const conditions = [{ type: 'Ready', status: 'False' as const, lastTransitionTime: AT }];
  expect(regressions(before, { ...before, conditions }, { ...inOneLife, mayPrecede: () => true })).toEqual([]);
});

type End = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>;
const end = (containerID: string, over: Partial<End> = {}): End => ({
  containerID,
  exitCode: 1,
  reason: 'Error',
  startedAt: AT,
  finishedAt: LATER,
  ...over,
});
const [first, second] = [end('containerd://0', { finishedAt: AT }), end('containerd://1')];
const running = { running: { startedAt: LATER } };
const status = (over: Partial<ContainerStatus>): PodStatus => ({ ...before, ...of(over) });
const ended = status({ state: { terminated: second }, lastState: { terminated: first } });
const waiting = { waiting: { reason: 'CrashLoopBackOff' } };

test('a container that has exited does not run again, under any agent', () => {
  const again = status({ state: running, lastState: { terminated: second } });
  for (const between of [inOneLife, overRestart])
    expect(regressions(ended, again, between)).toEqual(['main: containerd://1 had terminated, but is running']);
  expect(
    regressions(ended, { ...again, ...of({ ...again.containerStatuses?.[0], containerID: '2' }) }, inOneLife),
  ).toEqual([]);
});

test.each<Partial<End>>([{ exitCode: 137 }, { finishedAt: AT }, { startedAt: LATER }, { reason: 'OOMKilled' }])(
  'the exit of a run must not change to %j',
  (over) => {
    const other = end('containerd://1', over);
    const [told] = regressions(
      ended,
      status({ state: { terminated: other }, lastState: { terminated: first } }),
      inOneLife,
    );
    expect(told).toMatch(/^main: the termination of containerd:..1, .* became /);
    expect(regressions(ended, status({ state: waiting, lastState: { terminated: other } }), overRestart)).toEqual([
      told,
    ]);
  },
);

test('a later agent may correct an exit that an earlier one only assumed', () => {
  const refused = status({ state: { terminated: end('containerd://1', { exitCode: 128, reason: 'StartError' }) } });
  expect(regressions(refused, ended, inOneLife)).toHaveLength(1);
  expect(regressions(refused, ended, overRestart)).toEqual([]);
  // A later container list may also lack the run.
  const unknown = end('containerd://1', { exitCode: 137, reason: 'ContainerStatusUnknown', finishedAt: null });
  expect(regressions(status({ state: { terminated: unknown } }), ended, inOneLife)).toEqual([]);
});

test('a terminated run has the start time that it had while it ran', () => {
  const begun = status({ state: { running: { startedAt: AT } } });
  expect(regressions(begun, status({ state: { terminated: second } }), inOneLife)).toEqual([]);
  const other = end('containerd://1', { startedAt: LATER });
  expect(regressions(begun, status({ state: { terminated: other } }), inOneLife)).toEqual([
    `main: its start time ${AT} became ${LATER}`,
  ]);
});

test('a runtime that has lost the start time of a run may report a later one', () => {
  const restarted = { ...before, ...of({ state: { running: { startedAt: AT } } }) };
  expect(regressions(before, restarted, { ...inOneLife, hasLostStart: (id) => id === '1' })).toEqual([]);
  expect(regressions(before, restarted, { ...inOneLife, hasLostStart: (id) => id === '2' })).toHaveLength(1);
});

test('the same agent reports the last exit until there is a later one', () => {
  const next = { state: running, containerID: 'containerd://2' };
  const gone = ['main: its last termination is no longer reported'];
  expect(regressions(ended, status({ ...next, lastState: {} }), inOneLife)).toEqual(gone);
  expect(regressions(ended, status({ ...next, lastState: {} }), overRestart)).toEqual([]);
  expect(regressions(ended, status({ ...next, lastState: { terminated: second } }), inOneLife)).toEqual([]);
  expect(regressions(ended, status({ ...next, lastState: { terminated: first } }), inOneLife)).toHaveLength(1);
  const unknown = { terminated: end('', { exitCode: 137, reason: 'ContainerStatusUnknown', finishedAt: null }) };
  const runs = status({ ...next, lastState: { terminated: second } });
  expect(regressions(runs, status({ ...next, lastState: unknown }), inOneLife)).toHaveLength(1);
  expect(regressions(runs, status({ ...next, lastState: unknown, restartCount: 4 }), inOneLife)).toEqual([]);
  const third = end('containerd://2', { exitCode: 2 });
  expect(regressions(ended, status({ state: { terminated: third }, lastState: {} }), inOneLife)).toEqual([
    'main: its lastState is gone',
  ]);
  expect(
    regressions(ended, status({ state: { terminated: third }, lastState: { terminated: second } }), inOneLife),
  ).toEqual([]);
});

test('a later exit is not earlier than the previous one, unless the clock was set', () => {
  const next = status({
    state: waiting,
    lastState: { terminated: end('containerd://2', { exitCode: 2, finishedAt: AT }) },
  });
  expect(regressions(ended, next, inOneLife)).toHaveLength(1);
  expect(regressions(ended, next, { ...inOneLife, mayPrecede: () => true })).toEqual([]);
});

test('a later run may have exited like the previous one in the same second', () => {
  const alike = { state: waiting, lastState: { terminated: end('containerd://2', { finishedAt: AT }) } };
  const between = { ...inOneLife, mayPrecede: () => true };
  expect(regressions(ended, status(alike), between)).toHaveLength(1);
  expect(regressions(ended, status({ ...alike, restartCount: 4 }), between)).toEqual([]);
  const same = { ...alike, restartCount: 4, lastState: { terminated: first } };
  expect(regressions(ended, status(same), between)).toHaveLength(1);
});

test('neither a new ID of the same run nor a removal for a restart of all containers is a regression', () => {
  const renamed = status({ state: { terminated: end('containerd://8') }, lastState: {} });
  expect(regressions(status({ state: { terminated: second } }), renamed, inOneLife)).toEqual([]);
  const { containerID: _, ...removed } = end('', { exitCode: 137, reason: 'RestartingAllContainers' });
  const reset = status({
    state: waiting,
    lastState: { terminated: { ...removed, startedAt: null, finishedAt: null } },
  });
  expect(regressions(ended, reset, inOneLife)).toEqual([]);
});
