import { mkdir, stat, writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import type * as wire from '../../cri/generated/runtime.ts';
import { type SimulatedNode, simulatedNode } from '../fakes/node.ts';
import { containerWith, IMAGE, podRunning, podWith } from '../fakes/pods.ts';

const createdContainers = (node: SimulatedNode): (string | undefined)[] =>
  node.calls('createContainer').map(({ request }) => (request as wire.CreateContainerRequest).config?.metadata?.name);

const mountsOf = (node: SimulatedNode): wire.Mount[] => {
  const [created] = node.calls('createContainer').map(({ request }) => request as wire.CreateContainerRequest);
  return created?.config?.mounts ?? [];
};

const shell = (name: string, command: string, more = {}) =>
  containerWith(name, { command: ['sh', '-c', command], ...more });

describe('pod life', () => {
  test('a pod runs, and is removed without leftovers when no source wants it any more', async () => {
    const node = await simulatedNode();
    node.apply(podWith('web'));
    await node.advance('1s');
    expect(node.pod('web')).toMatchObject({
      phase: 'Running',
      podIP: expect.stringMatching(/^10\./),
      hostIP: '192.0.2.1',
      containerStatuses: [{ name: 'main', ready: true, started: true, restartCount: 0 }],
    });
    expect(node.pod('web').conditions?.map(({ status }) => status)).toEqual(['True', 'True', 'True', 'True', 'True']);
    expect(await node.leftovers()).not.toEqual([]);
    node.remove('web');
    await node.advance('2s');
    expect(await node.leftovers()).toEqual([]);
    expect(node.errors).toEqual([]);
  });

  test('C3: init containers run one after the other, each to success, before the main containers start', async () => {
    const node = await simulatedNode();
    node.apply(podWith('web', { initContainers: [shell('first', 'sleep 5'), shell('second', 'sleep 5')] }));
    await node.advance('3s');
    expect(createdContainers(node)).toEqual(['first']);
    expect(node.pod('web').phase).toBe('Pending');
    expect(node.container('web').state).toEqual({ waiting: { reason: 'PodInitializing' } });
    await node.advance('5s');
    expect(createdContainers(node)).toEqual(['first', 'second']);
    expect(node.container('web', 'first').state?.terminated).toMatchObject({ exitCode: 0, reason: 'Completed' });
    await node.advance('5s');
    expect(createdContainers(node)).toEqual(['first', 'second', 'main']);
    expect(node.pod('web').phase).toBe('Running');
  });

  test('C3: a failing init container is restarted, and fails the pod under restartPolicy Never', async () => {
    const node = await simulatedNode();
    const initContainers = [shell('setup', 'exit 3')];
    node.apply(podWith('again', { initContainers }), podWith('never', { initContainers, restartPolicy: 'Never' }));
    await node.advance('5s');
    expect(node.pod('again').phase).toBe('Pending');
    expect(node.container('again', 'setup')).toMatchObject({
      restartCount: 1,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 3 } },
    });
    expect(node.pod('never').phase).toBe('Failed');
    expect(createdContainers(node)).not.toContain('main');
  });

  test('C4: a sidecar starts before the main container, runs beside it, and restarts when it exits', async () => {
    const node = await simulatedNode();
    node.apply(
      podWith('web', { initContainers: [containerWith('mesh', { restartPolicy: 'Always' }), shell('setup', 'true')] }),
    );
    await node.advance('2s');
    expect(createdContainers(node)).toEqual(['mesh', 'setup', 'main']);
    expect(node.pod('web').phase).toBe('Running');
    node.runtime.exitContainer(node.containerId('web', 'mesh'), 0);
    await node.advance('2s');
    expect(node.container('web', 'mesh')).toMatchObject({ restartCount: 1, ready: true });
    expect(node.container('web').restartCount).toBe(0);
  });

  test('containers get their volumes: an emptyDir of the pod and a hostPath of the node', async () => {
    const node = await simulatedNode();
    const hostPath = node.path('data');
    await mkdir(hostPath);
    const volumes = [
      { name: 'scratch', emptyDir: {} },
      { name: 'data', hostPath: { path: hostPath, type: 'Directory' as const } },
    ];
    const volumeMounts = [
      { name: 'scratch', mountPath: '/scratch' },
      { name: 'data', mountPath: '/data', readOnly: true },
    ];
    node.apply(podWith('web', { volumes, containers: [containerWith('main', { volumeMounts })] }));
    await node.advance('1s');
    const scratch = node.path('root', 'pods', 'web-uid', 'volumes', 'kubernetes.io~empty-dir', 'scratch');
    expect(mountsOf(node)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ containerPath: '/scratch', hostPath: scratch, readonly: false }),
        expect.objectContaining({ containerPath: '/data', hostPath, readonly: true }),
      ]),
    );
    expect((await stat(scratch)).mode & 0o777).toBe(0o777);
    node.remove('web');
    await node.advance('2s');
    await expect(stat(scratch)).rejects.toThrow('ENOENT');
    expect((await stat(hostPath)).isDirectory()).toBe(true);
  });

  test('a pod with a volume that cannot be mounted waits with the reason, and starts once it can be mounted', async () => {
    const node = await simulatedNode();
    const path = node.path('late');
    node.apply(podWith('web', { volumes: [{ name: 'data', hostPath: { path, type: 'Directory' } }] }));
    await node.advance('10s');
    expect(node.pod('web').phase).toBe('Pending');
    expect(node.calls('runPodSandbox')).toEqual([]);
    expect(node.view('web').volumes[0]).toMatchObject({
      state: 'awaitingRetry',
      lastFailure: { reason: 'FailedMount' },
      until: expect.any(Number),
    });
    await mkdir(path);
    await node.advance('30s');
    expect(node.pod('web').phase).toBe('Running');
  });

  test('C8: a lost sandbox is recreated with the next attempt, and its containers run again', async () => {
    const node = await simulatedNode({ pods: [podWith('web')] });
    await node.advance('1s');
    const before = node.pod('web').podIP;
    node.runtime.killSandbox(node.sandboxId('web'));
    await node.advance('20s');
    expect(node.pod('web').phase).toBe('Running');
    expect(node.view('web').sandbox?.attempt).toBe(1);
    expect(node.container('web')).toMatchObject({ restartCount: 1, ready: true });
    expect(node.pod('web').podIP).not.toBe(before);
    expect(node.runtime.contents().sandboxes.filter(({ state }) => state === 0)).toHaveLength(1);
    expect(node.runtime.contents().containers.filter(({ state }) => state === 1)).toHaveLength(1);
  });

  test('C8: a sandbox that someone else removed is recreated as well', async () => {
    const node = await simulatedNode({
      pods: [podRunning('web', 'sleep 1d', { initContainers: [shell('setup', 'true')] })],
    });
    await node.advance('2s');
    node.runtime.removeSandbox(node.sandboxId('web'));
    await node.advance('20s');
    expect(node.pod('web').phase).toBe('Running');
    expect(node.view('web').sandbox?.attempt).toBe(1);
    expect(createdContainers(node)).toEqual(['setup', 'main', 'setup', 'main']);
  });

  test('C8: a pod with restartPolicy Never whose containers ran gets no new sandbox, and is Failed', async () => {
    const node = await simulatedNode({ pods: [podWith('web', { restartPolicy: 'Never' })] });
    await node.advance('1s');
    node.runtime.removeSandbox(node.sandboxId('web'));
    await node.advance('60s');
    expect(node.pod('web').phase).toBe('Failed');
    expect(node.container('web').state?.terminated).toMatchObject({ exitCode: 137 });
    expect(node.calls('runPodSandbox')).toHaveLength(1);
  });

  test('a container runs the requested image', async () => {
    const node = await simulatedNode({ pods: [podWith('web')] });
    await node.advance('1s');
    expect(node.container('web')).toMatchObject({ image: IMAGE, imageID: expect.stringMatching(/^sha256:/) });
  });

  test('C23: a container whose log link cannot be written still runs, and the failure is reported', async () => {
    const node = await simulatedNode();
    await mkdir(node.path('logs'), { recursive: true });
    await writeFile(node.path('logs', 'containers'), 'in the way');
    node.apply(podWith('web'));
    await node.advance('1s');
    expect(node.container('web')).toMatchObject({ ready: true, restartCount: 0 });
    expect(node.calls('createContainer')).toHaveLength(1);
    expect(node.errors).toEqual([expect.stringMatching(/^logLink: .*EEXIST/)]);
  });
});
