/** Optional features of runtimes, tested on the messages that a runtime receives. */
import { describe, expect, test } from '@jest/globals';
import {
  requireImageVolumes,
  requireStopSignal,
  requireUserNamespaces,
  supportsRecursiveReadOnly,
} from '../../../../actors/services/sandboxes/runtimeFeatures.ts';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import type { Cri } from '../../../../cri/client/calls.ts';
import { StatusResponse } from '../../../../cri/generated/runtime.ts';
import { inProcessCri } from '../../../../cri/simulated/inProcessCri.ts';
import { createSimulatedRuntime } from '../../../../cri/simulated/runtime.ts';
import type { VolumeMount } from '../../../../kubernetes/api/schema/container.ts';
import { simulatedNode } from '../../../fakes/node.ts';
import { containerWith, podWith } from '../../../fakes/pods.ts';

const { signal } = new AbortController();

/** The containerd of Debian 12. */
const DEBIAN_12 = { runtimeName: 'containerd', runtimeVersion: '1.6.20~ds1' };

const imageVolumePod = podWith('web', {
  containers: [containerWith('main', { volumeMounts: [{ name: 'site', mountPath: '/site' }] }), containerWith('other')],
  volumes: [{ name: 'site', image: { reference: 'registry/site:1', pullPolicy: 'IfNotPresent' } }],
});

/** A simulated runtime with some of its calls replaced. */
function runtime(more: Partial<Cri>): Cri {
  return { ...inProcessCri(createSimulatedRuntime({ clock: new SimulatedClock() })), ...more };
}

const mount = { name: 'site', mountPath: '/site' };
const mounted = {
  site: { kind: 'image', imageRef: 'sha256:site' },
  data: { kind: 'path', hostPath: '/data' },
} as const;

/** Checks a container with these mounts against a runtime of this version. */
function checked(runtimeName: string, runtimeVersion: string, volumeMounts: VolumeMount[]): Promise<void> {
  const answer = { version: '', runtimeApiVersion: 'v1', runtimeName, runtimeVersion };
  return requireImageVolumes({ version: async () => answer }, { volumeMounts }, mounted, { signal });
}

