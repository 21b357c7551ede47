import { describe, expect, test } from '@jest/globals';
import type { StatusReport } from '../../actors/status/statusReports.ts';
import type * as wire from '../../cri/generated/runtime.ts';
import { type SimulatedNode, simulatedNode } from '../fakes/node.ts';
import { containerWith, IMAGE, podWith } from '../fakes/pods.ts';

/** Returns the grace period in seconds of each stop of a container. */
const graces = (node: SimulatedNode): number[] =>
  node.calls('stopContainer').map(({ request }) => Number((request as wire.StopContainerRequest).timeout));

const withPreStop = (command: string, seconds: number) =>
  podWith('web', {
    terminationGracePeriodSeconds: seconds,
    containers: [containerWith('main', { lifecycle: { preStop: { exec: { command: ['sh', '-c', command] } } } })],
  });

describe('graceful termination', () => {
  test('stops a container with the grace period of its pod, which stays Running with a deletion time until it has terminated', async () => {
    const behaviours = { [IMAGE]: { termAfterMs: 8_000 } };
    const node = await simulatedNode({ pods: [podWith('web')], runtime: { behaviours } });
    await node.advance('1s');
    const requestedAt = node.clock.now();
    node.remove('web');
    await node.advance('5s');
    expect(graces(node)).toEqual([30]);
    expect(node.pod('web').phase).toBe('Running');
    const [pod] = node.agent.pods();
    expect(Date.parse(pod?.metadata.deletionTimestamp ?? '')).toBe(requestedAt + 30_000);
    expect(pod?.metadata.deletionGracePeriodSeconds).toBe(30);
    expect(node.view('web')).toMatchObject({
      state: 'terminating.stoppingContainers.graceful',
      until: requestedAt + 30_000,
    });
    await node.advance('5s');
    expect(await node.leftovers()).toEqual([]);
  });

  test('kills a container that ignores SIGTERM when the grace period is over', async () => {
    const node = await simulatedNode({
      pods: [podWith('web', { terminationGracePeriodSeconds: 12 })],
      runtime: { behaviours: { [IMAGE]: { ignoresSigterm: true } } },
    });
    await node.advance('1s');
    node.remove('web');
    await node.advance('11s');
    expect(node.has('web')).toBe(true);
    await node.advance('2s');
    expect(await node.leftovers()).toEqual([]);
  });

  test('C10: runs the preStop hook first, and deducts its time from the grace period', async () => {
    const node = await simulatedNode({
      pods: [withPreStop('sleep 7', 20)],
      runtime: { behaviours: { [IMAGE]: { ignoresSigterm: true } } },
    });
    await node.advance('1s');
    node.remove('web');
    await node.advance('5s');
    expect(node.calls('execSync')).toHaveLength(1);
    expect(graces(node)).toEqual([]);
    expect(node.containerView('web')).toMatchObject({
      state: 'stopping.runningPreStop.bounded',
      waitingFor: 'its preStop hook (exec sh …)',
    });
    await node.advance('16s');
    expect(graces(node)).toEqual([13]);
    expect(await node.leftovers()).toEqual([]);
  });

  test('C10: leaves 2 s to a container whose preStop hook uses up the grace period', async () => {
    const node = await simulatedNode({ pods: [withPreStop('sleep 1h', 10)] });
    await node.advance('1s');
    node.remove('web');
    await node.advance('15s');
    expect(graces(node)).toEqual([2]);
    expect(await node.leftovers()).toEqual([]);
  });

  test('C10: stops a container even if its preStop hook fails', async () => {
    const node = await simulatedNode({ pods: [withPreStop('exit 1', 10)] });
    await node.advance('1s');
    node.remove('web');
    await node.advance('3s');
    expect(graces(node)).toEqual([10]);
    expect(await node.leftovers()).toEqual([]);
    const hook = node.entries.find(({ source }) => source === 'runHook');
    expect(hook?.value).toMatchObject({ failure: { reason: 'FailedPreStopHook' } });
  });

  test('C10: kills a container whose postStart hook fails, and restarts it with back-off', async () => {
    const lifecycle = { postStart: { exec: { command: ['false'] } } };
    const node = await simulatedNode({
      pods: [podWith('web', { containers: [containerWith('main', { lifecycle })] })],
    });
    await node.advance('9s');
    expect(graces(node)).toEqual([30, 30]);
    expect(node.container('web')).toMatchObject({
      restartCount: 1,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
    });
  });

  test('C11: stops sidecars after the main container, in reverse order, within the rest of the shared grace period', async () => {
    const initContainers = ['first', 'second'].map((name) => containerWith(name, { restartPolicy: 'Always' }));
    const behaviours = { [IMAGE]: { termAfterMs: 4_000 } };
    const pods = [podWith('web', { initContainers, terminationGracePeriodSeconds: 20 })];
    const node = await simulatedNode({ pods, runtime: { behaviours } });
    await node.advance('2s');
    const names = new Map(node.view('web').containers.map(({ name, containerId }) => [containerId, name]));
    node.remove('web');
    await node.advance('20s');
    const stops = node.calls('stopContainer').map(({ request }) => request as wire.StopContainerRequest);
    expect(stops.map(({ containerId }) => names.get(containerId))).toEqual(['main', 'second', 'first']);
    expect(graces(node)).toEqual([20, 16, 12]);
    expect(await node.leftovers()).toEqual([]);
  });

  test('removes a pod immediately while it waits for an image, a sandbox or anything else', async () => {
    const images = { registry: { 'registry.local/slow:1': { pullMs: 600_000 } } };
    const node = await simulatedNode({ runtime: { images } });
    const failing = {
      call: 'runPodSandbox',
      times: Number.POSITIVE_INFINITY,
      error: { message: 'no network' },
    } as const;
    node.apply(podWith('pulling', { containers: [containerWith('main', { image: 'registry.local/slow:1' })] }));
    node.apply(podWith('invalid', { containers: [containerWith('main', { image: 'Not An Image' })] }));
    node.apply(podWith('crashing', { containers: [containerWith('main', { command: ['false'] })] }));
    await node.advance('5s');
    node.runtime.faults.add(failing);
    node.apply(podWith('netless'));
    await node.advance('5s');
    node.remove('pulling', 'invalid', 'crashing', 'netless');
    await node.advance('3s');
    expect(await node.leftovers()).toEqual([]);
  });

  test('terminates all pods when the node drains, each within its own grace period, and then stops the node', async () => {
    const node = await simulatedNode({
      pods: [podWith('quick'), podWith('slow', { terminationGracePeriodSeconds: 6 })],
      runtime: { behaviours: { [IMAGE]: ({ podName }) => ({ ignoresSigterm: podName === 'slow' }) } },
    });
    await node.advance('1s');
    let drained = false;
    node.agent.drain().then(() => {
      drained = true;
    });
    const requestedAt = node.clock.now();
    await node.advance('3s');
    expect(node.views().map(({ pod }) => pod.metadata.name)).toEqual(['slow']);
    // The time that the last pod may take.
    expect(node.agent.overview()).toMatchObject({ state: 'draining', until: requestedAt + 6_000 });
    expect(node.agent.explainNode().answer).toMatch(/ is draining: 1 pod terminating, up to 3s$/);
    expect(drained).toBe(false);
    await node.advance('5s');
    expect(drained).toBe(true);
    expect(node.runtime.contents().sandboxes).toEqual([]);
  });
});

