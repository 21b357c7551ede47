import { describe, expect, test } from '@jest/globals';
import type { Container, EnvVar, VolumeMount } from '../../../kubernetes/api/schema/container.ts';
import type { Pod, PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import type { Volume } from '../../../kubernetes/api/schema/volume.ts';
import { aContainer, aPod, problemsIn } from '../fixtures.ts';

const check = (pod: Pod) => problemsIn(pod).map(({ path, message }) => `${path}: ${message}`);
const spec = (over: Partial<PodSpec>) => check(aPod(over));
const container = (over: Partial<Container>) => spec({ containers: [aContainer(over)] });
const main = 'spec.containers[0]';
const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

test('a valid pod has no problems', () => {
  const pod = aPod({
    hostname: 'web',
    volumes: [{ name: 'data' }, { name: 'host', hostPath: { path: '/srv' } }],
    initContainers: [
      aContainer({ name: 'side', restartPolicy: 'Always', readinessProbe: { tcpSocket: { port: 'http' } } }),
    ],
    containers: [
      aContainer({
        ports: [{ name: 'http', containerPort: 80, hostPort: 8080 }],
        env: [{ name: 'A.b-C', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } }],
        resources: { requests: { cpu: '1' }, limits: { cpu: '1000m' } },
        volumeMounts: [
          { name: 'data', mountPath: '/a', subPath: 'x/..y' },
          { name: 'host', mountPath: '/b' },
        ],
        lifecycle: { preStop: { sleep: { seconds: 1 } } },
      }),
    ],
  });
  expect(check(pod)).toEqual([]);
});

describe('names', () => {
  test.each([
    ['Web', 'Invalid value: "Web"'],
    ['a..b', 'Invalid value: "a..b"'],
    ['-a', 'Invalid value: "-a"'],
    ['a'.repeat(254), 'must be no more than 253 characters'],
  ])('rejects the pod name %s', (name, message) => {
    expect(check(aPod({}, { name }))).toEqual([expect.stringContaining(message)]);
  });

  test.each(['a', 'a.b-c.1', 'a'.repeat(253)])('accepts the pod name %s', (name) => {
    expect(check(aPod({}, { name }))).toEqual([]);
  });

  test('requires container names to be unique labels', () => {
    expect(container({ name: 'a.b' })).toEqual([`${main}.name: Invalid value: "a.b": must not contain dots`]);
    expect(container({ name: 'A' })).toEqual([`${main}.name: Invalid value: "A": ${label}`]);
    expect(container({ name: '' })).toEqual([`${main}.name: Required value`]);
    expect(spec({ initContainers: [aContainer()] })).toEqual([`spec.initContainers[0].name: Duplicate value: "main"`]);
  });

  test.each(['../../etc', 'a/b', '', '.a'])('rejects the UID %j, which cannot be the name of a directory', (uid) => {
    expect(check(aPod({}, { uid }))).toEqual([expect.stringContaining('metadata.uid: Invalid value')]);
  });
});

describe('the spec', () => {
  test.each<[string, Partial<PodSpec>, string]>([
    ['no container', { containers: [] }, 'spec.containers: Required value'],
    [
      'no deadline',
      { activeDeadlineSeconds: 0 },
      'spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive',
    ],
    [
      'a long hostname',
      { hostname: 'a'.repeat(64) },
      `spec.hostname: Invalid value: "${'a'.repeat(64)}": must be no more than 63 characters`,
    ],
    [
      'a negative overhead',
      { overhead: { cpu: '-1' } },
      'spec.overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    ],
    [
      'own resources',
      { resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } },
      'spec.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
    ],
  ])('%s', (_what, over, message) => {
    expect(spec(over)).toEqual([message]);
  });

  test('requires host ports to be the container ports on the host network', () => {
    const ports = [{ containerPort: 80, hostPort: 81 }];
    expect(spec({ hostNetwork: true, containers: [aContainer({ ports })] })).toEqual([
      `${main}.ports[0].hostPort: Invalid value: 81: must match \`containerPort\` when \`hostNetwork\` is true`,
    ]);
  });
});