describe('C26: image volumes', () => {
  test.each([
    ['containerd', '1.6.20~ds1', '2.1'],
    ['containerd', 'v2.0.4', '2.1'],
    ['cri-o', '1.30.2', '1.31'],
  ])('are not supported by %s %s, so a container that mounts one is not created', async (name, version, first) => {
    const message = `ImageVolumeMountFailed: volume "site": the runtime has no image volumes (${name} ${version}; available from ${name} ${first})`;
    await expect(checked(name, version, [mount])).rejects.toMatchObject({ reason: 'CreateContainerError', message });
  });

  test.each([
    ['containerd', '2.1.4', '2.2'],
    ['cri-o', '1.32.9', '1.33'],
  ])('are rejected with a subPath on %s %s, which would mount the whole image', async (name, version, first) => {
    await expect(checked(name, version, [mount])).resolves.toBeUndefined();
    const message = `ImageVolumeMountFailed: volume "site": the runtime has no subPath of images (${name} ${version}; available from ${name} ${first})`;
    for (const part of [{ subPath: 'html' }, { subPathExpr: '$(A)' }]) {
      await expect(checked(name, version, [{ ...mount, ...part }])).rejects.toMatchObject({ message });
    }
  });

  test.each([
    ['containerd', 'v2.2.0'],
    ['containerd', '3.0.0'],
    ['cri-o', '1.33.0'],
    ['another', '0.1'],
  ])('can be mounted with and without a subPath on %s %s', async (name, version) => {
    await expect(checked(name, version, [{ ...mount, subPath: 'html' }])).resolves.toBeUndefined();
  });

  test('a container without image volumes does not need the version of the runtime', async () => {
    const mute = { version: () => Promise.reject(new Error('unexpected call')) };
    const volumeMounts = [{ name: 'data', mountPath: '/data', subPath: 'x' }];
    await expect(requireImageVolumes(mute, { volumeMounts }, mounted, { signal })).resolves.toBeUndefined();
    await expect(requireImageVolumes(mute, {}, mounted, { signal })).resolves.toBeUndefined();
  });

  test('a pulled image leaves its container in CreateContainerError if the runtime cannot mount it', async () => {
    const node = await simulatedNode({
      pods: [imageVolumePod],
      runtime: { images: { anyPullable: true }, version: DEBIAN_12 },
    });
    await node.advance('10s');
    expect(node.container('web', 'main').state?.waiting).toEqual({
      reason: 'CreateContainerError',
      message: expect.stringContaining('volume "site": the runtime has no image volumes'),
    });
    expect(node.container('web', 'other').state?.running).toBeDefined();
    expect(node.calls('createContainer')).toMatchObject([{ request: { config: { metadata: { name: 'other' } } } }]);
  });

  test('C17, C26: the image is pulled, and the runtime gets the subPath that the container mounts', async () => {
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
            containerPath: '/site',
            hostPath: '',
            readonly: true,
            imageSubPath: 'html',
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

/**
 * Runtimes with and without image volumes. A failed pull looks the same on both, because the pull comes first (C16).
 */
const RUNTIMES = [
  ['a runtime with image volumes', { runtimeName: 'containerd', runtimeVersion: 'v2.2.0' }],
  ['a runtime without', DEBIAN_12],
] as const;

test.each(RUNTIMES)(
  'C16: an image volume that cannot be pulled delays only the containers that mount it (%s)',
  async (_, version) => {
    const node = await simulatedNode({ pods: [imageVolumePod], runtime: { version } });
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
  },
);

test('C16: an image volume is mounted as soon as its image can be pulled', async () => {
  const node = await simulatedNode({ pods: [imageVolumePod] });
  node.runtime.images.publish('registry/site:1', { error: { message: 'no route to host' } });
  await node.advance('7s');
  node.runtime.images.publish('registry/site:1', {});
  await node.advance('10s');
  expect(node.container('web', 'main').state?.running).toBeDefined();
  expect(node.container('web', 'other').restartCount).toBe(0);
});

describe('C46: a stop signal of a container', () => {
  const stopped = (runtimeVersion: string, stopSignal?: string) => {
    const answer = { version: '', runtimeApiVersion: 'v1', runtimeName: 'containerd', runtimeVersion };
    const lifecycle = stopSignal === undefined ? {} : { stopSignal };
    return requireStopSignal({ version: async () => answer }, { lifecycle }, { signal });
  };

  test('that the runtime would ignore prevents the creation of the container', async () => {
    await expect(stopped('1.7.30', 'SIGUSR1')).rejects.toMatchObject({
      reason: 'CreateContainerError',
      message: 'stopSignal SIGUSR1: the runtime cannot set it (containerd 1.7.30; available from containerd 2.2)',
    });
    await expect(stopped('2.2.0', 'SIGUSR1')).resolves.toBeUndefined();
    await expect(stopped('1.7.30')).resolves.toBeUndefined();
  });

  test('that the runtime would ignore leaves the container waiting with that reason', async () => {
    const main = containerWith('main', { lifecycle: { stopSignal: 'SIGUSR1' } });
    const pods = [podWith('web', { os: { name: 'linux' }, containers: [main] })];
    const node = await simulatedNode({ pods, runtime: { version: DEBIAN_12 } });
    await node.advance('10s');
    expect(node.container('web').state?.waiting?.reason).toBe('CreateContainerError');
  });
});

describe('user namespaces', () => {
  const handlers = [
    { name: '', features: { recursiveReadOnlyMounts: false, userNamespaces: true } },
    { name: 'old', features: undefined },
  ];
  const able = runtime({ status: async () => StatusResponse.fromPartial({ runtimeHandlers: handlers }) });

  test('are checked against the features of the runtime handler of the pod', async () => {
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

  test('are checked against the features of the runtime handler of the pod', async () => {
    expect(await supportsRecursiveReadOnly(able, wanting('IfPossible'), async () => '', { signal })).toBe(true);
    expect(await supportsRecursiveReadOnly(able, wanting('IfPossible'), async () => 'old', { signal })).toBe(false);
    expect(await supportsRecursiveReadOnly(able, wanting('IfPossible'), async () => 'none', { signal })).toBe(false);
  });

  test('are not checked for containers that do not request them', async () => {
    const mute = runtime({ status: () => Promise.reject(new Error('asked')) });
    expect(await supportsRecursiveReadOnly(mute, wanting('Disabled'), async () => '', { signal })).toBe(false);
  });
});
