import { describe, expect, test } from '@jest/globals';
import { type ContainerConfigInput, containerConfig } from '../../../cri/config/containerConfig.ts';
import { buildEnvironment } from '../../../cri/config/environment.ts';
import { annotatedImages } from '../../../cri/config/labels.ts';
import { ContainerConfig } from '../../../cri/generated/runtime.ts';
import type { Container, EnvVar } from '../../../kubernetes/api/schema/container.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import { NO_EDITS } from '../../../kubernetes/devices/devices.ts';
import { container, node, pod } from '../nodeAndPod.ts';

function configOf(more: Partial<Container>, spec: Partial<PodSpec> = {}, input: Partial<ContainerConfigInput> = {}) {
  const one = container(more);
  const resolved = {
    pod: pod({ containers: [one], ...spec }, { labels: { app: 'web' }, annotations: { team: 'a' } }),
    container: one,
    node: node(),
  };
  const environment = buildEnvironment({ ...resolved, sandboxIps: ['10.0.0.5', 'fd00::5'], ...input });
  return containerConfig({ ...resolved, attempt: 3, imageRef: 'sha256:abc', volumes: {}, environment, ...input });
}

function envOf(env: EnvVar[], more: Partial<Container> = {}, spec: Partial<PodSpec> = {}): Record<string, string> {
  const { envs } = configOf({ ...more, env }, spec);
  return Object.fromEntries(envs.map(({ key, value }) => [key, value.toString()]));
}

test('the edits of devices come before the settings of the pod, which override them', () => {
  const edits = {
    envs: [
      ['DEVICES', 'g0'],
      ['OWN', 'of the plugin'],
    ],
    mounts: [{ containerPath: '/driver', hostPath: '/opt/driver', isReadOnly: true }],
    devices: [{ containerPath: '/dev/g0', hostPath: '/dev/null', permissions: 'rw' }],
    annotations: [
      ['example.com/devices', 'g0'],
      ['io.kubernetes.container.restartCount', '99'],
    ],
    cdiDevices: ['example.com/gpu=g0'],
  } as const;
  const editsOf = (podUid: string, name: string) => (podUid === 'u-1' && name === 'main' ? edits : NO_EDITS);
  const command = ['run', '$(DEVICES)', '$(OWN)'];
  const environment = [{ name: 'OWN', value: 'of the pod' }];
  const config = configOf({ command }, {}, { node: node({ editsOf }), environment });
  expect(config.envs.map(({ key, value }) => [key, Buffer.from(value).toString()])).toEqual([
    ['DEVICES', 'g0'],
    ['OWN', 'of the pod'],
  ]);
  expect(config.command).toEqual(['run', 'g0', 'of the pod']);
  expect(config.mounts[0]).toMatchObject({ containerPath: '/driver', hostPath: '/opt/driver', readonly: true });
  expect(config.devices).toEqual(edits.devices);
  expect(config.CDIDevices).toEqual([{ name: 'example.com/gpu=g0' }]);
  expect(config.annotations).toMatchObject({
    'example.com/devices': 'g0',
    'io.kubernetes.container.restartCount': '3',
  });
});

test('a minimal container has only the required fields', () => {
  expect(configOf({})).toEqual({
    metadata: { name: 'main', attempt: 3 },
    image: { image: 'sha256:abc', annotations: {}, userSpecifiedImage: 'busybox:1', runtimeHandler: '', imageRef: '' },
    command: [],
    args: [],
    workingDir: '',
    envs: [],
    mounts: [expect.objectContaining({ containerPath: '/etc/hosts', hostPath: '/var/lib/kubelet/pods/u-1/etc-hosts' })],
    devices: [],
    labels: {
      'io.kubernetes.pod.name': 'web',
      'io.kubernetes.pod.namespace': 'shop',
      'io.kubernetes.pod.uid': 'u-1',
      'io.kubernetes.container.name': 'main',
    },
    annotations: {
      'io.kubernetes.container.hash': expect.stringMatching(/^[0-9a-f]+$/),
      'io.kubernetes.container.restartCount': '3',
      'io.kubernetes.container.terminationMessagePath': '',
      'io.kubernetes.container.terminationMessagePolicy': '',
      'statelet.io/mounted-images': '',
    },
    logPath: 'main/3.log',
    stdin: false,
    stdinOnce: false,
    tty: false,
    linux: {
      resources: {
        cpuPeriod: 100_000n,
        cpuQuota: 0n,
        cpuShares: 2n,
        memoryLimitInBytes: 0n,
        oomScoreAdj: 1000n,
        cpusetCpus: '',
        cpusetMems: '',
        hugepageLimits: [],
        unified: {},
        memorySwapLimitInBytes: 0n,
      },
      securityContext: expect.objectContaining({ privileged: false, noNewPrivs: false }),
    },
    windows: undefined,
    CDIDevices: [],
    stopSignal: 0,
  });
});

