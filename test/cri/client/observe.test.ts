import { describe, expect, test } from '@jest/globals';
import { groupIntoPods, observedContainerStatus, observedSandboxStatus } from '../../../cri/client/observe.ts';
import {
  Container,
  ContainerState,
  ContainerStatus,
  ImageSpec,
  Mount,
  NamespaceMode,
  PodSandbox,
  PodSandboxState,
  PodSandboxStatus,
  Signal,
} from '../../../cri/generated/runtime.ts';

const NS = 1_700_000_000_123_456_789n;
const MS = 1_700_000_000_123;
const labels = {
  'io.kubernetes.pod.uid': 'u1',
  'io.kubernetes.pod.name': 'web',
  'io.kubernetes.pod.namespace': 'default',
};
const containerLabels = { ...labels, 'io.kubernetes.container.name': 'main' };

function sandbox(id: string, attempt: number, createdAt: bigint, more: Partial<PodSandbox> = {}): PodSandbox {
  const metadata = { name: 'web', namespace: 'default', uid: 'u1', attempt };
  return { ...PodSandbox.fromPartial({ id, metadata, createdAt, labels }), ...more };
}

function container(id: string, attempt: number, createdAt: bigint, more: Partial<Container> = {}): Container {
  const metadata = { name: 'main', attempt };
  return {
    ...Container.fromPartial({ id, metadata, podSandboxId: 's1', createdAt, labels: containerLabels }),
    ...more,
  };
}

describe('lists', () => {
  test('sorts the objects of a pod by nanosecond, the newest first, and then by attempt', () => {
    const pods = groupIntoPods(
      [sandbox('s1', 0, NS), sandbox('s3', 2, NS + 1n), sandbox('s2', 1, NS + 1n)],
      [container('c1', 0, NS), container('c2', 1, NS + 5n)],
    );
    expect([...pods.keys()]).toEqual(['u1']);
    expect(pods.get('u1')).toMatchObject({ uid: 'u1', namespace: 'default', name: 'web' });
    expect(pods.get('u1')?.sandboxes.map(({ id }) => id)).toEqual(['s3', 's2', 's1']);
    expect(pods.get('u1')?.containers.map(({ id }) => id)).toEqual(['c2', 'c1']);
  });

  test('sorts a running container before an exited one with a higher attempt', () => {
    const running = { state: ContainerState.CONTAINER_RUNNING };
    const exited = { state: ContainerState.CONTAINER_EXITED };
    const pods = groupIntoPods(
      [sandbox('s1', 0, NS)],
      [container('c1', 0, NS, exited), container('c2', 1, NS, running), container('c3', 2, NS, exited)],
    );
    expect(pods.get('u1')?.containers.map(({ id }) => id)).toEqual(['c2', 'c3', 'c1']);
  });

  test('converts all fields', () => {
    const pods = groupIntoPods(
      [sandbox('s1', 3, NS, { state: PodSandboxState.SANDBOX_NOTREADY, annotations: { 'statelet.io/owner': '/r@n' } })],
      [
        container('c1', 4, NS, {
          state: ContainerState.CONTAINER_RUNNING,
          image: {
            image: 'sha256:1',
            annotations: {},
            userSpecifiedImage: 'busybox:1',
            runtimeHandler: '',
            imageRef: '',
          },
          imageRef: 'sha256:1',
          annotations: { 'io.kubernetes.container.hash': 'abc' },
        }),
      ],
    );
    expect(pods.get('u1')?.sandboxes[0]).toEqual({
      id: 's1',
      podUid: 'u1',
      namespace: 'default',
      podName: 'web',
      attempt: 3,
      state: 'notReady',
      createdAt: MS,
      owner: '/r@n',
    });
    expect(pods.get('u1')?.containers[0]).toEqual({
      id: 'c1',
      sandboxId: 's1',
      podUid: 'u1',
      name: 'main',
      attempt: 4,
      state: 'running',
      createdAt: MS,
      hash: 'abc',
      image: 'busybox:1',
      imageRef: 'sha256:1',
    });
  });

  test.each([
    ['[{"name":"http","hostPort":80,"containerPort":8080,"protocol":"TCP"}]', 80],
    ['no list', undefined],
    ['[{"hostPort":80}]', undefined],
  ])('reads the ports in the annotation %s, and ignores an invalid value', (json, hostPort) => {
    const annotations = { 'io.kubernetes.container.ports': json };
    const pod = groupIntoPods([], [container('c1', 0, NS, { annotations })]).get('u1');
    expect(pod?.containers[0]?.ports?.[0]?.hostPort).toBe(hostPort);
  });

  test('ignores objects without a pod UID in their labels', () => {
    const pods = groupIntoPods([sandbox('s1', 0, NS, { labels: {} })], [container('c1', 0, NS, { labels: {} })]);
    expect(pods.size).toBe(0);
  });

  test('assigns a container whose sandbox no longer exists to its pod', () => {
    const pod = groupIntoPods([], [container('c1', 0, NS)]).get('u1');
    expect(pod).toMatchObject({ namespace: 'default', name: 'web', sandboxes: [], containers: [{ id: 'c1' }] });
  });

  test.each([
    [ContainerState.CONTAINER_CREATED, 'created'],
    [ContainerState.CONTAINER_RUNNING, 'running'],
    [ContainerState.CONTAINER_EXITED, 'exited'],
    [ContainerState.CONTAINER_UNKNOWN, 'unknown'],
  ])('maps container state %p to %p', (state, expected) => {
    expect(groupIntoPods([], [container('c1', 0, NS, { state })]).get('u1')?.containers[0]?.state).toBe(expected);
  });
});

