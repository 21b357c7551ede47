import { dirname } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import type { ContainerStatus, PodStatus } from '../../../../../kubernetes/api/schema/status.ts';
import { PATHS } from '../../../../../testing/simulation/host/host.ts';
import { watchedNode } from '../watchedNode.ts';

/** Returns the status after a restart of the terminated init containers. */
const again = ({ initContainerStatuses = [] }: PodStatus): Partial<PodStatus> => ({
  initContainerStatuses: initContainerStatuses.map(({ state = {}, ...each }) => ({
    ...each,
    containerID: 'simulated://another',
    state: { running: {} },
    lastState: state,
  })),
});
const counted = ({ containerStatuses = [] }: PodStatus, restartCount: number): Partial<PodStatus> => ({
  containerStatuses: containerStatuses.map((each): ContainerStatus => ({ ...each, restartCount })),
});

test('a pod that terminated before its containers were created may start over under the next agent', async () => {
  const { status, report, violations, restart } = await watchedNode();
  const terminated = { exitCode: 0, reason: 'Completed', startedAt: null, finishedAt: null };
  const ended = { state: { terminated }, containerID: '' };
  const unmade = status.initContainerStatuses?.map((each) => ({ ...each, ...ended }));
  /** Returns the violations for a container that waits again after it has terminated. */
  const afterEnd = (phase: 'Pending' | 'Failed', then: () => void) => {
    report({ phase, initContainerStatuses: unmade ?? [] });
    then();
    report({ ...again({ ...status, initContainerStatuses: unmade ?? [] }), phase });
    return violations();
  };
  expect(afterEnd('Pending', () => {})).toEqual(['setup: left the terminated state']);
  expect(afterEnd('Pending', restart)).toEqual([]);
  expect(afterEnd('Failed', restart)).toEqual(['setup: left the terminated state']);
});

test('a status that an API server would reject, or that reverts an earlier one, is a violation', async () => {
  const { status, report, violations, restart } = await watchedNode();
  report({});
  report({});
  expect(violations()).toEqual([]);
  report(again(status));
  expect(violations()).toEqual(['setup: left the terminated state']);
  report({ phase: 'Failed' });
  restart();
  report({ phase: 'Pending' });
  expect(violations()).toEqual(['phase Failed became Pending']);
});

test('after a restart, an agent reports what the runtime and the logs still know', async () => {
  const { node, status, following, report, violations, restart } = await watchedNode();
  const [main] = node.host.containers().filter(({ containerName }) => containerName === 'main');
  report(counted(status, 1));
  report(counted(status, 0));
  expect(violations()).toEqual(['main: restartCount 1 became 0']);
  report(counted(status, 1));
  restart();
  report(counted(status, 0));
  expect(violations()).toEqual([]);
  await node.host.files.writeFile(main?.logPath.replace('0.log', '1.log') ?? '', '');
  report(counted(status, 1));
  restart();
  report(counted(status, 0));
  expect(violations()).toEqual(['main: restartCount 1 became 0']);
  report(counted(status, 1));
  restart();
  const entries = { target: 'disk', name: 'entries', about: dirname(main?.logPath ?? ''), writes: false } as const;
  following.onCall?.(entries, { kind: 'fail', code: 'EMFILE' });
  report(counted(status, 0));
  expect(violations()).toEqual([]);
});

test('the attempt number of a container that the agent itself created proves no earlier restarts', async () => {
  const { node, status, following, report, violations, restart } = await watchedNode();
  const [first] = node.host.containers().filter(({ containerName }) => containerName === 'main');
  if (first === undefined) throw new Error('the pod has no container');
  const { sandbox, podUid, containerName } = first;
  // The invariant reads only these fields of a container.
  const container = { sandbox, podUid, containerName, id: 'second', attempt: 1 } as typeof first;
  const containers = jest.spyOn(node.host, 'containers').mockReturnValue([first, container]);
  for (const [isMade, told] of [
    [false, ['main: restartCount 1 became 0']],
    [true, []],
  ] as const) {
    report(counted(status, 1));
    violations();
    restart();
    following.onAgentStarted();
    if (isMade) following.onEffect?.({ kind: 'created', sandbox, container });
    report(counted(status, 0));
    expect(violations()).toEqual(told);
  }
  containers.mockRestore();
  node.kill();
});

test('no later agent can know the exit of a container that others have removed', async () => {
  const { node, status, following, report, violations, restart } = await watchedNode();
  const [sandbox] = node.host.sandboxes();
  report({});
  restart();
  report(again(status));
  expect(violations()).toEqual(['setup: left the terminated state']);
  following.onCall?.({ target: 'runtime', name: 'removePodSandbox', about: 'another', writes: true });
  node.host.runtime.removeSandbox(sandbox?.id ?? '');
  report({});
  restart();
  report(again(status));
  expect(violations()).toEqual([]);
});

