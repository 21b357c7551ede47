import { expect, test } from '@jest/globals';
import type { PodChange } from '../../../../../actors/status/statusBoard.ts';
import type { RuntimeEffect } from '../../../../../cri/simulated/objects/views.ts';
import type { Pod, PodSpec } from '../../../../../kubernetes/api/schema/pod.ts';
import { mayStayEnded, PodEnds } from '../../../../../testing/simulation/invariants/containers/podEnds.ts';
import type { Watched } from '../../../../../testing/simulation/invariants/invariant.ts';

const main = { name: 'main', image: 'i' };
const end = (exitCode: number | undefined) => ({ at: 0, elapsed: 0, exitCode });
const rules = (action: 'Restart' | 'RestartAllContainers') => [
  { action, exitCodes: { operator: 'In' as const, values: [42] } },
];

test.each([
  ['Always', main, 0, false],
  ['OnFailure', main, 0, true],
  ['OnFailure', main, 1, false],
  ['OnFailure', main, undefined, true],
  ['Never', main, 1, true],
  ['Never', { ...main, restartPolicy: 'Always' as const }, 1, false],
  ['Always', { ...main, restartPolicy: 'Never' as const }, 1, true],
  ['Never', { ...main, restartPolicyRules: rules('Restart') }, 42, false],
  ['Never', { ...main, restartPolicyRules: rules('RestartAllContainers') }, 42, false],
  ['Never', { ...main, restartPolicyRules: rules('Restart') }, 41, true],
] as const)(
  'with policy %s, a container %j that exited with %s may stay terminated: %s',
  (restartPolicy, container, exitCode, stays) => {
    const spec = { restartPolicy, containers: [main] } as unknown as PodSpec;
    expect(mayStayEnded(spec, container as unknown as PodSpec['containers'][number], end(exitCode))).toBe(stays);
  },
);

/** Creates pods whose containers exit, as the runtime and the node report it. */
function history() {
  const known: { id: string }[] = [];
  const clock = { now: () => 7, elapsed: 3 };
  const host = { clock, containers: () => known };
  const ends = new PodEnds({ host } as unknown as Watched);
  const note = (kind: RuntimeEffect['kind'], container: object) =>
    ends.note({ kind, sandbox: { id: 'id-of-sandbox', podUid: 'uid' }, container } as unknown as RuntimeEffect);
  const effect = (kind: RuntimeEffect['kind'], containerName: string, more: object) => {
    const container = { id: `id-of-${containerName}`, containerName, ...more };
    note(kind, container);
    known.splice(0, known.length, ...(kind === 'ended' ? [container] : []));
  };
  const pod = (spec: object, status: object): Pod => ({ metadata: { uid: 'uid' }, spec, status }) as unknown as Pod;
  const reportPriority = (priority: number, removed = false) =>
    ends.noteStatus({ uid: 'uid', removed, pod: pod({ priority }, {}) } as unknown as PodChange);
  /** The node reports that a container was not found. */
  const reportNotFound = (name: string) => {
    const terminated = { reason: 'ContainerStatusUnknown', exitCode: 137, containerID: `simulated://id-of-${name}` };
    const containerStatuses = [{ name, state: { terminated } }];
    ends.noteStatus({ uid: 'uid', removed: false, pod: pod({}, { containerStatuses }) } as unknown as PodChange);
  };
  /** Sets the wall clock at an elapsed time. */
  const setClock = (elapsed: number, now: number) => {
    Object.assign(clock, { elapsed, now: () => now });
    ends.noteTime();
  };
  const reportLate = (startTime: string) => {
    const late = pod({ activeDeadlineSeconds: 5 }, { phase: 'Failed', reason: 'DeadlineExceeded', startTime });
    ends.noteStatus({ uid: 'uid', removed: false, pod: late } as unknown as PodChange);
    return late;
  };
  return {
    ends,
    effect,
    note,
    pod,
    reportPriority,
    reportNotFound,
    setClock,
    reportLate,
    forget: () => known.splice(0),
  };
}

test('the last exit of a container is known until its pod is gone, even if the container is removed while it runs', () => {
  const { ends, effect, reportPriority } = history();
  expect(ends.lastEndOf('uid', 'main')).toBeUndefined();
  effect('ended', 'main', { exitCode: 3 });
  effect('removed', 'main', { state: 'exited' });
  expect(ends.lastEndOf('uid', 'main')).toEqual({ at: 7, elapsed: 3, exitCode: 3 });
  effect('removed', 'main', { state: 'running' });
  expect(ends.lastEndOf('uid', 'main')).toEqual({ at: 7, elapsed: 3, exitCode: undefined });
  reportPriority(0, true);
  expect(ends.lastEndOf('uid', 'main')).toBeUndefined();
});

test('the late exit of a run that the runtime had lost is not the last one', () => {
  const { ends, note } = history();
  const exitCode = () => ends.lastEndOf('uid', 'main')?.exitCode;
  // The second run has a lower attempt number, and was created after the clock was set back, but is still the last run.
  const first = { id: 'first', containerName: 'main', attempt: 1, createdAt: 20, exitCode: 255 };
  const second = { id: 'second', containerName: 'main', attempt: 0, createdAt: 10, exitCode: 0 };
  for (const each of [first, second]) note('created', each);
  note('ended', second);
  note('ended', first);
  expect(exitCode()).toBe(0);
});

test('the reported exit counts for a container that the runtime lost immediately', () => {
  const { ends, effect, reportNotFound, forget } = history();
  const exitCode = () => ends.lastEndOf('uid', 'main')?.exitCode;
  effect('ended', 'main', { exitCode: 1 });
  reportNotFound('main');
  expect(exitCode()).toBe(1);
  forget();
  expect(exitCode()).toBe(137);
  effect('ended', 'main', { id: 'next', exitCode: 1 });
  forget();
  expect(exitCode()).toBe(1);
});