describe('statuses', () => {
  const options = (network: NamespaceMode) => ({ namespaces: { options: { network } } });

  test('reads a sandbox with its IPs, the primary one first', () => {
    const network = { ip: '10.0.0.5', additionalIps: [{ ip: 'fd00::5' }] };
    const status = PodSandboxStatus.fromPartial({ id: 's1', labels, network, linux: options(NamespaceMode.POD) });
    expect(observedSandboxStatus(status)).toMatchObject({
      ips: ['10.0.0.5', 'fd00::5'],
      hostNetwork: false,
      state: 'ready',
    });
  });

  test('reads a sandbox on the host network without IPs', () => {
    const status = PodSandboxStatus.fromPartial({
      id: 's1',
      labels,
      network: { ip: '' },
      linux: options(NamespaceMode.NODE),
    });
    expect(observedSandboxStatus(status)).toMatchObject({ ips: [], hostNetwork: true });
  });

  test('C8: leaves it unknown whether a sandbox without network status has an IP', () => {
    expect(observedSandboxStatus(PodSandboxStatus.fromPartial({ id: 's1', labels }))).not.toHaveProperty('ips');
    const told = PodSandboxStatus.fromPartial({ id: 's1', labels, network: { ip: '' } });
    expect(observedSandboxStatus(told)).toMatchObject({ ips: [] });
  });

  test('ignores a sandbox without a pod', () => {
    expect(observedSandboxStatus(PodSandboxStatus.fromPartial({ id: 's1' }))).toBeUndefined();
  });

  test('reads an exit with times, code, reason and message', () => {
    const status = ContainerStatus.fromPartial({
      id: 'c1',
      labels: containerLabels,
      state: ContainerState.CONTAINER_EXITED,
      createdAt: NS,
      startedAt: NS + 1_000_000n,
      finishedAt: NS + 2_000_000n,
      exitCode: 137,
      reason: 'OOMKilled',
      message: 'out of memory',
      imageId: 'sha256:9',
    });
    expect(observedContainerStatus(status, 's1')).toMatchObject({
      sandboxId: 's1',
      state: 'exited',
      createdAt: MS,
      startedAt: MS + 1,
      finishedAt: MS + 2,
      exitCode: 137,
      reason: 'OOMKilled',
      message: 'out of memory',
      imageRef: 'sha256:9',
    });
  });

  test.each([
    ['could not start', 'StartError', 0],
    ['has forgotten over its restart', 'Unknown', undefined],
    ['has forgotten, except for its start', 'Unknown', MS],
  ])('reads the start time of a container that the runtime %s', (_, reason, startedAt) => {
    const status = ContainerStatus.fromPartial({
      id: 'c1',
      labels: containerLabels,
      state: ContainerState.CONTAINER_EXITED,
      startedAt: startedAt === MS ? NS : 0n,
      finishedAt: NS + 2_000_000n,
      exitCode: 255,
      reason,
    });
    expect(observedContainerStatus(status, 's1')?.startedAt).toBe(startedAt);
  });

  test('reads the image, user and recursively read-only mounts of a created container, without fields of alpha features', () => {
    const made = (more: Partial<ContainerStatus>) =>
      observedContainerStatus({ ...ContainerStatus.create(), id: 'c1', labels: containerLabels, ...more }, 's1')
        ?.createdContainer;
    const spec = ImageSpec.fromPartial({ image: 'docker.io/library/a:1' });
    const image = { image: spec, imageRef: 'a@sha256:ab', imageId: 'sha256:9' };
    expect(made(image)).toEqual({ image: 'docker.io/library/a:1', imageRef: 'a@sha256:ab' });
    const mounts = [
      Mount.fromPartial({ containerPath: '/plain', readonly: true }),
      Mount.fromPartial({ containerPath: '/deep', readonly: true, recursiveReadOnly: true }),
      Mount.fromPartial({ containerPath: '/model', image: { image: 'models/one' } }),
    ];
    const user = { linux: { uid: 1000n, gid: 0n, supplementalGroups: [5n] } };
    expect(made({ ...image, user, mounts, stopSignal: Signal.SIGNAL_SIGRTMINPLUS1 })).toEqual({
      image: 'docker.io/library/a:1',
      imageRef: 'a@sha256:ab',
      user: { uid: 1000, gid: 0, supplementalGroups: [5] },
      mounts: { '/deep': { recursiveReadOnly: true } },
    });
  });

  test('reads a running container without an end and an exit code', () => {
    const status = ContainerStatus.fromPartial({
      id: 'c1',
      labels: containerLabels,
      state: ContainerState.CONTAINER_RUNNING,
      startedAt: NS,
    });
    const observed = observedContainerStatus(status, 's1');
    expect(observed).toMatchObject({ state: 'running', startedAt: MS });
    for (const absent of ['finishedAt', 'exitCode', 'reason', 'message']) expect(observed).not.toHaveProperty(absent);
  });

  test('ignores a container without a pod', () => {
    expect(observedContainerStatus(ContainerStatus.fromPartial({ id: 'c1' }), 's1')).toBeUndefined();
  });
});
