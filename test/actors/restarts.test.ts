import { describe, expect, test } from '@jest/globals';
import type { PodPhase } from '../../kubernetes/api/schema/status.ts';
import { type SimulatedNode, simulatedNode } from '../fakes/node.ts';
import { containerWith, podRunning, podWith } from '../fakes/pods.ts';

/** Returns the seconds between successive starts of the container. */
function gaps(node: SimulatedNode): number[] {
  const starts = node.calls('startContainer').map(({ at }) => at);
  return starts.slice(1).map((at, index) => Math.floor((at - (starts[index] ?? 0)) / 1_000));
}

type Policy = 'Always' | 'OnFailure' | 'Never';

describe('restarts', () => {
  test.each<[Policy, number, PodPhase, number]>([
    ['Always', 0, 'Running', 1],
    ['Always', 1, 'Running', 1],
    ['OnFailure', 0, 'Succeeded', 0],
    ['OnFailure', 1, 'Running', 1],
    ['Never', 0, 'Succeeded', 0],
    ['Never', 1, 'Failed', 0],
  ])(
    'C5: restartPolicy %s after exit code %i leaves the pod %s with %i restarts',
    async (policy, code, phase, restarts) => {
      const node = await simulatedNode({
        pods: [podRunning('job', `sleep 2; exit ${code}`, { restartPolicy: policy })],
      });
      await node.advance('4s');
      expect(node.pod('job').phase).toBe(phase);
      expect(node.container('job').restartCount).toBe(restarts);
      expect(node.calls('startContainer')).toHaveLength(restarts + 1);
    },
  );

  test('C7: the first restart is immediate, and later ones wait 10 s, doubled up to 300 s', async () => {
    const node = await simulatedNode({ pods: [podRunning('bad', 'exit 1')] });
    await node.advance('20m');
    expect(gaps(node)).toEqual([0, 10, 20, 40, 80, 160, 300, 300]);
  });

  test('C7: the back-off counts from the end of the last run, and is shown while it lasts', async () => {
    const node = await simulatedNode({ pods: [podRunning('bad', 'sleep 7; exit 1')] });
    await node.advance('20s');
    expect(node.container('bad')).toMatchObject({
      restartCount: 1,
      ready: false,
      state: {
        waiting: {
          reason: 'CrashLoopBackOff',
          message: 'back-off 10s restarting failed container=main pod=bad_default(bad-uid)',
        },
      },
      lastState: { terminated: { exitCode: 1, reason: 'Error' } },
    });
    expect(node.pod('bad').phase).toBe('Running');
    expect(node.containerView('bad')).toMatchObject({
      state: 'ended.backingOff',
      waitingFor: 'the end of its crash-loop back-off',
    });
    await node.advance('60s');
    expect(gaps(node)).toEqual([7, 17, 27]);
  });

  test('C7: a run of more than ten minutes resets the back-off', async () => {
    const lasting = 601_000;
    const behaviour = ({ attempt }: { attempt: number }) => ({ exitAfterMs: attempt === 3 ? lasting : 0, exitCode: 1 });
    const node = await simulatedNode({
      pods: [podWith('bad')],
      runtime: { behaviours: { 'statelet.local/app:1': behaviour } },
    });
    await node.advance('12m');
    expect(gaps(node)).toEqual([0, 10, 20, 601, 10, 20, 40]);
  });

  test('C7: a lower maximum bounds the back-off', async () => {
    const config = { crashLoop: { baseMs: 5_000, maxMs: 5_000 } };
    const node = await simulatedNode({ pods: [podRunning('bad', 'exit 1')], config });
    await node.advance('18s');
    expect(gaps(node)).toEqual([0, 5, 5, 5]);
  });

  test('a container in back-off does not prevent the others from running', async () => {
    const { spec } = podRunning('bad', 'exit 1');
    const containers = [...spec.containers, ...podWith('x').spec.containers.map((each) => ({ ...each, name: 'good' }))];
    const node = await simulatedNode({ pods: [podWith('two', { containers })] });
    await node.advance('5s');
    expect(node.container('two', 'good').ready).toBe(true);
    expect(node.container('two', 'main').state?.waiting?.reason).toBe('CrashLoopBackOff');
    expect(node.pod('two').conditions?.find(({ type }) => type === 'Ready')?.status).toBe('False');
  });

  test('a container killed for its memory usage is shown as OOMKilled', async () => {
    const behaviours = { 'statelet.local/app:1': { exitAfterMs: 1_000, oom: true } };
    const node = await simulatedNode({ pods: [podWith('fat', { restartPolicy: 'Never' })], runtime: { behaviours } });
    await node.advance('3s');
    expect(node.container('fat').state?.terminated).toMatchObject({ exitCode: 137, reason: 'OOMKilled' });
  });

  test('an init container killed for its memory usage is shown as OOMKilled, and fails its pod', async () => {
    const behaviours = { 'statelet.local/greedy:1': { exitAfterMs: 1_000, oom: true } };
    const initContainers = [{ ...containerWith('setup'), image: 'statelet.local/greedy:1' }];
    const node = await simulatedNode({
      pods: [podWith('fat', { restartPolicy: 'Never', initContainers })],
      runtime: { behaviours, images: { present: ['statelet.local/greedy:1'] } },
    });
    await node.advance('3s');
    const { phase, initContainerStatuses } = node.pod('fat');
    expect([phase, initContainerStatuses?.[0]?.state?.terminated]).toEqual([
      'Failed',
      expect.objectContaining({ exitCode: 137, reason: 'OOMKilled' }),
    ]);
    expect(node.calls('createContainer')).toHaveLength(1);
  });

  test('a container that the runtime cannot start shows the error, and is retried with back-off', async () => {
    const startError = 'exec: "nope": executable file not found in $PATH';
    const node = await simulatedNode({
      pods: [podWith('bad')],
      runtime: {
        behaviours: { 'statelet.local/app:1': { startError } },
        features: { supplementalGroupsPolicy: true },
      },
    });
    await node.advance('5s');
    const { state, lastState, imageID, user } = node.container('bad');
    expect(state?.waiting?.reason).toBe('CrashLoopBackOff');
    expect(lastState?.terminated).toMatchObject({
      exitCode: 128,
      reason: 'StartError',
      startedAt: '1970-01-01T00:00:00Z',
      finishedAt: expect.stringMatching(/^20/),
    });
    expect(imageID).toMatch(/./);
    expect(user).toEqual({ linux: { uid: 0, gid: 0 } });
    expect(lastState?.terminated?.message).toContain(startError);
    node.runtime.setBehaviour('statelet.local/app:1', {});
    await node.advance('20s');
    expect(node.container('bad').ready).toBe(true);
    expect({ imageID, user }).toEqual({ imageID: node.container('bad').imageID, user: node.container('bad').user });
  });

  test('C7: repeated start failures increase the back-off', async () => {
    const node = await simulatedNode({
      pods: [podWith('bad')],
      runtime: { behaviours: { 'statelet.local/app:1': { startError: 'no such file' } } },
    });
    await node.advance('35s');
    expect(node.container('bad').restartCount).toBe(3);
    expect(node.container('bad').state?.waiting?.message).toMatch(/^back-off 40s/);
    expect(node.agent.explain('bad')?.answer).toMatch(/could not be started: .*no such file/);
  });

  test('C5: a run-once container is started again if its first start did not reach the runtime', async () => {
    const node = await simulatedNode({ pods: [podWith('once', { restartPolicy: 'Never' })] });
    const error = { code: 'INTERNAL', message: 'stream terminated by RST_STREAM' } as const;
    node.runtime.faults.add({ call: 'startContainer', error });
    await node.advance('5s');
    expect(node.container('once').state?.waiting).toEqual({ reason: 'RunContainerError', message: error.message });
    expect(node.pod('once').phase).toBe('Pending');
    await node.advance('10s');
    expect(node.container('once')).toMatchObject({ ready: true, restartCount: 0 });
    expect(node.calls('createContainer')).toHaveLength(1);
  });

  test('C2: a terminal phase is final, and dead containers are retained for their logs until the pod is removed', async () => {
    const node = await simulatedNode({ pods: [podRunning('job', 'exit 0', { restartPolicy: 'Never' })] });
    await node.advance('2s');
    expect(node.pod('job').phase).toBe('Succeeded');
    await node.advance('5m');
    expect(node.pod('job').phase).toBe('Succeeded');
    expect(node.runtime.contents().containers).toHaveLength(1);
    expect(node.calls('startContainer', 'runPodSandbox')).toHaveLength(2);
    node.remove('job');
    await node.advance('2s');
    expect(await node.leftovers()).toEqual([]);
  });
});