test.each([
  ['the node removes it', 'removeContainer', 'id-of-main', 1],
  ['the node removes its sandbox', 'removePodSandbox', 'id-of-sandbox', 1],
  ['the node removes another', 'removeContainer', 'id-of-another', 137],
  ['the node has only stopped it', 'stopContainer', 'id-of-main', 137],
] as const)(
  'the exit of a container that is removed immediately is known only to the node that removed it: %s',
  (_, name, about, code) => {
    const { ends, effect, reportNotFound } = history();
    effect('ended', 'main', { exitCode: 1 });
    ends.noteCall({ target: 'runtime', name, about, writes: true });
    effect('removed', 'main', { exitCode: 1, state: 'exited' });
    expect(ends.lastEndOf('uid', 'main')?.exitCode).toBe(1);
    reportNotFound('main');
    expect(ends.lastEndOf('uid', 'main')?.exitCode).toBe(code);
  },
);

test('the exit of a container that others removed while it ran is the one that the node reports', () => {
  const { ends, effect, reportNotFound } = history();
  effect('removed', 'main', { state: 'running' });
  expect(ends.lastEndOf('uid', 'main')?.exitCode).toBeUndefined();
  reportNotFound('main');
  expect(ends.lastEndOf('uid', 'main')?.exitCode).toBe(137);
});

test('the terminal phase of a pod follows from its containers if none of them will restart', () => {
  const { ends, effect, pod } = history();
  const containers = [main, { ...main, name: 'helper' }];
  const never = { restartPolicy: 'Never', containers };
  const isExplained = (spec: object, phase: string) => ends.explain(pod(spec, { phase }), []);
  effect('ended', 'main', { exitCode: 0 });
  effect('ended', 'helper', { exitCode: 0 });
  expect([isExplained(never, 'Succeeded'), isExplained(never, 'Failed')]).toEqual([true, false]);
  effect('ended', 'helper', { exitCode: 1 });
  expect([isExplained(never, 'Succeeded'), isExplained(never, 'Failed')]).toEqual([false, true]);
  expect(isExplained({ ...never, restartPolicy: 'Always' }, 'Failed')).toBe(false);
  const after = { initContainers: [{ ...main, name: 'helper' }], containers: [{ ...main, name: 'next' }] };
  expect(isExplained({ restartPolicy: 'Never', ...after }, 'Failed')).toBe(true);
  expect(isExplained({ restartPolicy: 'OnFailure', ...after }, 'Failed')).toBe(false);
});

const BEGAN = '1970-01-01T00:01:00Z';

test.each([
  ['whose time is over', [[5_000, 65_000]], true],
  ['whose time is not over', [[4_999, 64_999]], false],
  [
    'whose time was over before the clock was set back',
    [
      [1_000, 65_000],
      [1_001, 0],
    ],
    true,
  ],
  [
    'whose time is over although the clock was set back',
    [
      [0, 60_000],
      [5_000, 0],
    ],
    true,
  ],
] as const)('a pod may have failed because of a deadline that it once had: one %s', (_, times, isExplained) => {
  const { ends, pod, setClock, reportLate } = history();
  for (const [elapsed, now] of times) setClock(elapsed, now);
  const late = reportLate(BEGAN);
  const without = pod({}, {});
  expect(ends.explain(late, [without, late])).toBe(isExplained);
  expect(ends.explain(late, [without])).toBe(false);
  setClock(100_000, 160_000);
  reportLate(BEGAN);
  expect(ends.explain(late, [late])).toBe(isExplained);
});

test('a pod may also have failed because a pod of higher priority preempted it', () => {
  const { ends, pod, reportPriority } = history();
  const spec = { restartPolicy: 'Always', containers: [main], priority: 5 };
  const outdone = pod(spec, { phase: 'Failed', reason: 'Preempting' });
  reportPriority(5);
  expect(ends.explain(outdone, [])).toBe(false);
  reportPriority(6);
  expect(ends.explain(outdone, [])).toBe(true);
});

test('a pod may have been evicted only if its eviction was reported', () => {
  const { ends, pod } = history();
  const evicted = pod({ restartPolicy: 'Always', containers: [main] }, { phase: 'Failed', reason: 'Evicted' });
  expect(ends.explain(evicted, [])).toBe(false);
  ends.noteEvent({
    reason: 'Evicted',
    message: '',
    involved: { kind: 'Pod', name: 'web', namespace: 'default', uid: 'uid' },
  });
  expect(ends.explain(evicted, [])).toBe(true);
});

test('C2: a preempted pod whose containers exited with 0 has succeeded, unless it is static and may restart them', () => {
  const { ends, effect, pod, reportPriority } = history();
  const spec = { restartPolicy: 'Always', containers: [main], priority: 5 };
  const conditions = [{ type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' }];
  const failed = pod(spec, { phase: 'Failed', reason: 'Preempting', conditions });
  const succeeded = pod(spec, { phase: 'Succeeded', conditions });
  reportPriority(6);
  effect('ended', 'main', { exitCode: 143 });
  expect([failed, succeeded].map((each) => ends.explain(each, []))).toEqual([true, false]);
  effect('ended', 'main', { exitCode: 0 });
  expect([failed, succeeded].map((each) => ends.explain(each, []))).toEqual([false, true]);
  const annotations = { 'kubernetes.io/config.source': 'file' };
  const fixed = { ...failed, metadata: { ...failed.metadata, annotations } };
  expect(ends.explain(fixed, [])).toBe(true);
});