test('an agent must know the exit of a container that it removed itself, unless it removed the whole pod', async () => {
  const { node, dropAll, status, following, report, violations, restart } = await watchedNode();
  const ended = node.host.containers().find(({ containerName }) => containerName === 'setup');
  report({});
  following.onCall?.({ target: 'runtime', name: 'removeContainer', about: ended?.id ?? '', writes: true });
  dropAll();
  restart();
  report(again(status));
  expect(violations()).toEqual(['setup: left the terminated state']);
});

test('an agent need not know containers that it failed to remove and that the runtime has lost since', async () => {
  const { node, status, following, report, violations, restart } = await watchedNode();
  report({});
  for (const { id } of node.host.containers())
    following.onCall?.({ target: 'runtime', name: 'removeContainer', about: id, writes: true });
  for (const { id } of node.host.sandboxes()) node.host.runtime.removeSandbox(id);
  restart();
  report(again(status));
  expect(violations()).toEqual([]);
});

test('a pod that was removed up to its last sandbox may start over under the next agent', async () => {
  const { node, dropAll, status, following, report, violations, restart } = await watchedNode();
  const [sandbox] = node.host.sandboxes();
  report({});
  following.onCall?.({ target: 'runtime', name: 'removePodSandbox', about: sandbox?.id ?? '', writes: true });
  dropAll();
  restart();
  report(again(status));
  expect(violations()).toEqual([]);
  report({});
  restart();
  report(again(status));
  expect(violations()).toEqual(['setup: left the terminated state']);
});

test('a pod that was removed and is wanted again may start over', async () => {
  const { report, remove, violations } = await watchedNode();
  report({ phase: 'Succeeded' });
  remove();
  report({ phase: 'Succeeded' });
  report({ phase: 'Pending' });
  expect(violations()).toEqual([]);
});

test('a removed pod may start over under the next agent, to which an outdated list still shows its sandbox', async () => {
  const { status, report, remove, leaveEnd, violations, nextLife } = await watchedNode();
  report({});
  remove();
  report({});
  nextLife();
  report(again(status));
  expect(violations()).toEqual([]);
  report({});
  report(again(status));
  expect(violations()).toEqual(['setup: left the terminated state']);
  report({});
  remove();
  await leaveEnd();
  nextLife();
  report({});
  report(again(status));
  expect(violations()).toEqual([]);
});

test('a removed pod may start over within the second of its removal once the new pod is reported', async () => {
  const { status, report, remove, beginAnew, violations } = await watchedNode();
  report({});
  remove();
  report(again(status));
  expect(violations()).toEqual(['setup: left the terminated state']);
  report({});
  beginAnew(again(status));
  report({});
  report(again(status));
  expect(violations()).toEqual([]);
  report({});
  report(again(status));
  expect(violations()).toEqual(['setup: left the terminated state']);
});

test('a new agent may start over a pod that was unwanted for a while without the knowledge of any agent', async () => {
  const { node, status, report, violations, nextLife } = await watchedNode();
  const startTime = '2026-01-01T00:00:30Z';
  report({});
  node.actionLog.noteReset('default/web-node-1', node.elapsed);
  await node.advance(1_000);
  nextLife();
  report({ ...again(status), startTime });
  expect(violations()).toEqual([]);
  report({ startTime });
  nextLife();
  report({ ...again(status), startTime: '2026-01-01T00:00:40Z' });
  expect(violations()).toEqual(['setup: left the terminated state']);
});

test('a reported terminal phase that neither the disk nor the runtime has may be lost by a later agent', async () => {
  const { node, report, violations, nextLife } = await watchedNode();
  const [pod] = node.pods();
  const saved = `${PATHS.root}/statelet/statuses/${pod?.metadata.uid}.json`;
  report({ phase: 'Failed' });
  for (const { id } of node.host.sandboxes()) node.host.runtime.removeSandbox(id);
  nextLife();
  report({ phase: 'Pending' });
  expect(violations()).toEqual([]);
  await node.host.files.mkdir(dirname(saved), { recursive: true });
  await node.host.files.writeFile(saved, '');
  report({ phase: 'Failed' });
  nextLife();
  report({ phase: 'Pending' });
  expect(violations()).toEqual(['phase Failed became Pending']);
});

test.each([
  ['somebody else', false, []],
  ['itself', true, ['phase Failed became Pending']],
])(
  'a terminal phase may be lost after others, but not the agent, removed its sandboxes before the first report: by %s',
  async (_, isOwn, told) => {
    const { node, dropAll, following, report, violations, nextLife } = await watchedNode();
    report({ phase: 'Failed' });
    nextLife();
    for (const { id: about } of node.host.sandboxes())
      if (isOwn) following.onCall?.({ target: 'runtime', name: 'removePodSandbox', about, writes: true });
    dropAll();
    report({ phase: 'Pending' });
    expect(violations()).toEqual(told);
  },
);