describe('a container', () => {
  test.each<[string, Partial<Container>, string[]]>([
    ['without an image', { image: '' }, [`${main}.image: Required value`]],
    [
      'an image with a space',
      { image: ' a' },
      [`${main}.image: Invalid value: " a": must not have leading or trailing whitespace`],
    ],
    ['a port of 0', { ports: [{ containerPort: 0 }] }, [`${main}.ports[0].containerPort: Required value`]],
    [
      'a host port beyond',
      { ports: [{ containerPort: 1, hostPort: 65536 }] },
      [`${main}.ports[0].hostPort: Invalid value: 65536: must be between 1 and 65535, inclusive`],
    ],
    [
      'port names',
      {
        ports: [
          { name: 'a', containerPort: 1 },
          { name: 'a', containerPort: 2 },
        ],
      },
      [`${main}.ports[1].name: Duplicate value: "a"`],
    ],
    [
      'a host port twice',
      {
        ports: [
          { containerPort: 1, hostPort: 80 },
          { containerPort: 2, hostPort: 80 },
        ],
      },
      [`${main}.ports[1].hostPort: Duplicate value: "TCP//80"`],
    ],
    [
      'a host port of two protocols',
      {
        ports: [
          { containerPort: 1, hostPort: 80 },
          { containerPort: 1, hostPort: 80, protocol: 'UDP' },
        ],
      },
      [],
    ],
    [
      'a request above its limit',
      { resources: { requests: { memory: '2Gi' }, limits: { memory: '1Gi' } } },
      [`${main}.resources.requests: Invalid value: "2Gi": must be less than or equal to memory limit of 1Gi`],
    ],
    [
      'a negative limit',
      { resources: { limits: { cpu: '-1' }, requests: { cpu: '-2' } } },
      [
        `${main}.resources.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0`,
        `${main}.resources.requests[cpu]: Invalid value: "-2": must be greater than or equal to 0`,
      ],
    ],
    [
      'rules without a policy',
      { restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }] },
      [`${main}.restartPolicy: Required value: must specify restartPolicy when restart rules are used`],
    ],
  ])('%s', (_what, over, messages) => {
    expect(container(over)).toEqual(messages);
  });

  test('validates the name of a port', () => {
    for (const name of ['HTTP', '80', 'a--b', 'a'.repeat(16), '-a']) {
      const [problem] = container({ ports: [{ name, containerPort: 1 }] });
      expect(problem).toContain(`${main}.ports[0].name: Invalid value`);
    }
  });

  test.each<[string, EnvVar, string[]]>([
    ['no name', { name: '' }, [`${main}.env[0].name: Required value`]],
    [
      'an equals sign',
      { name: 'a=b' },
      [
        `${main}.env[0].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than '='`,
      ],
    ],
    [
      'a value and a source',
      { name: 'a', value: 'b', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      [`${main}.env[0].valueFrom: Invalid value: "": may not be specified when \`value\` is not empty`],
    ],
    [
      'no source',
      { name: 'a', valueFrom: {} },
      [
        `${main}.env[0].valueFrom: Invalid value: "": must specify one of: \`fieldRef\`, \`resourceFieldRef\`, \`configMapKeyRef\`, \`secretKeyRef\` or \`fileKeyRef\``,
      ],
    ],
    [
      'a field that is none',
      { name: 'a', valueFrom: { fieldRef: { fieldPath: 'spec.containers' } } },
      [
        `${main}.env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.containers": error converting fieldPath: field label not supported: spec.containers`,
      ],
    ],
    [
      'a resource that is none',
      { name: 'a', valueFrom: { resourceFieldRef: { resource: 'cpu' } } },
      [
        `${main}.env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "cpu": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"`,
      ],
    ],
  ])('must not have an environment variable with %s', (_what, env, messages) => {
    expect(container({ env: [env] })).toEqual(messages);
  });
});