describe('C10: a pod that its source marks as deleted', () => {
  const patient = (metadata: Parameters<typeof podWith>[2] = {}) =>
    podWith('web', { terminationGracePeriodSeconds: 600 }, metadata);
  const deleted = (deletionGracePeriodSeconds: number) =>
    patient({ deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds });
  const runtime = { behaviours: { [IMAGE]: { ignoresSigterm: true } } };

  test('terminates within the grace period of the deletion, sooner if that is shortened, and stays until the source removes it', async () => {
    const node = await simulatedNode({ pods: [patient()], runtime });
    await node.advance('1s');
    node.apply(deleted(300));
    await node.advance('10s');
    expect(graces(node)).toEqual([300]);
    const shown = () => node.agent.pods()[0]?.metadata;
    expect(shown()?.deletionGracePeriodSeconds).toBe(300);
    expect(node.pod('web').phase).toBe('Running');
    node.apply(deleted(500));
    await node.advance('10s');
    expect([graces(node), shown()?.deletionGracePeriodSeconds]).toEqual([[300], 300]);
    node.apply(deleted(5));
    await node.advance('4s');
    expect(node.pod('web').phase).toBe('Running');
    await node.advance('2s');
    expect(node.pod('web')).toMatchObject({
      phase: 'Failed',
      containerStatuses: [{ state: { terminated: { exitCode: 137 } } }],
    });
    await node.advance('2m');
    expect([graces(node), shown()?.deletionGracePeriodSeconds]).toEqual([[300, 5], 5]);
    expect(node.calls('runPodSandbox')).toHaveLength(1);
    node.remove('web');
    await node.advance('5s');
    expect(await node.leftovers()).toEqual([]);
  });

  test('with a deletion grace period of 0, which means unset, uses its own grace period', async () => {
    const node = await simulatedNode({ pods: [patient()], runtime });
    await node.advance('1s');
    node.apply(deleted(0));
    await node.advance('1s');
    expect(graces(node)).toEqual([600]);
  });

  test('C5: does not start, neither when it arrives nor under another agent', async () => {
    const node = await simulatedNode({ pods: [deleted(30), podWith('other')], runtime });
    await node.advance('1m');
    expect(node.pod('web').phase).toBe('Failed');
    expect(node.calls('runPodSandbox')).toHaveLength(1);
    await node.restartAgent();
    await node.advance('1m');
    expect(node.pod('web').phase).toBe('Failed');
    expect(node.calls('runPodSandbox')).toHaveLength(1);
  });

  test('is terminated by the next agent, and retains its resources until it has terminated', async () => {
    const capacity = { cpuMillis: 2_000, memoryBytes: 2 ** 30, pods: 1 };
    const node = await simulatedNode({ pods: [patient()], runtime, config: { capacity } });
    await node.advance('1s');
    node.killAgent();
    node.apply(deleted(20));
    await node.restartAgent();
    await node.advance('5s');
    expect(graces(node)).toEqual([20]);
    node.apply(podWith('next'));
    await node.advance('1s');
    expect(node.view('next')).toMatchObject({ state: 'admitting', waitingFor: 'the node to admit it' });
    await node.advance('20s');
    expect(node.pod('web').phase).toBe('Failed');
    expect(node.pod('next').phase).toBe('Running');
  });
});