test('C47: an annotation names the images that a container mounts', () => {
  const names = ['first', 'second', 'directory'];
  const volumes = {
    first: { kind: 'image', imageRef: 'sha256:1' },
    second: { kind: 'image', imageRef: 'sha256:2' },
    directory: { kind: 'path', hostPath: '/vols/directory' },
  } as const;
  const { annotations } = configOf(
    { volumeMounts: names.map((name) => ({ name, mountPath: `/${name}` })) },
    {},
    { volumes },
  );
  expect(annotatedImages({ annotations })).toEqual(['sha256:1', 'sha256:2']);
});

test('a container with all fields has them all in its configuration', () => {
  const preStop = { exec: { command: ['sleep', '1'] } };
  const ports = [{ containerPort: 80, protocol: 'TCP' as const }];
  const config = configOf(
    {
      workingDir: '/srv',
      stdin: true,
      stdinOnce: true,
      tty: true,
      ports,
      lifecycle: { preStop, stopSignal: 'SIGRTMIN+1' },
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
    },
    { terminationGracePeriodSeconds: 7 },
    { terminationLog: '/var/lib/kubelet/pods/u-1/containers/main/3' },
  );
  expect(config).toMatchObject({ workingDir: '/srv', stdin: true, stdinOnce: true, tty: true, stopSignal: 36 });
  expect(config.annotations).toMatchObject({
    'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
    'io.kubernetes.container.terminationMessagePolicy': 'File',
    'io.kubernetes.container.preStopHandler': JSON.stringify(preStop),
    'io.kubernetes.container.ports': JSON.stringify(ports),
    'io.kubernetes.pod.terminationGracePeriod': '7',
  });
  expect(config.mounts.at(-1)).toMatchObject({
    containerPath: '/dev/termination-log',
    hostPath: '/var/lib/kubelet/pods/u-1/containers/main/3',
    readonly: false,
  });
  expect(ContainerConfig.decode(ContainerConfig.encode(config).finish())).toEqual(config);
});

test('C6: only the name and the image affect the hash', () => {
  const hash = (more: Partial<Container>) => configOf(more).annotations['io.kubernetes.container.hash'];
  expect(hash({ args: ['x'] })).toBe(hash({}));
  expect(hash({ image: 'busybox:2' })).not.toBe(hash({}));
});

test('rejects an invalid signal', () => {
  expect(() => configOf({ lifecycle: { stopSignal: 'SIGNOPE' } })).toThrow('SIGNOPE is not a signal');
});

describe('C21: the environment', () => {
  test('expands $(VAR) in command, args and env', () => {
    const env = [
      { name: 'A', value: 'one' },
      { name: 'B', value: '$(A)-$(C)-$$(A)' },
    ];
    const config = configOf({ env, command: ['$(A)'], args: ['--b=$(B)', '$(NONE)'] });
    expect(config.command).toEqual(['one']);
    expect(config.args).toEqual(['--b=one-$(C)-$(A)', '$(NONE)']);
  });

  test.each([
    ['metadata.name', 'web'],
    ['metadata.namespace', 'shop'],
    ['metadata.uid', 'u-1'],
    ["metadata.labels['app']", 'web'],
    ["metadata.annotations['team']", 'a'],
    ['spec.nodeName', 'node-1'],
    ['spec.serviceAccountName', 'sa'],
    ['status.hostIP', '192.168.1.10'],
    ['status.hostIPs', '192.168.1.10,fd01::10'],
    ['status.podIP', '10.0.0.5'],
    ['status.podIPs', '10.0.0.5,fd00::5'],
  ])('resolves fieldRef %s to %s', (fieldPath, expected) => {
    const spec = { nodeName: 'node-1', serviceAccountName: 'sa' };
    expect(envOf([{ name: 'X', valueFrom: { fieldRef: { fieldPath } } }], {}, spec)).toEqual({ X: expected });
  });

  test('resolves addresses to those of the host for a pod on the host network', () => {
    const env = [{ name: 'X', valueFrom: { fieldRef: { fieldPath: 'status.podIPs' } } }];
    expect(envOf(env, {}, { hostNetwork: true })).toEqual({ X: '192.168.1.10,fd01::10' });
  });

  test.each([
    ['limits.cpu', undefined, '2'],
    ['limits.memory', '1Mi', '4096'],
    ['requests.cpu', '1m', '250'],
  ])('resolves resourceFieldRef %s with divisor %s to %s', (resource, divisor, expected) => {
    const resourceFieldRef = { resource, ...(divisor ? { divisor } : {}) };
    const resources = { requests: { cpu: '250m' } };
    expect(envOf([{ name: 'X', valueFrom: { resourceFieldRef } }], { resources })).toEqual({ X: expected });
  });

  test('encodes text beyond ASCII as UTF-8', () => {
    expect(envOf([{ name: 'X', value: 'grüß' }])).toEqual({ X: 'grüß' });
  });

  test('an unresolvable reference is a configuration error unless it is optional', () => {
    const secretKeyRef = { name: 's', key: 'k' };
    expect(() => envOf([{ name: 'X', valueFrom: { secretKeyRef } }])).toThrow(
      expect.objectContaining({ reason: 'CreateContainerConfigError' }),
    );
    expect(envOf([{ name: 'X', valueFrom: { secretKeyRef: { ...secretKeyRef, optional: true } } }])).toEqual({});
  });
});