describe('probes and hooks', () => {
  test.each<[string, Partial<Container>, string[]]>([
    ['no handler', { livenessProbe: {} }, [`${main}.livenessProbe: Required value: must specify a handler type`]],
    [
      'two handlers',
      { livenessProbe: { exec: { command: ['a'] }, tcpSocket: { port: 1 } } },
      [`${main}.livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type`],
    ],
    [
      'no command',
      { lifecycle: { preStop: { exec: {} } } },
      [`${main}.lifecycle.preStop.exec.command: Required value`],
    ],
    [
      'a port beyond',
      { readinessProbe: { httpGet: { port: 0 } } },
      [`${main}.readinessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive`],
    ],
    [
      'a negative delay',
      { readinessProbe: { grpc: { port: 1 }, initialDelaySeconds: -1 } },
      [`${main}.readinessProbe.initialDelaySeconds: Invalid value: -1: must be greater than or equal to 0`],
    ],
    [
      'two successes for liveness',
      { livenessProbe: { grpc: { port: 1 }, successThreshold: 2 } },
      [`${main}.livenessProbe.successThreshold: Invalid value: 2: must be 1`],
    ],
    [
      'grace of a readiness probe',
      { readinessProbe: { grpc: { port: 1 }, terminationGracePeriodSeconds: 1 } },
      [`${main}.readinessProbe.terminationGracePeriodSeconds: Invalid value: 1: must not be set for readinessProbes`],
    ],
  ])('%s', (_what, over, messages) => {
    expect(container(over)).toEqual(messages);
  });

  test('rejects probes and hooks of an init container that is not a sidecar', () => {
    const probed = { name: 'i', readinessProbe: { grpc: { port: 1 } }, lifecycle: {} };
    expect(spec({ initContainers: [aContainer(probed)] })).toEqual([
      expect.stringContaining('spec.initContainers[0].lifecycle: Forbidden'),
      expect.stringContaining('spec.initContainers[0].readinessProbe: Forbidden'),
    ]);
    expect(spec({ initContainers: [aContainer({ ...probed, restartPolicy: 'Always' })] })).toEqual([]);
  });
});

describe('volumes', () => {
  test.each<[string, Volume[], string[]]>([
    ['one name twice', [{ name: 'v' }, { name: 'v' }], ['spec.volumes[1].name: Duplicate value: "v"']],
    ['a name that is no label', [{ name: 'V' }], [`spec.volumes[0].name: Invalid value: "V": ${label}`]],
    [
      'two sources',
      [{ name: 'v', emptyDir: {}, hostPath: { path: '/' } }],
      ['spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type'],
    ],
    ['an empty hostPath', [{ name: 'v', hostPath: { path: '' } }], ['spec.volumes[0].hostPath.path: Required value']],
    [
      'a hostPath upwards',
      [{ name: 'v', hostPath: { path: '/a/../b' } }],
      ['spec.volumes[0].hostPath.path: Invalid value: "/a/../b": must not contain \'..\''],
    ],
    [
      'a negative size',
      [{ name: 'v', emptyDir: { sizeLimit: '-1' } }],
      ['spec.volumes[0].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity'],
    ],
  ])('%s', (_what, volumes, messages) => {
    expect(spec({ volumes })).toEqual(messages);
  });

  const mounted = (...volumeMounts: VolumeMount[]) =>
    spec({ volumes: [{ name: 'v' }], containers: [aContainer({ volumeMounts })] });

  test.each<[string, Partial<VolumeMount>, string[]]>([
    ['an unknown volume', { name: 'w' }, ['[0].name: Not found: "w"']],
    ['no path', { mountPath: '' }, ['[0].mountPath: Required value']],
    ['a colon', { mountPath: '/a:b' }, []],
    ['C26: an absolute subPath', { subPath: '/etc' }, ['.subPath: Invalid value: "/etc": must be a relative path']],
    [
      'C26: a subPath upwards',
      { subPath: 'a/../../b' },
      ['.subPath: Invalid value: "a/../../b": must not contain \'..\''],
    ],
    [
      'C26: a subPathExpr upwards',
      { subPathExpr: '../$(A)' },
      ['.subPathExpr: Invalid value: "../$(A)": must not contain \'..\''],
    ],
    [
      'both',
      { subPath: 'a', subPathExpr: 'b' },
      ['[0].subPathExpr: Invalid value: "b": subPathExpr and subPath are mutually exclusive'],
    ],
    [
      'sharing without privilege',
      { mountPropagation: 'Bidirectional' },
      ['.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers'],
    ],
    [
      'recursively read-only',
      { recursiveReadOnly: 'Enabled' },
      ['.recursiveReadOnly: Forbidden: may only be specified when readOnly is true'],
    ],
  ])('are validated for the mount: %s', (_what, over, messages) => {
    const found = mounted({ name: 'v', mountPath: '/a', ...over });
    expect(found).toEqual(messages.map((message) => `${main}.volumeMounts${message}`));
  });

  test('rejects two mounts at the same path', () => {
    expect(mounted({ name: 'v', mountPath: '/a' }, { name: 'v', mountPath: '/a' })).toEqual([
      `${main}.volumeMounts[1].mountPath: Invalid value: "/a": must be unique`,
    ]);
  });
});