describe('C9: a volume that cannot be unmounted', () => {
  const config = { capacity: { cpuMillis: 1_000, memoryBytes: 2 ** 30, pods: 10 } };
  const asking = (name: string, command: string) =>
    podWith(name, {
      restartPolicy: 'Never',
      volumes: [{ name: 'data', emptyDir: {} }],
      containers: [containerWith('main', { command: ['sh', '-c', command], resources: { requests: { cpu: '800m' } } })],
    });
  const trouble = {
    'never answers': () => new Promise<null>(() => {}),
    fails: () => Promise.reject(new Error('device is busy')),
  };

  test.each(Object.entries(trouble))(
    'because the call %s delays neither the terminal phase of its pod nor the release of its resources',
    async (_, unmountVolume) => {
      const api = {
        name: 'api',
        mustAcknowledge: false,
        ended: false,
        async put(report: StatusReport) {
          this.ended = report.ended;
        },
      };
      const parts = { ports: { unmountVolume }, sinks: [api] };
      const node = await simulatedNode({ pods: [asking('a', 'sleep 1')], config, parts });
      await node.advance('3s');
      expect(node.pod('a').phase).toBe('Succeeded');
      expect(node.view('a')).toMatchObject({ hasEnded: true, isReclaimed: false });
      expect(api.ended).toBe(false);
      expect(node.agent.explain('a')?.answer).toMatch(
        /^pod a has succeeded: every container exited with code 0; volume data is waiting for/,
      );
      node.apply(asking('b', 'sleep 1000'));
      await node.advance('3s');
      expect(node.pod('b').phase).toBe('Running');
      node.remove('b');
      await node.advance('40s');
      expect(node.view('b').state).toBe('terminating.unmountingVolumes');
      node.apply(asking('c', 'sleep 1000'));
      await node.advance('3s');
      expect(node.pod('c').phase).toBe('Running');
    },
  );

  test('does not prevent a pod that was being removed from running again under the next agent', async () => {
    const pod = podWith('a', { volumes: [{ name: 'data', emptyDir: {} }] });
    const parts = { ports: { unmountVolume: trouble['never answers'] } };
    const node = await simulatedNode({ pods: [pod], config, parts });
    await node.advance('3s');
    node.remove('a');
    await node.advance('40s');
    expect(node.pod('a').phase).toBe('Failed');
    node.killAgent();
    node.apply(pod);
    node.withParts({ ports: {} });
    await node.startAgent();
    await node.advance('10s');
    expect(node.pod('a').phase).toBe('Running');
  });
});
