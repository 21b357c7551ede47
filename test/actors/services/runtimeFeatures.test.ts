/** What only some runtimes can do, on the messages that they are sent. */
import { describe, expect, test } from '@jest/globals';
import {
  recursiveReadOnly,
  requireImageVolumes,
  requireUserNamespaces,
} from '../../../actors/services/runtimeFeatures.ts';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import type { Cri } from '../../../cri/calls.ts';
import { StatusResponse } from '../../../cri/generated/runtime.ts';
import { inProcessCri } from '../../../cri/simulated/inProcess.ts';
import { createSimulatedRuntime } from '../../../cri/simulated/runtime.ts';
import { simulatedNode } from '../../fakes/node.ts';
import { containerWith, podWith } from '../../fakes/pods.ts';

const { signal } = new AbortController();

/** A runtime that tells this of itself. */
function runtime(more: Partial<Cri>): Cri {
  return { ...inProcessCri(createSimulatedRuntime({ clock: new SimulatedClock() })), ...more };
}

const versioned = (runtimeName: string, runtimeVersion: string) =>
  runtime({ version: async () => ({ version: '', runtimeApiVersion: 'v1', runtimeName, runtimeVersion }) });

describe('image volumes', () => {
  test.each([
    ['containerd', '1.6.20~ds1'],
    ['containerd', 'v2.0.4'],
    ['cri-o', '1.30.2'],
  ])('%s %s has none, and that is said', async (name, version) => {
    await expect(requireImageVolumes(versioned(name, version), 'site', { signal })).rejects.toMatchObject({
      reason: 'FailedMount',
      message: expect.stringContaining(`volume "site": the runtime ${name} ${version} has no image volumes`),
    });
  });

  test.each([
    ['containerd', 'v2.1.0'],
    ['containerd', '3.0.0'],
    ['cri-o', '1.31.0'],
    ['another', '0.1'],
  ])('%s %s is asked for one', async (name, version) => {
    await expect(requireImageVolumes(versioned(name, version), 'site', { signal })).resolves.toBeUndefined();
  });

  test('C17, C26: the image is pulled, and the runtime is told to mount the part of it that the container wants', async () => {
    const main = containerWith('main', { volumeMounts: [{ name: 'site', mountPath: '/site', subPath: 'html' }] });
    const volumes = [{ name: 'site', image: { reference: 'registry/site:1', pullPolicy: 'IfNotPresent' as const } }];
    const node = await simulatedNode({
      pods: [podWith('web', { containers: [main], volumes })],
      runtime: { images: { anyPullable: true } },
    });
    await node.advance('20s');
    expect(node.pod('web').phase).toBe('Running');
    const [{ request } = { request: undefined }] = node.calls('createContainer');
    expect(request).toMatchObject({
      config: {
        mounts: expect.arrayContaining([
          expect.objectContaining({
            ...{ containerPath: '/site', hostPath: '', readonly: true, imageSubPath: 'html' },
            image: expect.objectContaining({
              userSpecifiedImage: 'registry/site:1',
              image: expect.stringMatching(/^sha256:/),
            }),
          }),
        ]),
      },
    });
  });
});

test('C16: an image volume that cannot be pulled holds up only the containers that mount it, and explain names the volume', async () => {
  const volumes = [{ name: 'site', image: { reference: 'registry/site:1', pullPolicy: 'IfNotPresent' as const } }];
  const volumeMounts = [{ name: 'site', mountPath: '/site' }];
  const containers = [containerWith('main', { volumeMounts }), containerWith('other')];
  const node = await simulatedNode({ pods: [podWith('web', { containers, volumes })] });
  node.runtime.images.publish('registry/site:1', { error: { message: 'no route to host' } });
  await node.advance('2s');
  const waiting = (name: string) => node.container('web', name).state?.waiting;
  expect(waiting('main')).toEqual({ reason: 'ErrImagePull', message: expect.stringContaining('no route to host') });
  expect(node.container('web', 'other').state?.running).toBeDefined();
  await node.advance('5s');
  expect(waiting('main')).toEqual({
    reason: 'ImagePullBackOff',
    message: expect.stringMatching(/^Back-off pulling image "registry\/site:1": ErrImagePull: .*no route to host/),
  });
  const explained = node.agent.explain('web');
  expect(explained).toMatchObject({ status: 'ImagePullBackOff', ready: '1/2' });
  expect(explained?.answer).toMatch(/^volume site is not mounted: ErrImagePull: .*no route to host; next attempt/);
  node.runtime.images.publish('registry/site:1', {});
  await node.advance('10s');
  expect(node.container('web', 'main').state?.running).toBeDefined();
  expect(node.container('web', 'other').restartCount).toBe(0);
});

describe('user namespaces', () => {
  const handlers = [
    { name: '', features: { recursiveReadOnlyMounts: false, userNamespaces: true } },
    { name: 'old', features: undefined },
  ];
  const able = runtime({ status: async () => StatusResponse.fromPartial({ runtimeHandlers: handlers }) });

  test('the runtime is asked what the handler of the pod can do', async () => {
    await expect(requireUserNamespaces(able, '', { signal })).resolves.toBeUndefined();
    await expect(requireUserNamespaces(able, 'old', { signal })).rejects.toMatchObject({
      reason: 'FailedCreatePodSandBox',
      message:
        'Failed to create pod sandbox: can\'t set `spec.hostUsers: false`, RuntimeClass handler "old" does not support user namespaces',
    });
  });
});

describe('recursive read-only mounts', () => {
  const handlers = [
    { name: '', features: { recursiveReadOnlyMounts: true, userNamespaces: false } },
    { name: 'old', features: undefined },
  ];
  const able = runtime({ status: async () => StatusResponse.fromPartial({ runtimeHandlers: handlers }) });
  const wanting = (mode: 'IfPossible' | 'Disabled') =>
    containerWith('main', { volumeMounts: [{ name: 'a', mountPath: '/a', readOnly: true, recursiveReadOnly: mode }] });

  test('the runtime is asked what the handler of the pod can do', async () => {
    expect(await recursiveReadOnly(able, wanting('IfPossible'), async () => '', { signal })).toBe(true);
    expect(await recursiveReadOnly(able, wanting('IfPossible'), async () => 'old', { signal })).toBe(false);
    expect(await recursiveReadOnly(able, wanting('IfPossible'), async () => 'none', { signal })).toBe(false);
  });

  test('it is not asked for containers that do not want to know', async () => {
    const mute = runtime({ status: () => Promise.reject(new Error('asked')) });
    expect(await recursiveReadOnly(mute, wanting('Disabled'), async () => '', { signal })).toBe(false);
  });
});