test('a terminal phase may be lost if the runtime loses the pod after the start of the agent', async () => {
  const { node, report, violations, nextLife } = await watchedNode();
  report({ phase: 'Failed' });
  nextLife();
  node.host.runtime.restart({ forget: () => true });
  report({ phase: 'Pending' });
  expect(violations()).toEqual([]);
});

test('an exit may be lost if the runtime shows the container as never started', async () => {
  const { node, status, report, violations, nextLife } = await watchedNode();
  const state = { waiting: { reason: 'PodInitializing' } };
  const initContainerStatuses = (status.initContainerStatuses ?? []).map((each) => ({ ...each, ready: false, state }));
  const real = node.host.containers();
  for (const state of ['exited', 'created'] as const) {
    const shown = real.map((each) => (each.containerName === 'setup' ? { ...each, state } : each));
    Object.assign(node.host, { containers: () => shown });
    report({});
    violations();
    nextLife();
    report({ initContainerStatuses });
    expect(violations()).toEqual(state === 'exited' ? ['setup: left the terminated state'] : []);
  }
  node.kill();
});

test('DeadlineExceeded may be lost by a restart because the runtime does not know it, but nothing else', async () => {
  const { node, status, report, violations, nextLife } = await watchedNode();
  report({ phase: 'Failed', reason: 'DeadlineExceeded', ...counted(status, 1) });
  const [main] = node.host.containers().filter(({ containerName }) => containerName === 'main');
  await node.host.files.writeFile(main?.logPath.replace('0.log', '1.log') ?? '', '');
  nextLife();
  report({ phase: 'Succeeded', ...counted(status, 0), ...again(status) });
  expect(violations()).toEqual(['setup: left the terminated state', 'main: restartCount 1 became 0']);
});

test('the rest of a removed pod may terminate differently under the next agent, which does not know its phase', async () => {
  const { node, report, remove, violations, restart } = await watchedNode();
  report({ phase: 'Succeeded' });
  remove();
  report({ phase: 'Failed' });
  expect(violations()).toEqual(['phase Succeeded became Failed']);
  report({ phase: 'Succeeded' });
  violations();
  restart();
  report({ phase: 'Failed' });
  expect(violations()).toEqual([]);
  report({ phase: 'Succeeded' });
  expect(violations()).toEqual(['phase Failed became Succeeded']);
  node.kill();
});

test('a terminal status must be on disk before it is reported, except for a rejection', async () => {
  const { node, hooks, report, violations, restart } = await watchedNode();
  restart();
  hooks.onAgentStarted?.();
  report({ phase: 'Failed', message: 'Pod was rejected: no room' });
  expect(violations()).toEqual([]);
  report({ phase: 'Failed' });
  expect(violations()).toEqual(['its terminal status was reported before it was on disk']);
  node.kill();
});

test('a rejected pod may be accepted by the next agent, but not by the agent that rejected it', async () => {
  const { node, following, report, violations, restart } = await watchedNode();
  const rejected = { phase: 'Failed', message: 'Pod was rejected: no room' } as const;
  report(rejected);
  report({ phase: 'Running' });
  expect(violations()).toEqual(['phase Failed became Running']);
  report(rejected);
  restart();
  following.onAgentStarted();
  report({ phase: 'Running' });
  expect(violations()).toEqual([]);
  report({ phase: 'Failed' });
  report({ phase: 'Running' });
  expect(violations()).toEqual(['phase Failed became Running']);
  node.kill();
});

test.each([
  [{}, ['qosClass Guaranteed became Burstable']],
  [{ priority: 1 }, []],
])(
  'the QoS class of a rejected pod may change on acceptance only if its manifest was edited meanwhile: %j',
  async (edit, told) => {
    const { node, apply, following, report, violations, restart } = await watchedNode(
      '3d1f7c60-0000-4000-8000-000000000001',
    );
    report({ phase: 'Failed', message: 'Pod was rejected: no room', qosClass: 'Guaranteed' });
    if (Object.keys(edit).length > 0) apply(edit);
    restart();
    following.onAgentStarted();
    report({ phase: 'Running', qosClass: 'Burstable' });
    expect(violations()).toEqual(told);
    node.kill();
  },
);

test('the QoS class of a rejected pod may change after a status without a class if its manifest was edited meanwhile', async () => {
  const { node, apply, following, report, reportWithoutClass, violations, restart } = await watchedNode(
    '3d1f7c60-0000-4000-8000-000000000001',
  );
  report({ phase: 'Failed', message: 'Pod was rejected: no room', qosClass: 'Guaranteed' });
  apply({ priority: 1 });
  restart();
  following.onAgentStarted();
  reportWithoutClass({ phase: 'Pending' });
  report({ phase: 'Pending', qosClass: 'Burstable' });
  expect(violations()).toEqual([]);
  report({ phase: 'Running', qosClass: 'Guaranteed' });
  expect(violations()).toEqual(['qosClass Burstable became Guaranteed']);
  node.kill();
});
